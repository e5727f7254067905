#!/usr/bin/python3 -B
"""RAPPOR from end to end: our own reports, RAPPOR's files, associations, and
what is refused."""

import gzip
import random

from e2e import *

FIXTURE = os.path.join(ROOT, "tests", "e2e", "rappor")
DEMO = os.environ.get("HSY_RAPPOR_DATA") or os.path.join(ROOT, "..", "shared", "data", "rappor")


def fixture(name):
    return os.path.join(FIXTURE, name)


def text(name):
    with open(fixture(name)) as f:
        return f.read()


def shares(out):
    return {row["value"]: row for row in rows(out)}


def variation(truth, found):
    """Half the L1 distance over the union of strings."""
    names = set(truth) | set(found)
    return sum(abs(truth.get(x, 0) - (found[x]["estimate"] if x in found else 0)) for x in names) / 2


# ---- Our own reports ---------------------------------------------------------

rng = random.Random(5)
names = ["site%d.example" % i for i in range(20)]
weights = [1 / (i + 1) for i in range(20)]
people = 20000 if SHORT else 60000
truths = rng.choices(names, weights, k=people)
truth = {x: truths.count(x) / people for x in names}
reports = must("randomize", "--strings", "--mechanism", "rappor", "--epsilon", "4", "--simulate", "--seed", "1",
               stdin=lines(truths))
tally = write("tally", must("tally", "--round", "1:1", stdin=reports))
asked = write("asked", lines(names + ["bogus%d.example" % i for i in range(20)]))
out = must("estimate", "--candidates", asked, tally, "--format", "csv")
ok(out.decode().splitlines()[0] == "value,estimate,stderr,low,high,post,p_zero,q_value,level_selected,detected,level,target,rounds,devices,reports",
   "a tally of rappor is decoded, with the columns of any estimate and more")
found = shares(out)
ok(list(found) == names + ["bogus%d.example" % i for i in range(20)], "every candidate has a row, in the order of the file")
detected = {x for x in found if found[x]["detected"] == "true"}
ok(all(x in detected for x in names[:6]), "common strings are detected", sorted(detected))
ok(sum(x not in truth for x in detected) <= 2, "and hardly any that nobody has", sorted(detected))
worst = max(abs(found[x]["estimate"] - truth.get(x, 0)) / found[x]["stderr"] for x in found)
ok(worst < 6, "every share is within 6 standard errors (%.2f)" % worst)
ok(all(found[x]["low"] <= found[x]["estimate"] <= found[x]["high"] and found[x]["post"] >= 0 for x in found),
   "estimates lie in their intervals, guesses are not negative")
ok(must("estimate", "--candidates", asked, "--format", "csv", "--rounds", "1", "-", stdin=reports) == out, "a stream serves as its tally does")
r = run("estimate", "--candidates", asked, write("unsaid", must("tally", stdin=reports)))
ok(r.code == 1 and "no interval" in r.err and "--rounds" in r.err and r.out == b"", "without its rounds it has no interval, as kept answers of any mechanism", r)
r = run("estimate", "--candidates", asked, write("merged", must("tally", write("first", reports), write("second", reports))))
ok(r.code == 1 and "no interval" in r.err and r.out == b"", "nor has the sum of two such files", r)
twice = json.loads(must("estimate", "--candidates", asked, "--format", "json", "--rounds", "2", "-", stdin=reports))
ok(twice["estimates"][0]["stderr"] > found[names[0]]["stderr"], "--rounds 2 widens the errors", twice["estimates"][0])
report = json.loads(must("estimate", "--candidates", asked, tally, "--format", "json", "--method", "nnls",
                         "--correction", "bonferroni", "--alpha", "0.05", "--level", "0.9"))
ok(report["method"] == "nnls" and report["correction"] == "bonferroni" and report["alpha"] == 0.05 and
   report["level"] == 0.9 and report["reports"] == people and report["epsilon"] == 4 and report["epsilon_exact"] <= 4 and
   report["epsilon_permanent_if"] == "the permanent answer is kept", "options and json go as with --rappor", report)
wide = shares(must("estimate", "--candidates", asked, tally, "--format", "csv", "--level", "0.99"))
ok(all(wide[x]["low"] < found[x]["low"] for x in found), "--level widens the intervals")

