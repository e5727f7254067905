#!/usr/bin/env bash
# Constant time: under valgrind no branch and no address depends on a truth, a
# string's length included, or a coin, for every mechanism and every kernel that
# valgrind can run.
# CTIME_FULL=1 adds -O1 and -O3.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
B=${B:-build}

watch() { # watch PROGRAM MODE [SUPPRESSIONS]: 0 clean, 9 reported
    local program=$1 mode=$2
    shift 2
    valgrind -q --error-exitcode=9 --num-callers=8 --read-inline-info=yes \
        "${@/#/--suppressions=tests/ctime/}" "$program" "$mode" \
        >"$log" 2>&1
}

# With HSY_CTIME the library tells valgrind which bits made from coins may show
# (ct_public in ct.h); what is built so is kept apart. Valgrind 3.19 reads
# clang's debug information up to version 4 only.
build() { # build COMPILER LEVEL: sets program and text
    local variant=""
    [[ $1 == gcc ]] || variant=$1
    [[ $2 == -O2 ]] || variant+=$2
    program=$B/ctime${variant:+/$variant}/tests/ctime/poison
    text=${program}_text
    CFLAGS=$([[ $1 == gcc ]] || echo -gdwarf-4) CPPFLAGS=-DHSY_CTIME \
        flock "$B/ctime.lock" make -s B="$B/ctime" CC="$1" OPT="$2" "$program" "$text" >"$log" 2>&1
}

one() { # one COMPILER LEVEL
    local program text
    build "$1" "$2"
    ok $? "$1 $2 builds" "$log"
    watch "$program" truth domain.supp
    ok $? "$1 $2: nothing depends on a truth" "$log"
    watch "$program" coins domain.supp
    ok $? "$1 $2: nothing depends on a coin but what is drawn anew" "$log"
    watch "$text" text
    ok $? "$1 $2: nothing depends on which value a text is" "$log"
    watch "$text" control
    [[ $? == 9 ]]
    ok $? "$1 $2, control: a branch on that value is reported"
    watch "$program" branch
    [[ $? == 9 ]]
    ok $? "$1 $2, control: a branch on a truth is reported"
    watch "$program" length domain.supp
    [[ $? == 9 ]]
    ok $? "$1 $2, control: a string's length shows unless its room is stated"
    watch "$program" index
    [[ $? == 9 ]]
    ok $? "$1 $2, control: a table indexed by a secret is reported"
    watch "$program" blanket
    [[ $? == 9 ]]
    ok $? "$1 $2, control: a branch on the coin beside the redraw is reported"
}

mkdir -p "$B" # device.t builds there, too: one at a time
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! command -v valgrind >/dev/null; then
    echo "1..0 # SKIP valgrind is not installed"
    exit 0
fi
make -s B="$B" "$B/tests/ctime/poison" >"$log" 2>&1 &&
    watch "$B/tests/ctime/poison" truth domain.supp
ok $? "as it is shipped: nothing depends on a truth" "$log"
for compiler in gcc clang; do
    one "$compiler" -O2
    [[ ${CTIME_FULL:-} == 1 ]] || continue
    for level in -O1 -O3; do one "$compiler" "$level"; done
done
tap_done
