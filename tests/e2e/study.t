#!/usr/bin/python3 -B
"""hearsay simulate study: what it prints, draws, dumps and refuses; docs/simulation.md tells the same."""

import re
import xml.etree.ElementTree as xml

from e2e import *

LONG = bool(os.environ.get("HSY_TEST_LONG"))
FIRST = "mechanism,epsilon,users,domain,run_mse,predicted_mse,max_error,coverage,"
SVG = "{http://www.w3.org/2000/svg}"


def rows(*args):
    text = must("simulate", "study", *args, "--format", "csv").decode()
    return list(csv.DictReader(io.StringIO(text)))


SMALL = ["--data", "zipf:1.1", "--domain", "16", "--users", "500", "--runs", "3"]

# The columns that scripts rely on.
text = must("simulate", "study", *SMALL, "--format", "csv").decode()
header = text.splitlines()[0].split(",")
ok(text.startswith(FIRST), "the first columns are as promised", text)
ok({"mae", "kl", "tv", "precision", "recall", "f1", "ncr", "ndcg", "bits", "limit_sd", "sampling", "runs"} <= set(header), "and the others there", header)
ok(all(m + "_se" in header for m in ("run_mse", "max_error", "coverage", "mae", "kl", "tv", "precision", "recall", "f1", "ncr", "ndcg")),
   "each metric has its standard error", header)
answer = json.loads(must("simulate", "study", *SMALL, "--mechanism", "grr,oue", "--epsilon", "1,2", "--format", "json"))
ok(answer["data"] == "zipf:1.1" and answer["seed"] == 1 and answer["runs"] == 3 and len(answer["rows"]) == 4 and
   set(answer["rows"][0]) == set(header), "json has the same, and what was asked", answer)
ok([(r["mechanism"], r["epsilon"]) for r in answer["rows"]] == [("grr", 1), ("grr", 2), ("oue", 1), ("oue", 2)], "a row for each combination")
table = rows("--data", "uniform", "--domain", "4,8", "--users", "100,200", "--runs", "1")
ok([(t["domain"], t["users"]) for t in table] == [("4", "100"), ("4", "200"), ("8", "100"), ("8", "200")], "domains and users too", table)
ok(table[0]["run_mse_se"] == "" and table[0]["run_mse"] != "", "one run has no standard error")

# A thousand million people are drawn as counts; one by one they would take minutes.
for mechanism in ("grr", "oue"):
    t = rows("--data", "zipf:1.1", "--domain", "1024", "--users", "1000000000", "--mechanism", mechanism, "--runs", "1")[0]
    ok(t["sampling"] == "aggregate" and abs(float(t["run_mse"]) / float(t["predicted_mse"]) - 1) < 0.35, "10^9 people at 1024 values: %s" % mechanism, t)

# The same seed, the same numbers, whatever the threads; a row does not depend on the others.
size = ["--users", "2000000" if LONG else "6000" if SHORT else "60000"]
for mechanism in ("grr", "ss", "olh", "hcms", "rappor"):
    args = ["--data", "zipf:1.2", "--domain", "24", *size, "--mechanism", mechanism, "--runs", "2", "--seed", "9"]
    texts = [must("simulate", "study", *args, "--threads", str(n), "--format", "csv", "--dump", path("d%d.csv" % n)) for n in (1, 2, 3)]
    ok(texts[0] == texts[1] == texts[2] and len({open(path("d%d.csv" % n)).read() for n in (1, 2, 3)}) == 1,
       mechanism + ": 1, 2 and 3 threads, the same numbers")
alone = rows(*SMALL, "--mechanism", "olh")[0]
among = rows(*SMALL, "--mechanism", "grr,olh", "--epsilon", "2,1")
ok(alone in among and len(among) == 4, "a row is the same alone and among others", among)
ok(alone != rows(*SMALL, "--mechanism", "olh", "--seed", "2")[0], "another seed, other people")

# Measured is what was predicted, drawn at once and one by one.
runs = "4000" if LONG else "100" if SHORT else "400"
for sampling in ("auto", "users"):
    for t in rows("--data", "zipf:1.1", "--domain", "8", "--users", "1000", "--mechanism", "grr,sue,oue", "--runs", runs, "--sampling", sampling):
        off = (float(t["run_mse"]) - float(t["predicted_mse"])) / float(t["run_mse_se"])
        ok(abs(off) < 4.5 and abs(float(t["coverage"]) - 0.95) < 4.5 * float(t["coverage_se"]) + 0.005 and
           t["sampling"] == ("aggregate" if sampling == "auto" else "users"),
           "%s, %s: %.2f standard errors from what was predicted" % (t["mechanism"], t["sampling"], off), t)
