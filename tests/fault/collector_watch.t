#!/usr/bin/python3 -B
"""/readyz, /v1/status, metrics and the log do not say that all is well when
nothing is accepted: the disk is full, the clock is wrong, there is no more room
for ids or tallies. And they say so no more when that is over."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from machine import *

m = Machine()
m.clock(NOON)


def state(c):
    """(/readyz, names of troubles, whether any is grave); all say the same."""
    row, text = c.get("/v1/status")[1], c.get("/metrics")[1].decode()
    names = [t["name"] for t in row["troubles"]]
    ready = ask(c.admin, "GET", "/readyz")[0]
    counted = re.findall(r'^hearsay_trouble\{name="(.*)"\} 1$', text, re.M)
    same = sorted(counted) == sorted(names) and row["ready"] == (ready == 200) == ("\nhearsay_ready 1\n" in text) == (not any(t["grave"] for t in row["troubles"]))
    return (ready if same else "they do not agree: %s %s" % (names, counted)), names


def comes(c, name, ready, sentence):
    """A trouble comes, is logged, and /readyz is what it should be."""
    ok(c.until(lambda: state(c) == (ready, [name])), sentence, state(c))
    ok(c.until(lambda: "trouble name=%s: " % name in c.said()), "which is in the log", c.said())


def goes(c, name, sentence):
    ok(c.until(lambda: state(c) == (200, [])), sentence, state(c))
    ok(c.until(lambda: "trouble-over name=%s" % name in c.said()), "which is in the log", c.said())


# ---- Disk and clock ----------------------------------------------------------------

c = Collector("disk", clock_days=15).start(env=m.env)
t = c.task["cells"]
ok(c.upload([t.upload([1])])[0] == 204 and state(c) == (200, []), "all is well", state(c))
m.strike(errno.ENOSPC, which=WRITES, on=True)
ok(c.upload([t.upload([2])])[0] == 503, "the disk is full")
comes(c, "disk-full", 503, "a collector with a full disk is not ready")
ok('hearsay_requests_refused_total{reason="disk"} 1\n' in c.get("/metrics")[1].decode(), "the request is counted")
m.well()
ok(c.upload([t.upload([2])])[0] == 204, "there is room again")
goes(c, "disk-full", "and it is ready")
m.strike(errno.ENOSPC, which=WRITES, on=True)
ok(c.upload([t.upload([3])])[0] == 503 and c.until(lambda: state(c) == (503, ["disk-full"])), "the disk is full again", state(c))
m.clock(NOON + 3650 * 86400)
ok(c.until(lambda: state(c) == (503, ["clock-ahead", "disk-full"])), "and the clock wrong", state(c))
told = c.get("/readyz")
told = json.loads(told[1]) if isinstance(told[1], bytes) else told[1]
ok(re.fullmatch("clock-ahead: .*; disk-full: .*", told["detail"]) and [x["name"] for x in told["troubles"]] == ["clock-ahead", "disk-full"], "/readyz names both", told)
m.clock(NOON)
m.well()
freed = time.monotonic()
ok(c.until(lambda: state(c) == (200, [])) and time.monotonic() < freed + 40, "once there is room it is ready, and needs no upload for that", (time.monotonic() - freed, state(c)))
m.clock(NOON + 20 * 86400)
comes(c, "clock-ahead", 503, "a clock that is further ahead than clock_days is not believed")
m.clock(NOON + 10 * 86400)
ok(c.until(lambda: state(c) == (200, ["clock-ahead"])), "one of ten days later neither, but it may be in time", state(c))
m.clock(NOON - 9 * 86400)
comes(c, "clock-behind", 503, "one that is behind what is closed is said")
ok(c.until(lambda: re.search(r"^hearsay_clock_ahead_seconds -(691200|777600)$", c.get("/metrics")[1].decode(), re.M)), "how far it is", c.get("/metrics")[1].decode())
m.clock(NOON)
goes(c, "clock-behind", "set right it is well")
ok(c.stop() == 0, "it ends")

# ---- A thread that hangs -----------------------------------------------------------

WATCHDOG = 4  # seconds within which a service manager wants to hear of it
manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.bind(path("notify"))


def heard():
    """Whether a beat has come since it was last asked for."""
    manager.setblocking(False)
    beats = 0
    try:
        while True:
            beats += manager.recv(100) == b"WATCHDOG=1"
    except BlockingIOError:
        return beats != 0


def silent():
    """no beat for twice the time that the service manager waits"""
    heard()
    time.sleep(2 * WATCHDOG)
    return not heard()


c = Collector("hangs").start(env={**m.env, "NOTIFY_SOCKET": path("notify"), "WATCHDOG_USEC": str(WATCHDOG * 1000000)})
t = c.task["cells"]
ok(all([c.until(heard), c.until(heard)]), "the service manager hears that it is alive")
m.strike(HANG, which=SYNCS, on=True)
line = Line(c.public)
wire = t.upload([1])
line.send(("POST /v1/uploads HTTP/1.1\r\nHost: x\r\nContent-Type: application/octet-stream\r\nContent-Length: %d\r\n\r\n" % len(wire)).encode() + wire)
ok(c.until(lambda: m.struck > 0), "a sync hangs")
ok(c.until(silent), "and the service manager hears no more of it")
comes(c, "thread-hangs", 503, "a collector with a thread that hangs is not ready")
ok("the thread that admits uploads does not answer" in c.said(), "it says which", c.said())
m.well()
ok(line.answer()[0] == 204 and c.until(heard), "it goes on, and says so")
goes(c, "thread-hangs", "and is ready again")
ok(c.stop() == 0, "it ends")

# ---- Room --------------------------------------------------------------------------

c = Collector("ids", tasks=cells("cells", 65536), ids_epoch=1000).start(env=m.env)
t = c.task["cells"]
ok(c.upload([t.upload([n]) for n in range(1000)])[0] == 204, "a day's ids are used up")
end = time.monotonic() + DEADLINE
while "uploads-refused" not in state(c)[1] and time.monotonic() < end:
    ok(c.upload([t.upload([1])])[0] == 503, "the next is refused")
    time.sleep(1)
ok(c.until(lambda: state(c) == (503, ["uploads-refused", "ids-full"])), "nothing is accepted, and it is not ready", state(c))
ok(c.until(lambda: all("trouble name=%s: " % name in c.said() for name in ("ids-full", "uploads-refused"))), "which is in the log", c.said())
ok(re.search(r"^hearsay_ids_refused_total [1-9]", c.get("/metrics")[1].decode(), re.M), "and counted")
ok(c.stop() == 0, "it ends")

c = Collector("share", tasks=cells("cells", 65536) + cells("others", 65536), ids_epoch=1000).start(env=m.env)
t = c.task["cells"]
while c.upload([t.upload([n]) for n in range(10)])[0] == 204:
    pass
ok(c.until(lambda: "ids-full" in state(c)[1]) and state(c)[0] == 200, "ids of one task that are used up: whoever sends can bring that about, and it stays ready", state(c))
ok(c.upload([c.task["others"].upload([1])])[0] == 204, "for the other is counted")
ok(c.stop() == 0, "it ends")

c = Collector("memory", tasks=cells("cells", 65536), memory="150K").start(env=m.env)
t = c.task["cells"]
ok(c.upload([t.upload([1])])[0] == 503, "a tally does not fit")
ok(c.until(lambda: state(c)[0] == 503 and "tally-memory" in state(c)[1]), "whose only task has no memory is not ready", state(c))
ok(c.stop() == 0, "it ends")

# A tally of 32 KiB, with one a day for 35 days: 1.2 MiB in the end.
c = Collector("days", tasks=cells("cells", 4096), memory="150K").start(env=m.env)
t = c.task["cells"]
ok(c.until(lambda: state(c)[0] == 200 and "tally-need" in state(c)[1]) and c.until(lambda: "tally-need" in c.said()), "what days will need is said at the start", state(c))
r = run("serve", "check", c.yaml)
ok(r.code == 0 and "keep_days will need 2 MiB" in r.err, "and by serve check", r)
answers = [c.upload([t.upload([k], epoch=DAY - k)])[0] for k in range(4)]
ok(answers == [204] * 4, "a day whose tally does not fit is counted", answers)
ok(c.until(lambda: state(c)[0] == 200 and "day-tallies" in state(c)[1]), "and it is said that it has none", state(c))
ok(c.cells("cells") == {0: 1, 1: 1, 2: 1, 3: 1}, "all reports are in the whole")
ok(c.stop() == 0, "it ends")
done()
