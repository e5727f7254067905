#!/usr/bin/python3 -B
"""A flood of ids through one open task fills its own part of the day and no
other's: other tasks go on, and so do those that want a token. What the flood
took in null uploads can be given back."""

from collector import *

LIMIT = 4000
NAMES = ("flooded", "other", "third", "closed")
c = Collector("portions", tasks="".join(cells(name, 1000) for name in NAMES), ids_epoch=LIMIT, enrolled=["closed"])
token = "Bearer " + must("serve", "token", "enrol", "closed", "--count", 1, "--quota", 2000, "--data", c.data).decode().strip()
c.start()
flooded, other, third, closed = (c.task[name] for name in NAMES)


def accepted(task_, n, **how):
    """Of so many new uploads, how many are taken."""
    status, answer = c.upload([task_.upload([i % 1000], **how) for i in range(n)])
    return n if status == 204 else answer.get("accepted", 0)


def row(name):
    return c.get("/v1/tasks/" + name)[1]


first = [other.upload([i]) for i in range(10)]
ok(c.upload(first)[0] == 204, "some honest uploads come first")
flood = accepted(flooded, LIMIT, null=True)
ok(0 < flood < LIMIT * 3 / 4, "a flood of null uploads through an open task ends", flood)
ok(accepted(flooded, 10) == 0 and c.upload([flooded.upload([1])])[1]["refused"][0]["status"] == 503, "then that task is full for the day")
ok(accepted(other, 300) == 300, "another has its own part")
ok(accepted(third, 300) == 300, "as has a third")
status, answer = c.upload([closed.upload([i]) for i in range(900)], Authorization=token)
ok(status == 204, "and one that wants tokens has a reserve", str(answer)[:300])
ok(accepted(flooded, 100, epoch=DAY - 1) == 100, "other days are not full")
c.kill()
c.start()
ok(accepted(flooded, 10) == 0, "after a kill it is still full")
ok(accepted(other, 50) == 50 and c.upload([closed.upload([i]) for i in range(50)], Authorization=token)[0] == 204, "and the others still have room")
before = {name: (row(name)["reports"], row(name)["nulls"]) for name in NAMES}
r = run("store", "forget-nulls", c.data, date(DAY))
ok(r.code == 1 and "stop it first" in r.err, "ids are not touched while they are in use", r)
c.stop()
r = run("store", "forget-nulls", c.data, "tomorrow")
ok(r.code == 2, "a day is a date", r)
r = run("store", "forget-nulls", c.data, date(DAY))
ok(r.code == 0 and re.search(rb"\b%d\b" % flood, r.out), "the ids of the day's null uploads are given back", r)
r = run("store", "forget-nulls", c.data, date(DAY))
ok(r.code == 0 and re.search(rb"\b0\b", r.out), "once", r)
r = run("store", "check", c.data)
ok(r.code == 0, "the store is sound", r)
c.start()
ok({name: (row(name)["reports"], row(name)["nulls"]) for name in NAMES} == before, "nothing that was counted is forgotten", before)
taken = accepted(flooded, 500)
ok(taken == 500, "and the task takes uploads again", taken)
again = c.upload([first[0], other.upload([999], id=first[1][80:96])])
ok(again[0] == 200 and again[1]["refused"][0]["reason"] == "conflict" and row("other")["reports"] == before["other"][0], "ids of reports are still known", again)
code = c.stop()
ok(code == 0, "the collector ends", (code, c.said()))
done()