for t in rows("--data", "gaussian:50:20", "--range", "0:100", "--users", "400", "--mechanism", "laplace,onebit,dwm", "--runs", runs):
    off = (float(t["run_mse"]) - float(t["predicted_mse"])) / float(t["run_mse_se"])
    ok(abs(off) < 4.5 and float(t["coverage"]) > 0.95 - 4.5 * float(t["coverage_se"]) - 0.005 and t["domain"] == t["f1"] == t["kl"] == "",
       "%s of a mean: %.2f" % (t["mechanism"], off), t)
table = rows("--data", "gaussian:50:15", "--range", "0:100", "--bins", "8", "--users", "2000", "--mechanism", "hh,sw,grr", "--runs", "3")
ok([t["domain"] for t in table] == ["8", "8", "8"] and table[1]["predicted_mse"] == "" != table[1]["run_mse"] and float(table[1]["coverage"]) > .8,
   "distributions by bins; sw predicts no error, and has intervals", table)
easy = rows("--data", "zipf:2", "--domain", "8", "--users", "100000", "--epsilon", "20", "--mechanism", "grr", "--top", "3", "--runs", "2")[0]
ok(all(easy[m] == "1" for m in ("precision", "recall", "f1", "ncr", "ndcg")) and float(easy["tv"]) < 1e-3 and float(easy["kl"]) < 1e-3,
   "almost no noise finds everything", easy)

# Who is trusted: rows side by side, the same people, noise as predicted; one of several curators is the curator.
for asked in (["--data", "geometric:0.3", "--domain", "2"], ["--data", "zipf:1.1", "--domain", "12"], ["--data", "gaussian:50:20", "--range", "0:100"]):
    args = [*asked, "--users", "900", "--runs", runs]
    table = rows(*args, "--model", "local,central,multiparty:1,multiparty:9,multiparty:900")
    ok([(t["model"], t["curators"]) for t in table] == [("local", ""), ("central", "1"), ("multiparty:1", "1"), ("multiparty:9", "9"), ("multiparty:900", "900")],
       "a row for each model", table)
    for t in table:
        off = (float(t["run_mse"]) - float(t["predicted_mse"])) / float(t["run_mse_se"])
        ok(abs(off) < 4.5 and float(t["coverage"]) > 0.95 - 4.5 * float(t["coverage_se"]) - 0.005, "%s %s: %.2f" % (asked[1], t["model"], off), t)
    local, central, one, nine, all_ = table
    ok({**central, "model": "multiparty:1"} == one, "multiparty:1 is central, to the last digit", (central, one))
    ok(abs(float(nine["predicted_mse"]) / float(central["predicted_mse"]) - 9) < 1e-9 and abs(float(all_["predicted_mse"]) / float(central["predicted_mse"]) - 900) < 1e-6,
       "the error of K curators is sqrt(K) times that of one")
    ok(central["mechanism"] == "central" and central["sampling"] == "release" and central["bits"] == central["limit_sd"] == "" and
       local == rows(*args)[0], "a local row is the same beside curators", table)
    if asked[1] == "geometric:0.3":
        ok(float(local["predicted_mse"]) < float(all_["predicted_mse"]), "as many curators as people do worse than none")
text = must("simulate", "study", *SMALL, "--model", "local,multiparty:5").decode()
ok(text.startswith("model ") and "\nmultiparty:5  central " in text and "neighbours: replace" in text, "tables begin with the model, and say who is a neighbour", text)
dump = path("models.csv")
rows(*SMALL, "--model", "central,multiparty:5", "--dump", dump)
ok([t["model"] for t in csv.DictReader(open(dump))] == ["central"] * 3 + ["multiparty:5"] * 3, "dumps name it too")

# Shuffled: the promise is of all reports, each alone has more; the bound is that of theory 9.4.
two = ["--data", "uniform", "--domain", "2", "--users", "10000", "--runs", runs]
for epsilon, mechanism, bound in (("0.1144", "rr", "binary"), ("0.1551", "oue", "clones")):
    t = rows(*two, "--model", "shuffled", "--delta", "1e-6", "--epsilon", epsilon, "--mechanism", mechanism)[0]
    off = (float(t["run_mse"]) - float(t["predicted_mse"])) / float(t["run_mse_se"])
    ok(abs(float(t["epsilon_report"]) - 2) < 1e-3 and t["bound"] == bound and t["delta"] == "1e-06" and t["epsilon"] == epsilon and t["limit_sd"] == "" and abs(off) < 4.5,
       "%s: so many shuffled reports of 2 promise %s" % (mechanism, epsilon), t)
