#!/usr/bin/env bash
# The kernel's random source fails at its first, second, third and fourth call:
# exit 1 with a message, no output file, and nothing on standard output that
# could be taken for reports.
set -u
. tests/tap.sh
hearsay=${HEARSAY:-build/hearsay}
last=3 # calls from 0 that fail in turn
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/to"
gcc -shared -fPIC -O1 tests/fault/failing_getrandom.c -o "$work/shim.so" || exit 1
seq 1 100000 | awk '{print $1 % 3 ? "no" : "yes"}' >"$work/yes-no"
seq 1 100000 | awk '{print "v" $1 % 7}' >"$work/values"
seq 1 100000 | awk '{print $1 % 11}' >"$work/number"

shim() { # VARIABLE=VALUE ARGUMENTS...: sets status
    rm -rf "$work/to"
    mkdir "$work/to"
    env "$1" LD_PRELOAD="$work/shim.so" "$hearsay" randomize --epsilon 1 "${@:2}" >"$work/stdout" 2>"$work/stderr"
    status=$?
}

judge() { # says what is wrong
    if [[ $status != 1 ]]; then echo "exit $status"
    elif [[ ! -s $work/stderr ]]; then echo "silent"
    elif [[ -n $(ls -A "$work/to") ]]; then echo "left $(ls -A "$work/to")"
    elif "$hearsay" tally "$work/stdout" -o "$work/tally" 2>"$work/why"; then echo "what was written passes for a stream"
    fi
}

faults() { # MECHANISM TRUTHS KIND...
    local mechanism=$1 truths=$2 k wrong="" status
    local args=("${@:3}" --mechanism "$mechanism" "$truths")
    shim HSY_COUNT_TO="$work/n" "${args[@]}" -o "$work/to/out"
    [[ $status == 0 && -s $work/to/out ]] || wrong="fails without a fault: exit $status"
    (($(cat "$work/n") > last)) || wrong="asks the kernel only $(cat "$work/n") times"
    for ((k = 0; k <= last; k++)); do
        shim HSY_FAIL_AT=$k "${args[@]}" -o "$work/to/out"
        [[ -n $wrong ]] || wrong=$(judge)
        [[ ! -s $work/stdout ]] || wrong="writes elsewhere"
        shim HSY_FAIL_AT=$k "${args[@]}"
        [[ -n $wrong ]] || wrong=$(judge)
    done
    { echo "$wrong"; cat "$work/stderr"; } >"$work/log"
    [[ -z $wrong ]]
    ok $? "$mechanism: no output where one of the first calls of the random source fails" "$work/log"
}

faults rr "$work/yes-no" --yes-no
faults grr "$work/values" --values v0,v1,v2,v3,v4,v5,v6
faults oue "$work/values" --values v0,v1,v2,v3,v4,v5,v6
faults olh "$work/values" --strings
faults onebit "$work/number" --range 0:10

# A release draws its noise at the end, when all truths are counted.
LD_PRELOAD="$work/shim.so" HSY_COUNT_TO="$work/n" "$hearsay" release --yes-no --epsilon 1 "$work/yes-no" -o "$work/to/out" 2>"$work/log"
[[ -s $work/to/out && $(cat "$work/n") -gt 0 ]]
ok $? "control: a release asks the kernel" "$work/log"
n=$(cat "$work/n")
rm -f "$work/to/out"
LD_PRELOAD="$work/shim.so" HSY_FAIL_AT=$((n - 1)) "$hearsay" release --yes-no --epsilon 1 "$work/yes-no" -o "$work/to/out" 2>"$work/log" >"$work/stdout"
[[ $? == 1 && -z $(ls -A "$work/to") && ! -s $work/stdout ]] && grep -q "nothing is released" "$work/log"
ok $? "release: nothing where the random source fails" "$work/log"
tap_done
