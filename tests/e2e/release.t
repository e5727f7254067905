#!/usr/bin/python3 -B
"""hearsay release: a curator's noisy tally, alone and with others; docs/central.md tells the same."""

import re
import xml.etree.ElementTree as xml

from e2e import *

SEED = ["--simulate", "--seed"]


def release(truths, *args, seed=None):
    """A tally file of made-up people."""
    return must("release", *args, *SEED, seed, stdin=lines(truths)) if seed is not None else must("release", *args, stdin=lines(truths))


def estimate(tally, *args):
    text = must("estimate", *args, "--format", "json", stdin=tally)
    return json.loads(text)


def row(answer, value):
    return next(r for r in answer["estimates"] if r["value"] == value)


# Every kind, either neighbours: the truth is in an interval that misses once in 10^9.
people = 3000
kinds = {
    "yes-no": (["--yes-no"], ["yes" if i % 4 == 0 else "no" for i in range(people)], "yes", 0.25),
    "values": (["--values", "a,b,c"], ["abc"[i % 3] for i in range(people)], "b", 1 / 3),
    "domain": (["--domain", "7"], [i % 5 for i in range(people)], "0", 0.2),
    "bins": (["--range", "0:10", "--bins", "5"], [i % 10 for i in range(people)], "0..2", 0.2),
    "mean": (["--range", "-10:40"], ["%.1f" % (i % 30) for i in range(people)], "mean", 14.5),
}
for name, (args, truths, value, truth) in kinds.items():
    for neighbours in ("replace", "add-remove"):
        tally = release(truths, *args, "--epsilon", "0.5", "--neighbours", neighbours)
        answer = estimate(tally, "--level", "0.999999999")
        r = row(answer, value)
        ok(r["low"] <= truth <= r["high"] and r["high"] - r["low"] < (0.1 if name != "mean" else 5) and answer["releases"] == 1 and
           answer["reports"] is None and abs(answer["people"] - people) < (1 if neighbours == "replace" else 300),
           "%s, %s: the truth is in its interval" % (name, neighbours), answer)

# K curators: one is central, and the error of a count grows as sqrt(K).
args, truths, value, truth = kinds["yes-no"]
one = release(truths, *args, "--epsilon", "1", seed=1)
single = estimate(one)
V = 2 * math.exp(-1) / (1 - math.exp(-1)) ** 2
ok(must("tally", stdin=one) == one, "a tally of one release is that release")
ok(abs(row(single, "yes")["stderr"] * people / math.sqrt(V) - 1) < 1e-9, "one curator has the error of one discrete Laplace", single)
for k in (4, 100):
    files = [write("k%d.tally" % i, release(truths, *args, "--epsilon", "1", seed=i)) for i in range(k)]
    both = must("tally", *files)
    answer = estimate(both)
    ok(answer["releases"] == k and answer["people"] == k * people and
       abs(row(answer, "yes")["stderr"] * k * people / math.sqrt(k * V) - 1) < 1e-9, "%d curators have sqrt(%d) times it" % (k, k), answer)
    r = row(estimate(both, "--level", "0.9999999"), "yes")
    ok(r["low"] <= truth <= r["high"], "and the truth is in the interval")
    answer = estimate(both, "--target", "population")
    r = row(answer, "yes")
    ok(answer["interval"] == "wilson" and abs(r["stderr"] ** 2 - k * V / (k * people) ** 2 - r["estimate"] * (1 - r["estimate"]) / k / people) < 1e-12,
       "for a population sampling adds its part", answer)
wide = must("tally", *files[:50])
ok(must("tally", "-", *files[50:], stdin=wide) == both, "in whatever order they are added")
answer = json.loads(must("estimate", files[0], "--against", files[1], "--format", "json"))
ok(abs(answer["estimates"][0]["stderr"] * people / math.sqrt(2 * V) - 1) < 1e-9, "two releases have a difference", answer)
for post in ("norm", "norm-sub", "base-cut", "power"):
    answer = estimate(release(["a"] * 900 + ["b"] * 100, "--values", "a,b,c", "--epsilon", "1", seed=2), "--post", post)
    ok(0.8 < row(answer, "a")["post"] <= 1 and abs(row(answer, "c")["post"]) < 0.05, "--post %s works on releases" % post, answer)

# Nobody mixes what does not belong together.
other = release(truths, *args, "--epsilon", "2", seed=1)
open_ = release(truths, *args, "--epsilon", "1", "--neighbours", "add-remove", seed=1)
local = must("randomize", *args, "--epsilon", "1", "--mechanism", "rr", *SEED, "1", stdin=lines(truths))
for name, tally, words in (("epsilon", other, "differ in epsilon"), ("neighbours", open_, "differ in mechanism: central and central-add-remove"), ("reports", local, "differ in mechanism: central and rr")):
    r = run("tally", files[0], write("other", tally))
    ok(r.code == 1 and words in r.err and r.out == b"", "releases of another kind are not mixed: " + name, r)

