#!/usr/bin/python3 -B
"""What a reader can fetch never tells a few reports apart.

Every report hits a cell of its own, so a tally names the reports that are in it.
An adversary with an analyst's token polls everything that a reader may: tallies,
estimates of all days and of any range, comparisons, history, counts,
status and metrics, while reports come in ones, twos and crowds, for today and
for days before, beside restarts. Whatever is a sum of cells
is a vector over reports. Two reports that have the same weight in every vector
cannot be told apart by any combination of them, and those classes are all that
a combination can hold: each must have min_reports, but for what was never shown.
"""

import random
import sqlite3

from collector import *

M = 40
CELLS = 2048
rng = random.Random(15)
DAYS = [DAY - 3, DAY - 2, DAY - 1, DAY]


def tasks():
    return cells("daily", CELLS, min_reports=M) + cells("wide", 2 * CELLS, min_reports=M)  # the second has no tallies of days


c = Collector("readers", tasks(), admin_open=False, grace_days=4, estimate_seconds=1, day_words=CELLS + 100)
os.makedirs(c.data, 0o700)
A, O, S = (must("serve", "token", "add", role, "--role", role, "--data", c.data).decode().split()[-1] for role in ("analyst", "operator", "scraper"))
c.start()

seen = {"wide": set(), "daily": set()}  # tallies as frozensets of reports
live = {name: set() for name in seen}  # and those of an operator
counters = {}  # path of a number -> values it had
free = {name: iter(rng.sample(range(CELLS), CELLS)) for name in seen}
sent = {name: [] for name in seen}


def send(name, day, n):
    cells_ = [next(free[name]) for _ in range(n)]
    status, body = c.upload([c.task[name].upload([cell], epoch=day) for cell in cells_])
    assert status == 204, body
    sent[name] += [(cell, day) for cell in cells_]


def note(name, value):
    counters.setdefault(name, []).append(value)


def shares(figure):
    """The reports of a figure: cells of more than one report's share."""
    n = figure["reports"]
    rows = sorted((r for r in figure["estimates"]), key=lambda r: -r["estimate"])[:n]
    return frozenset(int(float(r["value"].split("..")[0])) for r in rows), n


def poll(name):
    where = "/v1/tasks/" + name
    status, tally = c.get(where + "/tally", A)
    if status == 200:
        found, n = cells_of(tally)
        got = frozenset(i for i, v in found.items() if i < CELLS)
        ok_ = len(got) == n
        seen[name].add(got)
        if not ok_:
            raise SystemExit("Bail out! cells are not reports: %d and %d" % (len(got), n))
    found, n = cells_of(c.get(where + "/live", O)[1])
    live[name].add(frozenset(i for i in found if i < CELLS))
    row = c.get(where, A)[1]
    note(name + " reports", row["reports"])
    note(name + " nulls", row["nulls"])
    if "live" in row:
        raise SystemExit("Bail out! an analyst sees live counts")
    for block in row["days"]:
        note("%s %s" % (name, block["day"]), block["reports"])
    ranges = [""] + ["&from=%s&to=%s" % (date(a), date(b)) for i, a in enumerate(DAYS) for b in DAYS[i:]]
    for days in ranges if name == "daily" else ranges[:2]:
        status, figure = c.get(where + "/estimate?top=%d%s" % (CELLS, days), A)
        if status == 200:
            got, n = shares(figure)
            seen[name].add(got)
            note("%s %s" % (name, days), n)
        else:
            note("%s few %s" % (name, days), figure.get("reports", 0))
    status, both = c.get(where + "/compare?from=%s&to=%s&from2=%s&to2=%s" % (date(DAY - 1), date(DAY - 1), date(DAY), date(DAY)), A)
    if status == 200:
        for side in ("a", "b"):
            note("%s compare %s" % (name, side), both[side]["reports"])
    past = c.get(where + "/history", A)[1]
    for point in past["live"] + past["days"]:
        if "reports" in point:
            note(name + " reports", point["reports"])
    for point in past["days"]:
        if point.get("own"):
            note("%s own %s" % (name, point["day"]), point["own"]["reports"])


def poll_counters():
    status = c.get("/v1/status", A)[1]["store"]
    for key in ("commits", "folded", "ids", "reports", "nulls"):
        note("status " + key, status[key])
    for line in ask(c.admin, "GET", "/metrics", token=S)[2].decode().splitlines():
        key, value = line.rsplit(" ", 1)
        if re.match(r'hearsay_(reports_total|nulls_total|uploads_total\{verdict="(counted|again)"|commits_total|submissions_total|groups_total|ids |wait_seconds_(bucket|count)|(requests_total|answers_total)\{listener="public",status="2xx")', line):
            note(key, float(value))


