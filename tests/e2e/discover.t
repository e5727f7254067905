#!/usr/bin/python3 -B
"""Frequent strings nobody listed: randomize, tally, discover, and what is refused."""

import random
import statistics

from e2e import *

rng = random.Random(11)
WORDS = [b"water"] * 40 + [b"fire"] * 25 + [b"\xff\xfe\x01"] * 15
N = 4000 if SHORT else 20000
people = [rng.choice(WORDS) if rng.random() < 0.8 else bytes(rng.choices(b"abcdefghij", k=6)) for _ in range(N)]
PEM = ["--strings", "--mechanism", "pem", "--set", "bits=48", "--set", "step=8", "--set", "pool-bits=10"]
half = N // 2


def text(some):
    return b"".join(p + b"\n" for p in some)


def randomize(some, seed):
    return must("randomize", *PEM, "--epsilon", "4", "--simulate", "--seed", seed, stdin=text(some))


first = write("first.reports", randomize(people[:half], 1))
second = write("second.tally", must("tally", stdin=randomize(people[half:], 2)))
whole = write("whole.tally", must("tally", first, second))

got = json.loads(must("discover", "show", whole, "--significant", "--format", "json"))
names = [row["value"] for row in got["strings"]]
ok(names[:2] == ["water", "fire"] and got["found"] == len(names) == 3, "the frequent strings are found", names)
truth = {w: people.count(w) / N for w in (b"water", b"fire", b"\xff\xfe\x01")}
rows = list(csv.reader(io.StringIO(must("discover", "show", whole, "--significant", "--format", "csv").decode("utf-8"))))
ok(rows[0] == ["value", "estimate", "stderr", "low", "high", "level_selected", "significant", "value_hex", "level", "target", "reports"],
   "csv, which is valid UTF-8, has its columns", rows[0])
found = {bytes.fromhex(r[7]) or r[0].encode(): r for r in rows[1:-1]}
rest = rows.pop()
ok(rest[0] == "(not shown)" and float(rest[3]) < 1 - sum(truth.values()) < float(rest[4]), "the last row is what is not shown", rest)
ok(sorted(found) == sorted(truth) and found[b"\xff\xfe\x01"][0] == "\\xff\\xfe\x01" and found[b"fire"][7] == "",
   "csv has bytes that are not UTF-8 in value_hex, and shows them as \\xff", rows)
kept = [row for row in got["strings"] if "value_hex" in row]
ok([(row["value"], row["value_hex"]) for row in kept] == [("\ufffd\ufffd\x01", "fffe01")], "json, which has no such bytes, adds them in digits", got["strings"])
must("discover", "show", whole, "--significant", "--plot", path("names.svg"))
ok(">\\xff\\xfe\\u{1}<" in open(path("names.svg")).read(), "and a figure shows them as a table does")
ok(all(abs(float(r[1]) - truth[word]) < 5 * float(r[2]) for word, r in found.items()),
   "with their shares, within five standard errors", rows)
ok(must("discover", "show", first, second, "--format", "csv") == must("discover", "show", whole, "--format", "csv"),
   "files are counted together, in any form")
wide = json.loads(must("discover", "show", whole, "--significant", "--simultaneous", "--format", "json"))
ok(all(w["low"] < r["low"] and w["high"] > r["high"] for w, r in zip(wide["strings"], got["strings"])),
   "intervals for all candidates together are wider")
stages = list(csv.DictReader(io.StringIO(must("discover", "show", whole, "--top", "4", "--all-stages", "--format", "csv").decode("utf-8"))))
ok({r["stage"] for r in stages[:-1]} == set("12345") and [r["bits"] for r in stages if r["stage"] == "1"][0] == "16" and
   [r["value"] for r in stages if r["stage"] == "1"][0] == "wa", "every stage shows its prefixes", stages[:3])
ok(b"water" in must("discover", "show", whole), "a person reads a table")

# What was selected says so, and from how many.
usual = json.loads(must("discover", "show", whole, "--format", "json"))
ok([row["value"] for row in usual["strings"]] == names and usual["significant"] and all(row["significant"] for row in usual["strings"]),
   "without an option only what chance hardly makes is shown", usual)
