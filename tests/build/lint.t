#!/usr/bin/env bash
# The rules of the house hold: layers, freestanding objects, no floating point
# between truth and report, exported symbols, format, man pages.
. tests/tap.sh
log=$(mktemp)
trap 'rm -f "$log"' EXIT
tools/lint "${B:-build}" >"$log" 2>&1 && [[ ! -s $log ]]
ok $? "no rule is broken" "$log"
tap_done