def classes(known):
    """Reports that no combination tells apart, and how many each class has."""
    sets = sorted(known, key=len)
    kinds = {}
    for cell in range(CELLS):
        mark = tuple(i for i, s in enumerate(sets) if cell in s)
        if mark:
            kinds[mark] = kinds.get(mark, 0) + 1
    return kinds


def small(values):
    """Differences of a counter, and of 0, that are more than 0 and less than M."""
    known = sorted(set(values) | {0})
    return [(a, b) for a, b in zip(known, known[1:]) if b - a < M]


# Ones, twos and crowds; each step ends with a look at everything.
STEPS = [1, 2, M - 4, 1, M // 2, 3, M, 2 * M + 1, 5, M - 1] * (8 if os.environ.get("HSY_TEST_LONG") else 2)
for i, n in enumerate(STEPS):
    for name in seen:
        send(name, DAYS[-1] if i % 3 else rng.choice(DAYS), n)
        if i % 4 == 2:
            send(name, rng.choice(DAYS[:-1]), rng.choice((1, 3, M + 2)))
        poll(name)
    poll_counters()
    if i == len(STEPS) // 2:
        c.stop() if i % 2 else c.kill()
        c.start()
        for name in seen:
            poll(name)

for name in seen:
    kinds = classes(seen[name])
    ok(len(seen[name]) > 4 and len(kinds) > 3 and len(max(seen[name], key=len)) > len(sent[name]) // 2,
       "%s: %d different answers name %d of %d reports" % (name, len(seen[name]), len(max(seen[name], key=len)), len(sent[name])))
    ok(min(kinds.values()) >= M, "%s: no combination of them holds fewer than min_reports: %d classes, the least of %d" % (name, len(kinds), min(kinds.values())), sorted(kinds.values()))
    ok(min(classes(live[name]).values()) == 1, "%s: the live tally, which is not shown, tells single reports" % name)
wrong = {key: small(values)[:3] for key, values in counters.items() if small(values)}
ok(not wrong, "%d counters, seen %d times: none moves by less" % (len(counters), sum(map(len, counters.values()))), wrong)
n = cells_of(c.get("/v1/tasks/wide/live", O)[1])[1]
ok(n == len(sent["wide"]), "an operator has the live tally", (n, len(sent["wide"])))
ok(c.get("/v1/tasks/wide/live", A)[0] == 403 and c.get("/v1/tasks/wide", O)[1]["live"]["reports"] == len(sent["wide"]), "and nobody else")

# ---- A restart shows the same generation --------------------------------------------

for name in seen:
    send(name, DAY, 3)
before = {name: c.get("/v1/tasks/%s/tally" % name, A)[1] for name in seen}
for how in (c.kill, c.stop):
    how()
    c.start()
    ok(all(c.get("/v1/tasks/%s/tally" % name, A)[1] == before[name] for name in seen), "the same bytes after it was %s" % ("killed" if how == c.kill else "stopped"))
c.stop()

c.start()

# ---- What is retired is forgotten ------------------------------------------------------

with open(c.document(cells("daily", CELLS, min_reports=M), name="later"), "rb") as f:
    status, _, why = ask(c.admin, "PUT", "/v1/document", f.read(), O)
ok(status == 200 and ask(c.admin, "POST", "/v1/tasks/wide/retire", b"", O)[0] == 200, "a task is retired", why)
row = sqlite3.connect("file:%s?mode=ro" % os.path.join(c.data, "shown.db"), uri=True).execute("SELECT entry, count(*) FROM pieces GROUP BY entry").fetchall()
ok(c.get("/v1/tasks/wide/tally", A)[0] == c.get("/v1/tasks/wide/estimate", A)[0] == 410 and len(row) == 1 and c.get("/v1/tasks/daily/tally", A)[0] == 200,
   "and so is what was shown of it, but for its counts", row)
first = c.get("/v1/tasks/daily/tally", A)[1]

# ---- Backups ------------------------------------------------------------------------

made = json.loads(ask(c.admin, "POST", "/v1/backup", b"", O)[2])["directory"]
c.stop()
copy = os.path.join(c.data, made)
ok("shown.db" in os.listdir(copy) and os.stat(os.path.join(copy, "shown.db")).st_mode & 0o777 == 0o600, "a backup has what was shown", os.listdir(copy))
os.rename(copy, path("restored"))
c.configure(**{**c.config, "data": path("restored"), "document": os.path.join(c.dir, "later.signed"), "admin_open": True})
c.start()
again, of = cells_of(c.get("/v1/tasks/daily/tally")[1]), cells_of(first)
ok(set(of[0]) <= set(again[0]) and (again[1] == of[1] or again[1] - of[1] >= M), "and restored it goes on from there", (again[1], of[1]))
c.stop()
with open(os.path.join(path("restored"), "shown.db"), "r+b") as f:
    f.seek(40)
    f.write(b"\xff" * 200)
c.launch()
ok(c.wait() == 1 and "shown.db" in c.said(), "a damaged one is said, and nothing is served", c.said())
done()
