#!/usr/bin/env bash
# One source, one toolchain: the same bits, whatever the directory, the umask,
# the locale and the day. Two builds are long: 'make repro'.
set -u
[[ -n ${HSY_TEST_LONG:-} ]] || { echo "1..0 # SKIP with HSY_TEST_LONG=1: make repro"; exit 0; }
. tests/tap.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=${B:-build}
place="$work/deeper and wider"
mkdir -p "$place"
git ls-files -co --exclude-standard -z | xargs -0 cp --parents -t "$place"
make -s CI=1 B="$out" all >"$work/log" 2>&1
ok $? "a build here" "$work/log"
(cd "$place" && umask 077 && LC_ALL=C TZ=Asia/Tokyo make -s CI=1 B=build all >"$work/log" 2>&1)
ok $? "and one elsewhere" "$work/log"
abi=$(sed -n 's/^.define HSY_ABI \([0-9]*\).*/\1/p' include/hearsay/base.h)
for file in hearsay libhearsay{,-host}.{a,so."$abi"}; do
    cmp "$out/$file" "$place/build/$file" >"$work/log" 2>&1
    ok $? "two builds of $file have the same bits" "$work/log"
done
harden=$(readelf -hldW "$out/hearsay")
for want in 'DYN:position independent' 'GNU_RELRO:relocations read-only' 'NOW:bound at start' \
    'GNU_STACK.* RW :stack not executable'; do
    grep -q -- "${want%%:*}" <<<"$harden"
    ok $? "the command is hardened: ${want#*:}"
done
tap_done
