#!/usr/bin/python3 -B
"""A collector is killed while it makes a backup, before one call that changes
something after the other: what has the name of a backup is whole, with all that
belongs to it, and what is not is gone after the next start.

A sample of the calls; HSY_TEST_LONG=1: every one."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from machine import *

EVERY = 1 if os.environ.get("HSY_TEST_LONG") else 4
FILES = {"record.db", "cells.db", "shown.db", "tokens.db"}

m = Machine()
where = path("backups")
os.mkdir(where, 0o700)
c = Collector(sandbox="off", backups=where)


def backup():
    try:
        return ask(c.admin, "POST", "/v1/backup")[0]
    except (Gone, OSError):
        return None


def launched():
    c.launch(env=m.env)
    return c.until(c.ready)


def there():
    return {name: set(os.listdir(os.path.join(where, name))) for name in sorted(os.listdir(where))}


def empty():
    for name in os.listdir(where):
        shutil.rmtree(os.path.join(where, name))


def sound(name):
    return run("store", "check", os.path.join(where, name)).code == 0


m.well()
assert launched(), c.said()
assert c.upload([c.task["cells"].upload([3])])[0] == 204
first = backup()
m.count(CHANGES)
status, n = backup(), m.calls
m.well()
whole = there()
ok((first, status) == (201, 201) and len(whole) == 2 and all(files == FILES for files in whole.values()), "a backup is four files", (status, whole))
empty()

half, left, whole, killed, fates = [], [], 0, 0, list(range(n - 1, -1, -EVERY))
for at in fates:
    m.strike(KILL, at)
    backup()
    killed += c.until(lambda: c.process.poll() is not None, alive=False) if m.struck else 0
    m.well()
    for name, files in there().items():
        if not name.endswith(".draft"):
            whole += 1
            if files != FILES or not sound(name):
                half.append((at, name, files))
    if c.process is None or c.process.poll() is not None:
        c.kill()
        assert launched(), c.said()
    left += [name for name in there() if name.endswith(".draft")]
    empty()
ok(not half and killed >= len(fates) // 2, "killed at %d of %d calls: what has its name is whole (%d)" % (killed, n, whole), (half, killed, len(fates)))
ok(not left, "and what is not is gone after the next start", left)
c.stop()
done()