table = rows("--data", "uniform", "--domain", "16", "--users", "1000000,100", "--runs", "2", "--model", "local,shuffled", "--mechanism", "grr,sue", "--epsilon", "0.5")
ok([float(t["delta"]) for t in table if t["model"] == "shuffled"] == [1e-9, 1e-6] * 2, "delta falls with people, if nothing is said", table)
ok(all(float(t["epsilon_report"]) >= 0.5 for t in table) and all(t["delta"] == "0" and t["epsilon_report"] == "0.5" and t["bound"] == "" for t in table if t["model"] == "local"),
   "a local report promises what it has", table)
text = must("simulate", "study", *SMALL, "--model", "shuffled", "--mechanism", "grr,oue").decode()
ok("epsilon0" in text and "shuffler must be honest" in text and "clones" in text and "blanket" in text, "a table says what is assumed, and by which bound", text)
t = rows("--data", "uniform", "--range", "0:10", "--users", "1000", "--runs", "3", "--model", "shuffled")[0]
ok(t["bound"] == "clones" and float(t["epsilon_report"]) > 1, "means are shuffled too", t)

# Files: integers, numbers, or any lines.
ints = write("ints", "".join("%d\n" % (i % 5) for i in range(100)))
t = rows("--data", "file:" + ints, "--domain", "6", "--mechanism", "grr", "--runs", "2")[0]
ok(t["users"] == "100" and t["domain"] == "6", "a file's people are taken as they are", t)
t = rows("--data", "file:" + ints, "--domain", "6", "--mechanism", "grr", "--runs", "2", "--users", "1000")[0]
ok(t["users"] == "1000", "or so many are drawn from it", t)
words = write("words", "pear\napple\npear\nfig\r\n")
ok(rows("--data", "file:" + words, "--mechanism", "grr", "--epsilon", "32", "--top", "1", "--runs", "1")[0]["domain"] == "3", "lines as values")
r = run("simulate", "study", "--data", "file:-", "--runs", "1", "--format", "csv", stdin="a\nb\na\n")
ok(r.code == 0 and b",3,2," in r.out, "standard input too", r)
nums = write("nums", "".join("%s\n" % x for x in ("0.5", "99.25", "100", "0")))
t = rows("--data", "file:" + nums, "--range", "0:100", "--mechanism", "onebit", "--runs", "2")[0]
ok(t["users"] == "4" and t["mechanism"] == "onebit", "numbers", t)
for text, args, words in (("1\nx\n", ["--domain", "4"], "line 2: not an integer"), ("1\n4\n", ["--domain", "4"], "line 2: not below --domain"),
                          ("1\n-1\n", ["--domain", "4"], "line 2"), ("1.5\n", ["--domain", "4"], "not an integer"),
                          ("1\n101\n", ["--range", "0:100"], "line 2: outside --range"), ("q7secret\n", ["--range", "0:100"], "not a decimal"),
                          ("", ["--domain", "4"], "has no lines"), ("", [], "has no lines"), ("a\n\nb\n", [], "line 2: empty"), ("a\na\n", [], "all lines are alike")):
    r = run("simulate", "study", "--data", "file:" + write("bad", text), *args)
    ok(r.code == 1 and words in r.err and r.out == b"" and "secret" not in r.err, "a file's %r: %s" % (text, words), r)
r = run("simulate", "study", "--data", "file:" + path("none"))
ok(r.code == 1 and "none" in r.err, "a file that is not there", r)

# Dumps have every run; figures are whole, the same each time, and readable.
dump = path("dump.csv")
table = rows(*SMALL, "--mechanism", "grr,oue", "--dump", dump)
runs_ = list(csv.DictReader(open(dump)))
ok(len(runs_) == 6 and [r["run"] for r in runs_] == ["1", "2", "3"] * 2 and
   all(abs(sum(float(r["mse"]) for r in runs_ if r["mechanism"] == t["mechanism"]) / 3 - float(t["run_mse"])) < 1e-12 for t in table),
   "the runs of a dump average to its row", runs_)
