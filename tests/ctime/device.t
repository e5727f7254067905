#!/usr/bin/env bash
# Constant time of a device's answer: under valgrind no branch and no address
# depends on a truth, whether it lies in the domain included, nor on what is
# made from the key. CTIME_FULL=1 adds -O1 and -O3.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
B=${B:-build}

watch() { # watch PROGRAM MODE: 0 clean, 9 reported
    valgrind -q --error-exitcode=9 --num-callers=8 --read-inline-info=yes \
        --suppressions=tests/ctime/domain.supp "$1" "$2" >"$log" 2>&1
}

one() { # one COMPILER LEVEL
    local variant="" program
    [[ $1 == gcc ]] || variant=$1
    [[ $2 == -O2 ]] || variant+=$2
    program=$B/ctime${variant:+/$variant}/tests/ctime/poison_device
    CFLAGS=$([[ $1 == gcc ]] || echo -gdwarf-4) CPPFLAGS=-DHSY_CTIME \
        flock "$B/ctime.lock" make -s B="$B/ctime" CC="$1" OPT="$2" "$program" >"$log" 2>&1
    ok $? "$1 $2 builds" "$log"
    watch "$program" truth
    ok $? "$1 $2: nothing depends on a truth" "$log"
    watch "$program" key
    ok $? "$1 $2: nor on the key and its coins" "$log"
    watch "$program" branch
    [[ $? == 9 ]]
    ok $? "$1 $2, control: a look at what is written is reported"
}

mkdir -p "$B" # ctime.t builds there, too: one at a time
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! command -v valgrind >/dev/null; then
    echo "1..0 # SKIP valgrind is not installed"
    exit 0
fi
for compiler in gcc clang; do
    one "$compiler" -O2
    [[ ${CTIME_FULL:-} == 1 ]] || continue
    for level in -O1 -O3; do one "$compiler" "$level"; done
done
tap_done