values = must("randomize", "--values", "red,green,blue,grey", "--mechanism", "rappor", "--epsilon", "3", "--simulate",
              "--seed", "2", stdin=lines(["red"] * 9000 + ["green"] * 6000 + ["blue"] * 5000))
table = shares(must("estimate", "--format", "csv", "--rounds", "1", stdin=values))
ok(list(table) == ["red", "green", "blue", "grey"] and abs(table["red"]["estimate"] - 0.45) < 6 * table["red"]["stderr"],
   "a list of values is its own list of candidates", table)

r = run("estimate", tally)
ok(r.code == 1 and "--candidates" in r.err, "strings take --candidates", r)
top = shares(must("estimate", "--candidates", asked, tally, "--format", "csv", "--top", "3"))
ok(list(top) == sorted(found, key=lambda x: -found[x]["estimate"])[:3] + ["(detected, not shown)", "(not detected)"], "--top has the largest, largest first", list(top))
for k in (1, 2, 3, len(detected)):
    cut = json.loads(must("estimate", "--candidates", asked, tally, "--format", "json", "--top", k))
    rest = cut["not_shown"]["estimate"] if cut["not_shown"] else 0
    ok(abs(sum(x["estimate"] for x in cut["estimates"] if x["detected"]) + rest + cut["unexplained"]["estimate"] - 1) < 1e-9 and
       len(cut["estimates"]) == k, "--top %d: what is detected, shown or not, and the rest make 1" % k, cut)
ok(abs(top["(detected, not shown)"]["estimate"] - sum(found[x]["estimate"] for x in detected if x not in top)) < 1e-9,
   "strings that are detected and not shown have a row together", top)
table = must("estimate", "--candidates", asked, tally, "--top", "3").decode()
ok("shares among those who answered" in table and "share is the best guess" in table, "a table says whom shares are of, and what its two numbers are", table)
for option in (["--post", "norm"], ["--interval", "wald"], ["--against", tally], ["--density", "em"],
               ["--covariance"], ["--simultaneous"], ["--all"]):
    r = run("estimate", "--candidates", asked, tally, *option)
    ok(r.code == 1 and "supports only" in r.err and r.out == b"", "%s does not go with decoding" % option[0], r)
plain = write("plain", must("randomize", "--values", "a,b", "--epsilon", "1", stdin="a\nb\n"))
r = run("estimate", "--alpha", "0.1", plain)
ok(r.code == 1 and "only for rappor" in r.err, "--alpha does not go with other mechanisms", r)
for what, data in {"twice": "a\nb\na\n", "empty": "a\n\nb\n", "byte-order": "\ufeffa\n"}.items():
    r = run("estimate", "--candidates", write("bad", data), tally)
    ok(r.code == 1 and "line" in r.err and r.out == b"", "candidates, %s: refused with the line" % what, r)
empty = must("randomize", "--strings", "--mechanism", "rappor", "--epsilon", "4", stdin="")
r = run("estimate", "--candidates", asked, "-", stdin=empty)
ok(r.code == 1 and "no " in r.err and "nan" not in r.err, "a tally without reports is refused", r)
small = must("randomize", "--strings", "--mechanism", "rappor", "--epsilon", "4", "--set", "filter-bits=2", "--set", "hashes=1",
             "--set", "cohorts=1", stdin=lines(["x"] * 200))
r = run("estimate", "--candidates", asked, "--rounds", "1", "-", stdin=small)
ok(r.code == 1 and "same bits" in r.err, "two candidates with the same bits: refused, both named", r)

# ---- RAPPOR's files ----------------------------------------------------------

FILES = ["--rappor", fixture("decode_params.csv"), "--map", fixture("decode_map.csv")]
out = must("estimate", *FILES, fixture("decode_counts.csv"), "--format", "csv")
found = shares(out)
rest = found.pop("(not detected)")
truth = {row["string"]: float(row["count"]) / 60000 for row in csv.DictReader(io.StringIO(text("decode_truth.csv")))}
bogus = {x for x in found if x not in truth}
ok(set(found) - bogus == set(truth) - {"word4", "word9"} and len(bogus) <= 1, "all listed strings are found, and at most one that nobody has", sorted(found))
ok(variation({x: truth.get(x, 0) for x in found}, found) < 0.03, "their shares are right", out.decode())
ok(rest["low"] < 1 - sum(truth.get(x, 0) for x in found) < rest["high"], "and so is what is not among them", rest)
for column in ("estimate", "unbiased"):
    total = sum(row[column] for row in (*found.values(), rest))
    ok(abs(total - 1) < 1e-9, "the column %s, with the row of what is not detected, adds up to 1" % column, total)
