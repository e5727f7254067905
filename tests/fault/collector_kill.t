#!/usr/bin/python3 -B
"""C01: a collector is killed at random moments, under load, over and over. Every
report has a cell of its own, so that each count must be 0 or 1 in the end: 1 if
it was ever acknowledged, at most 1 if it was not. Some devices try again after
the crash with the same bytes, some never do.

HSY_TEST_CYCLES=10000 for more kills (`make crash`), HSY_TEST_SEED for the same
moments again."""

import os
import random
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from collector import *

CYCLES = int(os.environ.get("HSY_TEST_CYCLES") or 300)
SEED = int(os.environ.get("HSY_TEST_SEED") or 1)
SENDERS = 4
LONG_EVERY = 30  # such a cycle lasts until tallies are being written
EACH = 800  # reports of a cycle at most
CELLS = CYCLES * EACH


class Sender(threading.Thread):
    """Devices that send one after another, in requests of a few uploads."""

    def __init__(self, load, seed):
        super().__init__(daemon=True)
        self.load, self.rng, self.line, self.seen = load, random.Random(seed), None, None
        self.again = []  # a request that was not answered

    def request(self):
        if self.again:
            return self.again
        return [(cell, self.load.task.upload([cell])) for cell in self.load.take(self.rng.randint(1, 6))]

    def once(self, address):
        uploads = self.request()
        if not uploads:  # others took the last
            return True
        try:
            if self.seen != address:
                self.line, self.seen = Line(address), address
            status, _, body = self.line.post(b"".join(wire for _, wire in uploads))
        except Gone:
            self.seen = None
            # Half of those that got no answer give up.
            self.again = uploads if self.rng.random() < 0.5 else []
            self.load.retries += bool(self.again)
            return False
        self.again = []
        if status == 204:
            self.load.acked.update(cell for cell, _ in uploads)
        else:
            self.load.strange.append((status, body))
        return True

    def run(self):
        while not self.load.over:
            address = self.load.address
            if address is None or not self.load.left():
                time.sleep(0.001)
            elif not self.once(address):
                time.sleep(0.002)
            elif self.load.slow:
                time.sleep(0.02)


class Load:
    def __init__(self, task_, cells_):
        self.task, self.next, self.cells, self.limit, self.slow = task_, 0, cells_, 0, False
        self.lock = threading.Lock()
        self.acked, self.strange, self.retries = set(), [], 0
        self.address, self.over = None, False
        self.senders = [Sender(self, SEED * 1000 + i) for i in range(SENDERS)]
        for s in self.senders:
            s.start()

    def take(self, n):
        with self.lock:
            first = self.next
            self.next = min(self.limit, first + n)
            return range(first, self.next)

    def left(self):
        return self.next < self.limit

    def open(self, address, slow):
        self.slow, self.limit, self.address = slow, min(self.cells, self.next + EACH), address

    def close(self):
        self.address, self.limit = None, self.next

    def end(self):
        self.over = True
        for s in self.senders:
            s.join()


def wrong_cells(cells_, load):
    lost = sum(cells_.get(cell) != 1 for cell in load.acked)
    doubled = sum(n != 1 for n in cells_.values())
    made_up = sum(cell >= load.next for cell in cells_)
    return lost, doubled, made_up


rng = random.Random(SEED)
c = Collector(tasks=cells("cells", CELLS), checkpoint_seconds=1)
load = Load(c.task["cells"], CELLS)
busy = 0  # cycles in which something was acknowledged
for cycle in range(CYCLES):
    c.start()
    slow, before = cycle % LONG_EVERY == LONG_EVERY - 1, len(load.acked)
    goal = before + rng.randint(0, EACH // 3)
    load.open(c.public, slow)
    if slow:
        time.sleep(rng.uniform(0.9, 1.2))
    elif not c.until(lambda: len(load.acked) >= goal):
        raise SystemExit("Bail out! it does not answer: " + c.said())
    else:
        time.sleep(rng.uniform(0, 0.003))
    c.kill()
    load.close()
    busy += len(load.acked) > before

# Those that still wait for an answer get one, and no new ones come.
c.start()
load.end()
for s in load.senders:
    while s.again:
        s.once(c.public)
got = c.cells("cells")
lost, doubled, made_up = wrong_cells(got, load)
print("# %d kills, seed %d: %d reports, %d acknowledged, %d requests sent again; lost %d, doubled %d" % (
    CYCLES, SEED, load.next, len(load.acked), load.retries, lost, doubled))
ok(not load.strange, "no request of theirs is ever refused", load.strange[:3])
ok(lost == 0, "%d kills: of the reports that were acknowledged none is lost" % CYCLES, lost)
ok(doubled == 0 and made_up == 0, "and no report is counted twice", (doubled, made_up))
ok(len(load.acked) > CYCLES and load.retries > CYCLES // 10 and busy > CYCLES // 3,
   "control: there was load to lose, and requests that were cut off", (len(load.acked), load.retries, busy))
ok(len(load.acked) <= sum(got.values()) <= load.next, "what was not acknowledged is counted once or not at all")
_, row = c.get("/v1/tasks/cells")
ok(row["reports"] == sum(got.values()), "the counts by day agree with the cells", row["days"])
ok(c.stop() == 0, "it stops on request", c.said())
r = run("store", "check", c.data)
ok(r.code == 0, "its store is sound", r)
c.start()
ok(c.cells("cells") == got, "and opened again it has counted the same")
c.stop()
done()
