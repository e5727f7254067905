#!/usr/bin/env bash
# Allocations of the command fail, one in each run: it exits with 1 and a
# message, or with 0 and as much output as without the fault; no signal, and no
# file left half done. Every third allocation; HSY_TEST_LONG=1: every one.
set -u
. tests/tap.sh
hearsay=${HEARSAY:-build/hearsay}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/to"
gcc -shared -fPIC -O1 tests/fault/failing_malloc.c -o "$work/shim.so" || exit 1

seq 1 500 | awk '{print $1 % 3 ? "no" : "yes"}' >"$work/yesno"
seq 1 500 | awk '{print "v" $1 % 7}' >"$work/values"
head -10 "$work/values" >"$work/ten"
seq 0 6 | sed 's/^/v/' >"$work/list"
head -3 "$work/list" >"$work/some"
seq 0 10 >"$work/numbers"
$hearsay randomize --values-file "$work/list" --epsilon 1 --mechanism oue "$work/values" -o "$work/oue.hsy"
$hearsay randomize --values-file "$work/list" --epsilon 1 --mechanism oue --json "$work/ten" -o "$work/oue.json"
$hearsay tally "$work/oue.hsy" -o "$work/oue.tally"
$hearsay randomize --strings --epsilon 2 "$work/values" | $hearsay tally -o "$work/strings.tally"
$hearsay randomize --strings --epsilon 4 --mechanism rappor --simulate --seed 1 "$work/values" | $hearsay tally --round 0:0 -o "$work/rappor.tally"
rappor=tests/e2e/rappor
cat >"$work/tasks.yaml" <<'YAML'
version: 1
tasks:
  - {id: a, source: a, question: A?, values: [x, y], epsilon: 1, permanent: {epsilon: 2}, start: 2026-01-01, end: 2026-01-14}
  - {id: b, source: b, question: B?, values-file: list, epsilon: 1, start: 2026-01-01, end: 2026-01-14}
YAML
$hearsay tasks keygen -o "$work/k"
$hearsay tasks compile "$work/tasks.yaml" --key "$work/k.secret" -o "$work/document" 2>"$work/warnings" || cat "$work/warnings" >&2

cat >"$work/device.yaml" <<'YAML'
version: 1
expires: 2099-12-31
tasks:
  - {id: a, source: a, question: A?, values: [x, y], epsilon: 1, permanent: {epsilon: 2}, start: 2026-01-01, end: 2099-12-31}
  - {id: b, source: b, question: B?, strings: true, epsilon: 1, start: 2026-01-01, end: 2099-12-31}
YAML
$hearsay tasks compile "$work/device.yaml" --key "$work/k.secret" -o "$work/device.signed"
$hearsay device init "$work/device" --document "$work/device.signed" --public-key "$work/k.public" >"$work/log" &&
    $hearsay device consent "$work/device" send >"$work/log" || { cat "$work/log"; exit 1; }

