#!/usr/bin/python3 -B
"""The load of `make load-cluster` in its smallest size: not how fast, but that every
upload that wrk saw acknowledged is counted, and no other. tests/fault kills."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "rig"))
from e2e import *
import postgres

if postgres.why_not():
    skip_all(postgres.why_not())
if not os.environ.get("HSY_TEST_LONG"):
    skip_all("with HSY_TEST_LONG=1")
script = os.path.join(ROOT, "tests", "load", "load_cluster.py")
r = subprocess.run([script, "--seconds", "1", "--runs", "1", "--connections", "8", "--ids", "1000", "--only", "uploads", "ids", "drop"], capture_output=True, text=True, timeout=600,
                   env={**os.environ, "HEARSAY": HEARSAY})
ok(r.returncode == 0, "nothing is lost, nothing is doubled", r.stdout + r.stderr)
for figure in ("1 node: ", "2 nodes, standby: ", "ids: ", "drop: "):
    ok("\n" + figure in r.stdout, "it says: " + figure, r.stdout)
done()
