#!/usr/bin/env bash
# Every allocation of the command fails once: exit 1 with a message (or 0 where
# it can do without), no signal, and an output file that is whole or absent.
set -u
hearsay=${HEARSAY:-build/hearsay}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gcc -shared -fPIC -O1 tests/fault/failing_malloc.c -o "$work/shim.so" || exit 1

seq 1 500 | awk '{print $1 % 3 ? "no" : "yes"}' >"$work/yesno"
seq 1 500 | awk '{print "v" $1 % 7}' >"$work/values"
seq 0 6 | sed 's/^/v/' >"$work/list"
$hearsay randomize --values-file "$work/list" --epsilon 1 --mechanism oue "$work/values" -o "$work/oue.hsy"
$hearsay randomize --values-file "$work/list" --epsilon 1 --mechanism oue --json "$work/values" -o "$work/oue.json"
$hearsay tally "$work/oue.hsy" -o "$work/oue.tally"
$hearsay randomize --strings --epsilon 2 "$work/values" | $hearsay tally -o "$work/strings.tally"

count=0
points=0
scenario() { # NAME ARGUMENTS...; OUT stands for the output file
    local name=$1 n k status bad=""
    shift
    local args=("${@/OUT/$work/out}")
    rm -f "$work/out"
    HSY_COUNT_TO=$work/n LD_PRELOAD=$work/shim.so "$hearsay" "${args[@]}" >"$work/stdout" 2>"$work/stderr"
    status=$?
    n=$(cat "$work/n")
    [[ $status == 0 && $n -gt 0 ]] || bad="fails without a fault ($status)"
    for ((k = 1; k <= n && k <= 400; k++)); do
        rm -f "$work/out"
        HSY_FAIL_AT=$k LD_PRELOAD=$work/shim.so "$hearsay" "${args[@]}" >"$work/stdout" 2>"$work/stderr"
        status=$?
        points=$((points + 1))
        [[ $status == 0 || $status == 1 ]] || bad="allocation $k of $n: exit $status"
        [[ $status == 0 || -s $work/stderr ]] || bad="allocation $k of $n: silent"
        [[ $status == 0 || ! -e $work/out ]] || bad="allocation $k of $n: failed but wrote"
        [[ -z $(find "$work" -name '*.tmp*' -o -name '.out*') ]] || bad="allocation $k of $n: left a temporary file"
        [[ -z $bad ]] || break
    done
    count=$((count + 1))
    if [[ -z $bad ]]; then echo "ok $count - $name survives each of $n allocations failing"
    else
        echo "not ok $count - $name survives each of $n allocations failing"
        echo "# $bad"
        head -3 "$work/stderr" | sed 's/^/# /'
    fi
}
scenario "randomize yes/no" randomize --yes-no --epsilon 1 "$work/yesno" -o OUT
scenario "randomize values" randomize --values-file "$work/list" --epsilon 1 "$work/values" -o OUT
scenario "randomize JSON" randomize --values-file "$work/list" --epsilon 1 --json "$work/values" -o OUT
scenario "randomize a number" randomize --range 0:10 --epsilon 1 <(seq 1 9) -o OUT
scenario "tally a stream" tally "$work/oue.hsy" -o OUT
scenario "tally JSON" tally "$work/oue.json" -o OUT
scenario "merge tallies" tally "$work/oue.tally" "$work/oue.tally" -o OUT
scenario "estimate" estimate "$work/oue.tally"
scenario "estimate as JSON, post-processed" estimate "$work/oue.tally" --post norm-sub --format json
scenario "estimate a difference" estimate "$work/oue.tally" --against "$work/oue.tally" --format csv
scenario "estimate candidates" estimate "$work/strings.tally" --candidates "$work/list"
scenario "mechanisms" mechanisms --epsilon 1 --domain 100
scenario "audit" audit --yes-no --epsilon 1 --samples 1000
echo "# $points failures injected"
echo "1..$count"
