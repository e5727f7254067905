#!/usr/bin/env bash
# What collectors on one database share for readers: each program again as in
# tests/unit, with a PostgreSQL of its own.
set -u
out=${B:-build}
programs=$(echo "$out"/tests/unit/server/cluster/test_{shown_keep,shown_nodes})
make -s CI=1 B="$out" $programs >&2 || exit 1
export programs
# shellcheck disable=SC2016
exec tests/rig/postgres.py run -- bash -c '
    n=0
    for program in $programs; do
        n=$((n + 1))
        if said=$("$program" 2>&1); then echo "ok $n - ${program##*/}"; else echo "$said" >&2; echo "not ok $n - ${program##*/}"; fi
    done
    echo "1..$n"'