level = 1 - 0.05 * usual["selected"] / usual["of"]
ok(usual["selected"] == 3 and usual["of"] == usual["candidates"] and abs(usual["level_selected"] - level) < 1e-12 and
   all(abs(row["level_selected"] - level) < 1e-12 for row in usual["strings"]), "intervals have the level of a selection", usual)
ok(abs(usual["unexplained"]["estimate"] - 1 + sum(row["estimate"] for row in usual["strings"])) < 1e-12 and
   usual["unexplained"]["low"] < 1 - sum(truth.values()) < usual["unexplained"]["high"], "and the rest an interval of its own", usual["unexplained"])
more = json.loads(must("discover", "show", whole, "--top", "8", "--format", "json"))
ok(len(more["strings"]) == 8 and [row["significant"] for row in more["strings"]] == [True] * 3 + [False] * 5 and not more["significant"],
   "--top has as many as it says, and marks what chance makes", more)
z = {k: statistics.NormalDist().inv_cdf(0.5 + r["level_selected"] / 2) for k, r in (("3", usual), ("8", more))}
width = {k: r["strings"][0]["high"] - r["strings"][0]["low"] for k, r in (("3", usual), ("8", more))}
ok(abs(width["3"] / width["8"] / (z["3"] / z["8"]) - 1) < 0.01, "eight are less of a selection than three", (z, width))
said = must("discover", "show", whole, "--top", "8").decode()
ok("the largest, significant or not: 3 of them significant" in said and "adjusted for selection: 8 of" in said, "a table says both", said)
said = must("discover", "show", whole, "--top", "1").decode()
ok(" candidates is shown, so its interval is made at 99." in said, "discover speaks of one string in the singular", said)
for seed in (2, 4):
    tea = must("randomize", "--strings", "--mechanism", "pem", "--set", "bits=24", "--epsilon", "4", "--simulate", "--seed", seed,
               stdin=b"tea\n" * 60 + b"co\n" * 40)
    few = json.loads(must("discover", "show", "--top", "1", "--format", "json", stdin=tea))
    ok(few["strings"][0]["high"] == 1 and few["strings"][0]["low"] >= 0 and few["unexplained"]["low"] >= 0 and few["unexplained"]["high"] <= 1,
       "seed %d: of few reports the interval of the rest ends at 0 and 1 as those of strings do" % seed, few)
# 90 prefixes of three letters are each more frequent than any of needle's.
rng = random.Random(3)
crowd = ["need"] * 240 + ["w%03d" % rng.randrange(900) for _ in range(29760)]
rng.shuffle(crowd)
many = write("many", must("tally", stdin=must("randomize", "--strings", "--mechanism", "pem", "--set", "bits=32", "--set", "step=8", "--set", "first=1", "--epsilon", "7", "--simulate", "--seed", 1, stdin=lines(crowd))))
names = [row["value"] for row in json.loads(must("discover", "show", many, "--format", "json"))["strings"]]
ok("need" in names, "a string is found whose prefixes are rarer than 90 others", names)
few = [row["value"] for row in json.loads(must("discover", "show", many, "--max-candidates", "8192", "--format", "json"))["strings"]]
ok("need" not in few, "control: where there is room for 32 prefixes alone it is lost", few)
named = write("named", b"water\nfire\n")
r = run("estimate", whole)
ok(r.code == 1 and "--candidates" in r.err and "'hearsay discover'" in r.err, "estimate says who finds them without", r)
est = list(csv.DictReader(io.StringIO(must("estimate", whole, "--candidates", named, "--format", "csv").decode())))
ok(abs(float(est[0]["estimate"]) - got["strings"][0]["estimate"]) < 0.01, "estimate names the same shares", est)

# Before collecting.
plan = json.loads(must("discover", "plan", "--epsilon", "1", "--frequency", "0.01", "--set", "first=4", "--format", "json"))
ok(len(plan["stages"]) == 6 and plan["users"] == 6 * max(s["users"] for s in plan["stages"]), "a plan says how many people it takes")
z = -statistics.NormalDist().inv_cdf(0.05 / 8192) - statistics.NormalDist().inv_cdf(0.05)
v0 = plan["stages"][1]["variance"]
ok(1 < plan["stages"][1]["users"] / (v0 * z * z / 0.0001) < 1.01, "a little more than V0 (z + z')^2 / f^2 of them for a stage", plan["stages"][1])
for more, most in (((), 32), (("--top", 4, "--keep", 3), 12), (("--batches", "--bits", 24), 32)):
    told = must("discover", "plan", "--epsilon", "1", "--frequency", "0.01", *more).decode()
    ok("\nmore than %d prefixes of one length are at least half as frequent.\n" % most in told, "a plan states its condition: %d prefixes" % most, told)
