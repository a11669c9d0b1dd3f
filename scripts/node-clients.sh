#!/bin/sh
# Installs what the end-to-end tests drive: MCP clients, the Inspector with the
# Node that it needs, and the reference memory server, as pinned in
# e2e/clients/package-lock.json. Quiet when there is nothing to do.
set -eu
cd "${0%/*}/../e2e/clients"

fail() {
	echo "node-clients.sh: $*" >&2
	echo "node-clients.sh: the end-to-end tests with real clients cannot run without it" >&2
	exit 1
}

command -v node >/dev/null || fail "node is not installed; get Node 20 or newer"
command -v npm >/dev/null || fail "npm is not installed; it comes with Node"
node -e 'process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)' || fail "node is $(node -v); get Node 20 or newer"
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
# No package of ours needs its install script.
if ! npm ci --ignore-scripts --loglevel=error >"$log" 2>&1; then
	cat "$log" >&2
	fail "npm ci failed in e2e/clients (see above); is the npm registry reachable?"
fi
echo "$want" >$stamp
