#!/usr/bin/env bash
# The library in one file compiles without warnings and passes unit tests: the
# first of each folder; HSY_TEST_LONG=1: all of them.
set -u
. tests/tap.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

make -s amalgamation B="$work" >"$work/log" 2>&1
ok $? "make amalgamation" "$work/log"
for cc in "gcc -O1 -c -o $work/gcc.o" "clang -fsyntax-only"; do
    $cc -std=c11 -Wall -Wextra -Werror "$work/amalgamation/hearsay.c" >"$work/log" 2>&1
    ok $? "hearsay.c compiles with ${cc%% *} and nothing else" "$work/log"
done
[[ -e $work/gcc.o ]] || { tap_done; exit 1; }
out=${B:-build}
mapfile -t sources < <(find tests/unit/lib -name 'test_*.c' | sort)
[[ -n ${HSY_TEST_LONG:-} ]] || mapfile -t sources < <(printf '%s\n' "${sources[@]}" | sort -t/ -u -k4,4)
objects=("${sources[@]/#/$out/obj/}")
objects=("${objects[@]/%.c/.o}")
rigs=("$out/obj/tests/tap.o" "$out/obj/tests/rig.a")
make -s CI=1 B="$out" "${objects[@]}" "${rigs[@]}" >"$work/log" 2>&1
ok $? "the objects of the unit tests are there" "$work/log"
for object in "${objects[@]}"; do
    name=$(basename "$object" .o)
    # Nothing above src/lib is in the library.
    grep -oE '(src/(host|server|sim|audit|cli)|include)/[a-z0-9_/]*\.h' "${object%.o}.d" |
        grep -qvE '^include/hearsay(/(account|advanced|base|central|device|discover|estimate|format|rappor|scheme|survey))?\.h$' && continue
    gcc "$object" "${rigs[@]}" "$work/gcc.o" -lgmp -lm -o "$work/$name" >"$work/all" 2>&1 &&
        "$work/$name" >>"$work/all" 2>&1
    status=$?
    grep -v '^ok' "$work/all" >"$work/log"
    ok $status "$name passes with the amalgamation" "$work/log"
done
tap_done
