#!/usr/bin/env bash
# ./quickstart shows truth beside estimate, and runs twice.
set -u
[[ ${HSY_SHORT:-} ]] && { echo "1..0 # SKIP runs the plain build"; exit 0; }
out=$(mktemp)
trap 'rm -f "$out"' EXIT
count=0
for round in first second; do
    ./quickstart >"$out" 2>&1
    status=$?
    count=$((count + 1))
    if [[ $status == 0 ]] && grep -q '^  yes  *23.00%' "$out" && grep -q '^  mean ' "$out" &&
        [[ $(grep -c '\.\. ' "$out") == 8 ]]
    then echo "ok $count - the $round run answers eight questions"
    else
        echo "not ok $count - the $round run answers eight questions"
        sed 's/^/# /' "$out"
    fi
done
echo "1..$count"