ok(must("discover", "plan", "--epsilon", "1", "--frequency", "0.01", "--bits", "24", "--step", "6") ==
   must("discover", "plan", "--epsilon", "1", "--frequency", "0.01", "--set", "bits=24", "--set", "step=6"), "--bits and --step as in batches and in simulation")
few = must("discover", "show", "--significant", stdin=must("randomize", *PEM, "--epsilon", "1", "--simulate", "--seed", "1", stdin=text(people[:60])))
ok(b"Nothing found: none of " in few and b"candidates is significant." in few and b"'discover plan' computes the\nnumber needed" in few and
   b"(not shown)  100.000 %" in few, "nothing is said to be nothing, and what to do about it", few)


def refused(code, words, *args, stdin=b""):
    r = run(*args, stdin=stdin)
    ok(r.code == code and all(w in r.err for w in words), "refused: " + " ".join(words), r)


# As a task for devices.
task = write("tasks.yaml", b"""version: 1
expires: 2099-12-31
tasks:
  - {id: words, source: words, question: Which?, strings: true, epsilon: 4, mechanism: pem,
     set: {bits: 48, step: 8, pool-bits: 10}, repeat: once, start: 2026-01-01, end: 2099-12-31}
""")
asked = must("randomize", "--task", task + ":words", "--simulate", "--seed", 1, stdin=text(people[:half]))
ok(asked == randomize(people[:half], 1), "a task asks the same")

# Bad input.
refused(1, ["line 2", "too long", "--set bits=N", "--other"], "randomize", *PEM, "--epsilon", "1", stdin=b"ok\ntoo long\n")
other = must("randomize", *PEM, "--epsilon", "10", "--other", stdin=b"too long\n" * 500)
ok(b"other" in must("discover", "show", stdin=other), "with --other long strings are one string")
refused(1, ["line 1", "zero byte"], "randomize", *PEM, "--epsilon", "1", stdin=b"a\0\n")
refused(1, ["1048576 candidates", "limit of 262144", "--max-candidates"], "discover", "show", whole, "--top", "2048")
refused(1, ["group", "no reports"], "discover", "show", stdin=must("randomize", *PEM, "--epsilon", "1", stdin=b"a\n"))
refused(1, ["no data"], "discover", "show", stdin=must("randomize", *PEM, "--epsilon", "1", stdin=b""))
refused(1, ["reports of pem", "olh"], "discover", "show", stdin=must("randomize", "--strings", "--mechanism", "olh", "--epsilon", "1", stdin=b"a\n"))
small = must("randomize", "--strings", "--mechanism", "pem", "--set", "bits=8", "--epsilon", "1", stdin=b"a\n" * 50)
refused(1, ["--top", "more strings than there are candidates", "256"], "discover", "show", "--top", "300", stdin=small)
refused(2, ["step", "24 bits"], "randomize", "--strings", "--mechanism", "pem", "--set", "step=22", "--epsilon", "1", stdin=b"a\n")
refused(2, ["--top takes"], "discover", "show", whole, "--top", "0")
ok(must("discover", "show", whole, "--level", "90%") == must("discover", "show", whole, "--level", "0.9"), "a share may be said in per cent")
for level in ("0", "1", "100", "100%", "0%", "%"):
    refused(2, ["--level takes a share above 0 and below 1"], "discover", "show", whole, "--level", level)
refused(2, ["'discover plan' needs --frequency"], "discover", "plan", "--epsilon", "1")
refused(2, ["--epsilon is only for 'discover plan' or"], "discover", "show", whole, "--epsilon", "1")
refused(2, ["--bits is only for 'discover plan' or"], "discover", "show", whole, "--bits", "24")
refused(2, ["unexpected argument"], "discover", "plan", whole, "--epsilon", "1", "--frequency", "0.1")

