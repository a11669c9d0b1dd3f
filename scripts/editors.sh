#!/bin/sh
# Installs the editors that the end-to-end tests drive: Neovim, and Emacs with eglot.
# Quiet when they are there.
set -eu

missing=""
command -v nvim >/dev/null || missing="$missing neovim"
if ! command -v emacs >/dev/null || ! emacs --batch --eval "(progn (package-initialize) (require 'eglot))" >/dev/null 2>&1; then
	missing="$missing emacs-nox elpa-eglot"
fi
[ -n "$missing" ] || exit 0

fail() {
	echo "editors.sh: $*" >&2
	echo "editors.sh: the end-to-end tests with editors cannot run without:$missing" >&2
	exit 1
}

command -v apt-get >/dev/null || fail "there is no apt-get; install them by hand"
[ "$(id -u)" = 0 ] || fail "run as root: apt-get install$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086 # the packages are words
if ! { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1; then
	cat "$log" >&2
	fail "apt-get failed (see above); are Debian's packages reachable?"
fi
