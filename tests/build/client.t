#!/usr/bin/env bash
# The client alone fits a small device: 68 KiB of object code with any
# compiler (docs/embedding.md has the sizes measured), nothing missing.
set -u
. tests/tap.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/log

make -s client CI=1 B="$work" >"$log" 2>&1
ok $? "make client" "$log"
object=$work/hearsay-client.o
[[ -e $object ]] || { tap_done; exit 1; }
bytes=$(size "$object" | awk 'NR == 2 {print $1 + $2 + $3}')
echo "# $bytes bytes of code, constants and data"
((bytes <= 68 * 1024))
ok $? "the client takes at most 68 KiB"
nm -u "$object" | awk '{print $2}' | grep -vxE '(__)?(memcpy|memset|memmove|memcmp|strlen)(_chk)?|_GLOBAL_OFFSET_TABLE_|__u?(div|mod)ti3|__popcountdi2' >"$log"
[[ ! -s $log ]]
ok $? "it needs nothing but five functions of the C library and the compiler's own" "$log"
size -A "$object" | awk '/^\.(data|bss|tdata|tbss)/ && $1 !~ /rel.ro/ && $2 > 0' >"$log"
[[ ! -s $log ]]
ok $? "it has no mutable data" "$log"
# The tests make documents, which a device does not: that part comes from the
# whole library, after the client.
library=${B:-build}/libhearsay.a
make -s CI=1 B="${B:-build}" "$library" >"$log" 2>&1
gcc -std=c11 -Wall -Wextra -Werror -DHSY_UNSTABLE -Iinclude -Itests -Isrc tests/unit/lib/device/test_device.c \
    $(tools/pick behind tests/unit/lib/device/test_device.c) \
    "$object" -Wl,--allow-multiple-definition "$library" -lm -o "$work/test_device" >>"$log" 2>&1 &&
    "$work/test_device" >"$log" 2>&1
status=$?
grep -v '^ok' "$log" >"$work/short"
ok $status "a device lives its life with the client alone" "$work/short"
tap_done
