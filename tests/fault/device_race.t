#!/usr/bin/env bash
# L06 and L07: processes that race for one device, and forked ones. The sizes
# are what fits; HSY_TEST_LONG=1 takes the long ones, 8 times 10^4 debits.
set -u
out=${B:-build}
shared=/dev/shm # a device syncs a lot; but nothing may be run there, in places
[[ -w $shared ]] || shared=/tmp
work=$(mktemp -d) devices=$(mktemp -d "$shared/hearsay-race-XXXXXX")
trap 'rm -rf "$work" "$devices"' EXIT
gcc -std=c11 -O1 -Wall -Wextra -Werror -DHSY_UNSTABLE -Iinclude -Itests tests/fault/race_device.c tests/tap.c "$out/libhearsay-host.a" "$out/libhearsay.a" \
    -lyaml -lsodium -lnettle -lm -o "$work/race" || exit 1
debits=2500
[[ -z ${HSY_TEST_LONG:-} ]] || debits=10000
"$work/race" "$devices" 8 "$debits" 10000
