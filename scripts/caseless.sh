#!/bin/sh
# Runs the tests of names on a file system where letter case does not count, as on macOS and
# Windows: an exFAT image that FUSE mounts. It needs root, a loop device and Debian's
# exfat-fuse and exfatprogs, which it installs; without these it says so, and fails where
# MEM_REQUIRE is set.
set -u
missing() {
    echo "NOT TESTED: names on a file system without letter case: $1" >&2
    [ -z "${MEM_REQUIRE:-}" ]
    exit $?
}
[ "$(uname)" = Linux ] || missing "this is not Linux; the tests run there on the disk that there is"
[ "$(id -u)" = 0 ] || missing "mounting needs root"
if ! command -v mount.exfat-fuse >/dev/null || ! command -v mkfs.exfat >/dev/null; then
    apt-get install -y -q --no-install-recommends exfat-fuse exfatprogs >/dev/null 2>&1 || missing "exfat-fuse and exfatprogs are not installed"
fi
dir=$(mktemp -d)
loop=
end() {
    umount "$dir/disk" 2>/dev/null
    [ -n "$loop" ] && losetup -d "$loop"
    rm -rf "$dir"
}
trap end EXIT
trap 'exit 1' INT TERM
truncate -s 512M "$dir/image" && mkdir "$dir/disk" && mkfs.exfat "$dir/image" >/dev/null || missing "no image could be made"
loop=$(losetup -f --show "$dir/image") || missing "there is no loop device"
mount.exfat-fuse -o hard_remove "$loop" "$dir/disk" >/dev/null 2>&1 || missing "the image cannot be mounted"
tests="$dir/tests"
mkdir "$tests"
failed=0
for package in core/store core/agentmem; do
    ${GO:-go} test -c -o "$tests/$(basename $package)" "./$package" || exit 1
done
run() { (cd "$1" && MEM_CASELESS=1 TMPDIR="$dir/disk" "$tests/$(basename "$1")" -test.timeout 30m -test.run "$2") || failed=1; }
run core/store 'RenameByCase|TestCrashAtEachInstant/rename_by_letter'
run core/agentmem 'RenameByCase|ThroughAllStates|UndoOfAPull|TakeAPart'
exit $failed
