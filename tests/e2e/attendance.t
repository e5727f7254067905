#!/usr/bin/python3 -B
"""Permanent answers over seven days, 200 devices, through the real client and
the real collector: tally and interval are those of the same devices in process,
to the last digit, whoever stays, leaves or joins. And files: rounds are said,
merged and asked for."""

import collector

collector.DAY = 20773  # the clock is driven, and so no day is today's

from collector import *

FIRST, DAYS, N, SEED = DAY - 20, 7, 200, 5
OPTIONS = dict(start=DAY - 20, end=DAY + 300, min_reports=1)  # whatever comes is shown
TASKS = (task("dark", "yes-no: true; epsilon: 1; permanent: {epsilon: 2}", **OPTIONS)
         + task("browser", "values: [firefox, chrome]; mechanism: grr; epsilon: 1; permanent: {epsilon: 2}", **OPTIONS)
         + task("minutes", "range: [0, 1440]; permanent: {epsilon: 2, gamma: 0.1}", **OPTIONS)
         + task("memory", "range: [0, 64]; bins: 8; mechanism: oue; epsilon: 1; permanent: {epsilon: 2}", **OPTIONS)
         + task("fresh", "yes-no: true; epsilon: 1; repeat: daily", **OPTIONS))
NAMES = ("dark", "browser", "minutes", "memory", "fresh")
LIVES = os.path.join(os.environ.get("B", "build"), "tests", "unit", "sim", "fleet", "test_lives")


def stderr_of(reports, squares, one, kept):
    return ((one - kept) / reports + kept * squares / reports ** 2) ** 0.5