for name, args in (("epsilon", ["--epsilon", "1,2", "--mechanism", "grr,oue"]), ("users", ["--mechanism", "grr"]), ("one", ["--mechanism", "ss"]),
                   ("mean", []), ("models", ["--model", "local,multiparty:3,central", "--epsilon", "1,2"]), ("several", ["--model", "local,central"]),
                   ("many", ["--domain", "100"])):
    if name == "users":
        args = ["--data", "uniform", "--domain", "8", "--users", "100,1000", "--runs", "2", *args]
    elif name == "mean":
        args = ["--data", "uniform", "--range", "0:1", "--mechanism", "onebit,dwm", "--users", "100", "--runs", "2"]
    elif name == "many":
        args = SMALL[:2] + args + SMALL[4:]
    else:
        args = SMALL + args
    table = must("simulate", "study", *args)
    r = run("simulate", "study", *args, "--plot", path("a.svg"))
    must("simulate", "study", *args, "--plot", path("b.svg"))
    svg = open(path("a.svg"), "rb").read()
    tree = xml.fromstring(svg)
    ok(r.code == 0 and r.out == table and svg == open(path("b.svg"), "rb").read() and tree.tag == SVG + "svg" and
       len(tree.find(SVG + "desc").text) > 40 and b"prefers-color-scheme: dark" in svg, name + ": a figure", r)
    texts = [t.text for t in tree.iter(SVG + "text")]
    bars = svg.count(b'opacity=".6"')
    ok(bars == {"one": 32, "several": 48}.get(name, 0), name + ": the bars of a histogram, or none", (bars, texts))
    ok(name != "models" or {"local ss, 16 bits", "3 curators", "central", "best known local"} <= set(texts), "each line has its name", texts)
for option in ("--plot", "--dump"):
    for target in (path("none/x"), TMP, "/dev/full"):
        if target != "/dev/full" or os.path.exists(target):
            r = run("simulate", "study", *SMALL, option, target)
            ok(r.code == 1 and r.out == b"" and target in r.err, "%s %s: said, and nothing is printed" % (option, target), r)

# What makes no sense is refused, with what to do.
D = ["--data", "uniform", "--domain", "8"]
for args, words in ((["--data", "uniform"], "missing question"), (["--domain", "8"], "'simulate study' needs --data"), (D + ["--range", "0:1"], "--domain cannot be used with --range"),
                    (D + ["--bins", "4"], "--bins needs --range"), (D + ["--users", "0"], "--users takes integers from 1"),
                    (D + ["--users", "1e-1"], "--users takes integers"), (D + ["--users", "1.55e1"], "--users takes integers"), (D + ["--users", "-5"], "--users takes integers"), (D + ["--users", "5,,6"], "is empty"),
                    (D + ["--users", "9999999999999999"], "--users takes integers from 1 to 1000000000000000"),
                    (["--data", "uniform", "--domain", "1"], "--domain takes integers from 2"), (["--data", "uniform", "--domain", "5000000"], "--domain takes"),
                    (D + ["--top", "9"], "exceeds the number of candidates, 8"), (D + ["--top", "0"], "--top takes"),
                    (["--data", "uniform", "--range", "0:1", "--top", "3"], "--top cannot be used with a mean"),
                    (D + ["--mechanism", "grrr"], "did you mean 'grr'?"), (D + ["--mechanism", "zzzzz"], "no mechanism 'zzzzz'"), (D + ["--mechanism", ""], "is empty"),
                    (D + ["--epsilon", "0"], "from 0.000001 to 32"), (D + ["--epsilon", "1,x"], "not a number"), (D + ["--runs", "0"], "--runs takes"),
                    (D + ["--threads", "0"], "--threads takes"), (D + ["--threads", "257"], "--threads takes"), (D + ["--sampling", "some"], "one of"),
                    (["--data", "zip:1", "--domain", "8"], "unknown distribution 'zip:1'"), (["--data", "zipf:-1", "--domain", "8"], "zipf:S takes"),
                    (["--data", "zipf", "--domain", "8"], "zipf:S takes"), (["--data", "geometric:0", "--domain", "8"], "geometric:P takes"),
                    (["--data", "poisson:nan", "--domain", "8"], "poisson:L takes"), (["--data", "uniform:5:4", "--domain", "8"], "LO <= HI"),
                    (["--data", "uniform:8:9", "--domain", "8"], "inside the domain"), (["--data", "gaussian:5:0", "--domain", "8"], "gaussian:M:SD takes"),
                    (["--data", "gaussian:1e9:1", "--domain", "8"], "inside the domain"), (["--data", "uniform", "--range", "5:1"], "--range"),
                    (D + ["--users", ",".join(["5"] * 65)], "at most 64"),
                    (D + ["--users", ",".join(["5"] * 64), "--epsilon", ",".join(["1"] * 64), "--mechanism", "grr,oue"], "4096 rows"),
                    (D + ["--model", "locl"], "unknown model 'locl'; use local, shuffled, central or multiparty:K"), (D + ["--model", "central:2"], "unknown model"), (D + ["--model", ""], "is empty"),
                    (D + ["--model", "multiparty"], "from 1 to 1000000"), (D + ["--model", "multiparty:0"], "from 1 to 1000000"),
                    (D + ["--model", "multiparty:1000001"], "from 1 to 1000000"), (D + ["--model", "multiparty:x"], "from 1 to 1000000"),
                    (D + ["--model", "multiparty:51", "--users", "100,50"], "multiparty:51: more curators than the 50 people"),
                    (D + ["--delta", "1e-6"], "needs --model shuffled"),
                    *((D + ["--model", "shuffled", "--delta", x], "--delta takes a number from") for x in ("0", "1", "-1e-6", "2", "nan", "inf", "x", "", "1e-6x", " 1e-6", "1e-300", "0x1p-9")),
                    (D + ["--model", "central", "--mechanism", "grr"], "--mechanism needs --model local or shuffled"),
                    (D + ["--model", "multiparty:2", "--sampling", "users"], "--sampling needs --model local or shuffled"),
                    (["--data", "file:x", "--domain", "4,5"], "one for a file"), (D + ["extra"], "unexpected argument 'extra'")):
    r = run("simulate", "study", *args)
    ok(r.code == 2 and words in r.err and "usage: hearsay simulate" in r.err and r.out == b"", "simulate %s: %s" % (" ".join(args)[:60], words), r)
