#!/usr/bin/env bash
# tools/new-mechanism writes what compiles, and tests that fail until it is
# filled in.
set -u
. tests/tap.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/log
library=$PWD/${B:-build}/libhearsay.a
make -s CI=1 B="${B:-build}" "${B:-build}/libhearsay.a" >"$log" 2>&1
ok $? "the library is there" "$log"
mkdir "$work/copy"
git ls-files -co --exclude-standard include src docs README.md tests tools | grep -v '^tests/\(e2e\|golden\|vectors\|fuzz\)/' |
    xargs cp --parents -t "$work/copy"
cd "$work/copy" || exit 1

tools/new-mechanism grr >"$log" 2>&1 || tools/new-mechanism krr >>"$log" 2>&1 || tools/new-mechanism Not-A-Name >>"$log" 2>&1
(($? != 0)) && [[ $(grep -c 'not the name of another' "$log") == 3 ]]
ok $? "a name that is taken, by a mechanism or as an alias, or is none, is refused" "$log"
tools/new-mechanism fresh >"$log" 2>&1
ok $? "tools/new-mechanism fresh" "$log"
! tools/new-mechanism fresh >"$log" 2>&1
ok $? "a second time it is refused" "$log"
grep -q '^MECHANISM(fresh, [0-9]*, "fresh"' src/lib/mech/mechanisms.def && [[ $(grep -c '"fresh"' tests/rig/examples.c tests/stat/test_grid.c |
    grep -c ':1$') == 2 ]] && grep -q '"share/fresh"' tests/stat/test_coverage.c && grep -q fresh.md docs/mechanisms/index.md
ok $? "it stands in every list" src/lib/mech/mechanisms.def
# Only what is to be filled in is complained of.
! tools/mechanism-pages --check >"$log" 2>&1
[[ $(sort "$log") == "docs/mechanisms/fresh.md: TODO
docs/mechanisms/index.md: TODO" ]]
ok $? "tools/lint asks for its page" "$log"

flags=(-std=c11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -DHSY_UNSTABLE -Iinclude -Isrc -Itests)
gcc "${flags[@]}" -c src/lib/mech/fresh.c -o fresh.o >"$log" 2>&1 && gcc "${flags[@]}" -c src/lib/mech/table.c -o table.o >>"$log" 2>&1
ok $? "it compiles without a warning" "$log"
for test in tests/unit/lib/mech/test_fresh.c tests/exact/test_law_fresh.c; do
    gcc "${flags[@]}" -D_GNU_SOURCE "$test" $(tools/pick behind "$test") fresh.o table.o -Wl,--allow-multiple-definition "$library" -lgmp -lm \
        -o program >"$log" 2>&1
    ok $? "$test compiles and links" "$log"
    ./program >"$log" 2>&1
    (($? != 0)) && grep -qE '^(not ok|Bail out)' "$log"
    ok $? "and fails" "$log"
done
gcc "${flags[@]}" -D_GNU_SOURCE -fsyntax-only tests/stat/test_grid.c tests/stat/test_coverage.c tests/rig/examples.c >"$log" 2>&1
ok $? "the lists that it is in compile" "$log"
tap_done
