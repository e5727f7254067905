#!/usr/bin/env bash
# One source, one toolchain: the same bits, whatever the directory, the umask,
# the locale and the day.
set -u
. tests/tap.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/a" "$work/b/deeper and wider"
copy() { git ls-files -co --exclude-standard -z | xargs -0 cp --parents -t "$1"; }
copy "$work/a"
copy "$work/b/deeper and wider"
(cd "$work/a" && umask 022 && make -s -j2 all >log 2>&1)
(cd "$work/b/deeper and wider" && umask 077 && LC_ALL=C TZ=Asia/Tokyo make -s all >log 2>&1)
for file in hearsay libhearsay.a "libhearsay.so.$(sed -n 's/^.define HSY_ABI \([0-9]*\).*/\1/p' include/hearsay.h)"; do
    cmp "$work/a/build/$file" "$work/b/deeper and wider/build/$file" >"$work/log" 2>&1
    ok $? "two builds of $file have the same bits" "$work/log"
done
harden=$(readelf -hldW "$work/a/build/hearsay")
for want in 'DYN:position independent' 'GNU_RELRO:relocations read-only' 'NOW:bound at start' \
    'GNU_STACK.* RW :stack not executable'; do
    grep -q -- "${want%%:*}" <<<"$harden"
    ok $? "the command is hardened: ${want#*:}"
done
tap_done