said = json.loads(must("estimate", *FILES, fixture("decode_counts.csv"), "--format", "json"))
ok(abs(said["allocated"] + said["unexplained"]["unbiased"] - 1) < 1e-9 and said["unexplained"]["estimate"] == rest["estimate"],
   "what is detected and what is not add up to 1 in json too", said["unexplained"])
percents = [float(x) for x in re.findall(r"(?:, |not detected: )(-?[0-9.]+) %(?: of all|, from)", must("estimate", *FILES, fixture("decode_counts.csv")).decode())]
ok(len(percents) == 2 and abs(sum(percents) - 100) < 0.011, "the lines above the table say shares that add up to 100 %", percents)
ok(all(x["p_zero"] <= 0.5 for x in said["estimates"]), "no string that is more likely absent than present is detected", said["estimates"])
level = 1 - 0.05 * len(found) / len(text("decode_map.csv").splitlines())
ok(all(abs(found[x]["level_selected"] - level) < 1e-12 for x in found), "intervals are adjusted for selection", found)
strict = shares(must("estimate", *FILES, fixture("decode_counts.csv"), "--format", "csv", "--alpha", "0.00001"))
ok(set(strict) < set(found) | {"(not detected)"}, "--alpha says how many", sorted(strict))
ok(must("estimate", *FILES, "--format", "csv", stdin=text("decode_counts.csv")) == out, "counts may be piped in")

counts, mapping = text("decode_counts.csv"), text("decode_map.csv")
first = mapping.splitlines()[0]
BAD = {
    "a candidate named twice": ("map", mapping + first + "\n", "line 39"),
    "an empty line in the map": ("map", first + "\n\n", "line 2"),
    "a byte-order mark in the map": ("map", "\ufeff" + mapping, "line 1"),
    "a map of fewer cohorts": ("map", ",".join(first.split(",")[:-2]) + "\n", "line 1"),
    "a position of another cohort": ("map", first.replace(",", ",512,", 1).rsplit(",", 1)[0] + "\n", "line 1"),
    "two candidates with the same bits": ("map", mapping + "again," + first.split(",", 1)[1] + "\n", "lines 1 and 39"),
    "p = q": ("params", "k,h,m,p,q,f\n32,2,16,0.5,0.5,0.5\n", "line 2"),
    "f = 1": ("params", "k,h,m,p,q,f\n32,2,16,0.25,0.75,1\n", "line 2"),
    "a probability above 1": ("params", "k,h,m,p,q,f\n32,2,16,0.25,1.75,0.5\n", "line 2"),
    "params of other sizes": ("params", "k,h,m,p,q,f\n16,2,16,0.25,0.75,0.25\n", "line"),
    "a count above its total": ("counts", counts.replace(",", ",99999999,", 1).rsplit(",", 1)[0] + "\n", "line 1"),
    "fewer cohorts in the counts": ("counts", counts.split("\n", 1)[1], "line 16"),
    "an empty file of counts": ("counts", "", "line 1"),
    "a cohort out of range": ("counts", "client,cohort,irr\na,16,%s\n" % ("0" * 32), "line 2"),
    "bits that are none": ("counts", "client,cohort,irr\na,1,%s\n" % ("2" * 32), "line 2"),
    "gzip": ("counts", gzip.compress(counts.encode()), "zcat"),
    "no reports at all": ("counts", "\n".join(",".join(["0"] * 33) for _ in range(16)) + "\n", "no reports"),
}
for what, (which, data, say) in BAD.items():
    use = {"params": fixture("decode_params.csv"), "map": fixture("decode_map.csv"), "counts": fixture("decode_counts.csv")}
    use[which] = write("bad", data)
    r = run("estimate", "--rappor", use["params"], "--map", use["map"], use["counts"])
    ok(r.code == 1 and say in r.err and r.out == b"" and len(r.err.splitlines()) == 1, "%s: refused (%s)" % (what, say), r)

