#!/usr/bin/env bash
# The library in one file compiles without warnings and passes the unit tests.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0
result() { # STATUS SENTENCE
    count=$((count + 1))
    if [[ $1 == 0 ]]; then echo "ok $count - $2"; else echo "not ok $count - $2"; fi
}

make -s amalgamation B="$work" >"$work/log" 2>&1
result $? "make amalgamation"
for cc in gcc clang-14; do
    $cc -std=c11 -O2 -Wall -Wextra -Werror -c "$work/amalgamation/hearsay.c" -o "$work/$cc.o" >"$work/log" 2>&1
    result $? "hearsay.c compiles with $cc and nothing else"
    sed 's/^/# /' "$work/log"
done
[[ -e $work/gcc.o ]] || { echo "1..$count"; exit 1; }
for source in tests/unit/test_*.c; do
    name=$(basename "$source" .c)
    grep -qE '"(container|output|files)\.h"' "$source" && continue # host, not library
    gcc -std=c11 -O1 -Iinclude -Itests -Isrc/core -Isrc/mech -Isrc/infer -Isrc/host "$source" \
        "$work/gcc.o" -lgmp -lm -o "$work/$name" >"$work/log" 2>&1 && "$work/$name" >>"$work/log" 2>&1
    status=$?
    result $status "$name passes with the amalgamation"
    [[ $status == 0 ]] || grep -v '^ok' "$work/log" | head -5 | sed 's/^/# /'
done
echo "1..$count"
