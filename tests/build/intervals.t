#!/usr/bin/env bash
# tools/lint-intervals finds every interval that is printed and not measured, or
# measured and not in docs/accuracy.md.
set -u
. tests/tap.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
files=$(git ls-files -co --exclude-standard src include tests/stat docs/accuracy.md tools/lint-intervals)

# notices SENTENCE WORDS COMMAND...: in a copy where COMMAND changed something,
# the lint fails with these words.
notices() {
    local place=$work/copy sentence=$1 words=$2
    shift 2
    rm -rf "$place" && mkdir "$place"
    xargs cp --parents -t "$place" <<<"$files"
    (cd "$place" && "$@" && ! tools/lint-intervals >"$work/log" && grep -qF "$words" "$work/log")
    ok $? "$sentence" "$work/log"
}
unrow() { sed -i '/^| share\/grr |/d' docs/accuracy.md; }
unkind() { sed -i 's|"share/grr", POINT|"share/grrr", POINT|' tests/stat/test_coverage.c; }
surface() { printf 'const char *const more_low = "low";\n' >src/cli/more_show.c; }
member() { printf 'const char *const more_low = "share_low";\n' >src/server/collector/more_show.c; }
maker() { printf 'HSY_API void hsy_more(double x, hsy_estimate *est);\n' >>include/hearsay/estimate.h; }
mechanism() { printf '%s\n' 'MECHANISM(more, 31, "more", "", "one more")' >>src/lib/mech/mechanisms.def; }
word() { sed -i 's/^    "auto",  "wald",/    "auto",  "more",/' src/host/analysis/cells.c; }

tools/lint-intervals >"$work/log" 2>&1 && [[ ! -s $work/log ]]
ok $? "every interval that is printed is measured, and stands in the page" "$work/log"
notices "a kind without a row in the page" "no row for share/grr" unrow
notices "a row without a kind" "a row for share/grr, which" unkind
notices "a column of the command that nobody listed" "src/cli/more_show.c prints intervals" surface
notices "a member of the collector's answers" "src/server/collector/more_show.c prints intervals" member
notices "a function of the library that makes intervals" "hsy_more of hearsay.h" maker
notices "a mechanism" "the mechanism more" mechanism
notices "a word for an interval" "said to be more" word
tap_done