r = run("tally", files[0], files[1], files[0])
ok(r.code == 0 and r.err.count("given twice") == 1 and files[0] + " is given twice" in r.err, "one curator's release that is added twice is noticed", r)
ok(run("tally", *files).err == "", "and nothing is said of different ones")
r = run("release", "--epsilon", "1", stdin=b"yes\n")
ok("--range LO:HI" in r.err and "--strings" not in r.err and "--attribute" not in r.err, "who asks nothing is told what can be asked here", r)

# Seeds, coins, notes.
ok(release(truths, *args, "--epsilon", "1", seed=5) == release(truths, *args, "--epsilon", "1", seed=5), "one seed, one release")
ok(len({release(truths, *args, "--epsilon", "0.01") for _ in range(8)}) > 1, "real releases differ")
r = run("release", *args, "--epsilon", "1", stdin=lines(truths))
ok(r.code == 0 and "spends its epsilon again" in r.err and "epsilon 1 of everybody" in r.err, "the note says what is spent", r)
r = run("release", *args, "--epsilon", "1", stdin=b"")
ok(r.code == 0 and "counts nobody" in r.err, "nobody is said to be nobody", r)
ok("no data" in run("estimate", stdin=r.out).err, "and has no estimate")
r = run("release", *args, "--epsilon", "1", "--neighbours", "add-remove", stdin=b"")
ok(r.code == 0 and "nobody" not in r.err, "but not where that is what is hidden", r)
few = release(["yes"] * 20, *args, "--epsilon", "0.01", "--neighbours", "add-remove", seed=3)
r = run("estimate", stdin=few)
ok(r.code == 1 and ("noise hides" in r.err), "too few people for the noise are no estimate", r)
r = run("release", "--domain", "1", "--epsilon", "1", stdin=b"0\n")
ok(r.code == 0 and r.out == b"" and "nothing to release" in r.err, "one value is no question", r)

# Refusals.
target = path("refused.tally")
for given, words, code in (
        (["--yes-no"], "--epsilon is missing", 2), (["--epsilon", "1"], "missing question", 2),
        (["--strings", "--epsilon", "1"], "unknown option --strings", 2), (["--yes-no", "--epsilon", "1", "--mechanism", "rr"], "unknown option --mechanism", 2),
        (["--yes-no", "--epsilon", "1", "--seed", "1"], "--seed needs --simulate", 2), (["--yes-no", "--epsilon", "1", "--simulate"], "needs --seed", 2),
        (["--yes-no", "--epsilon", "1", "--neighbours", "mine"], "replace", 2),
        (["--yes-no", "--epsilon", "33"], "0.000001 to 32", 2), (["--yes-no", "--epsilon", "1", path("nonesuch")], "nonesuch", 1)):
    r = run("release", *given, "-o", target, stdin=b"yes\n")
    ok(r.code == code and words in r.err and r.out == b"" and not os.path.exists(target), "release %s: %s" % (" ".join(given), words), r)
for kind, text in ((["--yes-no"], "yes\nperhaps\n"), (["--range", "0:10"], "4\n11\n"), (["--values", "a,b"], "a\nsecret\n")):
    r = run("release", *kind, "--epsilon", "1", "-o", target, stdin=text)
    ok(r.code == 1 and "line 2" in r.err and text.split()[1] not in r.err and not os.path.exists(target), "a bad truth is named by its line", r)
r = run("release", "--values", "a,b", "--other", "--epsilon", "32", *SEED, "1", stdin="a\nx\ny\n")
ok(row(json.loads(must("estimate", "--format", "json", stdin=r.out)), "other")["estimate"] == 2 / 3, "--other counts the rest", r)
r = run("release", "--range", "0:10", "--clip", "--epsilon", "32", *SEED, "1", stdin="40\n" * 500)
ok(abs(row(json.loads(must("estimate", "--format", "json", stdin=r.out)), "mean")["estimate"] - 10) < 0.05, "--clip takes the end", r)
for command in (["randomize"], ["audit"]):
    r = run(*command, "--yes-no", "--epsilon", "1", "--mechanism", "central", stdin=b"yes\n")
    ok(r.code == 2 and "a curator's release, not a report" in r.err and r.out == b"", "%s does not take it" % command[0], r)
r = run("estimate", "--quantile", "0.5", stdin=release(range(10), "--range", "0:10", "--bins", "5", "--epsilon", "1"))
ok(r.code == 1 and "bin by bin" in r.err, "quantiles are refused", r)
r = run("estimate", "--interval", "exact", stdin=one)
ok(r.code == 1 and "exact" in r.err, "Clopper and Pearson have no say here", r)
r = run("tally", stdin=one[:-10] + b"x" * 10)
ok(r.code == 1 and r.out == b"", "a changed release is noticed", r)
tasks = write("tasks.yaml", "version: 1\ntasks:\n  - id: x\n    source: x\n    question: What?\n    yes-no: true\n    epsilon: 1\n"
              "    mechanism: central\n    repeat: once\n    start: 2026-11-02\n    end: 2027-01-31\n")
r = run("tasks", "check", tasks)
ok(r.code == 1 and "a curator's release, not a report" in r.err, "no task asks for it", r)

# docs/central.md shows what the commands print and draw.
ok(runs_in_a_shell("central.md") >= 9, "the page has its examples")
done()
