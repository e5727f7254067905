#!/usr/bin/env bash
# The library in one file compiles without warnings and passes the unit tests.
set -u
. tests/tap.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

make -s amalgamation B="$work" >"$work/log" 2>&1
ok $? "make amalgamation" "$work/log"
for cc in gcc clang-14; do
    $cc -std=c11 -O2 -Wall -Wextra -Werror -c "$work/amalgamation/hearsay.c" -o "$work/$cc.o" >"$work/log" 2>&1
    ok $? "hearsay.c compiles with $cc and nothing else" "$work/log"
done
[[ -e $work/gcc.o ]] || { tap_done; exit 1; }
flags=(-std=c11 -O1 -Iinclude -Itests)
for room in src/*; do flags+=("-I$room"); done
for source in tests/unit/test_*.c; do
    name=$(basename "$source" .c)
    # Of the host only entropy.c is in the library, of the rooms above nothing.
    gcc "${flags[@]}" -MM "$source" | grep -oE '(src/(host|compat|plot|sim|cli)|include)/[a-z_]*\.h' |
        grep -qvE '/(entropy|hearsay)\.h' && continue
    gcc "${flags[@]}" "$source" "$work/gcc.o" -lgmp -lm -o "$work/$name" >"$work/all" 2>&1 &&
        "$work/$name" >>"$work/all" 2>&1
    status=$?
    grep -v '^ok' "$work/all" >"$work/log"
    ok $status "$name passes with the amalgamation" "$work/log"
done
tap_done
