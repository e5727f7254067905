#!/usr/bin/python3 -B
"""A collector is stopped under load, again and again, and copied under load: what
it acknowledged is counted once, after every stop and in every copy that was
begun later, and nothing is counted twice in either."""

import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from collector import *

ROUNDS, SENDERS = 5, 6
backups = path("backups")
os.mkdir(backups, 0o700)
c = Collector(tasks=cells("cells", 1 << 18), checkpoint_seconds=1, backups=backups)
lock, next_cell, acked, strange = threading.Lock(), iter(range(1 << 18)), set(), []
over = False


def sender():
    """Until its connection ends. What was sent and got no answer is left."""
    try:
        line = Line(c.public)
        while not over:
            with lock:
                cell = next(next_cell)
            status, _, body = line.post(c.task["cells"].upload([cell]))
            if status == 204:
                acked.add(cell)
            elif status != 503:
                strange.append((status, body))
    except Gone:
        pass


def senders():
    threads = [threading.Thread(target=sender, daemon=True) for _ in range(SENDERS)]
    for t in threads:
        t.start()
    return threads


def busy(more):
    """Wait until so many more are acknowledged."""
    goal = len(acked) + more
    return c.until(lambda: len(acked) >= goal)


codes, lost = [], []
for _ in range(ROUNDS):
    c.start()
    threads = senders()
    busy(200)
    codes.append(c.stop())
    for t in threads:
        t.join(DEADLINE)
c.start()
got = c.cells("cells")
ok(codes == [0] * ROUNDS and not strange, "stopped under load %d times: it ends, and refuses nothing but for now" % ROUNDS, (codes, strange[:3]))
ok(all(got.get(cell) == 1 for cell in acked), "all that was acknowledged is counted", [cell for cell in acked if got.get(cell) != 1][:5])
ok(set(got.values()) == {1}, "and nothing twice")

# A copy under load, opened as a store of its own.
threads = senders()
for k in range(2):
    busy(300)
    before = set(acked)
    status, _, body = ask(c.admin, "POST", "/v1/backup", b"")
    ok(status == 201, "a copy is made under load", (status, body))
    busy(100)
over = True
for t in threads:
    t.join(DEADLINE)
made = os.path.join(backups, json.loads(body)["directory"])
ok(len(os.listdir(backups)) == 2 and os.path.isdir(made), "the copies are there", os.listdir(backups))
c.stop()
copy = Collector("copy", tasks=cells("cells", 1 << 18), data=made)
shutil.copy(c.config["document"], copy.config["document"])
shutil.copy(c.config["public_key"], copy.config["public_key"])
copy.start()
got = copy.cells("cells")
missing = [cell for cell in before if got.get(cell) != 1]
ok(not missing and set(got.values()) == {1}, "what was acknowledged before is in the copy, once", missing[:5])
wire = copy.task["cells"].upload([7])
ok([copy.upload([wire])[0], copy.upload([wire])[0]] == [204, 204] and copy.cells("cells").get(7, 0) == got.get(7, 0) + 1, "and the copy counts on")
copy.stop()
r = run("store", "check", made)
ok(r.code == 0, "its store is sound", r)
done()