# Without noise: p = 0, q = 1 and f = 0 are legal, and shares come out as they are.
exact = ["--rappor", write("p", "k,h,m,p,q,f\n4,1,2,0,1,0\n"), "--map", write("m", "a,1,5\nb,2,6\nc,3,7\n"), "--all",
         "--format", "csv", write("c", "100,60,40,0,0\n100,60,40,0,0\n")]
found = shares(must("estimate", *exact))
ok(all(math.isfinite(x) for row in found.values() for key, x in row.items() if key not in ("value", "detected", "target")),
   "probabilities 0 and 1: every number is one", found)
ok(abs(found["a"]["unbiased"] - 0.6) < 0.01 and abs(found["b"]["unbiased"] - 0.4) < 0.01, "and the shares are exact", found)

# Reports that nobody honest sends: everybody has both strings.
both = ["--rappor", write("p2", "k,h,m,p,q,f\n4,1,2,0.25,0.75,0\n"), "--map", write("m2", "a,1,5\nb,2,6\n"), write("c2", "10000,7500,7500,2500,2500\n" * 2)]
r = run("estimate", *both)
ok(r.code == 0 and ", wholly below 0" in r.out.decode() and "warning" in r.err and "more than 100 %" in r.err, "a rest wholly below 0 is a warning", r)
r = run("estimate", *FILES, fixture("decode_counts.csv"))
ok(r.code == 0 and "wholly below 0" not in r.out.decode() + r.err, "one that is not is none", r)

# ---- RAPPOR's own demo -------------------------------------------------------

demo = os.path.join(DEMO, "demo")
if os.path.exists(os.path.join(demo, "counts.csv")):
    found = shares(must("estimate", "--rappor", os.path.join(demo, "params.csv"), "--map", os.path.join(demo, "map.csv"),
                        os.path.join(demo, "counts.csv"), "--format", "csv"))
    with open(os.path.join(demo, "truth.csv")) as f:
        table = {row["string"]: float(row["count"]) for row in csv.DictReader(f)}
    truth = {x: n / sum(table.values()) for x, n in table.items()}
    found.pop("(not detected)")
    right = sum(x in truth for x in found)
    far = variation(truth, found)
    ok(right >= 46, "the demo: at least 46 true strings (%d)" % right)
    ok(len(found) - right <= 8, "the demo: at most 8 false ones (%d)" % (len(found) - right))
    ok(far < 0.145, "the demo: total variation below 0.145 (%.3f)" % far)
else:
    print("# no data of RAPPOR's demo here: its three tests are left out")

# ---- Association -------------------------------------------------------------

PAIR = ["--associate", "--rappor", fixture("pair_params.csv"), "--map", "pet=" + fixture("pair_map.csv")]
REPORTS = fixture("pair_reports.csv")
out = must("estimate", *PAIR, REPORTS, "--format", "csv")
ok(out.decode().splitlines()[0] == "pet,owner,estimate,stderr,low,high", "an association has a column for each variable")
joint = {(row["pet"], row["owner"]): row for row in rows(out)}
want = {}
for row in csv.DictReader(io.StringIO(text("pair_truth.csv"))):
    pet = row["pet"] if row["pet"] in ("cat", "dog", "eel") else "(other)"
    for key in ((pet, row["owner"]), (pet, ""), ("", row["owner"])):
        want[key] = want.get(key, 0) + float(row["share"])
ok(set(joint) == set(want), "all cells and both marginals, others included", sorted(joint))
worst = max(abs(joint[x]["estimate"] - want[x]) / joint[x]["stderr"] for x in want)
ok(worst < 6, "every one within 6 standard errors of the truth (%.2f)" % worst)
ok(abs(sum(row["estimate"] for (a, b), row in joint.items() if a and b) - 1) < 1e-9, "cells make 1")
ok(all(abs(joint[(a, "")]["estimate"] - joint[(a, "true")]["estimate"] - joint[(a, "false")]["estimate"]) < 1e-9
       for a in ("cat", "dog", "eel", "(other)")), "marginals are sums of cells")
