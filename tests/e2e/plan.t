#!/usr/bin/python3 -B
"""hearsay plan: the missing number, by each bound; docs/planning.md tells the same."""

import ctypes.util
import xml.etree.ElementTree as xml

from e2e import *


def plan(*args):
    return json.loads(must("plan", *args, "--format", "json"))


def near(a, b, relative=1e-10):
    return abs(a - b) <= relative * abs(b)


a = plan("--yes-no", "--n", "1000000", "--epsilon", "1")
ok(near(a["alpha"], 0.00293886841119055) and near(a["coefficient"], 2.16395341373865) and a["missing"] == "alpha" and a["beta"] == 0.05,
   "a million people at epsilon 1: alpha 0.00294 (natural logarithm)", a)
ok(a["hoeffding"] == a["alpha"] and a["normal"] < a["exact"] < a["hoeffding"], "three bounds side by side")
a = plan("--yes-no", "--alpha", "0.01", "--epsilon", "1")
ok(plan("--yes-no", "--alpha", "1%", "--epsilon", "1") == a, "an error of 1% is 0.01")
r = run("plan", "--range", "0:100", "--alpha", "1%", "--epsilon", "1")
ok(r.code == 2 and "in its units" in r.err and r.out == b"", "that of a mean in its units", r)
ok(a["n"] == 86370 and a["mechanism"] == "rr" and a["report_bits"] == 1, "one percentage point takes 86,370 people", a)
ok(a["central_n"] == 300 and near(a["posterior"], 0.731058578630004879), "a curator 300; and what an answer tells", a)

a = plan("--yes-no", "--epsilon", "1", "--n", "10000", "--curators", "25")
ok(near(a["curators_sd"], 5 * a["central_sd"]) and near(a["central_sd"], 1.356962486001579 / 10000) and a["curators"] == 25 and
   a["central_n"] < a["curators_n"] < 10000, "25 curators have five times the error of one", a)
ok("curators_sd" not in plan("--yes-no", "--epsilon", "1", "--n", "10000"), "which are left out unless asked for")
r = run("plan", "--yes-no", "--epsilon", "1", "--n", "24", "--curators", "25")
ok(r.code == 1 and "--curators: no more curators than people" in r.err and r.out == b"", "every curator has somebody", r)
for more in (["--strings", "--n", "100000", "--epsilon", "1"], ["--yes-no", "--model", "shuffled", "--min-batch", "1000", "--epsilon", "1"],
             ["--task", "x:y", "--days", "3", "--devices", "9"]):
    r = run("plan", *more, "--curators", "2")
    ok(r.code == 2 and r.out == b"", "--curators does not go with %s" % more[0], r)

# Each number from the other three, for every kind of question.
kinds = {"yes-no": ["--yes-no"], "list": ["--values", "a,b,c"], "all of a list": ["--domain", "50", "--all"],
         "bins": ["--range", "0:10", "--bins", "20"], "mean": ["--range", "-5:20"], "strings": ["--strings", "--set", "bits=24"]}
for name, kind in kinds.items():
    first = plan(*kind, "--n", "200000", "--epsilon", "1", "--beta", "0.1")
    alpha = first["alpha"]
    bound = "hoeffding" if "hoeffding" in first else "normal"
    n = plan(*kind, "--alpha", "%.15f" % alpha, "--epsilon", "1", "--beta", "0.1")["n"]
    beta = plan(*kind, "--alpha", "%.15f" % alpha, "--epsilon", "1", "--n", "200000")["beta"]
    epsilon = plan(*kind, "--alpha", "%.15f" % alpha, "--n", "200000", "--beta", "0.1")[bound]
    enough = plan(*kind, "--epsilon", "%.9f" % epsilon, "--n", "200000", "--beta", "0.1")[bound]
    ok(near(n, 200000, 1e-4) and near(beta, 0.1, 1e-6) and epsilon < 1.000001 and enough <= alpha * (1 + 1e-9), name + ": there and back", (first, n, beta, epsilon))
    ok(all(first[key] > 0 for key in ("local_sd", "central_sd", "limit_sd")) and first["limit_sd"] <= first["local_sd"] * 1.0000001 if name != "strings" else
       first["groups"] > 0 and "local_sd" not in first, name + ": beside the best known", first)

