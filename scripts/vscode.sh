#!/bin/sh
# Installs what make vscode drives: VS Code as code-server, with the Node that it needs, as
# pinned in e2e/editors/vscode/package-lock.json; Debian's chromium; and our extension,
# packed as a person packs it. Quiet when there is nothing to do.
set -eu
cd "${0%/*}/.."
root=$PWD
log=$(mktemp)
trap 'rm -f "$log"' EXIT

fail() {
	cat "$log" >&2
	echo "vscode.sh: $*" >&2
	echo "vscode.sh: VS Code cannot be driven without it" >&2
	exit 1
}

command -v npm >/dev/null || fail "npm is not installed; it comes with Node"
for dir in e2e/editors/vscode editors/vscode; do
	if grep -q '"resolved"' $dir/package-lock.json; then
		fail "$dir/package-lock.json names a registry; make it anew with: rm package-lock.json && npm install --ignore-scripts"
	fi
done

if ! command -v chromium >/dev/null; then
	command -v apt-get >/dev/null || fail "there is no apt-get; install chromium by hand"
	[ "$(id -u)" = 0 ] || fail "run as root: apt-get install chromium"
	{ apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium; } >"$log" 2>&1 ||
		fail "apt-get failed (see above); are Debian's packages reachable?"
fi

# The stamp is written last, so that an interrupted installation is done again.
cd "$root/e2e/editors/vscode"
stamp=node_modules/.installed-for
want=$(cat package.json package-lock.json .npmrc | cksum)
if [ "$(cat $stamp 2>/dev/null)" != "$want" ]; then
	npm ci --ignore-scripts --loglevel=error >"$log" 2>&1 || fail "npm ci failed in e2e/editors/vscode (see above); is the npm registry reachable?"
	node=$(echo "$PWD"/node_modules/node-linux-*)
	[ -x "$node/bin/node" ] || fail "there is no Node for this machine in $node"
	# What would be compiled (terminals, secrets of the desktop, logs) nothing here uses.
	(
		PATH=$node/bin:$PATH
		export PATH
		cd node_modules/code-server/lib/vscode
		npm install --omit=dev --ignore-scripts --loglevel=error
	) >"$log" 2>&1 || fail "installing the parts of code-server failed (see above)"
	echo "$want" >$stamp
fi

cd "$root/editors/vscode"
stamp=node_modules/.installed-for
want=$(cat package.json package-lock.json .npmrc | cksum)
if [ "$(cat $stamp 2>/dev/null)" != "$want" ]; then
	npm ci --ignore-scripts --loglevel=error >"$log" 2>&1 || fail "npm ci failed in editors/vscode (see above); is the npm registry reachable?"
	echo "$want" >$stamp
fi
npm run package >"$log" 2>&1 || fail "packing the extension failed (see above)"