for args, words in ((D + ["--mechanism", "onebit"], "does not support this"), (D + ["--mechanism", "rr"], "exactly two values"), (D + ["--mechanism", "grr", "--set", "g=4"], "--set g")):
    r = run("simulate", "study", *args)
    ok(r.code == 2 and words in r.err and r.out == b"", "simulate %s: %s" % (" ".join(args), words), r)
r = run("simulate", "study", "--data", "uniform", "--domain", "1048576", "--mechanism", "oue", "--threads", "256", "--runs", "256")
ok(r.code == 1 and "--domain" in r.err and "--threads" in r.err, "more memory than allowed: which options help", r)
r = run("simulate", "study", "--data", "uniform", "--domain", "8", "--mechanism", "ss", "--users", "1000000000000000")
ok(r.code == 1 and "users" in r.err, "too many one by one", r)

r = run("simulate", "study", "--data", "file:" + ints, "--domain", "6", "--model", "multiparty:101")
ok(r.code == 2 and "than the 100 people" in r.err and r.out == b"", "a file has so many people, and no curator is without", r)
r = run("simulate", "study", *D, "--mechanism", "grr", "--model", "shuffled", "--users", "1000000000001")
ok(r.code == 1 and "users" in r.err and "10^12" in r.err and r.out == b"", "more people than a shuffler is accounted for", r)
r = run("simulate", "study", "--data", "uniform", "--range", "0:1000000000", "--users", "1000000000000000", "--model", "central", "--runs", "1")
ok(r.code == 1 and "too many people" in r.err and r.out == b"", "a sum that no release holds", r)

# The ends of what is allowed.
for args in (["--domain", "2", "--users", "1", "--mechanism", "rr,grr,oue,ss"], ["--domain", "8", "--users", "1000000000000000", "--mechanism", "grr,sue"],
             ["--domain", "8", "--users", "7", "--epsilon", "0.000001", "--mechanism", "grr,olh"], ["--range", "0:1", "--users", "1", "--mechanism", "onebit,dwm"],
             ["--range", "-1:1", "--users", "60", "--epsilon", "16", "--mechanism", "onebit,laplace"], ["--domain", "8", "--epsilon", "24", "--users", "50", "--mechanism", "oue,hr"],
             ["--domain", "2", "--users", "1", "--model", "shuffled,central,multiparty:1"], ["--domain", "8", "--users", "1000000000000000", "--model", "central,multiparty:1000"],
             ["--domain", "3", "--users", "50", "--epsilon", "0.000001,32", "--model", "local,shuffled,multiparty:50"]):
    r = run("simulate", "study", "--data", "uniform", *args, "--runs", "2", "--format", "json", "--plot", path("edge.svg"))
    ok(r.code == 0 and b"nan" not in r.out.lower() and b"inf" not in r.out and json.loads(r.out), " ".join(args), r)

# docs/simulation.md shows what the commands print and draw.
page, shown = examples("simulation.md")
ok(len(shown) == 9 and any("--domain 16 --users 2000" in c for c, _ in shown) and any("laplace,onebit" in c for c, _ in shown), "the page has its examples", shown)
tells_the_truth(page, shown)
done()
