#!/usr/bin/python3 -B
"""C12: the collector's clock is ten years ahead or behind, or some weeks for a
moment, steps there and back under load, or creeps a day at a time. No report that was acknowledged is lost or
counted twice by it; what is sent again is known again; and an epoch that is
closed stays closed, whatever the clock says later."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from machine import *

YEARS, A_DAY = 3652 * 86400, 86400
m = Machine()


def world(name, **config):
    """A collector with ten reports of today."""
    m.well()
    m.clock(NOON)
    c = Collector(name, tasks=cells("cells", 65536), sandbox="off", **config)
    c.start(env=m.env)
    wires = [c.task["cells"].upload([cell]) for cell in range(40)]
    first = [c.upload([w])[0] for w in wires[:10]]
    if first != [204] * 10:
        raise SystemExit("Bail out! %s" % first)
    return c, wires


def taken(c, wires, acked, cells_):
    """Send cells; which answers there were."""
    answers = set()
    for cell in cells_:
        status, _ = c.upload([wires[cell]])
        acked |= {cell} if status == 204 else set()
        answers.add(status)
    return answers


def exact(c, acked):
    return c.cells("cells") == dict.fromkeys(acked, 1)


def eventually(c, wire, want):
    """Send one upload until its answer is one of these: the clock is looked at now and then."""
    last = []

    def once():
        last.append(c.upload([wire])[0])
        return last[-1] in want
    return c.until(once), last[-1:]


for name, skew in (("ahead", YEARS), ("behind", -YEARS)):
    c, wires = world("step-" + name)
    acked = set(range(10))
    m.clock(NOON + skew)
    answers = set()
    end = time.monotonic() + 1.5  # longer than a look at the clock takes
    while time.monotonic() < end:
        answers |= taken(c, wires, acked, range(10, 20))
    ok(answers <= {204, 503}, "ten years %s under load: uploads are taken, or refused for now" % name, answers)
    m.clock(NOON)
    back = eventually(c, wires[20], {204})
    ok(back[0], "and taken once it is right again", back)
    acked.add(20)
    ok(taken(c, wires, acked, range(30)) == {204} and exact(c, acked), "and all are counted once", sorted(c.cells("cells")))
    c.kill()

    c, wires = world("start-" + name)
    acked = set(range(10))
    c.kill()
    m.clock(NOON + skew)
    c.launch(env=m.env)
    started = c.until(c.ready)
    ok(started or "clock" in c.said() or "expire" in c.said() or "issued" in c.said(), "started ten years %s: it runs, or says why not" % name, c.said())
    answers = taken(c, wires, acked, range(10, 20)) if started else set()
    ok(answers <= {204, 503}, "nothing is refused for good", answers)
    c.kill()
    m.clock(NOON)
    c.start(env=m.env)
    ok(taken(c, wires, acked, range(30)) == {204} and exact(c, acked), "and started with the right clock it has all, and takes more", c.said())
    c.kill()

    m.clock(NOON + skew)
    c = Collector("new-" + name, tasks=cells("cells", 65536), sandbox="off")
    c.launch(env=m.env)
    started, acked = c.until(c.ready), set()
    wires = [c.task["cells"].upload([cell]) for cell in range(10)]
    answers = taken(c, wires, acked, range(10)) if started else set()
    ok((not answers or 204 not in answers) and (started or c.said() != ""), "new, ten years %s: it asks nothing today, and takes nothing" % name, answers)
    c.kill()

# A day at a time, to and fro: the days that were seen stay seen.
c, wires = world("creep", grace_days=2)
acked, wrong = set(range(10)), []
for day, cell in ((1, 10), (0, 11), (1, 12), (2, 13), (0, 14)):
    m.clock(NOON + day * A_DAY)
    if taken(c, wires, acked, [cell, 0]) != {204}:
        wrong.append(day)
ok(not wrong and exact(c, acked), "a clock that goes to and fro within the days of grace changes nothing", wrong)
for day in (1, 2, 3, 4):
    m.passes(A_DAY)
    c.until(lambda: c.get("/v1/status")[1]["day"] == date(DAY + day))
closed = eventually(c, wires[0], {410})  # counted before: 204 while it is open
ok(closed[0], "after them the epoch closes", closed)
m.clock(NOON)
eventually(c, wires[0], {503})
ok(taken(c, wires, acked, [0, 20]) == {503} and exact(c, acked - {20}), "and stays closed when the clock goes back: nothing old comes in again")
c.kill()
c.start(env=m.env)
ok(taken(c, wires, acked, [0, 20]) == {503} and exact(c, acked - {20}), "also after a kill")
c.kill()

# ---- Weeks ahead for a moment: 2.5 s closed all days up to there -------------------


def status(c):
    row = c.get("/v1/status")[1]
    return row["day"], row["clock"], row["clock_believed"], c.get("/readyz")[0]


for ahead in (9, 30, 60):
    c, wires = world("weeks-%d" % ahead)
    acked, answers = set(range(10)), set()
    m.clock(NOON + ahead * A_DAY)
    ok(c.until(lambda: status(c) == (date(DAY), date(DAY + ahead), False, 200)), "%d days ahead: it goes on, does not believe it, and says so" % ahead, status(c))
    end = time.monotonic() + 2.5
    while time.monotonic() < end:
        answers |= taken(c, wires, acked, range(10, 20))
    ok(answers == {204} and c.upload([c.task["cells"].upload([50], epoch=DAY + ahead)])[0] == 204, "and takes the days of both readings", answers)
    ok("\nhearsay_open_epochs 10\n" in c.get("/metrics")[1].decode(), "which a metric counts: five of each")
    ok(c.upload([c.task["cells"].upload([51], epoch=DAY + ahead // 2)])[0] == 503, "what lies between must wait")
    m.clock(NOON)
    ok(c.until(lambda: status(c) == (date(DAY), date(DAY), True, 200)) and taken(c, wires, acked, range(30)) == {204}
       and {cell: 1 for cell in acked}.items() <= c.cells("cells").items(), "and nothing was closed by it", status(c))
    ok(c.until(lambda: "trouble-over name=clock-ahead" in c.said()) and c.said().count("trouble name=clock-ahead: ") == 1 and c.said().count("trouble-over") == 1, "the log says it once, and that it is over", c.said())
    c.kill()

# ---- A day at a time, each within a second: all of them together are weeks --------

c, wires = world("wander", grace_days=1)
acked, days = set(range(10)), []
for day in range(1, 5):
    m.clock(NOON + day * A_DAY)
    c.until(lambda: status(c)[1] == date(DAY + day))
    days.append(status(c)[0])
ok(set(days) == {date(DAY + 1)} and not status(c)[2], "a clock that wanders is believed for one day, and not for the next ones", days)
ok(taken(c, wires, acked, range(20)) == {204} and exact(c, acked), "and closes nothing", status(c))
m.clock(NOON)
ok(c.until(lambda: status(c)[2]) and taken(c, wires, acked, range(30)) == {204} and exact(c, acked), "set right it is believed again", status(c))
c.kill()

# ---- Right after all: the two minutes of a trial, which both clocks go through ------

c, wires = world("trial")
acked, new = set(range(10)), [c.task["cells"].upload([cell], epoch=DAY + 9) for cell in range(100, 120)]
m.clock(NOON + 9 * A_DAY)
c.until(lambda: status(c)[1] == date(DAY + 9))
before = [c.upload([w])[0] for w in new[:12]] + sorted(taken(c, wires, acked, range(10, 15)))
m.passes(60)
time.sleep(1.2)  # longer than a look at the clock takes
ok(before == [204] * 13 and status(c) == (date(DAY), date(DAY + 9), False, 200) and taken(c, wires, acked, [0]) == {204}, "after a minute of a trial nothing is believed or closed", (before, status(c)))
m.passes(70)
ok(c.until(lambda: status(c) == (date(DAY + 9), date(DAY + 9), True, 200)), "after two minutes, most uploads of the new day, it is believed", status(c))
ok(taken(c, wires, acked, [0, 20]) == {410} and [c.upload([w])[0] for w in new] == [204] * 20, "what is over is closed, and the new day is taken")
ok(exact(c, [*range(15), *range(100, 120)]), "and each is counted once", sorted(c.cells("cells")))
m.passes(A_DAY)
ok(c.until(lambda: status(c) == (date(DAY + 10), date(DAY + 10), True, 200)), "the next midnight is one as any", status(c))
c.kill()

# ---- Stopped over midnight: nobody is refused or alarmed, and restarts gain nothing --

c, wires = world("morning", grace_days=1)
acked = set(range(10))
c.kill()
m.clock(NOON + A_DAY)
c.start(env=m.env)
c.until(lambda: status(c)[1] == date(DAY + 1))
new = [c.task["cells"].upload([cell], epoch=DAY + 1) for cell in range(100, 120)]
ok(taken(c, wires, acked, range(20)) == {204} and [c.upload([w])[0] for w in new] == [204] * 20 and status(c) == (date(DAY), date(DAY + 1), True, 200),
   "started the next day: both days are taken, and it is ready", status(c))
m.passes(130)
ok(c.until(lambda: status(c) == (date(DAY + 1), date(DAY + 1), True, 200)) and "name=clock" not in c.said(), "two minutes later it is that day, and nothing was said", c.said())
for day in (2, 3, 4):
    c.kill()
    m.clock(NOON + day * A_DAY)
    c.start(env=m.env)
    c.until(lambda: status(c)[1] == date(DAY + day))
ok(status(c) == (date(DAY + 1), date(DAY + 4), False, 200) and taken(c, wires, acked, range(20)) == {204}, "a clock that wanders gains no day by restarts", status(c))
c.kill()

# ---- Wrong for days: only what is over by either reading closes, so ids do not gather

c, wires = world("lasting", grace_days=1)
m.clock(NOON + 40 * A_DAY)
c.until(lambda: status(c)[1] == date(DAY + 40))
for day in range(1, 4):
    m.passes(A_DAY)
    c.until(lambda: status(c)[1] == date(DAY + 40 + day))
ok(c.until(lambda: status(c)[:3] == (date(DAY + 3), date(DAY + 43), False)) and taken(c, wires, set(), [0]) == {410}, "three days later the day is known without the clock, and the first has closed", status(c))
ok(c.upload([c.task["cells"].upload([60], epoch=DAY + 3)])[0] == 204 and "\nhearsay_ids 1\n" in c.get("/metrics")[1].decode(), "its ids are gone, and today is taken", status(c))
c.kill()

# ---- Led astray, and back ----------------------------------------------------------

c, wires = world("astray")
c.kill()
m.clock(NOON + 45 * A_DAY)
c.start(env=m.env, args=["--accept-clock"])
ok(status(c)[0] == date(DAY + 45) and taken(c, wires, set(), [0]) == {410}, "an operator who accepts a wrong clock closes days", status(c))
m.clock(NOON + 2 * A_DAY)
today = [c.task["cells"].upload([cell], epoch=DAY + 2) for cell in range(60, 70)]
ok(c.until(lambda: c.get("/readyz")[0] == 503) and c.upload([today[0]])[0] == 503 and c.upload([today[0]])[1]["refused"][0]["reason"] == "clock",
   "with the right clock uploads are asked to come again, and it is not ready", status(c))
c.until(lambda: "trouble name=clock-behind: " in c.said())
time.sleep(1.2)  # it would be said again when the clock is looked at
ok(c.said().count("trouble name=clock-behind: ") == 1, "which the log says once", c.said())
c.kill()
c.start(env=m.env)
ok(c.upload([today[0]])[0] == 503, "and a restart alone does not help")
c.kill()
c.start(env=m.env, args=["--accept-clock"])
ok(status(c) == (date(DAY + 2), date(DAY + 2), True, 200) and [c.upload([w])[0] for w in today] == [204] * 10, "accepted again it is mended: today is open", status(c))
ok(taken(c, wires, set(), [0, 20]) == {410} and exact(c, [*range(10), *range(60, 70)]), "but no day opens again whose ids are forgotten: nothing is counted twice")
c.kill()
c.start(env=m.env)
ok(c.upload([today[0]])[0] == 204 and exact(c, [*range(10), *range(60, 70)]), "and that holds after a kill")
c.kill()
done()
