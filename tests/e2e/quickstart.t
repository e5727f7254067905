#!/usr/bin/env bash
# ./quickstart shows truth beside estimate, and runs twice.
set -u
[[ ${HSY_SHORT:-} ]] && { echo "1..0 # SKIP runs the plain build"; exit 0; }
. tests/tap.sh
out=$(mktemp)
trap 'rm -f "$out"' EXIT
for round in first second; do
    ./quickstart >"$out" 2>&1 && grep -q '^  yes  *23.00%' "$out" && grep -q '^  mean ' "$out" &&
        [[ $(grep -c '\.\. ' "$out") == 8 ]]
    ok $? "the $round run answers eight questions" "$out"
done
tap_done
