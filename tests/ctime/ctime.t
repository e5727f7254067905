#!/usr/bin/env bash
# Constant time: under valgrind no branch and no address depends on a truth or
# a coin, for every mechanism and every kernel that valgrind can run.
# CTIME_FULL=1 adds -O1 and -O3.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
n=0

ok() { # ok STATUS SENTENCE
    n=$((n + 1))
    if [[ $1 == 0 ]]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi
}

watch() { # watch PROGRAM MODE [SUPPRESSIONS]: 0 clean, 9 reported
    local program=$1 mode=$2
    shift 2
    valgrind -q --error-exitcode=9 --num-callers=8 --read-inline-info=yes \
        "${@/#/--suppressions=tests/ctime/}" "$program" "$mode" \
        >"$log" 2>&1
}

show() { sed 's/^/# /' "$log" | head -40; }

# Valgrind 3.19 reads clang's debug information up to version 4 only, so what
# clang builds is kept apart.
build() { # build COMPILER LEVEL: sets program
    local base=$B variant=""
    [[ $1 == gcc ]] || { variant=$1 base=$B/ctime; }
    [[ $2 == -O2 ]] || variant+=$2
    program=$base${variant:+/$variant}/tests/ctime/poison
    CFLAGS=$([[ $1 == gcc ]] || echo -gdwarf-4) \
        make -s B="$base" CC="$1" OPT="$2" "$program" >"$log" 2>&1
}

one() { # one COMPILER LEVEL
    local program
    build "$1" "$2"
    ok $? "$1 $2 builds"
    watch "$program" truth domain.supp
    ok $? "$1 $2: nothing depends on a truth"
    show
    watch "$program" coins domain.supp rejection.supp
    ok $? "$1 $2: nothing depends on a coin but what is drawn anew"
    show
    watch "$program" branch
    [[ $? == 9 ]]
    ok $? "$1 $2, control: a branch on a truth is reported"
    watch "$program" index
    [[ $? == 9 ]]
    ok $? "$1 $2, control: a table indexed by a secret is reported"
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! command -v valgrind >/dev/null; then
    echo "1..0 # SKIP valgrind is not installed"
    exit 0
fi
for compiler in gcc clang-14; do
    one "$compiler" -O2
    [[ ${CTIME_FULL:-} == 1 ]] || continue
    for level in -O1 -O3; do one "$compiler" "$level"; done
done
echo "1..$n"