report = json.loads(must("estimate", *PAIR, REPORTS, "--format", "json"))
ok(report["freedom"] == 3 and report["p_value"] < 1e-4 and report["reports"] == 6000,
   "that pets and owners depend on each other is found", {x: report[x] for x in ("chi2", "freedom", "p_value")})
shown = must("estimate", *PAIR, REPORTS).decode()
ok("p-value" in shown and "(other)" in shown, "a table says so too", shown)
raw = text("pair_reports.csv")
ok(must("estimate", *PAIR, "--format", "csv", stdin=raw) == out, "reports may be piped in")
header, *body = raw.splitlines()
answers = [line.rsplit(",", 1)[1] for line in body]
rng.shuffle(answers)
mixed = "\n".join([header] + [line.rsplit(",", 1)[0] + "," + a for line, a in zip(body, answers)]) + "\n"
report = json.loads(must("estimate", *PAIR, "--format", "json", stdin=mixed))
ok(report["p_value"] > 1e-4, "answers dealt out anew depend on nothing (p = %.2g)" % report["p_value"])

own = write("own.csv", "k,h,m,p,q,f\n1,1,8,0.25,0.75,0.25\n")
ok(must("estimate", *PAIR, "--rappor", "owner=" + own, REPORTS, "--format", "csv") == out,
   "a variable may have parameters of its own")
r = run("estimate", *PAIR, "--rappor", "owner=" + write("own.csv", "k,h,m,p,q,f\n1,1,4,0.25,0.75,0.25\n"), REPORTS)
ok(r.code == 1 and "cohorts" in r.err, "but the same cohorts", r)
three = "\n".join([header + ",also"] + [line + "," + a for line, a in zip(body, answers)]) + "\n"
table = rows(must("estimate", *PAIR, "--format", "csv", stdin=three))
ok(len(table) == 16 + 4 + 2 + 2 and all(math.isfinite(row["stderr"]) for row in table), "three variables have their table", len(table))
same = "\n".join([header + ",also"] + [line + "," + line[-1] for line in body]) + "\n"
r = run("estimate", *PAIR, stdin=same)
ok(r.code == 1 and "tell" in r.err and r.out == b"", "one answer under two names: its cells cannot be told apart", r)
r = run("estimate", *FILES, "--map", "other.csv", fixture("decode_counts.csv"))
ok(r.code == 2 and "--map" in r.err, "two maps go with --associate only", r)
for what, (options, data, code, say) in {
    "parameters are missing": (["--associate"], raw, 2, "--rappor"),
    "a map of nobody": (["--associate", "--rappor", fixture("pair_params.csv"), "--map", fixture("pair_map.csv")], raw, 1, "NAME=FILE"),
    "a map of a variable that is not there": ([*PAIR, "--map", "age=" + fixture("pair_map.csv")], raw, 1, "no variable age"),
    "the same map twice": ([*PAIR, "--map", "pet=" + fixture("pair_map.csv")], raw, 1, "twice"),
    "strings without a map": (["--associate", "--rappor", fixture("pair_params.csv")], raw, 1, "line 2"),
    "one variable": (PAIR, "client,cohort,pet\na,1,%s\n" % ("0" * 16), 1, "2 to 8"),
    "no reports": (PAIR, header + "\n", 1, "no data"),
    "two variables of one name": (PAIR, "client,cohort,pet,pet\na,1,%s,%s\n" % ("0" * 16, "0" * 16), 1, "same name"),
    "a name with a control character": (PAIR, "client,cohort,pet,a\x1bb\na,1,%s,1\n" % ("0" * 16), 1, "line 1"),
    "a cohort out of range": (PAIR, raw + "x,8,%s,1\n" % ("0" * 16), 1, "line 6002"),
    "too few digits": (PAIR, raw + "x,7,%s,1\n" % ("0" * 15), 1, "line 6002"),
    "a boolean of two digits": (PAIR, raw + "x,7,%s,10\n" % ("0" * 16), 1, "line 6002"),
    "a missing field": (PAIR, raw + "x,7,1\n", 1, "line 6002"),
    "candidates beside": ([*PAIR, "--candidates", asked], raw, 2, "--rappor cannot be used with --candidates"),
}.items():
    r = run("estimate", *options, stdin=data)
    ok(r.code == code and say in r.err and r.out == b"", "associating, %s: refused (%s)" % (what, say), r)

done()
