#!/usr/bin/env bash
# The collector's engine when memory fails, at every allocation.
set -u
out=${B:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make -s CI=1 B="$out" "$out/obj/src/server.a" "$out"/libhearsay{-host,}.a || exit 1
gcc -std=c11 -O1 -Wall -Wextra -Werror -DHSY_UNSTABLE -Iinclude -Itests -Isrc tests/fault/engine_memory.c \
    $(tools/pick behind tests/fault/engine_memory.c) "$out/obj/src/server.a" \
    "$out"/libhearsay{-host,}.a -lsqlite3 -ljansson -lsodium -lnettle -lm -pthread -o "$work/memory" || exit 1
"$work/memory"
