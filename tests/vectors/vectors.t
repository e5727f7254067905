#!/usr/bin/env bash
# The committed vectors are what the independent arithmetic gives today.
set -u
. tests/tap.sh
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for tool in gen_vectors gen_special; do
    python3 "tools/$tool.py" --check >"$log" 2>&1
    ok $? "what tools/$tool.py gives is what is committed" "$log"
done
tap_done
