#!/usr/bin/python3 -B
"""Another program opens the databases of a running collector and closes them
again: a shell of SQLite, a backup. Whoever closes a database last removes its
log; that must never be the stranger, or what is acknowledged after it is lost.
Somebody copies its files one after the other: what the copy lacks is found.
Somebody removes `lock`, and starts a second collector: it must not count beside
the first."""

import os
import shutil
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from collector import *

FILES = ("record.db", "cells.db")


def look(c):
    for name in FILES:
        db = sqlite3.connect(os.path.join(c.data, name))
        db.execute("SELECT count(*) FROM meta").fetchall()
        db.close()


def counted(c, value):
    return c.upload([c.task["cells"].upload([value])])[0] == 204


c = Collector("stranger", checkpoint_seconds=1)
for start in ("a new store", "one that is opened again"):
    c.start()
    first = 1 if start == "a new store" else 3
    good = counted(c, first)
    look(c)
    ok(good and all(os.path.exists(os.path.join(c.data, name + "-wal")) for name in FILES),
       "%s: the logs stay when a stranger closes its databases" % start)
    ok(counted(c, first + 1), "and uploads are acknowledged after it")
    c.kill()
c.start()
ok(c.cells("cells") == {1: 1, 2: 1, 3: 1, 4: 1}, "everything acknowledged is there after a kill")

def moved():
    """record.db-wal is empty: all of it is in record.db, and what is allocated ahead reads as zeros"""
    with open(os.path.join(c.data, "record.db-wal"), "rb") as log:
        return not any(log.read(32))


assert counted(c, 99) and c.until(moved)
for k, files in enumerate((("last", "record.db", "cells.db"), ("record.db", "cells.db"))):
    copied = path("copy%d" % k)
    os.mkdir(copied, 0o700)
    # No checkpoint moves what is committed after a reader's snapshot, so record.db lacks these uploads when it is copied.
    reader = sqlite3.connect(os.path.join(c.data, "record.db"), isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM meta").fetchall()
    for value in range(100 * k + 100, 100 * k + 110):
        assert counted(c, value)
    for name in files:
        shutil.copy(os.path.join(c.data, name), copied)
    reader.close()
    assert counted(c, 100 * k + 110) and c.until(moved)
    for name in os.listdir(c.data):
        if name not in files:
            shutil.copy(os.path.join(c.data, name), copied)
    r = run("store", "check", copied)
    ok(r.code == 1 and "last: acknowledged reports are missing" in r.err, "a copy by cp that lacks acknowledged reports is found: %s first" % files[0], r)

os.unlink(os.path.join(c.data, "lock"))
r = run("store", "check", c.data)
ok(r.code == 1 and "another process serves this data" in r.err, "without `lock` the data is still one collector's", r)
ok(counted(c, 5), "which goes on")
with sqlite3.connect(os.path.join(c.data, "record.db"), timeout=DEADLINE) as db:  # as one that got past every lock
    db.execute("UPDATE meta SET turn = turn + 1")
db.close()
try:
    answer = c.upload([c.task["cells"].upload([6])])[0]
except Gone:
    answer = None
ok(answer != 204, "over another's commit it acknowledges nothing", answer)
code = c.wait()
ok(code == 1 and "another process has written to this data" in c.said(), "and ends, saying why", (code, c.said()[-500:]))
done()
