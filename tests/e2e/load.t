#!/usr/bin/python3 -B
"""The load of `make load` in its smallest size: not how fast, but that every
upload that wrk saw acknowledged is counted, and no other."""

from e2e import *

script = os.path.join(ROOT, "tests", "load", "load.py")
r = subprocess.run([script, "--seconds", "1", "--runs", "1", "--connections", "8", "--bits", "12", "--envelopes", "500", "--only", "single", "batches", "relay", "sealed", "shuffle", "open"], capture_output=True, text=True, timeout=600,
                   env={**os.environ, "HEARSAY": HEARSAY})
ok(r.returncode == 0, "nothing is lost, nothing is doubled", r.stdout + r.stderr)
for figure in ("single: ratio to nginx", "batches:", "relay: ratio", "sealed:", "shuffle:", "open:", "memory:"):
    ok(figure in r.stdout, "it says: " + figure, r.stdout)
done()
