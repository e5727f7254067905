#!/usr/bin/python3 -B
"""C05 and C06: the disk fills up and empties again, by calls that fail and in a
file system of 8 MiB: refused with 503 while it is full, no report lost that was
acknowledged, taken again unaided once there is room. And a sync fails: nothing
is acknowledged after that, and a new start has all that was acknowledged.

HSY_TEST_LONG=1: 1,000 rounds of filling, and each of 200 syncs."""

import os
import random
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from machine import *

LONG = bool(os.environ.get("HSY_TEST_LONG"))
ROUNDS, SYNC_POINTS = (1000, range(200)) if LONG else (20, (0, 1, 2, 3, 5, 8, 21))
WEIGHT = 1500  # reports of an upload, all of one cell of its own
m = Machine()


class Sending:
    """Uploads one after another, each a cell; which were acknowledged."""

    def __init__(self, c):
        self.c, self.next, self.acked, self.kept = c, 0, set(), {}

    def once(self):
        """(status, headers) of the next upload, or of one that was refused before."""
        if not self.kept:
            self.kept[self.next] = self.c.task["cells"].upload([self.next] * WEIGHT)
            self.next += 1
        cell, wire = next(iter(self.kept.items()))
        status, headers, body = ask(self.c.public, "POST", "/v1/uploads", wire, token=self.c.forwarder(), **{"Content-Type": "application/octet-stream"})
        if status == 204:
            self.acked.add(cell)
            del self.kept[cell]
        return status, headers

    def exact(self):
        return self.c.cells("cells") == dict.fromkeys(self.acked, WEIGHT)


def rounds(c, sending, n, fill, drain):
    """Fill and empty the disk: what was strange, how many were refused."""
    strange, refused = [], 0
    for k in range(n):
        fill()
        for _ in range(4000):
            status, headers = sending.once()
            if status != 204:
                break
        if status != 503 or not headers.get("retry-after", "").isdigit():
            strange.append("round %d: %d while it is full %s" % (k, status, headers))
        refused += status == 503
        again, tries = 0, 0  # it has given up the room that it held, for its logs; others take that too
        while again < 3 and tries < 200:
            if tries % 8 == 0:
                fill()
            again, tries = again + 1 if sending.once()[0] == 503 else 0, tries + 1
        if again < 3:
            strange.append("round %d: taken by a full disk" % k)
        drain()
        end = time.monotonic() + DEADLINE
        while sending.once()[0] != 204:
            if time.monotonic() > end:
                return strange + ["round %d: it does not resume" % k], refused
    return strange, refused


# ---- C05, by calls ----------------------------------------------------------------

c = Collector("calls", sandbox="off", checkpoint_seconds=1)
c.forwarder()
c.start(env=m.env)
sending = Sending(c)
strange, refused = rounds(c, sending, ROUNDS, lambda: m.strike(errno.ENOSPC, 0, WRITES, on=True), m.well)
ok(not strange and refused == ROUNDS, "%d times every write finds the disk full: 503 until it is not, and it goes on by itself" % ROUNDS, "\n".join(strange))
m.strike(errno.ENOSPC, 0, WRITES, on=True)
c.until(lambda: m.struck > 0)  # a checkpoint, or something else that writes without being asked
m.well()
ok(sending.once()[0] == 204 and c.process.poll() is None, "also where a checkpoint finds it full", c.said())
ok(sending.exact(), "all that was acknowledged is counted, once")
c.kill()
c.start()
ok(sending.exact(), "and is there after a kill")
c.kill()

# ---- C05, in a small file system ----------------------------------------------------

small = path("small")
os.mkdir(small)
if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m,mode=0700", "tmpfs", small], capture_output=True).returncode != 0:
    ok(True, "a real full disk # SKIP no file system may be mounted here")
else:
    filler = os.path.join(small, "filler")

    def fill():
        fd = os.open(filler, os.O_WRONLY | os.O_CREAT)
        try:
            while True:
                os.write(fd, bytes(4096))
        except OSError:
            os.close(fd)

    c = Collector("small-disk", data=os.path.join(small, "data"), checkpoint_seconds=1, tasks=cells("cells", 65536))
    try:
        c.forwarder()
        c.start()
        sending = Sending(c)
        stuck = sent = 0
        while sent < 3 << 20 and stuck < 200:  # with ids and pages more than the file system holds; nearly all is erased soon
            status = sending.once()[0]
            sent, stuck = sent + (2 * WEIGHT if status == 204 else 0), 0 if status == 204 else stuck + 1
        ok(sent >= 3 << 20, "a file system of 8 MiB does not fill for ever by what passes through it", (sent, stuck))
        ok(sending.exact(), "and all that was acknowledged is counted, once")
        strange, refused = rounds(c, sending, ROUNDS // 2, fill, lambda: os.remove(filler))
        ok(not strange and refused == ROUNDS // 2, "%d times a file system of 8 MiB is full: the same" % (ROUNDS // 2), "\n".join(strange[:5]))
        ok(sending.exact(), "all that was acknowledged is counted, once")
        fill()
        c.kill()
        reserve = os.path.join(small, "data", "reserve")
        held = os.path.getsize(reserve) if os.path.exists(reserve) else 0
        c.launch()
        c.until(lambda: "ready" in c.said() or c.process.poll() is not None)
        ok(c.process.poll() is None or held == 0 and "full" in c.said(), "started on a full disk it uses what it has reserved, or says what is wrong", (held, c.said()))
        c.kill()
        os.remove(filler)
        c.start()
        ok(sending.exact(), "and nothing is lost by that")
    finally:
        c.kill()
        subprocess.run(["umount", small])

# ---- C06 ------------------------------------------------------------------------------

wrong, ends = [], 0
for at in SYNC_POINTS:
    c = Collector("sync%d" % at, tasks=cells("cells", 65536), sandbox="off")
    c.start(env=m.env)
    acked, after, cell = set(), [], iter(range(65536))
    m.strike(errno.EIO, at, SYNCS)  # once: whoever tries it again is told that all is well

    def lines():
        try:
            line = Line(c.public)
            while True:
                k, failed = next(cell), m.struck > 0
                if line.post(c.task["cells"].upload([k]))[0] == 204:
                    acked.add(k)
                    after.extend([k] if failed else [])
        except Gone:
            pass

    threads = [threading.Thread(target=lines, daemon=True) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(DEADLINE)
    code = c.wait()
    ends += code == 1 and "failed" in c.said()
    c.start()
    got = c.cells("cells") if acked else {}
    if code != 1 or after or not m.struck or any(got.get(k) != 1 for k in acked) or any(n != 1 for n in got.values()):
        wrong.append("sync %d: exit %s, acknowledged after it: %s, acknowledged and not there: %s" % (at, code, after, [k for k in acked if got.get(k) != 1]))
    c.kill()
ok(not wrong and ends == len(SYNC_POINTS), "a sync fails: nothing is acknowledged after it, it ends and says why, and what it acknowledged is there", "\n".join(wrong) or ends)
done()
