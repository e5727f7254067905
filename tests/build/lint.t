#!/usr/bin/env bash
# The rules of the house hold: layers, freestanding objects, no floating point
# between truth and report, exported symbols, format, man pages.
found=$(tools/lint "${B:-build}" 2>&1)
if [[ -z $found ]]; then
    echo "ok 1 - no rule is broken"
else
    echo "not ok 1 - no rule is broken"
    sed 's/^/# /' <<<"$found"
fi
echo 1..1
