#!/usr/bin/python3 -B
"""A reader who polls as fast as the collector answers learns nothing finer than
the grid of snapshot_seconds: neither what arrives nor who asks brings a
generation about, only the next moment does. The moments are those of a clock
that the test holds, so that nothing here depends on how fast anything is."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from machine import *

M, CELLS, GRID = 40, 2048, 86400
LOOK = 2.2  # seconds: twice as long as the collector sleeps
m = Machine()
began = GRID // 2 - int(time.clock_gettime(time.CLOCK_BOOTTIME)) % GRID  # noon of the grid: no moment comes by itself
moments = 0
m.steady(began)

c = Collector("moments", cells("cells", CELLS, min_reports=M) + cells("signal", CELLS, min_reports=M), admin_open=False, estimate_seconds=1, snapshot_seconds=GRID)
os.makedirs(c.data, 0o700)
A, O, S = (must("serve", "token", "add", role, "--role", role, "--data", c.data).decode().split()[-1] for role in ("analyst", "operator", "scraper"))
c.start(env=m.env)
next_cell = iter(range(CELLS))
sent = 0


def bring(uploads):
    status, body = c.upload(uploads)
    if status != 204:
        raise SystemExit("Bail out! %s" % body)


def send(n, nulls=0):
    global sent
    bring([c.task["cells"].upload([next(next_cell)]) for _ in range(n)] + [c.task["cells"].upload([0], null=True) for _ in range(nulls)])
    sent += n


def moment():
    """The next moment of the grid comes."""
    global moments
    moments += 1
    m.steady(began + moments * GRID)


def seen():
    """All that a reader can fetch at this moment and that tells of arrivals."""
    row = c.get("/v1/tasks/cells", A)[1]
    figures = [row["reports"], row["nulls"], row["devices"], row["days"], [t["reports"] for t in c.get("/v1/tasks", A)[1]["tasks"]]]
    figures.append(hash(str(c.get("/v1/tasks/cells/tally", A)[1])))
    figures += [c.get("/v1/tasks/cells/estimate", A)[1].get("reports"), c.get("/v1/tasks/cells/estimate?from=%s&to=%s" % (date(DAY), date(DAY)), A)[1].get("reports")]
    past = c.get("/v1/tasks/cells/history", A)[1]
    figures.append([point.get("reports") for point in past["days"]])
    store = c.get("/v1/status", A)[1]["store"]
    figures.append([store[key] for key in ("commits", "folded", "ids", "reports", "nulls", "ids_bytes")])
    figures += [lines(S), lines(A), {role: c.get("/v1/status", role)[1] for role in (A, S)}]
    return json.dumps(figures)


# What a line of /metrics may follow: who reads, and the clock. Checkpoints are written at times of their own.
FREE = re.compile(r'hearsay_\w+\{listener="admin"|hearsay_last_checkpoint_timestamp_seconds |hearsay_clock_step_seconds ')


def lines(token):
    """All of /metrics but that."""
    return [line for line in ask(c.admin, "GET", "/metrics", token=token)[2].decode().splitlines() if not FREE.match(line)]


def polls():
    """What is seen, again and again."""
    found, end = [seen()], time.monotonic() + LOOK
    while time.monotonic() < end:
        found.append(seen())
        time.sleep(0.02)
    return list(dict.fromkeys(found))


def tally(task_="cells"):
    status, body = c.get("/v1/tasks/%s/tally" % task_, A)
    return cells_of(body)[1] if status == 200 else 0


def live():
    return cells_of(c.get("/v1/tasks/cells/live", O)[1])[1]


first = seen()
send(3 * M + 1, nulls=3 * M)
ok(polls() == [first] and live() == sent, "before the first moment nothing is seen of %d reports and %d null ones" % (3 * M + 1, 3 * M))
moment()
ok(c.until(lambda: tally() == sent), "when it comes all of them are", tally())
c.until(lambda: json.loads(seen())[8] == [sent])  # the figure of the day is made after it
after = seen()
send(5 * M)
held = [Line(c.public) for _ in range(25)]  # devices that are there, some with news of nothing
tag = ask(c.public, "GET", "/v1/document")[1]["etag"]
same = [ask(c.public, "GET", "/v1/document", **{"If-None-Match": tag})[0] for _ in range(3)]
got = polls()
ok(got == [after] and live() == sent and same == [304] * 3, "a lot that is full between two moments changes nothing, on no line of /metrics", [x for x in zip(*(json.loads(g)[-3] for g in (after, got[-1]))) if x[0] != x[1]])
for line in held:
    line.sock.close()
for how in (c.stop, c.kill):
    how()
    c.start(env=m.env)
    got = polls()
    ok(len(got) == 1 and tally() == sent - 5 * M, "nor does a restart: %s" % how.__name__, (got, tally()))
moment()
ok(c.until(lambda: tally() == sent), "until the next one", tally())

# A moment at which there is too little decides: what comes after it waits.
send(M - 1)
bring([c.task["signal"].upload([cell]) for cell in range(M)])
moment()
ok(c.until(lambda: tally("signal") == M), "a task has a lot at a moment, the one before it in the list has none")
before = tally()
send(1)
c.until(lambda: live() == sent)
got = polls()
ok(before == tally() == sent - M and len(got) == 1, "the last report of a lot does not show the lot", (got, before, tally()))
moment()
ok(c.until(lambda: tally() == sent), "but the next moment does", tally())
ok(c.stop() == 0, "ends", c.said())
done()
