#!/usr/bin/env bash
# One machine and a cluster say the same of the same uploads, with two
# PostgreSQL of its own.
set -u
program=${B:-build}/tests/unit/server/cluster/test_same
make -s CI=1 B="${B:-build}" "$program" >&2 || exit 1
exec tests/rig/postgres.py run --shards 2 -- "$program"
