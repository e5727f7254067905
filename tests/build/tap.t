#!/usr/bin/env bash
# tap.h tells of a failure where it is, and what was got and wanted.
set -u
. tests/tap.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=${B:-build}
cat >"$work/fails.c" <<'C'
#include "tap.h"
#define EIGHT 8
static unsigned asked;
static unsigned next(void) { return ++asked; }
int main(void)
{
    const char *msg = NULL;
    unsigned n = 7;
    ok(n == EIGHT && n < 9, "%u is eight", n);
    is_u64(next(), 2, "u64");
    is_int(-(int)n, 7, "int");
    is_status(HSY_E_RANGE, HSY_OK, "status");
    is_text(msg, "none", "text");
    is_text("one", "two", "text again");
    is_bytes("abc", "abd", 3, "bytes");
    near(0.5, 0.75, 0.125, "near");
    near(0.0 / (asked - 1), 1, 1e300, "a NaN is near nothing");
    ok(eq_u64(next(), 2) && eq_text("here", "there"), "compound");
    ok(eq_u64(n, 1) || eq_int(n, 2), "either");
    ok(!eq_u64(n, 8), "a difference that is wanted");
    ok(n == 1, "nothing of the last comparison");
    is_u64(n, 7, "u64"); is_int(7, n, "int"); is_status(HSY_OK, HSY_OK, "status");
    is_text("a", "a", "text"); is_text(NULL, NULL, "no text"); is_bytes("ab", "ac", 1, "bytes");
    near(1, 2, 1, "near");
    tap_skip("why");
    is_u64(asked, 2, "arguments are taken once");
    return tap_done();
}
C
cat >"$work/want" <<'WANT'
not ok 1 - 7 is eight
# at fails.c:9
#   n == EIGHT && n < 9
not ok 2 - u64
# at fails.c:10
#   next(): got 1, want 2
not ok 3 - int
# at fails.c:11
#   -(int)n: got -7, want 7
not ok 4 - status
# at fails.c:12
#   HSY_E_RANGE: got 1 (out of range), want 0 (done)
not ok 5 - text
# at fails.c:13
#   msg: got "(null)", want "none"
not ok 6 - text again
# at fails.c:14
#   "one": got "one", want "two"
not ok 7 - bytes
# at fails.c:15
#   "abc": byte 2 of 3: got 0x63, want 0x64
not ok 8 - near
# at fails.c:16
#   0.5: got 0.5, want 0.75 within 0.125
not ok 9 - a NaN is near nothing
# at fails.c:17
#   0.0 / (asked - 1): got -nan, want 1 within 1e+300
not ok 10 - compound
# at fails.c:18
#   eq_u64(next(), 2) && eq_text("here", "there")
#   "here": got "here", want "there"
not ok 11 - either
# at fails.c:19
#   eq_u64(n, 1) || eq_int(n, 2)
#   n: got 7, want 1
#   n: got 7, want 2
ok 12 - a difference that is wanted
not ok 13 - nothing of the last comparison
# at fails.c:21
#   n == 1
ok 14 - u64
ok 15 - int
ok 16 - status
ok 17 - text
ok 18 - no text
ok 19 - bytes
ok 20 - near
ok 21 # SKIP why
ok 22 - arguments are taken once
1..22
WANT
gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -DHSY_UNSTABLE -Iinclude -Itests "-ffile-prefix-map=$work/=" "$work/fails.c" tests/tap.c "$out/libhearsay.a" \
    -lm -o "$work/fails" >"$work/log" 2>&1
ok $? "tests compile with it, without warnings" "$work/log"
"$work/fails" >"$work/got" 2>&1
[[ $? == 1 ]]
ok $? "a program with a failure fails" "$work/got"
diff "$work/want" "$work/got" >"$work/log"
ok $? "a failure says file and line, condition, got and want; a success says nothing more" "$work/log"
"$work/fails" 2>/dev/null | grep -q '^#'
[[ $? == 1 ]]
ok $? "all of which is on standard error, where prove shows it"
tap_done
