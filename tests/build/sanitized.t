#!/usr/bin/env bash
# The promises to users hold under AddressSanitizer and UBSan, and every fuzz
# corpus replays without a finding. HSY_TEST_LONG=1: also the scripts that compute
# and parse what sanitized unit tests and corpora do, and unit tests that ./check
# runs without sanitizers only.
set -u
. tests/tap.sh
out=${B:-build}/clang-address-undefined
make -s -j2 CI=1 B="${B:-build}" CC=clang SAN=address,undefined all replays >/dev/null || exit 1
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# These run other programs than the command, wait more than they run, or compute what the unit tests compute.
plain="postgres kubernetes load_cluster balance load bench recorded readme dashboard watch readers
    cluster_check cluster_commits cluster_connect cluster_same cluster_watch cluster_tls cluster_shards cluster_tokens
    study simulate poisoning same rehearsal attendance sfp discover audit survey release choosing spelling pipeline
    runbook run_shuffler help"
[[ -n ${HSY_TEST_LONG:-} ]] || plain+=" account attributes column deltas digests formats lines merge openapi
    pages plan progress runs words worth"
long=${HSY_TEST_LONG:+$(tools/tests long)}
unset HSY_TEST_LONG # the tests themselves stay short
[[ -z $long ]] || make -s -j2 CI=1 B="${B:-build}" CC=clang SAN=address,undefined $long >/dev/null || exit 1
for test in $long; do
    "$test" >"$work/all" 2>&1
    ok $? "$test" "$work/all"
done
plain=" $(echo $plain) "
for test in tests/e2e/*.t; do
    name=$(basename "$test" .t)
    [[ $plain == *" $name "* ]] && continue
    HEARSAY=$out/hearsay HSY_SHORT=1 "$test" >"$work/all" 2>&1 && ! grep -q '^not ok' "$work/all"
    status=$?
    grep -v '^ok' "$work/all" >"$work/log"
    ok $status "$test, sanitized" "$work/log"
done
for replay in "$out"/tests/fuzz/fuzz_*; do
    name=$(basename "$replay")
    "$replay" "tests/fuzz/corpus/${name#fuzz_}" >"$work/all" 2>&1
    status=$?
    tail -20 "$work/all" >"$work/log"
    ok $status "$name replays its corpus" "$work/log"
done
tap_done