for attendance in ("stay",) if SHORT else ("stay", "leave", "join"):
    clock = write("clock-" + attendance, date(FIRST) + "\n")
    c = Collector(attendance, TASKS, rehearsal=clock, keep_days=30).start(env={"ASAN_OPTIONS": "detect_leaks=0"})
    out = path("in-process-" + attendance)
    os.makedirs(out)
    ran = subprocess.run([LIVES, os.path.join(c.dir, "tasks.signed"), str(FIRST * 86400), str(SEED), str(N), str(DAYS), attendance, out], capture_output=True)
    ok(ran.returncode == 0, "%s: the same devices in process" % attendance, ran)
    must("simulate", "fleet", "http://127.0.0.1:%d" % c.public[1], "--devices", N, "--seed", SEED, "--days", DAYS, "--clock", clock,
         "--attendance", attendance, "--batch", 20)
    figures = {}
    for name in NAMES:
        c.cells(name)
        tally = c.get("/v1/tasks/%s/tally" % name)[1]
        ok(tally == open(os.path.join(out, name + ".tally"), "rb").read(), "%s, %s: the collector's tally is the one in process, byte for byte" % (attendance, name))
        status, body = c.get("/v1/tasks/%s/estimate" % name)
        mine = json.load(open(os.path.join(out, name + ".json")))
        ok(status == 200 and {k: body[k] for k in mine} == mine, "%s, %s: and its figure, to the last digit" % (attendance, name), (body, mine))
        printed = json.loads(must("estimate", write("%s-%s.tally" % (attendance, name), tally), "--format", "json"))
        row, own = body["estimates"][0], printed["estimates"][0]
        ok(all(row[k] == own[k] for k in ("estimate", "stderr", "low", "high")) and printed["devices"] == body["devices"] == N
           and printed["rounds"] == body["rounds"] == DAYS, "%s, %s: 'hearsay estimate' says the same" % (attendance, name), (row, own))
        asked = c.get("/v1/tasks/%s/estimate?target=population" % name)[1]["estimates"][0]
        own = json.loads(must("estimate", path("%s-%s.tally" % (attendance, name)), "--target", "population", "--format", "json"))["estimates"][0]
        ok(all(asked[k] == own[k] for k in ("estimate", "stderr", "low", "high")) and (name != "dark" or asked["stderr"] > row["stderr"]),
           "%s, %s: and its interval for the population" % (attendance, name), (asked, own, row))
        figures[name] = row
    there = {"stay": [N] * DAYS, "leave": [N] + [N // 2] * (DAYS - 1), "join": [sum(i * DAYS // N <= d for i in range(N)) for d in range(DAYS)]}[attendance]
    reports, squares = sum(there), sum(min(a, b) for a in there for b in there)
    want = stderr_of(reports, squares, 0.9206735942077923, 0.18101541524157762)
    ok(abs(figures["dark"]["stderr"] - want) < 1e-9, "%s: the error is that of the kept answers and of the reports" % attendance, (figures["dark"]["stderr"], want))
    ok(abs(figures["fresh"]["stderr"] - stderr_of(reports, 0, 0.9206735942077923, 0)) < 1e-9, "%s: fresh coins have no such thing" % attendance)
    if attendance == "stay":
        days = ["from=%s&to=%s" % (date(FIRST + 1 + i), date(FIRST + 1 + i)) for i in range(2)]
        both = days[0] + "&" + days[1].replace("from", "from2").replace("to=", "to2=")
        apart = c.get("/v1/tasks/dark/compare?" + both)[1]
        paired = c.get("/v1/tasks/dark/compare?devices=%d&%s" % (N, both))[1]
        one, two = apart["difference"][0]["stderr"], paired["difference"][0]["stderr"]
        ok(apart["paired"] is False and paired["paired"] is True and abs(two ** 2 - (one ** 2 - 2 * 0.18101541524157762 / N)) < 1e-9,
           "two days of all devices: what is kept is not in their difference", (one, two))
        ok(any("no more devices" in n for n in paired["notes"]) and apart["notes"] == [] and apart["overlap"] is False, "and it says what that assumes", paired["notes"])
        for again in (days[0] + "&" + days[0].replace("from", "from2").replace("to=", "to2="), days[0].replace("from", "from2").replace("to=", "to2=")):
            same = c.get("/v1/tasks/dark/compare?" + again)[1]
            ok(same["overlap"] is True and any("share reports" in n for n in same["notes"]), "days that overlap are compared with a note", same.get("notes", same))
        status, why = c.get("/v1/tasks/dark/compare?devices=%d&%s" % (N - 1, both))
        ok(status in (400, 422) and "devices" in json.dumps(why), "fewer devices than a round has are refused", (status, why))
        bare = must("tally", stdin=must("randomize", "--task", os.path.join(c.dir, "tasks.signed") + ":dark", stdin=lines(["yes", "no"])))
        status, _, why = ask(c.admin, "POST", "/v1/tasks/dark/tally", bare)
        ok(status == 409 and json.loads(why)["title"] == "Rounds are missing" and "--round" in json.loads(why)["detail"], "a tally of kept answers that does not say its rounds is not merged", why)
        said = must("tally", "--round", "0:9", stdin=must("randomize", "--task", os.path.join(c.dir, "tasks.signed") + ":dark", stdin=lines(["yes", "no"])))
        ok(ask(c.admin, "POST", "/v1/tasks/dark/tally", said)[0] == 200 and c.get("/v1/tasks/dark/estimate")[1]["rounds"] == DAYS + 1, "one that does is")
        body, one = c.get("/v1/tasks/dark/estimate")[1], c.get("/v1/tasks/dark/estimate?" + days[0])[1]
        note = "at least 2 of the reports are of no day"
        ok(body["undated"] == 2 and any(note in n for n in body["notes"]) and one["undated"] == 0 and not any("no day" in n for n in one["notes"]),
           "reports of a merged tally are of no day, and the figure says so", body["notes"])
        ok(note in c.get("/v1/tasks/dark/estimate.csv")[1].decode() and note in c.get("/v1/tasks/dark/estimate.svg")[1].decode(), "in csv and svg too")
        far = must("tally", "--round", "0:9999", stdin=must("randomize", "--task", os.path.join(c.dir, "tasks.signed") + ":dark", stdin=lines(["yes", "no"])))
        ok(ask(c.admin, "POST", "/v1/tasks/dark/tally", far)[0] == 409, "a round that the task does not have is not")
        ok(c.get("/v1/tasks/dark/tally?from=%s&to=%s" % (date(FIRST + 1), date(FIRST + 1)))[0] == 400, "a tally has all days: others are not given instead")
    ok(c.stop() == 0, "%s: the collector ends" % attendance)

# ---- Files -----------------------------------------------------------------------

yaml = write("tasks.yaml", "version: 1\nissued: 2026-11-01\nexpires: 2027-01-01\ntasks:\n" + TASKS)
people = lines(["yes", "no", "no"] * 100)
streams = [write("day%d.hsy" % i, must("randomize", "--task", yaml + ":dark", "--simulate", "--seed", i, stdin=people)) for i in range(2)]
r = run("estimate", streams[0])
ok(r.code == 1 and "no interval" in r.err and "--rounds" in r.err, "reports of kept answers without their rounds have no interval", r)
one = json.loads(must("estimate", streams[0], "--rounds", 1, "--format", "json"))
ok(abs(one["estimates"][0]["stderr"] - (0.9206735942077923 / 300) ** 0.5) < 1e-9, "of one round they have", one)
r = run("tally", *streams)
ok(r.code == 1 and "--round" in r.err and not r.out, "two of them are not merged", r)
days = [write("day%d.tally" % i, must("tally", "--round", "0:%d" % i, s)) for i, s in enumerate(streams)]
both = write("both.tally", must("tally", *days))
ok(open(both, "rb").read() == must("tally", *reversed(days)), "with their rounds they are, in any order")
two = json.loads(must("estimate", both, "--format", "json"))
ok(abs(two["estimates"][0]["stderr"] - stderr_of(600, 1200, 0.9206735942077923, 0.18101541524157762)) < 1e-9 and two["rounds"] == 2 and two["devices"] == 300,
   "and the error knows that they share their noise", two)
same = json.loads(must("estimate", must("tally", "--round", "0:0", *streams) and write("same.tally", must("tally", "--round", "0:0", *streams)), "--format", "json"))
ok(abs(same["estimates"][0]["stderr"] - (0.9206735942077923 / 600) ** 0.5) < 1e-9 and same["devices"] == 600, "other people of one round do not", same)
text = must("estimate", both).decode()
ok("person-rounds" in text and "2 rounds, 300 devices in the largest" in text and "permanent answers" in text, "it says what it is a share of", text)
ok(two["notes"] == json.loads(must("estimate", both, "--format", "json", "--top", "1"))["notes"] and any("person-rounds" in n for n in two["notes"]) and two["kind"] == "yes-no",
   "json has it as notes", two)
sheet = rows(must("estimate", both, "--format", "csv", "--level", "80%"))
ok(all(row["level"] == 0.8 and row["rounds"] == 2 and row["devices"] == 300 and row["reports"] == 600 and row["notes"] == "; ".join(two["notes"]) for row in sheet), "csv as columns", sheet)
must("estimate", both, "--plot", path("both.svg"))
svg = open(path("both.svg")).read()
ok("Shares of person-rounds" in svg and "600 reports of at least 300 devices in 2 rounds" in svg and "counts once for each" in svg, "and a figure too", svg[:1500])
bound = json.loads(must("estimate", streams[0], "--rounds", 5, "--format", "json"))
ok(abs(bound["estimates"][0]["stderr"] - stderr_of(300, 1500, 0.9206735942077923, 0.18101541524157762)) < 1e-9, "--rounds T is a bound", bound)
for code, want, args in ((1, "does not state its round", ("tally", days[0], streams[1])), (1, "states its rounds", ("estimate", both, "--rounds", "3")),
                         (2, "1 to", ("estimate", streams[0], "--rounds", "0")), (1, "reports", ("estimate", streams[0], "--rounds", "301")),
                         (2, "--round takes", ("tally", "--round", "1", streams[0])), (2, "--round takes", ("tally", "--round", "1:4294967296", streams[0])),
                         (2, "--against", ("estimate", both, "--devices", "4")), (1, "of 300 devices", ("estimate", days[0], "--against", days[1], "--devices", "299")),
                         (1, "independent reports", ("estimate", both, "--interval", "exact")), (2, "above 0 and below 1", ("estimate", both, "--level", "1")),
                         (2, "above 0 and below 1", ("estimate", both, "--level", "0")), (2, "", ("estimate", both, "--level", "100%"))):
    r = run(*args)
    ok(r.code == code and re.search(want, r.err) and not r.out, "refused: %s" % " ".join(map(str, args[0:1] + args[2:])), r)
paired = [json.loads(must("estimate", days[0], "--against", days[1], "--format", "json", *more))["estimates"][0]["stderr"] for more in ((), ("--devices", 300))]
told = must("estimate", days[0], "--against", days[1], "--devices", 300).decode()
ok("at most 300 devices in all" in told and "no more devices in all than stated" in told and "in all" not in must("estimate", days[0], "--against", days[1]).decode(),
   "a table says what --devices assumes", told)
told = json.loads(must("estimate", days[0], "--against", days[1], "--devices", 300, "--format", "json"))
ok(told["paired"] is True and told["overlap"] is False and told["devices_in_all"] == 300 and any("no more devices" in n for n in told["notes"]), "and so does json", told)
for other in (days[0], both):
    told = json.loads(must("estimate", days[0], "--against", other, "--format", "json"))
    ok(told["overlap"] is True and any("share reports" in n for n in told["notes"]) and "may share reports" in must("estimate", days[0], "--against", other).decode(),
       "tallies of the same rounds are compared with a note", told)
half = json.loads(must("estimate", days[0], "--against", streams[1], "--rounds", 1, "--format", "json"))["estimates"]
whole = json.loads(must("estimate", days[0], "--against", days[1], "--format", "json"))["estimates"]
ok(half == whole, "--rounds is of the one of two that does not say its own", (half, whole))
half = json.loads(must("estimate", streams[0], "--against", days[1], "--rounds", 1, "--format", "json"))["estimates"]
ok(half == whole, "whichever that is", (half, whole))
r = run("estimate", days[0], "--against", days[1], "--rounds", "1")
ok(r.code == 1 and "both state their rounds" in r.err and not r.out, "if both say theirs it is refused", r)
ok(abs(paired[1] ** 2 - (paired[0] ** 2 - 2 * 0.18101541524157762 / 300)) < 1e-9, "two rounds of 300 devices are compared as pairs", paired)
other = write("other.hsy", must("randomize", "--task", write("other.yaml", open(yaml).read().replace("permanent: {epsilon: 2}", "permanent: {epsilon: 3}")) + ":dark", stdin=people))
r = run("tally", days[0], other)
ok(r.code == 1 and "permanent epsilon" in r.err, "tallies of other permanent parameters are not merged", r)
plan = json.loads(must("plan", "--task", yaml + ":dark", "--days", DAYS, "--devices", N, "--format", "json"))["rounds"]
ok(abs(plan[-1]["stderr_people"] - stderr_of(N * DAYS, N * DAYS ** 2, 0.9206735942077923, 0.18101541524157762)) < 1e-9 and plan[-1]["rounds"] == DAYS, "the plan said so", plan)
plan = json.loads(must("plan", "--task", yaml + ":dark", "--days", 100000, "--devices", N, "--format", "json"))
told = must("plan", "--task", yaml + ":dark", "--days", 100000, "--devices", N).decode()
ok(plan["rounds"][-1]["days"] == plan["task_days"] < 100000 and "the task is over after %d days" % plan["task_days"] in told and
   "is over" not in must("plan", "--task", yaml + ":dark", "--days", DAYS, "--devices", N).decode(), "a plan beyond the end of the task says so", told)
for name, words in (("homepage", "hearsay simulate study"), ("new-words", "hearsay plan --strings")):
    r = run("plan", "--task", os.path.join(ROOT, "examples", "collector", "tasks.yaml") + ":" + name, "--days", "30", "--devices", "1000")
    ok(r.code == 1 and words in r.err and not r.out, "%s has no formula: what to use instead is said" % name, r)
fresh = write("fresh.tally", must("tally", stdin=must("randomize", "--yes-no", "--epsilon", "1", stdin=people)))
r = run("estimate", fresh, "--rounds", "3")
ok(r.code == 1 and "every report has fresh noise" in r.err and not r.out, "--rounds of fresh coins: what to do is said", r)
curator = write("curator.tally", must("release", "--yes-no", "--epsilon", "1", stdin=people))
r = run("estimate", curator, "--rounds", "2")
ok(r.code == 1 and "curator's release" in r.err and "leave it out" in r.err and not r.out, "and of a curator's release", r)
for code, want, args in ((2, "--days", ("--task", yaml + ":dark")), (2, "1 to", ("--task", yaml + ":dark", "--days", "0", "--devices", "5")),
                         (1, "no task", ("--task", yaml + ":none", "--days", "5", "--devices", "5")), (2, "--task", ("--days", "5")),
                         (2, "cannot be used with --yes-no", ("--task", yaml + ":dark", "--days", "5", "--devices", "5", "--yes-no"))):
    r = run("plan", *args)
    ok(r.code == code and want in r.err and not r.out, "refused: plan %s" % " ".join(args), r)
done()
