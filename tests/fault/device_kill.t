#!/usr/bin/python3 -B
"""L02: a device is killed before every call that changes something, and in the
middle of every write, in every scenario. Afterwards it opens; what it has spent
covers every answer that it will ever give; and asked again it gives the answers
it would have given, byte for byte."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from devices import *

KILLED = -9
CARRIED = path("carried")
TRUTHS = (("crash", "yes"), ("browser", "chrome"), ("minutes", "77"), ("page", "home"))
PRICE = {"crash": ("crashes", 1), "browser": ("web", 2), "minutes": ("usage", 3), "page": ("web", 2)}
ONCE = ["crash,crashes,yes-no,1000000000,0,0,0,1,1", "browser,web,values,500000000,0,0,0,1,1", "minutes,usage,number,1000000000,0,0,0,1,1"]
doc = document("one")
once = document("once", ["@delay=500000", *ONCE], end=DAY + 14)
moved = document("moved", ONCE, version=2, end=DAY + 10)
newer = document("two", TASKS + ["extra,usage,yes-no,1000000000,1,0,0,1,1"], version=2)


def calls(command, stdin, day):
    """How many calls the undisturbed command makes."""
    good(*command, stdin=stdin, day=day, count_to=path("count"))
    return int(open(path("count")).read())


def overdrawn(where):
    """Whether there is an answer that was not paid for."""
    paid, told = spent(where), dict.fromkeys(("crashes", "web", "usage"), 0)
    for task in {task for kind, task, _ in uploads(pack(where, DAY + 1)) if kind == 1}:
        told[PRICE[task][0]] += PRICE[task][1] * 10 ** 9
    return any(told[source] > paid[source] for source in told)


def sending(where):
    """All that is sent in the end, and all that is spent."""
    return set(u[2] for u in uploads(pack(where, DAY + 3))), spent(where, DAY + 3)


def answering(where):
    """The same after answering what is not answered, and once more a day later."""
    for task, truth in TRUTHS:
        good("answer", where, task, stdin=truth)
    good("answer", where, "crash", day=DAY + 1, stdin="no")
    return sending(where)


def scenario(name, base, args, stdin=b"", day=DAY, finish=answering, same=lambda got, want: got == want):
    """Kill `args` on a copy of base at every index; compare what follows."""
    def ready():
        if os.path.exists(CARRIED):
            os.remove(CARRIED)
        where = copy(base, "killed")
        return where, [where if a == "DIR" else a for a in args]

    where, command = ready()
    n = calls(command, stdin, day)
    want = finish(copy(base, "reference"))
    wrong, deaths = [], 0
    for do in ("kill", "torn"):
        for i in range(n):
            where, command = ready()
            r = device(*command, stdin=stdin, day=day, at=i, do=do)
            deaths += r.code == KILLED
            if r.code != KILLED and (do == "kill" or r.code != 0):
                wrong.append("%s at %d: %s" % (do, i, r))
            elif r.code != KILLED:
                continue
            if b"answered" in r.out or overdrawn(where):
                wrong.append("%s at %d: answered without paying" % (do, i))
            if not same(finish(where), want):
                wrong.append("%s at %d: other answers, or another budget" % (do, i))
    ok(n > 5 and deaths > n and not wrong, "%s: killed before each of %d calls, and within each write" % (name, n),
       "\n".join(wrong) or "%d deaths" % deaths)


def carried():
    """What left before the kill."""
    return set(u[2] for u in uploads(open(CARRIED, "rb").read())) if os.path.exists(CARRIED) else set()


def nothing_lost(got, want):
    """What was packed and what is still to be sent are together what there is."""
    return got[0] | carried() == want[0] and got[1] == want[1]


def moving(where):
    """What is packed after a document that moves the tasks' end and delay."""
    good("take", where, moved, day=DAY + 22)
    return set(u[2] for u in uploads(pack(where, DAY + 22)))


def nothing_changed(got, want):
    """What left comes again byte for byte."""
    return carried() <= got and len(got) == len(want)


# Made anew: the key differs each time, so only that it opens, or can be made.
made = ["--document", doc, "--public-key", doc + ".pub"]
where = path("made")
n = calls(["init", where, *made], b"", DAY)
wrong, half = [], 0
for do in ("kill", "torn"):
    for i in range(n):
        shutil.rmtree(where, ignore_errors=True)
        r = device("init", where, *made, at=i, do=do)
        if r.code != KILLED and (do == "kill" or r.code != 0):
            wrong.append("%s at %d: %s" % (do, i, r))
        again = device("init", where, *made)
        half += again.code == 0
        opens = device("budget", where)
        if opens.code != 0 or (again.code != 0 and "already" not in again.err):
            wrong.append("%s at %d: neither opens nor can be made: %s %s" % (do, i, again, opens))
        elif device("consent", where, "send").code != 0 or good("answer", where, "crash", stdin="yes").out != b"answered\n":
            wrong.append("%s at %d: does not answer" % (do, i))
ok(n > 20 and half > 5 and not wrong, "init: killed before each of %d calls, and within each write" % n, "\n".join(wrong) or half)

new = fresh("new", doc)
used = fresh("used", doc)
for task, truth in TRUTHS[1:]:
    good("answer", used, task, stdin=truth)
scenario("the first answer", new, ["answer", "DIR", "crash"], "yes")
scenario("an answer beside others", used, ["answer", "DIR", "crash"], "yes")
scenario("consent", used, ["consent", "DIR", "collect"],
         same=lambda got, want: got[1] == want[1] and got[0] in (want[0], set()))
scenario("a new document", used, ["take", "DIR", newer],
         same=lambda got, want: got[1] == want[1] and want[0] <= got[0])
done_all = copy(used, "done")
good("answer", done_all, "crash", stdin="yes")
scenario("pack", done_all, ["pack", "DIR", "-o", CARRIED, "--mark-sent"], day=DAY + 2, finish=sending, same=nothing_lost)

waiting = fresh("waiting", once)
for task, truth in TRUTHS[:3]:
    good("answer", waiting, task, stdin=truth)
shown = copy(waiting, "shown")
first = set(u[2] for u in uploads(pack(shown, DAY + 21)))
unseen = moving(copy(waiting, "unseen"))
ok(len(first) == 3 and moving(shown) == first and len(unseen) == 3 and not unseen & first,
   "what was packed once comes again byte for byte after a document that moves it, and only then", (len(first), len(unseen), len(unseen & first)))
scenario("pack, then another document", waiting, ["pack", "DIR", "-o", CARRIED], day=DAY + 21, finish=moving, same=nothing_changed)
done()
