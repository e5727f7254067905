#!/usr/bin/env bash
# The promises to users hold under AddressSanitizer and UBSan, and every fuzz
# corpus replays without a finding.
set -u
out=${B:-build}/clang-14-address-undefined
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1
count=0
result() { # STATUS SENTENCE
    count=$((count + 1))
    if [[ $1 == 0 ]]; then echo "ok $count - $2"; else echo "not ok $count - $2"; fi
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for test in tests/e2e/*.t; do
    HEARSAY=$out/hearsay HSY_SHORT=1 "$test" >"$log" 2>&1 && ! grep -q '^not ok' "$log"
    status=$?
    result $status "$test, sanitized"
    [[ $status == 0 ]] || grep -v '^ok' "$log" | head -20 | sed 's/^/# /'
done
for replay in "$out"/tests/fuzz/fuzz_*; do
    name=$(basename "$replay")
    "$replay" "tests/fuzz/corpus/${name#fuzz_}" >"$log" 2>&1
    status=$?
    result $status "$name replays its corpus"
    [[ $status == 0 ]] || tail -20 "$log" | sed 's/^/# /'
done
echo "1..$count"
