#!/usr/bin/env bash
# The collector's engine when memory fails, at every allocation.
set -u
out=${B:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2086
gcc -std=c11 -O1 -Wall -Wextra -Werror -Iinclude -Itests -Isrc tests/fault/engine_memory.c "$out/obj/rooms.a" "$out/libhearsay.a" \
    -ljansson -lm -pthread -o "$work/memory" || exit 1
"$work/memory"