# In simulation.
SIM = ["simulate", "discover", "pem", "--bits", "24", "--step", "6", "--top", "8", "--users", "50000", "--data", "zipf:1.5",
       "--domain", "5000", "--pool-bits", "10", "--mechanism", "olh", "--epsilon", "1,4", "--runs", "2", "--seed", "3", "--format", "csv"]
rows = list(csv.DictReader(io.StringIO(must(*SIM).decode())))
ok([r["epsilon"] for r in rows] == ["1", "4"] and all(0 <= float(r[m]) <= 1 for r in rows for m in ("f1", "ncr", "ndcg")),
   "simulate has a row an epsilon with f1, ncr and ndcg", rows)
ok(float(rows[0]["f1"]) < float(rows[1]["f1"]), "more epsilon finds more")
ok(must(*SIM, "--threads", "1") == must(*SIM, "--threads", "2"), "the numbers do not depend on the threads")
ok(must(*SIM, "--dump", path("found.csv"), "--plot", path("found.svg")) == must(*SIM), "files do not change what is printed")
runs = list(csv.DictReader(open(path("found.csv"))))
ok(len(runs) == 4 and all(abs(sum(float(r["f1"]) for r in runs if r["epsilon"] == t["epsilon"]) / 2 - float(t["f1"])) < 1e-12 for t in rows),
   "the runs of a dump average to its row", runs)
refused(1, ["--bits", "more bits are needed"], "simulate", "discover", "pem", "--bits", "12", "--data", "uniform", "--domain", "5000")
refused(2, ["unknown command 'simulate discover magic'"], "simulate", "discover", "magic")
refused(2, ["--users takes an integer from 1"], "simulate", "discover", "pem", "--data", "uniform", "--users", "0")

# In batches.
BATCHES = ["simulate", "discover", "pem", "--interactive", "--top", "3", "--runs", "4", "--epsilon", "6"]
NUMBERS = [*BATCHES, "--integers", "--bits", "16", "--step", "4", "--users", "2000"]


def found(*args):
    return list(csv.DictReader(io.StringIO(must(*args, "--format", "csv").decode())))


table = found(*NUMBERS, "--data", "poisson:5,geometric:0.3", "--mechanism", "grr,ss", "--plot", path("ndcg.svg"), "--dump", path("ndcg.csv"))
ok([(t["data"], t["mechanism"], t["sampling"]) for t in table] == [(d, m, a) for d in ("poisson:5", "geometric:0.3") for m, a in (("grr", "aggregate"), ("ss", "users"))] and
   all(float(t["ndcg"]) > 0.8 and t["interactive"] == "true" for t in table), "a row for each data and mechanism", table)
ok(all(t[m + "_se"] != "" for t in table for m in ("f1", "ncr", "ndcg", "precision", "recall")), "each metric has its standard error")
svg = open(path("ndcg.svg")).read()
ok(all(name in svg for name in ("NDCG", "poisson:5, grr", "geometric:0.3, ss")), "a line for each", svg[:300])
ok(len(open(path("ndcg.csv")).read().splitlines()) == 17, "and a line of the dump for each run")
for mechanism in ("grr", "ss"):
    one, two = (must(*NUMBERS, "--data", "poisson:5", "--mechanism", mechanism, "--threads", n, "--format", "csv") for n in ("1", "2"))
    ok(one == two, mechanism + ": the numbers do not depend on the threads")
said = must(*NUMBERS, "--data", "uniform:0:9", "--rounds", "3", "--sizes", "rising").decode().replace("\n", " ")
ok("4 batches of 250, 416, 584, 750 people a round, 3 rounds of fresh people" in said, "sizes are printed", said)
ok("would spend 4 epsilon; in every round, 3 epsilon; in every batch of every round, 12 epsilon" in said, "and what it costs to ask the same people", said)
answer = json.loads(must(*NUMBERS, "--data", "uniform:0:9", "--sizes", "diminishing", "--format", "json"))
ok(answer["sizes"] == "750, 583, 417, 250" and answer["epsilons_if_asked_again"] == 4, "in json too", answer)
spelled = write("spelled", text(people[:600]))
for form in (["--interactive", "--mechanism", "oue"], ["--pool-bits", "10"]):
    t = found("simulate", "discover", "pem", *form, "--data", "file:" + spelled, "--top", "2", "--epsilon", "10", "--runs", "2")[0]
    ok(t["users"] == "600" and t["f1"] == "1", "strings of a file, each asked once", t)
