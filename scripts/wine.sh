#!/bin/sh
# Runs the Windows build under Wine: the demo, writers at once, and the tests of the
# packages that hold what differs there. Needs wine64 and x86_64-w64-mingw32-gcc
# (Debian: apt-get install wine64 gcc-mingw-w64-x86-64). Wine is not Windows: it makes no
# symbolic links, so that tests of those fail under it and are not among these.
set -eu
cd "$(dirname "$0")/.."
out=$(mktemp -d)
wine=$(command -v wine64 || echo /usr/lib/wine/wine64)
[ -x "$wine" ] || { echo "wine64 is not installed" >&2; exit 2; }
export WINEPREFIX="$out/prefix" WINEDEBUG=-all
trap '"$(dirname "$(readlink -f "$wine")")/wineserver" -k 2>/dev/null || true; rm -rf "$out"' EXIT
"$wine" wineboot -i >/dev/null 2>&1

# Go asks ProcessPrng of bcryptprimitives.dll for randomness, which Wine before 9 lacks.
cat >"$out/prng.c" <<'C'
#include <windows.h>
BOOLEAN WINAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE p, SIZE_T n) {
	for (; n > 0x10000000; p += 0x10000000, n -= 0x10000000)
		if (!SystemFunction036(p, 0x10000000)) return FALSE;
	return SystemFunction036(p, (ULONG)n);
}
C
x86_64-w64-mingw32-gcc -shared -o "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll" "$out/prng.c" -ladvapi32

# Wine before 9 answers "not implemented" where Windows says "not supported" of deleting
# a file that is open; Go's standard library knows the second word alone.
std=$(go env GOROOT)/src/internal/syscall/windows/at_windows.go
sed 's/STATUS_NOT_SUPPORTED:  /STATUS_NOT_SUPPORTED, NTStatus(0xC0000002):/' "$std" >"$out/at_windows.go"
printf '{"Replace":{"%s":"%s"}}' "$std" "$out/at_windows.go" >"$out/overlay.json"
export GOOS=windows GOFLAGS="-mod=readonly -buildvcs=false -overlay=$out/overlay.json"

for p in mem-mcp mem-lsp; do go build -o "$out/$p.exe" ./cmd/$p; done
(cd "$out" && "$wine" mem-mcp.exe demo) # not in the checkout, where it would build mem-lsp with go

mkdir "$out/project"
for i in 1 2 3 4 5 6 7 8; do
	for j in 1 2 3 4 5; do
		echo "Note $j of writer $i." | "$wine" "$out/mem-mcp.exe" write "note $i $j" --type project --description "of writer $i" --body-file - --project "Z:$out/project" >/dev/null || echo "writer $i failed"
	done &
done
wait
"$wine" "$out/mem-mcp.exe" list --project "Z:$out/project" >"$out/list"
[ "$(wc -l <"$out/list")" = 40 ] || { echo "of 40 topics there are $(wc -l <"$out/list")" >&2; exit 1; }
echo "eight writers at once: 40 of 40 topics are there"

# go test would wait for Wine's own processes: they inherit its output.
for p in core/atomicfile core/text core/memfile core/change core/guard core/recall core/fork/shell; do
	go test -c -o "$out/t.exe" ./$p
	(cd $p && "$wine" "$out/t.exe" -test.short >"$out/log" 2>&1) || { cat "$out/log"; echo "FAIL $p" >&2; exit 1; }
	echo "ok $p"
done