# The catalogue says the same standard error at the same share.
for d, names in ((2, ["rr", "grr", "ss"]), (40, ["grr", "ss", "pgr", "hr", "sue", "oue", "olh", "dbitflip"])):
    listed = json.loads(must("mechanisms", "--epsilon", "1.5", "--domain", str(d), "--users", "30000", "--format", "json"))["mechanisms"]
    by = {r["mechanism"]: r for r in listed}
    asked = ["--n", "30000", "--epsilon", "1.5"]
    for name in names:
        kind = ["--yes-no"] if name == "rr" else ["--domain", str(d)]
        got, row = plan(*kind, *asked, "--mechanism", name), by[name]
        mean = math.sqrt((row["n_variance_0"] + (row["n_variance_1"] - row["n_variance_0"]) / d) / 30000)
        told = must("plan", *kind, *asked, "--mechanism", name).decode()
        alike = row["n_variance_0"] == row["n_variance_1"]
        words = ("%.4g at any share;" % row["stderr_0"] if alike else
                 "%.4g at a share of 0, %.4g at the mean\nshare of %.4g;" % (row["stderr_0"], mean, 1 / d))
        ok(got["stderr_0"] == row["stderr_0"] and near(got["local_sd"], mean, 1e-12) and words in told,
           "%s of %d values: plan and mechanisms have one standard error at a share" % (name, d), (got, row, told))
shown = must("mechanisms", "--epsilon", "1.5", "--domain", "40", "--users", "30000").decode()
ok("std. error at 0" in shown.splitlines()[0], "mechanisms says at which share too", shown)

one, all_ = plan("--domain", "100", "--n", "10000", "--epsilon", "1"), plan("--domain", "100", "--n", "10000", "--epsilon", "1", "--all")
far = plan("--yes-no", "--alpha", "0.00000001", "--epsilon", "1")
ok("exact" not in far and far["normal"] > 4e16, "more people than can be counted are left out", far)
for kind in (["--domain", "100", "--mechanism", "hr"], ["--range", "0:24", "--mechanism", "onebit"], ["--domain", "100", "--mechanism", "dbitflip"]):
    got = plan(*kind, "--n", "10000", "--epsilon", "5")
    ok(got["normal"] > 1.7 * got["local_sd"], "%s: the error that is planned is not below that of its noise" % kind[-1], got)
ok(one["at_once"] == 1 and all_["at_once"] == 100 and one["alpha"] < all_["alpha"], "all values at once take more")
ok(one["expected_error"] < one["expected_largest"] < 5 * one["expected_error"], "the largest of a hundred errors is a few times one")
a = plan("--yes-no", "--n", "1000", "--epsilon", "0.5", "--answers", "30", "--prior", "0.1")
ok(near(a["posterior_answers"], 0.1 / (0.1 + 0.9 * math.exp(-15))) and a["answers"] == 30, "thirty answers add up", a)
table = rows(must("plan", "--yes-no", "--n", "1000", "--epsilon", "1", "--format", "csv"))
ok(len(table) == 1 and table[0]["n"] == 1000, "csv has a header and a row")

for args, what in (
        ([], "KIND"), (["--yes-no"], "give two of"), (["--yes-no", "--n", "0", "--epsilon", "1"], "--n"),
        (["--yes-no", "--n", "10", "--epsilon", "1", "--alpha", "0.1", "--beta", "0.1"], "all four are given"),
        (["--yes-no", "--n", "10", "--alpha", "-1"], "--alpha"), (["--yes-no", "--n", "10", "--alpha", "2"], "below 1"),
        (["--yes-no", "--n", "10", "--epsilon", "1", "--beta", "1"], "--beta"), (["--yes-no", "--n", "10", "--epsilon", "1", "--all"], "--all"),
        (["--yes-no", "--n", "10", "--epsilon", "33"], "--epsilon"), (["--range", "0:1", "--n", "10", "--epsilon", "1", "--share", "0.1"], "--share"),
        (["--yes-no", "--n", "10", "--epsilon", "1", "file"], "unexpected argument 'file'"), (["--yes-no", "--n", "10", "--epsilon", "1", "--top", "3"], "--top"),
        (["--range", "0:10", "--bins", "4", "--mechanism", "sw", "--n", "10", "--epsilon", "1"], "beforehand")):
    r = run("plan", *args)
    ok(r.code in (1, 2) and r.out == b"" and (what in r.err or what == "KIND"), "refused: " + " ".join(args), r)
SHARES = ["--domain", "40", "--n", "20000", "--epsilon", "2"]
ok(plan(*SHARES, "--share", "0") == plan(*SHARES), "plan accepts --share 0, which is its default for a list of values")
ok(plan(*SHARES, "--share", ".1") == plan(*SHARES, "--share", "0.1"), "plan reads --share .1 as 0.1")
r = run("plan", "--yes-no", "--n", "10", "--alpha", "0.0001")
ok(r.code == 1 and "ask more people" in r.err, "what no epsilon reaches is said", r)

