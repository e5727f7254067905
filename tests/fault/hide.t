#!/usr/bin/env bash
# A process that holds truths leaves no core file and cannot be read by a
# debugger; where the system refuses that, nothing is read and nothing written.
set -u
. tests/tap.sh
hearsay=${HEARSAY:-build/hearsay}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gcc -shared -fPIC -O1 tests/fault/failing_hide.c -o "$work/shim.so" || exit 1

run() { # CALL: the one that is refused
    echo yes | HSY_FAIL=$1 LD_PRELOAD="$work/shim.so" \
        "$hearsay" randomize --yes-no --epsilon 1 -o "$work/out" 2>"$work/stderr"
}

run none && [[ -s $work/out ]]
ok $? "control: nothing is refused, and reports are written" "$work/stderr"
rm -f "$work/out"
for call in prctl setrlimit; do
    run "$call"
    [[ $? == 1 && ! -e $work/out ]] && grep -q "Operation not permitted" "$work/stderr"
    ok $? "$call is refused: no reports" "$work/stderr"
    echo yes | HSY_FAIL=$call LD_PRELOAD="$work/shim.so" "$hearsay" release --yes-no --epsilon 1 -o "$work/out" 2>"$work/stderr"
    [[ $? == 1 && ! -e $work/out ]] && grep -q "Operation not permitted" "$work/stderr"
    ok $? "... no release either" "$work/stderr"
    echo yes | HSY_FAIL=$call LD_PRELOAD="$work/shim.so" "$hearsay" device answer "$work/device" task 2>"$work/stderr"
    [[ $? == 1 ]] && grep -q "Operation not permitted" "$work/stderr"
    ok $? "... and a device does not even read the truth" "$work/stderr"
done
tap_done
