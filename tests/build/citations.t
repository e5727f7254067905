#!/usr/bin/env bash
# tools/lint-citations finds every citation that leads nowhere, tools/wrap-docs
# every line of a page that is too long.
set -u
. tests/tap.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/copy"
git ls-files -co --exclude-standard | grep -v '^tests/golden/.*/\|^tests/golden/[^/]*\.\(reports\|tally\|jsonl\)' | while IFS= read -r file; do
    [[ -f $file ]] && printf '%s\0' "$file"
done | xargs -0 cp --parents -t "$work/copy"
git init -q "$work/copy"

tools/lint-citations >"$work/log" 2>&1 && [[ ! -s $work/log ]]
ok $? "every citation leads somewhere" "$work/log"

# bad SENTENCE WORDS FILE TEXT: TEXT goes into a copy's FILE, WORDS must be found.
sentences=() words=()
bad() {
    sentences+=("$1") words+=("$2")
    printf '%s\n' "$4" >>"$work/copy/$3"
}
bad "a section of the theory that is not there" "no section 3.99" \
    src/lib/core/exp.c '/* theory 3.3 and 3.99 */'
bad "one over the end of a line" "no section 77" src/lib/core/exp.c $'/* as theory\n * 77 */'
bad "a rule that is not there" "no R28" src/cli/main.c '/* (R27, R28) */'
bad "a test that is not there" "no L13" tests/e2e/tour.t '# L12-L13'
bad "a key that is not there" "no Nobody99" src/lib/core/exp.c '/* [Lemire19, Nobody99] */'
bad "a document that is not in the repository" "MECHANISMS 3 is not" include/hearsay.h '/* MECHANISMS 3 */'
bad "a page that is not there" "there is no docs/nowhere.md" src/cli/main.c '/* docs/nowhere.md */'
bad "a section of a page that is not there" "docs/formats.md has no section 98" \
    src/cli/main.c '/* docs/formats.md, 98 */'
bad "a file that is not there" "there is no core/nowhere.c" src/cli/main.c '/* see core/nowhere.c */'
bad "one in a page" "there is no src/lib/mech/missing.h" docs/tour.md 'See `src/lib/mech/missing.h`.'
bad "a link to no file" "there is no docs/missing.md" docs/tour.md '[missing](missing.md)'
bad "a link to no heading" "docs/device.md has no heading #nowhere" docs/tour.md '[x](device.md#nowhere)'
bad "a link to no section" "docs/formats.md has no section 99" docs/tour.md '[x](formats.md), 99.'
(cd "$work/copy" && tools/lint-citations) >"$work/log" 2>&1
ok $((! $?)) "a copy with ${#words[@]} others is refused" "$work/log"
for i in "${!words[@]}"; do
    grep -qF "${words[i]}" "$work/log"
    ok $? "${sentences[i]}" "$work/log"
done
[[ $(wc -l <"$work/log") -eq ${#words[@]} ]]
ok $? "and nothing else" "$work/log"

tools/wrap-docs --check >"$work/log" 2>&1 && [[ ! -s $work/log ]]
ok $? "no line of a page has more than 100 columns but tables, code and links" "$work/log"
long=$(printf 'word %.0s' {1..25})
for text in "$long" "- $long" "1. one"$'\n'"   $long" "[x](y) $long"; do
    printf '%s\n' "$text" >"$work/page.md"
    ! tools/wrap-docs --check "$work/page.md" >"$work/log"
    ok $? "a long line is found" "$work/page.md"
    tools/wrap-docs "$work/page.md" && tools/wrap-docs --check "$work/page.md" >"$work/log"
    ok $? "and wrapped" "$work/log"
done
for text in "| $long |" "    $long" $'```\n'"$long"$'\n```' "[${long// /-}](device.md)" "# $long"; do
    printf '%s\n' "$text" >"$work/page.md"
    tools/wrap-docs --check "$work/page.md" >"$work/log"
    ok $? "a table, code, a link or a heading may be long" "$work/log"
done
tap_done
