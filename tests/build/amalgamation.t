#!/usr/bin/env bash
# The library in one file compiles without warnings and passes the unit tests.
set -u
. tests/tap.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

make -s amalgamation B="$work" >"$work/log" 2>&1
ok $? "make amalgamation" "$work/log"
for cc in gcc clang; do
    $cc -std=c11 -O2 -Wall -Wextra -Werror -c "$work/amalgamation/hearsay.c" -o "$work/$cc.o" >"$work/log" 2>&1
    ok $? "hearsay.c compiles with $cc and nothing else" "$work/log"
done
[[ -e $work/gcc.o ]] || { tap_done; exit 1; }
out=${B:-build}
mapfile -t sources < <(find tests/unit -name 'test_*.c' | sort)
objects=("${sources[@]/#/$out/obj/}")
objects=("${objects[@]/%.c/.o}")
rigs=("$out/obj/tests/tap.o" "$out/obj/tests/rig.a")
make -s CI=1 B="$out" "${objects[@]}" "${rigs[@]}" >"$work/log" 2>&1
ok $? "the objects of the unit tests are there" "$work/log"
for object in "${objects[@]}"; do
    name=$(basename "$object" .o)
    # Nothing above src/lib is in the library.
    grep -oE '(src/(host|server|sim|audit|bench|cli)|include)/[a-z0-9_/]*\.h' "${object%.o}.d" |
        grep -qvE '^include/hearsay(/(account|advanced|base|central|device|discover|estimate|format|rappor|scheme|survey))?\.h$' && continue
    gcc "$object" "${rigs[@]}" "$work/gcc.o" -lgmp -lm -o "$work/$name" >"$work/all" 2>&1 &&
        "$work/$name" >>"$work/all" 2>&1
    status=$?
    grep -v '^ok' "$work/all" >"$work/log"
    ok $status "$name passes with the amalgamation" "$work/log"
done
tap_done
