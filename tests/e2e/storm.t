#!/usr/bin/python3 -B
"""C07: every report is sent one to ten times, over 16 connections at once: each
is counted once. C11: the collector reads its configuration again and again under
load, every second one broken: no upload fails, and what it had stays in force.

HSY_TEST_LONG=1: 10^6 reports, 10^4 reloads."""

import random
import threading

from collector import *

LONG = bool(os.environ.get("HSY_TEST_LONG"))
REPORTS, RELOADS = (1000000, 10000) if LONG else (2000, 20) if SHORT else (10000, 200)
CELLS = 1 << (20 if LONG else 14)  # more than there are reports; a collector that is stopped ends the estimate it is at, of all of them
LINES = 16
rng = random.Random(7)
c = Collector(ids_epoch=400000000, tasks=cells("cells", CELLS) + TASKS.replace("id: cells", "id: others"))
t = c.task["cells"]
c.start()

# ---- C07 ----------------------------------------------------------------------------

wires = [t.upload([cell], null=cell % 100 == 7) for cell in range(REPORTS)]
sends = [cell for cell in range(REPORTS) for _ in range(rng.randint(1, 10))]
rng.shuffle(sends)


def request():
    """The next few of them."""
    n = rng.randint(1, 20)
    body = b"".join(wires[cell] for cell in sends[-n:])
    del sends[-n:]
    return body


lines_ = [Line(c.public) for _ in range(LINES)]
HEAD = "POST /v1/uploads HTTP/1.1\r\nHost: x\r\nContent-Type: application/octet-stream\r\nContent-Length: %d\r\n\r\n"
strange, requests = [], 0
while sends:
    some = [(line, request()) for line in lines_ if sends]
    requests += len(some)
    for line, body in some:
        line.send((HEAD % len(body)).encode() + body)
    strange += [(status, answer) for status, _, answer in (line.answer() for line, _ in some) if status != 204]
ok(not strange, "%d requests over %d connections: all acknowledged" % (requests, LINES), strange[:3])
want = {cell: 1 for cell in range(REPORTS) if cell % 100 != 7}
got = c.cells("cells")
ok(got == want, "each of %d reports is counted once" % len(want), len(got))
_, row = c.get("/v1/tasks/cells")
ok(row["reports"] == len(want) and row["nulls"] == REPORTS - len(want), "and each null upload is noted once", row["days"])

# The same id with other content: the first stands.
changed = [t.upload([cell + 1], id=wires[cell][80:96]) for cell in range(0, 50)]
status, answer = c.upload(changed)
ok(status == 409 and [r["upload"] for r in answer["refused"]] == list(range(1, 51)) and {r["reason"] for r in answer["refused"]} == {"conflict"},
   "ids with other content: 409, each named", answer)
status, answer = c.upload([changed[3], wires[4], t.upload([REPORTS])])
ok(status == 200 and answer["accepted"] == 2 and [r["upload"] for r in answer["refused"]] == [1], "among others only they are refused", answer)
twice = t.upload([REPORTS + 1])
status, answer = c.upload([twice, twice, t.upload([REPORTS + 2], id=twice[80:96])])
ok(status == 200 and [(r["upload"], r["status"]) for r in answer["refused"]] == [(3, 409)], "also within one request", answer)
want.update({REPORTS: 1, REPORTS + 1: 1})
ok(c.cells("cells") == want, "and nothing of it is counted")

# ---- C11 ----------------------------------------------------------------------------

signed = c.config["document"]
over, failed, acked = False, [], set()
others = c.task["others"]


def uploads(first):
    line, cell = Line(c.public), first
    while not over:
        try:
            status, _, answer = line.post(others.upload([cell]))
            (acked.add(cell) if status == 204 else failed.append((status, answer)))
        except Gone as e:
            failed.append(e)
            return
        cell += 2
        time.sleep(0.001)  # a storm is not needed


def reload(mark):
    """Ask for it, and wait until it has said that it is done."""
    seen = len(c.said())
    c.process.send_signal(signal.SIGHUP)
    return c.until(lambda: mark in c.said()[seen:])


threads = [threading.Thread(target=uploads, args=(i,), daemon=True) for i in range(2)]
for thread in threads:
    thread.start()
missed = []
yaml = open(c.yaml).read()
good = open(signed, "rb").read()
for k in range(RELOADS):
    before = len(acked)
    if k % 2 == 0:
        with open(c.yaml, "w") as f:
            f.write(yaml + "log_level: %s\n" % ("notes" if k % 4 else "details"))
        want_said = "reloaded"
    elif k % 4 == 1:
        with open(c.yaml, "w") as f:
            f.write(yaml + "checkpoint_seconds: never\n")
        want_said = "checkpoint_seconds"
    else:
        with open(c.yaml, "w") as f:
            f.write(yaml)
        with open(signed, "wb") as f:
            f.write(good[:100] + bytes([good[100] ^ 1]) + good[101:])
        want_said = "kept"
    if not reload(want_said) or not c.until(lambda: len(acked) > before or failed):
        missed.append((k, want_said, c.said()[-300:]))
        break
    if k % 4 == 3:
        with open(signed, "wb") as f:
            f.write(good)
over = True
for thread in threads:
    thread.join(DEADLINE)
ok(not missed, "%d reloads, half of them of a broken file: each says what came of it" % RELOADS, missed)
ok(not failed and len(acked) >= RELOADS, "and no upload fails meanwhile, of %d" % len(acked), failed[:3])
ok(c.cells("others") == dict.fromkeys(acked, 1), "each of which is counted once")
ok(c.get("/v1/status")[1]["document"]["version"] == 1 and c.process.poll() is None, "what was in force stays in force")
ok(c.stop() == 0, "and it stops", c.said()[-300:])
done()
