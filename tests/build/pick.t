#!/usr/bin/env bash
# tools/pick finds the tests of a name and of a change, and what each is linked
# with: what `make t=NAME`, `make quick` and the tests' programs stand on.
set -u
. tests/tap.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/copy"
find include src tests tools/layers tools/pick -name '*.[cht]' -o -path 'tools/*' | grep -v node_modules | xargs cp -p --parents -t "$work/copy"
cd "$work/copy" || exit 1
log=$work/log

[[ $(tools/pick name rr) == tests/unit/lib/mech/test_rr.c ]]
ok $? "a test by its name"
tools/pick name store | tr '\n' ' ' >"$log"
[[ $(<"$log") == "tests/e2e/store.t tests/unit/server/store/test_store.c " ]]
ok $? "all tests of a name, programs and scripts" "$log"
! tools/pick name watermark_of_nothing >"$log" 2>&1 && ! tools/pick name tokns >>"$log" 2>&1 && grep -q 'no test is named tokns: tokens' "$log"
ok $? "of a name that no test has, those that are near" "$log"

tools/pick links >"$work/links"
for test in $(find tests -path 'tests/*/test_*.c'); do
    grep -q "^\$(OUT)/${test%.c}: .*\$(ROOM_lib)$" "$work/links" || echo "$test"
done >"$log"
[[ ! -s $log ]]
ok $? "every test is linked with the library, last" "$log"
grep -E '^\$\(OUT\)/tests/(unit/lib|exact)/' "$work/links" | grep -E 'ROOM_(host|server|sim|cli)' >"$log"
[[ ! -s $log ]]
ok $? "unit and exact tests of the library with nothing above it" "$log"
grep -E '^\$\(OUT\)/tests/unit/server/' "$work/links" | grep -E 'ROOM_(sim|cli)' >"$log"
[[ ! -s $log ]] && grep -q '^$(OUT)/tests/unit/server/http/test_listen: .*$(ROOM_server) $(ROOM_host) $(ROOM_lib)$' "$work/links"
ok $? "those of the server with what it may see" "$log"
grep '^$(OUT)/tests/attack/test_zoo_device: ' "$work/links" >"$log"
grep -q zoo/check_then_debit.o "$log" && ! grep -qE 'zoo/(ack_before_sync|libc_rand).o' "$log"
ok $? "one that catches bugs of the zoo with those of the header it includes" "$log"
grep '^ALONE' "$work/links" | tr ' ' '\n' | grep -E '^tests' >"$log"
grep -qx tests/unit/lib/mech/test_rr "$log" && ! grep -qvE '^tests/unit/lib/(kernels|core|scheme|family|mech|device)/' "$log"
ok $? "those that need libc alone are known" "$log"

# changed SENTENCE WANTED NOT COMMAND...: after COMMAND, a test of the first
# pattern is chosen, and none of the second.
changed() {
    local sentence=$1 wanted=$2 not=$3
    tools/pick now >"$work/then"
    shift 3
    "$@"
    tools/pick changed "$work/then" >"$log" 2>"$work/said"
    grep -qE "$wanted" "$log" && ! grep -qE "$not" "$log"
    ok $? "$sentence" "$log"
}
changed "of a mechanism: its module's unit tests, the exact tests of mechanisms" unit/lib/mech/test_rr 'server|transcripts|lib/core' touch src/lib/mech/rr.c
grep -q exact/test_certificate "$log" && [[ ! -s $work/said ]]
ok $? "and nothing is left out" "$work/said"
changed "of the device: exact tests that stand on it" exact/test_transcripts 'certificate|mech' touch src/lib/device/state.c
changed "of the store: its unit tests" unit/server/store/test_store '/exact/|engine' touch src/server/store/store.c
changed "of a test: itself" unit/server/store/test_runs '/exact/|test_store' touch tests/unit/server/store/test_runs.c
changed "of a file that is gone" unit/lib/mech/test_rr server rm src/lib/mech/rr.c
changed "of a header: the same" unit/lib/core/test_prob server touch src/lib/core/prob.h
grep -q 'a header changed; left out are [0-9]* more tests that include it, of .*unit/lib' "$work/said"
ok $? "and it says what it leaves out" "$work/said"
changed "a file of no unit test" '' . touch src/cli/main.c
grep -q 'src/cli/main.c: no unit or exact test is of it' "$work/said"
ok $? "is named" "$work/said"
changed "of nothing: nothing" '' . true
grep -q 'nothing changed' "$work/said"
ok $? "which it says" "$work/said"
rm "$work/then"
tools/pick changed "$work/then" 2>"$work/said" | grep -c test_ >"$log"
grep -q 'all unit and exact' "$work/said" && (($(<"$log") > 120))
ok $? "and all of them where nothing is known yet" "$work/said"
tap_done
