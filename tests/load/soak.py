#!/usr/bin/python3 -B
"""soak.py - C10: a collector under a steady load for long: its memory, its
descriptors and the time of an answer are at the end what they were after a
minute. `make soak` runs it for TIME seconds, 7,200 unless that is given.

The load is 70 % of what these senders bring it to take in a closed loop."""

import os
import random
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from collector import *

SECONDS = int(sys.argv[1]) if len(sys.argv) > 1 else 7200
SENDERS, BATCH = 4, 16
c = Collector(tasks=cells("cells", 65536), ids_epoch=4000000000, checkpoint_seconds=5)
c.start()
t, rng = c.task["cells"], random.Random(1)
sent, strange, over, pause = [0] * SENDERS, [], False, 0.0
times = []  # of answers, in seconds, since they were last taken


def sender(k):
    line = Line(c.public)
    while not over:
        body = b"".join(t.upload([rng.randrange(65536)]) for _ in range(BATCH))
        begin = time.monotonic()
        status = line.post(body)[0]
        took = time.monotonic() - begin
        times.append(took)
        sent[k] += BATCH
        if status != 204:
            strange.append(status)
        if pause:
            time.sleep(pause)


def look():
    """Resident bytes besides the ids of the day, which are to be kept,
    descriptors, and the time that 1 % of the answers take longer than."""
    global times
    ids = c.get("/v1/status")[1]["store"]["ids_bytes"]
    some, times = sorted(times), []
    return c.rss() - ids, len(os.listdir("/proc/%d/fd" % c.process.pid)), some[len(some) * 99 // 100] if some else 0


threads = [threading.Thread(target=sender, args=(k,), daemon=True) for k in range(SENDERS)]
for thread in threads:
    thread.start()
warm = min(60, SECONDS / 10)
time.sleep(warm)
rate = sum(sent) / warm
pause = 0.3 / 0.7 * SENDERS * BATCH / rate  # of every sender, between two requests
look()
part = max(1.0, (SECONDS - warm) / 10)
looks = []
for _ in range(10):
    time.sleep(part)
    looks.append(look())
over = True
for thread in threads:
    thread.join(DEADLINE)
first, last = looks[0], looks[-1]
print("C10: %d seconds, %.0f uploads a second of %.0f; memory besides ids %.1f MiB, then %.1f MiB; descriptors %d, then %d; p99 %.1f ms, then %.1f ms" % (
    SECONDS, sum(sent) / (warm + 10 * part), rate, first[0] / 2 ** 20, last[0] / 2 ** 20, first[1], last[1], 1e3 * first[2], 1e3 * last[2]))
ok(not strange, "%d uploads, none refused" % sum(sent), strange[:3])
ok(sum(c.cells("cells").values()) == sum(sent), "each counted once")
ok(last[1] <= first[1], "no descriptor is left open")
c.stop()
done()
