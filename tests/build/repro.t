#!/usr/bin/env bash
# One source, one toolchain: the same bits, whatever the directory, the umask,
# the locale and the day.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/a" "$work/b/deeper and wider"
copy() { git ls-files -co --exclude-standard -z | xargs -0 cp --parents -t "$1"; }
copy "$work/a"
copy "$work/b/deeper and wider"
(cd "$work/a" && umask 022 && make -s -j2 all >log 2>&1)
(cd "$work/b/deeper and wider" && umask 077 && LC_ALL=C TZ=Asia/Tokyo make -s all >log 2>&1)
count=0
for file in hearsay libhearsay.a "libhearsay.so.$(sed -n 's/^.define HSY_ABI \([0-9]*\).*/\1/p' include/hearsay.h)"; do
    count=$((count + 1))
    if cmp "$work/a/build/$file" "$work/b/deeper and wider/build/$file" >"$work/log" 2>&1; then
        echo "ok $count - two builds of $file have the same bits"
    else
        echo "not ok $count - two builds of $file have the same bits"
        sed 's/^/# /' "$work/log"
    fi
done
harden=$(readelf -hldW "$work/a/build/hearsay")
for want in 'DYN:position independent' 'GNU_RELRO:relocations read-only' 'NOW:bound at start' \
    'GNU_STACK.* RW :stack not executable'; do
    count=$((count + 1))
    if grep -q -- "${want%%:*}" <<<"$harden"; then echo "ok $count - the command is hardened: ${want#*:}"
    else echo "not ok $count - the command is hardened: ${want#*:}"; fi
done
echo "1..$count"
