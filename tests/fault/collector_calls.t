#!/usr/bin/python3 -B
"""C02 and C04: in each part of its life a collector is killed before a call that
changes something, or in the middle of a write; and each of its calls fails, with
one error after the other. Whatever happens to it: started again on a machine
that is well it has every report that was acknowledged exactly once, takes again
what was not, and counts that once.

A sample of the calls; HSY_TEST_LONG=1: every one. How many there are depends on
the load, so not each is met again: a quarter at least."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from machine import *

LONG = bool(os.environ.get("HSY_TEST_LONG"))
EVERY = 1 if LONG else 13  # prime, so that all sorts of calls have their turn
OLD, NEW = range(10), range(20, 24)  # cells: acknowledged before, sent while it goes wrong
ERRORS = ((WRITES, ("EIO", "ENOSPC", "EINTR")), (SYNCS, ("EIO", "ENOSPC")), (NAMES, ("EIO", "ENOSPC", "EMFILE")), (SENDS, ("EPIPE", "ECONNRESET")),
          (READS, ("EIO", "EINTR", "ECONNRESET")), (TAKES, ("ENOMEM", "EMFILE", "EINTR")))
EXTRA = TASKS + task("extra", "yes-no: true; epsilon: 1; repeat: daily")

m = Machine()
c = Collector(sandbox="off", timeout=2)
wire = {cell: c.task["cells"].upload([cell]) for cell in (*OLD, *NEW)}
first_document, base, empty = open(c.config["document"], "rb").read(), path("base"), path("empty")
second_document = open(c.document(EXTRA), "rb").read()


def put_document(data):
    with open(c.config["document"], "wb") as f:
        f.write(data)


class Life:
    """A collector from a copy of a directory on, and what it acknowledged."""

    def __init__(self, of):
        c.kill()
        shutil.rmtree(c.data, ignore_errors=True)
        if of is not None:
            shutil.copytree(of, c.data)
        put_document(first_document)
        m.well()
        m.clock(0)
        self.acked = set(OLD) if of is not None else set()
        self.sent = set(self.acked)

    def launch(self, *args):
        c.launch(env=m.env, args=args)
        return c.until(c.ready)

    def send(self, cells_):
        for cell in cells_:
            self.sent.add(cell)
            try:
                if c.upload([wire[cell]])[0] == 204:
                    self.acked.add(cell)
            except Gone:
                pass

    def looked(self, closed):
        """What is not as it should be, of a collector on a machine that is well."""
        refused = [status for status in (c.upload([wire[cell]])[0] for cell in sorted(self.sent)) if status != (410 if closed else 204)]
        got = c.cells("cells") if self.sent else {}
        if refused:
            return "sent again: %s: %s" % (refused, c.said())
        if not set(got) >= self.acked or set(got) - self.sent or any(n != 1 for n in got.values()) or (not closed and set(got) != self.sent):
            return "acknowledged %s, sent %s, counted %s" % (sorted(self.acked), sorted(self.sent), got)
        return None

    def wrong(self, closed):
        """The same of the one that met its fate, or of the next if it ended by that."""
        m.well()
        end = time.monotonic() + DEADLINE
        while True:
            if c.process is None or c.process.poll() is not None or not c.ready():
                c.kill()
                if not self.launch(*(["--accept-clock"] if closed else [])):
                    return "it does not start again: " + c.said()
            try:
                return self.looked(closed)
            except Gone as e:  # it ends, or a machine that stood still was too slow for a connection
                if time.monotonic() > end:
                    return "it neither answers nor ends: %s: %s" % (e, c.said())
                time.sleep(0.01)


# ---- The parts of its life: what is done before, and what is watched --------------

def begins(life):
    if life.launch():
        life.send(NEW)
        c.stop()


def starts(life):
    life.launch()


def commits(life):
    life.send(NEW)


def stops(life):
    c.process.send_signal(signal.SIGTERM)
    c.until(lambda: c.process.poll() is not None)


def closes(life):
    life.launch("--accept-clock")  # days later: nothing closes by the clock alone


def reloads(life):
    put_document(second_document)
    c.process.send_signal(signal.SIGHUP)
    c.until(lambda: "reload" in c.said())


def running(life):
    life.launch()


def used(life):
    life.launch()
    life.send(NEW)


def later(life):
    m.clock(5 * 86400)


PARTS = {  # the directory, what goes before, what is watched, whether the epoch closes by it
    "the first start, uploads and stop": (empty, None, begins, False),
    "a start": (base, None, starts, False),
    "commits": (base, running, commits, False),
    "a checkpoint and stop": (base, used, stops, False),
    "the close of an epoch": (base, later, closes, True),
    "a new document": (base, running, reloads, False),
}


def life_of(part, arm):
    """Live through a part; arm() says what befalls it."""
    of, before, action, _ = PARTS[part]
    life = Life(of if of != empty else None)
    if before is not None:
        before(life)
    arm()
    action(life)
    return life


def calls_of(part, which):
    life_of(part, lambda: m.count(which))
    return m.calls


def trial(part, fates):
    """Each fate: a sentence, then what m.strike takes; what went wrong, and how often something was struck."""
    wrong, struck = [], 0
    for sentence, *how in fates:
        life = life_of(part, lambda: m.strike(*how))
        struck += m.struck > 0
        trouble = life.wrong(PARTS[part][3])
        if trouble:
            wrong.append("%s: %s" % (sentence, trouble))
    return wrong, struck


# What all parts begin with: reports that are acknowledged, and not folded into
# any tally that is written.
life = Life(None)
if not life.launch():
    raise SystemExit("Bail out! " + c.said())
life.send(OLD)
c.kill()
shutil.copytree(c.data, base)

for part in PARTS:
    n = calls_of(part, CHANGES)
    fates = [("%s at %d" % (name, i), do, i) for name, do, shift in (("killed", KILL, 0), ("torn", TORN, 6)) for i in range(shift % EVERY, n, EVERY)]
    wrong, struck = trial(part, fates)
    ok(not wrong and struck >= len(fates) // 4, "%s: killed at %d of %d calls" % (part, struck, n), "\n".join(wrong) or struck)

turn = 0
for part in PARTS:
    fates = []
    for which, errors in ERRORS:
        n = calls_of(part, which)
        step = min(EVERY, max(1, n // 2))
        for i in range(turn % step, n, step):
            fates.append(("call %d of %d fails: %s" % (i, which, errors[turn % len(errors)]), getattr(errno, errors[turn % len(errors)]), i, which))
            turn += 1
    wrong, struck = trial(part, fates)
    ok(not wrong and struck >= len(fates) // 4, "%s: %d calls fail, one a time" % (part, struck), "\n".join(wrong) or (struck, len(fates)))
c.kill()
done()
