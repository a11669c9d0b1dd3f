#!/bin/sh
# Installs the headless agent that the end-to-end tests start against a scripted model, as
# pinned in e2e/agents/package-lock.json. Quiet when there is nothing to do.
set -eu
cd "${0%/*}/../e2e/agents"

fail() {
	echo "node-agents.sh: $*" >&2
	echo "node-agents.sh: the end-to-end tests with a real headless agent cannot run without it" >&2
	exit 1
}

command -v npm >/dev/null || fail "npm is not installed; it comes with Node"
if grep -q '"resolved"' package-lock.json; then
	fail "package-lock.json names a registry; make it anew with: rm package-lock.json && npm install --ignore-scripts"
fi

# The stamp is written last, so that an interrupted installation is done again.
stamp=node_modules/.installed-for
want=$(cat package.json package-lock.json .npmrc | cksum)
if [ "$(cat $stamp 2>/dev/null)" = "$want" ]; then
	exit 0
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Its install script only moves the program; the tests find it where it is without that.
if ! npm ci --ignore-scripts --loglevel=error >"$log" 2>&1; then
	cat "$log" >&2
	fail "npm ci failed in e2e/agents (see above); is the npm registry reachable?"
fi
echo "$want" >$stamp