must("plan", "--domain", "9", "--n", "1000", "--epsilon", "1", "--plot", path("a.svg"), "--plot-learned", path("b.svg"))
ok(all(xml.parse(path(name)).getroot().tag.endswith("svg") for name in ("a.svg", "b.svg")), "figures")
ok(run("plan", "--yes-no", "--n", "10", "--epsilon", "1", "--plot", path("no/such.svg")).code == 1, "a figure that cannot be written is an error")
for name, words in (("-", "the name of a file"), (path("a.gif"), "ends in .svg or .png"), (path("b.svg.gz"), "ends in .svg or .png")):
    r = run("plan", "--yes-no", "--n", "10", "--epsilon", "1", "--plot", name)
    ok(r.code == 2 and words in r.err and r.out == b"" and not os.path.exists(name), "a figure is SVG by name too: " + words, r)

r = run("plan", "--yes-no", "--n", "10", "--epsilon", "1", "--plot", path("a.png"), env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})  # librsvg's caches
ok(r.code == 0 and open(path("a.png"), "rb").read(24)[:8] == b"\x89PNG\r\n\x1a\n" if ctypes.util.find_library("rsvg-2") else
   r.code == 1 and "librsvg2-2" in r.err and not os.path.exists(path("a.png")), "or PNG, where librsvg is", r)

# Batches that are shuffled: both epsilons, and the error beside local reports and a curator.
shuffled = ["plan", "--domain", "64", "--model", "shuffled", "--min-batch", "50000", "--format", "json"]
r = json.loads(must(*shuffled, "--epsilon-central", "1"))
ok(6.6 <= r["epsilon_report"] <= 6.69 and 0.999 < r["epsilon_central"] <= 1 and r["n"] == 45000 and r["bound"] == "blanket" and r["delta"] == 1e-8,
   "a report may have 6.68 if 45,000 of 50,000 are honest", r)
ok(r["central_sd"] < r["shuffled_sd"] < r["local_sd"] and r["local_sd"] ** 2 > 500 * r["shuffled_sd"] ** 2, "its error is 500 times below the local one, squared", r)
back = json.loads(must(*shuffled, "--epsilon", "6.68"))
ok(abs(back["epsilon_central"] - 1) < 0.001 and back["epsilon_report"] <= 6.68, "and back", back)
few = json.loads(must(*shuffled, "--epsilon", "6.68", "--assume-honest", "0.5"))
ok(few["epsilon_central"] > back["epsilon_central"] and few["n"] == 25000, "fewer honest people hide less", few)
everybody = json.loads(must(*shuffled, "--epsilon", "6.68", "--assume-honest", "1"))
ok(everybody["epsilon_central"] < back["epsilon_central"] and everybody["n"] == 50000, "all of them honest hide most", everybody)
mean = json.loads(must("plan", "--range", "0:24", "--model", "shuffled", "--min-batch", "50000", "--epsilon-central", "1", "--format", "json"))
ok(mean["bound"] == "clones" and mean["shuffled_sd"] > 0.001, "a mean in its units", mean)
for args, what in (
        (["--epsilon", "1"], "--min-batch"), (["--min-batch", "9"], "--epsilon-central"), (["--min-batch", "9", "--epsilon", "1", "--epsilon-central", "1"], "--epsilon-central cannot be used with --epsilon"),
        (["--min-batch", "9", "--epsilon", "1", "--n", "5"], "--n cannot be used with --model shuffled"), (["--min-batch", "9", "--epsilon", "1", "--delta", "0"], "--delta"),
        (["--min-batch", "9", "--epsilon", "1", "--delta", "1e-300"], "--delta"), (["--min-batch", "9", "--epsilon", "1", "--assume-honest", "0"], "--assume-honest"),
        (["--min-batch", "9", "--epsilon", "1", "--assume-honest", "1.01"], "up to 1"),
        (["--min-batch", "9", "--epsilon", "1", "--mechanism", "central"], "no reports to shuffle")):
    r = run("plan", "--domain", "64", "--model", "shuffled", *args)
    ok(r.code in (1, 2) and r.out == b"" and what in r.err, "refused: --model shuffled " + " ".join(args), r)
r = run("plan", "--yes-no", "--n", "10", "--epsilon", "1", "--delta", "1e-6")
ok(r.code == 2 and "--model shuffled" in r.err, "delta is of shuffled batches", r)

page, shown = examples("planning.md")
ok(len(shown) >= 6, "the page has examples")
tells_the_truth(page, shown)
done()