points=0
faults() { # STEP SENTENCE ARGUMENTS...; OUT stands for the output file
    local step=$1 sentence=$2 n=0 runs=0 wrong
    shift 2
    rm -f "$work"/to/*
    read -r n runs wrong < <(HSY_FAIL_IN="$work" HSY_FAIL_EACH="$step" LD_PRELOAD="$work/shim.so" \
        "$hearsay" "${@/OUT/$work/to/out}" 2>&1)
    points=$((points + runs))
    { echo "$wrong"; cat "$work/stderr"; } >"$work/log"
    [[ -z $wrong && $runs -gt 0 && $runs == $(((n + step - 1) / step)) ]]
    ok $? "$sentence of $n allocations failing" "$work/log"
}
each=3
[[ -z ${HSY_TEST_LONG:-} ]] || each=1
scenario() { faults $each "$1 survives one in $each" "${@:2}"; } # NAME ARGUMENTS...
late() { HSY_FAIL_LATE=1 "$@"; }                      # of a long run that writes only at its end

scenario "randomize yes/no" randomize --yes-no --epsilon 1 "$work/yesno" -o OUT
scenario "randomize a file of values" randomize --values-file "$work/list" --epsilon 1 "$work/values" -o OUT
scenario "randomize listed values" randomize --values v0,v1,v2,v3,v4,v5,v6 --epsilon 1 "$work/values" -o OUT
scenario "randomize with others" randomize --values v0,v1 --other --epsilon 1 "$work/values" -o OUT
scenario "randomize strings" randomize --strings --epsilon 1 "$work/values" -o OUT
scenario "randomize JSON" randomize --values-file "$work/list" --epsilon 1 --mechanism grr --json "$work/ten" -o OUT
scenario "randomize a number" randomize --range 0:10 --epsilon 1 "$work/numbers" -o OUT
scenario "randomize bins" randomize --range 0:10 --bins 4 --epsilon 1 "$work/numbers" -o OUT
scenario "release values" release --values-file "$work/list" --epsilon 1 "$work/values" -o OUT
scenario "release a mean" release --range 0:10 --neighbours add-remove --epsilon 1 "$work/numbers" -o OUT
scenario "tally a stream" tally "$work/oue.hsy" -o OUT
scenario "tally JSON" tally "$work/oue.json" -o OUT
scenario "merge tallies" tally "$work/oue.tally" "$work/oue.tally" -o OUT
$hearsay randomize --strings --mechanism pem --set bits=16 --set pool-bits=4 --epsilon 4 "$work/values" -o "$work/pem.reports"
scenario "discover" discover show "$work/pem.reports"
$hearsay randomize --strings --mechanism sfp --set bits=16 --set fragment-bits=8 --set piece-bits=2 --set hashes=2 --set width=16 --epsilon 8 "$work/values" -o "$work/sfp.reports"
scenario "discover, a puzzle" discover show "$work/sfp.reports"
scenario "plan a discovery" discover plan --epsilon 1 --frequency 0.1 --set bits=16
scenario "begin in batches" discover start --bits 16 --epsilon 4 --source s --question q --from 2026-11-16 -o OUT
scenario "plan in batches" discover plan --batches --bits 8 --step 4 --epsilon 1 --frequency 0.1 --top 2
$hearsay discover start --bits 16 --epsilon 4 --source s --question q --from 2026-11-16 -o "$work/stage.yaml"
$hearsay randomize --task "$work/stage.yaml:words" "$work/ten" -o "$work/stage.reports"
scenario "discover a stage" discover show "$work/stage.reports"
faults $((2 * each + 1)) "the next stage survives one in $((2 * each + 1))" discover next "$work/stage.reports" --task "$work/stage.yaml:words" --top 2
scenario "estimate" estimate "$work/oue.tally"
scenario "estimate as JSON, post-processed" estimate "$work/oue.tally" --post norm-sub --format json
scenario "estimate a difference" estimate "$work/oue.tally" --against "$work/oue.tally" --format csv
scenario "estimate strings" estimate "$work/strings.tally" --candidates "$work/list"
scenario "estimate some of a list" estimate "$work/oue.tally" --candidates "$work/some"
scenario "decode a tally" estimate "$work/rappor.tally" --candidates "$work/list" --format csv
scenario "decode RAPPOR's files" estimate --rappor "$rappor/decode_params.csv" --map "$rappor/decode_map.csv" "$rappor/decode_counts.csv"
scenario "associate RAPPOR's reports" estimate --associate --rappor "$rappor/pair_params.csv" --map "pet=$rappor/pair_map.csv" "$rappor/pair_reports.csv"
# libyaml allocates for every token.
faults $((2 * each + 1)) "tasks check survives one in $((2 * each + 1))" tasks check "$work/tasks.yaml"
faults $((2 * each + 1)) "tasks compile survives one in $((2 * each + 1))" tasks compile "$work/tasks.yaml" --key "$work/k.secret" -o OUT
scenario "tasks show" tasks show "$work/document" --key "$work/k.public"
scenario "randomize a task" randomize --task "$work/document:b" "$work/values" -o OUT
scenario "mechanisms" mechanisms --epsilon 1 --domain 100
scenario "audit" audit --yes-no --epsilon 1 --samples 1000
scenario "simulate averaging" simulate attack averaging --days 3 --devices 2 --plot OUT
scenario "simulate change" simulate attack change --days 4 --devices 4 --plot OUT
scenario "simulate fingerprint" simulate attack fingerprint --devices 20 --plot OUT
scenario "simulate drift" simulate attack drift --days 5 --devices 50 --plot OUT
small=(--data uniform --users 200 --epsilon 4 --runs 2 --threads 2)
scenario "simulate a study" simulate study "${small[@]}" --domain 4 --mechanism grr,olh
prefixes=(simulate discover pem "${small[@]}" --domain 16 --bits 8 --step 4 --top 2)
scenario "simulate a discovery" "${prefixes[@]}" --pool-bits 4
scenario "simulate one in batches" "${prefixes[@]}" --interactive
printf 'ab\nba\naa\n' >"$work/words"
scenario "simulate a puzzle" simulate discover sfp --words "$work/words" "${small[@]}" --alphabet a-b --top 2 --set bits=4 --set hashes=4 --set width=16
scenario "survey" survey --spinner 0.7 --answers examples/answers.csv --column answer --group region --weight weight --plot OUT
scenario "survey by a matrix" survey --matrix examples/channel.csv --counts 5,3,2 --plot OUT
# One audit after the other; a prime step meets each of them elsewhere.
late faults 17 "audit --all survives one in 17" audit --all --epsilon 1 --samples 1000
scenario "device answer" device answer "$work/device" a x
scenario "device budget" device budget "$work/device"
scenario "device tasks" device tasks "$work/device" --format csv
scenario "device log" device log "$work/device" --format json
scenario "device pack" device pack "$work/device" -o OUT
echo "# $points failures injected"
tap_done
