#!/usr/bin/python3 -B
"""A fleet against a real collector: every upload counted once, however often it
is sent; estimates where the truth is; and one real device beside it. Then
collectors that refuse, fail and are none."""

import devices
from collector import *
from collector_stub import GOOD, Stub, problem

N = 400 if SHORT else 1200
DAILY = "repeat: daily; delay: 1h"
c = Collector("real", task("dark", "yes-no: true; epsilon: 2; " + DAILY)
              + task("browser", "values: [Firefox, Chrome, Safari]; epsilon: 2; mechanism: grr; permanent: {epsilon: 3}; delay: 1h")
              + task("minutes", "range: [0, 480]; epsilon: 2; " + DAILY)
              + task("memory", "range: [0, 64]; bins: 4; epsilon: 2; mechanism: oue; " + DAILY)
              + task("half", "yes-no: true; epsilon: 2; sample: 1/2; " + DAILY)
              + task("words", "strings: true; mechanism: olh; epsilon: 3; " + DAILY)
              + task("past", "strings: true; mechanism: olh; epsilon: 2; grace: 3d", start=DAY - 9, end=DAY - 9)
              + task("last", "strings: true; mechanism: olh; epsilon: 2; grace: 3d", start=DAY - 3, end=DAY - 3)
              + task("later", "yes-no: true; epsilon: 1; repeat: weekly", start=DAY - 1)).start(env={"ASAN_OPTIONS": "detect_leaks=0"})  # its sandbox hides /proc
URL = "http://127.0.0.1:%d" % c.public[1]
KEY = os.path.join(c.dir, "key.public")


def fleet(*options, url=URL, code=0):
    r = run("simulate", "fleet", url, *options, "--format", "json")
    ok(r.code == code, "simulate fleet %s: exit %d" % (" ".join(map(str, options)), code), r)
    return json.loads(r.out) if r.out else {}, r


def counted():
    rows = c.get("/v1/tasks")[1]["tasks"]
    return {row["task"]: (row["reports"], row["nulls"]) for row in rows}


r = run("tasks", "check", os.path.join(ROOT, "examples", "collector", "tasks.yaml"))
ok(r.code == 0 and all(word in r.out for word in (b"rr", b"grr", b"onebit", b"oue", b"pem", b"rappor")), "the example has a task of each sort", r)
ok(r.err == "", "and nothing to be warned of", r)

# ---- Counted once ----------------------------------------------------------------

few, r = fleet("--devices", 60, "--public-key", KEY)
sent = {t["task"]: (t["reports"], t["nulls"]) for t in few["tasks"]}
ok(set(sent) == {"dark", "browser", "minutes", "memory", "half", "words", "last"}, "tasks of which something is due", sent)
ok("later is left out: no round" in r.err and "past is left out: it is over" in r.err and r.err.count("left out") == 2, "the others are named, with why", r)
ok(few["requests"] == few["acknowledged"] >= 420 and few["refused"] == few["given_up"] == 0, "one upload a request, all of them acknowledged", few)
ok(c.until(lambda: {k: v for k, v in counted().items() if k in sent} == sent and counted()["later"] == (0, 0)), "the collector counted the same", counted())
ok(all(sent[t][0] == 60 for t in sent if t != "half") and 0 < sent["half"][0] < 60 and sent["half"][1] >= 60 - sent["half"][0],
   "who is not drawn sends null uploads", sent)
again, _ = fleet("--devices", 60, "--threads", 3, "--repeat", 3, "--batch", 7, "--connections", 5)
ok(again["acknowledged"] == few["acknowledged"] and again["repeated"] == 2 * (again["requests"] - again["repeated"]) and counted()["dark"] == sent["dark"],
   "the same seed, three times over and in batches: nothing is counted again", again)

on_terminal(lambda code, told: code == 0 and "100 %, 60 devices, 0 s left" in told, "a fleet shows a terminal how far it is",
            "simulate", "fleet", URL, "--devices", 60, "--public-key", KEY)
ok("%," not in r.err, "a fleet shows no progress in a pipe", r)

# ---- Truth and estimate ------------------------------------------------------------

many, _ = fleet("--devices", N, "--seed", 2, "--batch", 50, "--truth", "dark=0.8", "--truth", "browser=Firefox:6,Chrome:3,other:1",
                "--truth", "minutes=normal:120:20", "--truth", "memory=uniform:16:47", "--truth", "words=apple:1,pear:1")
truth = {t["task"]: {v["value"]: v["share"] for v in t.get("truth", [])} or t["mean"] for t in many["tasks"]}
ok(abs(truth["dark"]["yes"] - 0.8) < 0.15 and truth["browser"]["Safari"] == 0 and abs(sum(truth["browser"].values()) - 1) < 1e-9, "truths follow their laws", truth)
ok(abs(truth["minutes"] - 120) < 10 and truth["memory"]["0..16"] == truth["memory"]["48..64"] == 0 and set(truth["words"]) == {"apple", "pear"}, "of every kind", truth)
for name in ("dark", "browser", "minutes", "memory"):
    tally = path(name + ".tally")
    c.settled(name, 60 + N)
    with open(tally, "wb") as f:
        f.write(c.get("/v1/tasks/%s/tally" % name)[1])
    got = {row["value"]: row for row in json.loads(must("estimate", tally, "--format", "json"))["estimates"]}
    first = next(t for t in few["tasks"] if t["task"] == name)
    early = {v["value"]: v["share"] for v in first.get("truth", [])} or {"mean": first["mean"]}
    late = truth[name] if isinstance(truth[name], dict) else {"mean": truth[name]}
    for value, row in got.items():
        both = (60 * early[value] + N * late[value]) / (60 + N)
        # Beyond 8 standard errors: with chance below 1e-14.
        ok(abs(row["estimate"] - both) < 8 * row["stderr"], "%s, %s: estimated where the truth is" % (name, value), (row, both))

