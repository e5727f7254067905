#!/usr/bin/python3 -B
"""An upload of a device has one report. Whoever wants to bring more at once
needs a forwarder's token, and pays for each report from its quota: one liar's
request does not outweigh thousands of devices."""

from collector import *

HONEST, MOST, QUOTA = 2000, 50, 60
c = Collector("forwarder", tasks=task("crash", "yes-no: true; epsilon: 1; repeat: daily") + task("closed", "yes-no: true; epsilon: 1; repeat: daily"),
              reports_upload=MOST, enrolled=["closed"])
c.start()
crash, closed = c.task["crash"], c.task["closed"]


def row():
    return c.get("/v1/tasks/crash")[1]


def refused(answer, reason, status):
    """Whether all was refused for this reason."""
    return answer[0] == status and {r["reason"] for r in answer[1]["refused"]} == {reason}


def made(*words):
    return must("serve", "token", *words, "--data", c.data).decode().split()


# Honest devices all say no; each report of theirs is flipped with 1/(1 + e).
coin = iter(range(HONEST))
for _ in range(HONEST // 500):
    status, answer = c.upload([crash.upload([next(coin) % 1000 < 269]) for _ in range(500)])
    ok(status == 204, "uploads of one report each, many a request", answer)

ones = b"\xff" * (1 << 20)
one_id = crash.upload([], payload=ones, count=8 << 20)
ok(refused(c.upload([one_id]), "many-reports", 403), "8,388,608 reports under one id are refused")
ok(refused(c.upload([crash.upload([1, 1])]), "many-reports", 403), "as are two")
ok(refused(c.upload([crash.upload([0, 0], null=True)]), "many-reports", 403), "and two that count nothing")
text = json.dumps({"uploads": [{"task": "crash", "release": 1, "digest": crash.digest.hex(), "epoch": date(DAY), "id": "ab" * 16, "reports": [1, 1]}]})
ok(refused(c.upload(text, kind="application/json"), "many-reports", 403), "in JSON too")
ok(c.settled("crash", HONEST) is not None and row()["reports"] == HONEST and row()["nulls"] == 0, "nothing of it is counted", row())
share = c.get("/v1/tasks/crash/estimate")[1]["estimates"][0]["estimate"]
ok(abs(share) < 0.1, "so the estimate stays what honest devices say", share)

# ---- Forwarders --------------------------------------------------------------

device = "Bearer " + made("enrol", "closed", "--count", "1", "--quota", "100")[0]
one, two = ("Bearer " + t for t in made("forwarder", "--count", "2", "--quota", str(QUOTA)))
ok(c.until(lambda: c.upload([crash.upload([1] * MOST)], Authorization=one)[0] == 204), "a forwarder brings as many as an upload may have")
ok(refused(c.upload([crash.upload([1] * (MOST + 1))], Authorization=two), "many-reports", 403), "and not one more")
ok(refused(c.upload([crash.upload([1] * (QUOTA - MOST + 1))], Authorization=one), "quota", 429), "each report is charged to its quota")
ok(c.upload([crash.upload([0] * (QUOTA - MOST), null=True)], Authorization=one)[0] == 204, "null ones as well")
ok(refused(c.upload([crash.upload([1])], Authorization=one), "quota", 429), "until it is used up, across uploads")
ok(c.upload([crash.upload([1])])[0] == 204, "a device needs no token for an open task")
both = c.upload([crash.upload([1, 1]), closed.upload([1, 0, 1])], Authorization=two)
ok(both[0] == 204, "a forwarder may bring reports of all tasks, enrolled ones too", both)
ok(refused(c.upload([closed.upload([1, 1])], Authorization=device), "many-reports", 403), "a device's token is no forwarder's")
ok(refused(c.upload([crash.upload([1, 1])], Authorization="Bearer " + "A" * 43), "many-reports", 403), "nor is any other word")
ok(row()["reports"] == HONEST + MOST + 3 and c.get("/v1/tasks/closed")[1]["reports"] == 3, "and all of that is counted, each report once", row())
ok("tokens-of-no-task" not in c.said(), "the log does not take forwarders for a task", c.said())
c.kill()
c.start()
ok(refused(c.upload([crash.upload([1])], Authorization=one), "quota", 429), "after a kill the quota is still used up")
code = c.stop()
ok(code == 0, "the collector ends", (code, c.said()))
done()
