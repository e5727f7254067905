#!/usr/bin/python3 -B
"""make_store.py DIRECTORY - a collector's data of this version, for ever: every
table has rows, some reports are folded and some are not. Made once by
`hearsay serve`; tests/e2e/store.t opens it."""

import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from collector import *

tasks = cells("cells", 40) + task("crash", "yes-no: true; epsilon: 1; repeat: daily") + task("page", "strings: true; epsilon: 2; mechanism: cms; repeat: daily")
c = Collector(tasks=tasks, checkpoint_seconds=1, estimate_seconds=1).start()
for value in range(30):
    c.upload([c.task["cells"].upload([value], epoch=DAY - value % 3)])
assert c.bring([c.task["crash"].upload([1, 0, 1, 1])])[0] == 204
assert c.upload([c.task["crash"].upload([0], null=True)])[0] == 204
ask(c.admin, "POST", "/v1/tasks/cells/tally", c.get("/v1/tasks/cells/tally")[1])
c.cells("cells")
time.sleep(3)  # a checkpoint, and a figure of the day
c.upload([c.task["cells"].upload([value]) for value in range(10, 20)])
c.kill()
must("store", "check", c.data)  # the logs become part of the databases
os.makedirs(sys.argv[1])
for name in ("record.db", "cells.db"):
    shutil.copy(os.path.join(c.data, name), sys.argv[1])
must("store", "export", c.data, "--tallies", sys.argv[1])
