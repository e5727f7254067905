#!/usr/bin/python3 -B
"""Two collectors on one database show readers one thing: whatever both answer,
nothing tells fewer reports apart than a lot has; tokens and what is retired are
the same at both."""

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "rig"))
from collector import *
import postgres

why = postgres.why_not()
if why:
    skip_all(why)

LEAST, N = 20, 200 if SHORT else 500
server = postgres.Postgres("a")
a = Collector("a", cells("c", N, min_reports=LEAST), storage=server.url(), data=None)
b = Collector("b", cells("c", N, min_reports=LEAST), storage=server.url(), data=None, document=a.config["document"], public_key=a.config["public_key"])
must("store", "init-cluster", a.yaml)
for c in (a, b):
    c.start()
random.seed(5)
answers, bad = [], []


def shown(c):
    return c.get("/v1/tasks/c")[1]["reports"]


def ask_for(c):
    status, tally = c.get("/v1/tasks/c/tally")
    if status == 200:
        got, n = cells_of(tally)
        answers.append(frozenset(got))
        if sum(got.values()) != n or set(got.values()) != {1}:
            bad.append(got)
    elif status not in (404, 409):
        bad.append((status, tally))


for v in range(N):
    status, said = random.choice((a, b)).upload([a.task["c"].upload([v])])
    if status != 204:
        bad.append((v, status, said))
    if random.random() < 0.4:
        ask_for(random.choice((a, b)))
    if v % 50 == 49:  # some time goes by
        c = random.choice((a, b))
        c.until(lambda: shown(c) > v + 1 - LEAST)
        ask_for(c)
ok(not bad, "uploads to either are counted once, tallies have each report once", bad[:3])
classes = {}
for v in range(N):
    sign = tuple(v in got for got in answers)
    if any(sign):
        classes.setdefault(sign, []).append(v)
ok(len(set(answers)) > 3 and len(classes) > 3, "there are several generations", (len(answers), len(classes)))
ok(min(map(len, classes.values())) >= LEAST, "no class of reports that answers tell apart is less than a lot", sorted(map(len, classes.values()))[:5])

# ---- The same at both ------------------------------------------------------------

def estimates(c):
    status, figure = c.get("/v1/tasks/c/estimate")
    return status, figure.get("reports"), figure.get("estimates")


ok(a.until(lambda: N - LEAST < shown(a) == shown(b)), "both come to show the same, all but less than a lot", (shown(a), shown(b)))
ok(estimates(a)[:2] == (200, shown(a)) and estimates(a) == estimates(b), "and estimate the same of it", (estimates(a)[:2], estimates(b)[:2]))
before = shown(b)
ok(b.stop() == 0 and b.start() and shown(b) == before and estimates(b) == estimates(a), "a node that was away shows it again", (before, shown(b)))
one = a.task["c"].upload([0])
must("serve", "token", "enrol", "c", "--count", 1, "--quota", 5, "--storage", server.url())
ok(all(c.until(lambda: c.upload([one])[0] == 403) for c in (a, b)), "a task that has tokens from now on wants them at both")
must("serve", "token", "revoke", "c", "all", "--storage", server.url())
ok(a.until(lambda: a.upload([one])[0] == 204) and b.until(lambda: b.upload([one])[0] == 204), "and wants none when they are revoked")
with open(a.document(cells("d", 4)), "rb") as f:
    ok(ask(a.admin, "PUT", "/v1/document", f.read())[0] == 200, "another document asks the task no more")


def estimate(c):
    return c.get("/v1/tasks/c/estimate")[0]


ok(a.until(lambda: ask(b.admin, "POST", "/v1/tasks/c/retire")[0] == 200) and a.until(lambda: estimate(a) == estimate(b) == 410),
   "what one node retires is shown by none", (estimate(a), estimate(b)))
ok(server.sql("select count(*) from hearsay.shown_cells", database="hearsay") == "0", "and is not in the database")
ok(a.stop() == 0 and b.stop() == 0, "both end")
done()