t = found(*NUMBERS, "--data", "file:" + write("numbers", b"65535\n7\n7\n" * 100), "--sizes", "rising")[0]
ok(t["users"] == "2000" and t["domain"] == "2" and float(t["recall"]) == 1, "integers of a file, drawn from it", t)
N16 = [*BATCHES, "--integers", "--bits", "16", "--data"]
refused(1, ["line 2", "too long", "--bits"], *BATCHES, "--data", "file:" + write("long", b"ok\nq7secret\n"))
refused(1, ["line 2", "more than --bits bits"], *N16, "file:" + write("large", b"1\n65536\n"))
refused(1, ["line 1", "not an integer"], *N16, "file:" + write("text", b"1.5\n"))
refused(1, ["has no lines"], *N16, "file:" + write("nothing", b""))
refused(1, ["--users", "batch has no people"], *N16, "uniform", "--step", "2", "--users", "7")
refused(1, ["--step", "do not divide"], *N16, "uniform", "--step", "3")
for more in (["--first", "4"], ["--pool-bits", "10"]):
    refused(2, [more[0], "--interactive"], *N16, "uniform", "--step", "4", *more)
refused(1, ["--top", "more strings than there are candidates"], "simulate", "discover", "pem", "--interactive", "--bits", "2", "--step", "2", "--integers", "--data", "uniform")
refused(1, ["1048576 candidates", "--max-candidates"], "simulate", "discover", "pem", "--interactive", "--top", "2048", "--data", "uniform")
refused(1, ["--step", "2^20"], "simulate", "discover", "pem", "--interactive", "--top", "8192", "--data", "uniform", "--step", "12")
refused(1, ["--mechanism rr", "two values"], *N16, "uniform", "--mechanism", "rr")
refused(1, ["--mechanism olh", "4 GiB", "--threads"], "simulate", "discover", "pem", "--interactive", "--data", "uniform", "--mechanism", "olh", "--epsilon", "10", "--threads", "20")
refused(2, ["did you mean 'grr'"], *N16, "uniform", "--mechanism", "grrr")
refused(2, ["--data zip:1"], *N16, "uniform,zip:1")
refused(2, ["--data", "is empty"], *N16, "uniform,")
refused(2, ["--domain"], *N16, "uniform", "--domain", "70000")
refused(2, ["--rounds", "--users"], *N16, "file:" + path("numbers"), "--rounds", "2")
refused(2, ["--sizes needs --interactive"], "simulate", "discover", "pem", "--data", "uniform", "--sizes", "rising")
refused(2, ["--interactive cannot be used with --first"], *N16, "uniform", "--first", "3")
refused(1, ["--mechanism grr", "fewer bits"], "simulate", "discover", "pem", "--data", "uniform", "--mechanism", "grr")
refused(2, ["--interactive is only for 'simulate discover pem'"], "simulate", "discover", "treehist", "--data", "uniform", "--interactive")
ORACLES = ["--data", "geometric:0.5", "--domain", "100", "--bits", "10", "--top", "4", "--users", "20000", "--runs", "2", "--epsilon", "3"]
table = found("simulate", "discover", "pem", *ORACLES, "--step", "4", "--mechanism", "olh,blh,cms,hcms,grr,oue,hr,pgr")
ok([t["mechanism"] for t in table] == ["olh", "blh", "cms", "hcms", "grr", "oue", "hr", "pgr"] and all(float(t["f1"]) >= 0.5 for t in table),
   "any oracle that answers for candidates is compared", table)
tree = found("simulate", "discover", "treehist", *ORACLES)[0]
ok((tree["discover"], tree["mechanism"], tree["step"]) == ("treehist", "hcms", "1") and float(tree["f1"]) >= 0.25, "and treehist", tree)
for option in ("--plot", "--dump"):
    r = run(*N16, "uniform", "--step", "2", "--users", "100", option, path("none/x"))
    ok(r.code == 1 and r.out == b"" and "none/x" in r.err, option + ": a file that cannot be written is said, and nothing printed", r)

# docs/discovery.md shows what the commands print and draw.
page, shown = examples("discovery.md")
ok(len(shown) == 2, "the page has its examples", shown)
tells_the_truth(page, shown)
done()