# ---- One real device ------------------------------------------------------------------

home, now = path("home"), DAY * 86400 + 43200  # noon: what was delayed by an hour is due
start = dict(clock=now - 86400 * 2)
devices.good("init", home, "--document", os.path.join(c.dir, "tasks.signed"), "--public-key", KEY, "--source", "test.dark=2,10,10", **start)
devices.good("consent", home, "send", **start)
devices.good("answer", home, "dark", stdin="yes", **start)
before = counted()["dark"]
r = devices.good("send", home, URL, "--spread", "0", "--take", clock=now, stdin=b"")
ok(r.out.split()[4] == b"2" and r.out.split()[6] == b"0", "a device sends its report, and a null upload for a day without an answer", r.out)
ok(counted()["dark"] == (before[0] + 1, before[1] + 1), "both arrive", counted())
r = devices.good("send", home, URL, "--spread", "0", clock=now, stdin=b"")
ok(r.out.split()[4] == b"0" and counted()["dark"] == (before[0] + 1, before[1] + 1), "once")

# ---- Wrong -------------------------------------------------------------------------------

must("tasks", "keygen", "-o", path("other"))
total = counted()
for options, words in ((["--public-key", path("other.public")], "not signed"), (["--truth", "none=1"], "no such task"), (["--truth", "dark=2"], "share of yes"),
                       (["--truth", "browser=Lynx:1"], "LABEL:WEIGHT"), (["--truth", "browser=Firefox:0"], "LABEL:WEIGHT"), (["--truth", "minutes=12"], "normal:"),
                       (["--truth", "words="], "WORD:WEIGHT"), (["--truth", "memory=normal:1:-1"], "normal:")):
    _, r = fleet(*options, code=1)
    ok(words in r.err, "and says so", r)
for args, words in ((["127.0.0.1"], "URL"), ([], "URL"), ([URL, "--devices", "0"], "devices"), ([URL, "--truth", "dark"], "TASK=LAW"), ([URL, "--rate", "0"], "rate"),
                    ([URL, "--repeat", "2", "--connections", "1"], "two connections")):
    r = run("simulate", "fleet", *args)
    ok(r.code == 2 and words in r.err, "refused: simulate fleet " + " ".join(args), r)
ok(counted() == total, "none of them sent anything")
document = ask(c.public, "GET", "/v1/document")[2]
code = c.stop()
ok(code == 0, "the collector ends", (code, c.said()))
_, r = fleet("--devices", 5, code=1)
ok("cannot connect" in r.err, "nobody there", r)

# ---- Collectors that fail -----------------------------------------------------------------

stub = Stub()
served = {"status": 200, "body": document}
stub.says(served, {"status": 503}, {"status": 500}, {"status": 200, "body": b"<html>"})
got, _ = fleet("--devices", 5, "--threads", 1, "--connections", 1, url=stub.url)
ok(got["tried_again"] == 3 and got["acknowledged"] == got["requests"] - 3 and len(set(stub.bodies())) == got["acknowledged"],
   "what is not acknowledged is sent again, the same bytes", got)
stub.says(served, problem(410), {"status": 200, "body": b'{"accepted":1,"refused":[{"upload":2,"status":409,"reason":"conflict"}]}'})
got, r = fleet("--devices", 5, "--threads", 1, "--connections", 1, "--batch", 2, url=stub.url, code=1)
ok(got["refused"] == 3 and {s["status"]: s["uploads"] for s in got["statuses"]} == {410: 2, 409: 1} and "410" in r.err, "refusals are counted by their status", got)
stub.says(served, problem(403))
stub.otherwise = {"status": 429, "headers": {"Retry-After": "3600"}}
begun = time.monotonic()
got, r = fleet("--devices", 5, "--threads", 1, "--connections", 1, url=stub.url, code=1)
ok(got["acknowledged"] == 0 and got["tried_again"] == 0 and {s["status"] for s in got["statuses"]} == {403, 429} and time.monotonic() < begun + DEADLINE, "a quota that is used up is not waited for", got)
ok("enrolment token (--token)" in r.err and "the quota of the token (--token) is used up for the day of these uploads" in r.err, "and what a refusal is about is said", r)
stub.says(served)
r = run("simulate", "fleet", stub.url, "--devices", 5)
ok("of all devices that answered" in r.out.decode() and "but\nnot counted again" in r.out.decode(), "truths of those who were refused are called so", r)
stub.says(served)
stub.otherwise = {"status": 503}
got, r = fleet("--devices", 1, "--attempts", 2, url=stub.url, code=1)
ok(got["given_up"] == len(set(stub.bodies())) > 0 and got["acknowledged"] == 0 and "given up" in r.err, "what never succeeds is given up", got)
stub.says(served)
stub.otherwise = None
_, r = fleet("--devices", 1, "--attempts", 2, url=stub.url, code=1)
ok("cannot be reached" in r.err, "no answer at all", r)
stub = Stub()
stub.says({"status": 200, "body": b"<html></html>"})
_, r = fleet(url=stub.url, code=1)
ok("magic" in r.err or "document" in r.err, "a page is no document", r)
done()
