#!/usr/bin/python3 -B
"""hearsay survey: published figures, files, groups, weights, sheets, rehearsals, bad input; docs/survey.md tells the same."""

import random
import xml.etree.ElementTree as xml

from e2e import *


def survey(*args, stdin=b""):
    return json.loads(must("survey", *args, "--format", "json", stdin=stdin))


def near(got, want):
    return all(abs(g - w) <= 1e-12 * max(abs(w), 1e-3) for g, w in zip(got, want)) and len(got) == len(want)


# Theory 15.1.
a = survey("--yes", "400", "--n", "1000", "--epsilon", "1")
ok(near([a["estimate"], a["mle"]], [0.283604658626134715] * 2), "400 of 1000 at epsilon 1: the estimate", a)
for name, ends in (("wald", [0.217899174620320628, 0.349310142631948803]), ("wilson", [0.218847879271618492, 0.350017623398325012]),
                   ("likelihood", [0.218514597860881858, 0.349801800107339839]), ("exact", [0.217536970007706490, 0.350950251740731827])):
    ok(near(a[name], ends), "its %s interval" % name, a[name])
ok(a["epsilon"] == 1 and a["yes"] == 400 and a["n"] == 1000 and a["level"] == 0.95 and not any(isinstance(v, dict) for v in a.values()), "one flat object", a)
a = survey("--yes", "250", "--n", "1000", "--epsilon", "1")
ok(a["likelihood"][0] == 0 and near(a["likelihood"][1:], [0.0316856578858070782]) and a["mle"] == 0 and a["estimate"] < 0,
   "250 of 1000: an estimate below 0, a likelihood interval from 0", a)
for args, epsilon in ((["--coins", "1/2,1/2"], 1.09861228866810969), (["--coins", "0.3,0.25"], 0.998528830111127155)):
    ok(near([survey("--yes", "4", "--n", "10", *args)["epsilon"]], [epsilon]), "epsilon of %s" % " ".join(args))

# One design in many forms.
same = [survey("--yes", "96", "--n", "240", *d) for d in (["--spinner", "3/4"], ["--coins", "0.5,0.5"], ["--channel", "0.75,0.25"],
                                                          ["--unrelated", "1/2,1/2"], ["--forced", "1/4,1/4"], ["--crosswise", "0.75"])]
ok(all(near(s["exact"] + s["wilson"] + [s["estimate"]], same[0]["exact"] + same[0]["wilson"] + [same[0]["estimate"]]) for s in same), "six names of one channel agree", same)
for args, words in ((["--forced", "1/6,0"], "a no proves that the truth is no"), (["--unrelated", "0.5,0"], "a yes proves that the truth is yes"),
                    (["--channel", "1,0"], "every answer is the truth"), (["--channel", "0.3,1"], "a no proves that the truth is yes"),
                    (["--channel", "0,0.7"], "a yes proves that the truth is no")):
    out = must("survey", *args, "--yes", "90", "--n", "240").decode()
    ok("Epsilon is infinite: " + words in out.replace("\n", " "), "%s: %s" % (" ".join(args), words), out)
    a = survey(*args, "--yes", "90", "--n", "240")
    ok(a["epsilon"] is None and a["unbounded"] is True, "and json has no number for it")
ok("nobody but the respondent knows the respondent's answer to the other question" in must("survey", "--crosswise", "0.2", "--yes", "9", "--n", "24").decode().replace("\n", " "),
   "a crosswise design says what it counts on")
ok(survey("--yes", "20", "--n", "49", "--spinner", "0.7")["wald"] is None, "no Wald interval below 50 answers")
r = run("survey", "--yes", "100", "--n", "1000", "--spinner", "0.75")
ok(r.code == 0 and "11 standard errors beyond" in r.err and "people followed it" in r.err, "an impossible rate earns a warning", r)
r = run("survey", "--yes", "10,20,30", "--n", "100,100,100", "--spinner", "0.7")
ok(r.err.count("warning") == 2 and "group 1: the rate" in r.err and "group 2: the rate" in r.err, "so does one whose interval is a point", r)
ok(run("survey", "--yes", "250", "--n", "1000", "--epsilon", "1").err == "", "but not one that a share explains")

# A file is its counts.
rng = random.Random(4)
people = [(rng.choice(["north", 'so"uth, east']), rng.random() < 0.4, rng.choice([0.5, 1, 2.25])) for _ in range(300)]


def table(header, rows):
    quoted = lambda x: '"%s"' % str(x).replace('"', '""') if set(str(x)) & set(',"') else str(x)
    return write("answers.csv", "".join(",".join(map(quoted, row)) + "\r\n" for row in [header] + rows))


file = table(["id", "answer", "where", "w"], [(i, rng.choice(["yes", "TRUE", "1"] if y else ["no", "false", "0"]), g, w) for i, (g, y, w) in enumerate(people)])
args = ["--spinner", "0.7", "--answers", file, "--column", "answer"]
yes = sum(y for _, y, _ in people)
a, b = survey(*args), survey("--spinner", "0.7", "--yes", yes, "--n", "300")
ok(a == {**b, "missing": 0, "refused": 0}, "answers in a file are their counts", (a, b))
ok(survey("--spinner", "0.7", "--answers", "-", "--column", "answer", stdin=open(file, "rb").read()) == a, "also from standard input")
a = survey(*args, "--group", "where")
names = list(dict.fromkeys(g for g, _, _ in people))
counts = [(sum(y for g, y, _ in people if g == n), sum(g == n for g, _, _ in people)) for n in names]
b = survey("--spinner", "0.7", "--yes", ",".join(str(y) for y, _ in counts), "--n", ",".join(str(n) for _, n in counts))
ok([g["group"] for g in a["groups"]] == names and [(g["yes"], g["n"]) for g in a["groups"]] == counts, "groups in the order they come", a["groups"])
ok(all(a[k] == b[k] for k in ("statistic", "p_value", "pooled", "freedom")), "and counts of groups give the same test")
said = must("survey", "--spinner", "0.7", "--yes", "400,401", "--n", "1000,1000").decode().replace("\n", " ")
ok("p = 0.964 (a small p would mean that the groups differ)." in said, "the printout of equal groups does not claim that they differ", said)
c = survey("--spinner", "0.9", "--yes", "96,60", "--n", "240,240")
(e, w), (f, v) = ((g["estimate"], g["wilson"]) for g in c["groups"])
ok(near([c["difference"], c["difference_stderr"]], [e - f, math.hypot(*(g["stderr"] for g in c["groups"]))]) and
   near(c["difference_wilson"], [e - f - math.hypot(e - w[0], v[1] - f), e - f + math.hypot(w[1] - e, f - v[0])]), "two groups have a difference", c)
rows_ = rows(must("survey", *args, "--group", "where", "--format", "csv"))
ok([r["wilson_high"] for r in rows_] == [g["wilson"][1] for g in a["groups"]], "csv has the ends in columns", rows_)

# What spreadsheets write: a mark, semicolons, empty lines, people without an answer.
lines_ = open(file, "rb").read().decode().split("\r\n")
odd = "\ufeff" + lines_[0] + "\r\n" + "\r\n".join(lines_[1:-1] + ["900,,north,1", "901,NA,north,1", '902,refused,"so""uth, east",1', "", ",,,", ""])
other = survey("--spinner", "0.7", "--answers", write("odd.csv", odd), "--column", "answer")
ok(other == {**survey("--spinner", "0.7", "--yes", yes, "--n", "300"), "missing": 2, "refused": 1}, "a mark and empty lines are passed over, who did not answer is counted", other)
said = must("survey", "--spinner", "0.7", "--answers", path("odd.csv"), "--column", "answer").decode()
ok(said.endswith("\nLeft out: 2 people without an answer, 1 who refused. Shares are of those who\nanswered.\n"), "and is stated", said)
r = run("survey", "--spinner", "0.7", "--answers", path("odd.csv"), "--column", "answer", "--format", "csv")
ok(r.code == 0 and "left out: 2 people without an answer, 1 who refused" in r.err and len(r.out.splitlines()) == 2, "beside csv, too", r)
ok("Left out" not in must("survey", *args).decode(), "where everybody answered there is nothing to say")
semi = write("semi.csv", "\ufeffid;answer;where;w\n" + "".join("%d;%s;\"%s\";%s\n" % (i, "yes" if y else "no", g.replace('"', '""'), str(w).replace(".", ",")) for i, (g, y, w) in enumerate(people)) + ";;;\n")
ok(survey("--spinner", "0.7", "--answers", semi, "--column", "answer", "--group", "where", "--weight", "w") == survey(*args, "--group", "where", "--weight", "w"),
   "semicolons, and decimals with a comma, are read the same")
three = write("three.csv", "c\n0\n1\n\n2\nNA\nrefused\n\n")
a = survey("--matrix", write("h3.csv", "0.8,0.1,0.1\n0.1,0.8,0.1\n0.1,0.1,0.8\n"), "--answers", three, "--column", "c")
ok((a["n"], a["missing"], a["refused"]) == (3, 2, 1), "a matrix leaves them out, too", a)

# Weights by hand: the rate, and the answers they are worth.
a = survey(*args, "--weight", "w")
total = sum(w for _, _, w in people)
rate = sum(w for _, y, w in people if y) / total
worth = rate * (1 - rate) / (sum(w * w * (y - rate) ** 2 for _, y, w in people) / total ** 2)
ok(near([a["rate"], a["n_effective"], a["design_effect"], a["stderr"]], [rate, worth, 300 / worth, math.sqrt(rate * (1 - rate) / worth) / 0.4]), "weights: rate, worth and error", a)
ones = table(["answer", "w"], [("yes" if i < 96 else "no", "1.0") for i in range(240)])
plain = survey("--spinner", "0.7", "--yes", "96", "--n", "240")
a = survey("--spinner", "0.7", "--answers", ones, "--column", "answer", "--weight", "w")
ok(near([a["estimate"]] + a["exact"], [plain["estimate"]] + plain["exact"]), "equal weights change nothing", a)
ok("known beforehand" in must("survey", *args, "--weight", "w").decode(), "what is assumed of them is said")

# Two samples.
a = survey("--two-sample", "0.7,0.3", "--yes", "270,330", "--n", "600,600")
ok(near([a["estimate"], a["innocuous"], a["stderr"]], [0.375, 0.625, 0.038669270745645049]), "two samples tell both shares", a)
two = table(["sample", "answer"], [(1, "yes")] * 270 + [(1, "no")] * 330 + [(2, "yes")] * 330 + [(2, "no")] * 270)
r = must("survey", "--two-sample", "1,0.2", "--yes", "30,40", "--n", "60,60")
ok(b"every answer is the truth" in r and b"if the share" not in r, "who is asked directly tells the truth, whatever the other question is", r)
ok(survey("--two-sample", "0.7,0.3", "--answers", two, "--column", "answer", "--sample", "sample") == {**a, "missing": 0, "refused": 0}, "also from a file")
cross = table(["a"], [("same",)] * 30 + [("different",)] * 50 + [("Yes",)] * 2)
ok(survey("--crosswise", "0.2", "--answers", cross, "--column", "a") == {**survey("--crosswise", "0.2", "--yes", "32", "--n", "82"), "missing": 0, "refused": 0}, "same and different are words of a crosswise design")

# Matrices.
square = write("h.csv", "0.7,0.1,0.2\n1/5,4/5,0.1\n0.1,0.1,0.7\n")
a = survey("--matrix", square, "--counts", "500,300,200")
ok(near([s["estimate"] for s in a["states"]], [23 / 36, 7 / 36, 6 / 36]) and abs(a["states"][0]["covariance_1"] + 0.00044753086419753086) < 1e-15 and
   near([a["states"][1]["inverse_0"], a["epsilon"], a["states"][1]["h_1"]], [-0.36111111111111111, math.log(8), 0.8]), "a matrix: shares, inverse, covariances", a)
names = write("names", "red\ngreen\nblue\n")
colours = table(["c"], [("red",)] * 5 + [("green",)] * 3 + [("blue",)] * 2)
a = survey("--matrix", square, "--values-file", names, "--answers", colours, "--column", "c")
b = survey("--matrix", square, "--counts", "5,3,2")
ok([s["value"] for s in a["states"]] == ["red", "green", "blue"] and [s["mle"] for s in a["states"]] == [s["mle"] for s in b["states"]], "answers by name", a)
ok("answer 0 rules truth 1 out" in must("survey", "--matrix", write("z.csv", "1/2,0\n1/2,1\n"), "--counts", "10,90").decode(), "what a 0 proves is said")

# Figures.
for name, args in (("one", ["--yes", "400", "--n", "1000"]), ("edge", ["--yes", "250", "--n", "1000"]), ("two", ["--yes", "40,70", "--n", "200,200"]),
                   ("edges", ["--yes", "0,200", "--n", "200,200"]), ("equal", ["--yes", "70,70", "--n", "200,200"]), ("three", ["--yes", "40,70,90", "--n", "200,200,200"])):
    must("survey", "--epsilon", "1", *args, "--plot", path(name + ".svg"))
    ok(xml.parse(path(name + ".svg")).getroot().tag.endswith("svg"), "figure: " + name)
must("survey", "--matrix", square, "--counts", "500,300,200", "--plot", path("list.svg"))
ok(xml.parse(path("list.svg")).getroot().tag.endswith("svg"), "figure: a list of states")

# Before a survey.
a = survey("--power", "--margin", "0.03", "--channel", "1,0")
ok(a["n"] == a["n_direct"] == 1068 and a["n_best"] is None, "asked directly it takes 1068", a)
a = survey("--power", "--margin", "0.01", "--share", "0", "--epsilon", "1")
ok(a["n"] == math.ceil(1.95996398454005424 ** 2 * 0.920673594207792319 / 1e-4), "and of a small share at epsilon 1 as many as its variance says", a)
a = survey("--power", "--shares", "0.1,0.2", "--unrelated", "0.7,0.1", "--chance", "0.9")
ok(a["n"] > a["n_best"] > a["n_direct"], "the best design of an epsilon needs fewer than another, and none fewer than asking", a)
a = survey("--power", "--margin", "0.02", "--share", "0.2", "--innocuous", "0.4", "--two-sample", "0.7,0.3")
ok(a["n"] == a["n_first"] + a["n_second"], "two samples are divided", a)

for args, words, command in (
        (["--spinner", "2/3"], ["Roll a die", "1 to 4: answer the question truthfully", "5 or 6: say the opposite"], "--spinner 4/6"),
        (["--epsilon", "1"], ["Draw one of 100 cards", "1 to 73: answer", "74 to 100: say the opposite"], "--spinner 73/100"),
        (["--coins", "1/2,1/2"], ["Toss a coin", "heads: answer the question", "heads: say yes", "tails: say no"], "--coins 1/2,1/2"),
        (["--forced", "1/6,1/6"], ["1: say yes", "2: say no", "3 to 6: answer"], "--forced 1/6,1/6"),
        (["--channel", "0.9,0.2"], ["1 or 2: say yes", "3: say no", "4 to 10: answer"], "--forced 2/10,1/10"),
        (["--unrelated", "0.7,1/12"], ["1 to 7: answer question A", "8.333 of 100"], "--unrelated 7/10,1/12"),
        (["--crosswise", "0.25"], ["the same: both", "25 of 100"], "--crosswise 25/100"),
        (["--two-sample", "2/3,1/3"], ["Sample 1", "Sample 2", "by lot"], "--two-sample 4/6,2/6"),
        (["--spinner", "0.123456789"], ["1 to 124"], "--spinner 124/1000"),
        (["--spinner", "0.876543211"], ["1 to 876"], "--spinner 876/1000"),
        (["--forced", "0.25,0"], ["Careful: with these rules a no proves"], "--forced 1/4,0/4")):
    out = must("survey", "--questionnaire", *args, "--question", "Is it so?").decode()
    ok(all(w in out for w in words) and "hearsay survey %s " % command in out and "Is it so?" in out, "a sheet for " + " ".join(args), out)
    ok(max(map(len, out.splitlines())) <= 80, "that fits a page")
    more = ["--yes", "4,4", "--n", "10,10"] if "two-sample" in command else ["--yes", "4", "--n", "10"]
    ok(run("survey", *command.split(), *more).code == 0, "and whose last command works")
asked = survey("--epsilon", "1", "--yes", "4", "--n", "10")["epsilon"]
ok(survey("--spinner", "73/100", "--yes", "4", "--n", "10")["epsilon"] < asked, "cards round towards more privacy")

# Rehearsals: 400 runs; a coverage of 95 % is off by 7 of its standard errors once in 10^11.
for args, n in ((["--spinner", "0.75"], "300"), (["--two-sample", "0.7,0.3", "--innocuous", "0.4"], "200,200")):
    a = survey("simulate", *args, "--share", "0.2", "--n", n, "--runs", "400", "--seed", "3")
    ok(abs(a["mean"] - 0.2) < 7 * a["predicted_sd"] / 20 and 0.75 < a["sd"] / a["predicted_sd"] < 1.25, "simulate %s: estimates are where they should be" % args[0], a)
    ok(all(i["coverage"] > 0.95 - 7 * math.sqrt(0.95 * 0.05 / 400) for i in a["intervals"]), "and intervals hold", a)
    ok(a == survey("simulate", *args, "--share", "0.2", "--n", n, "--runs", "400", "--seed", "3"), "the same seed, the same people")
    ok(a != survey("simulate", *args, "--share", "0.2", "--n", n, "--runs", "400", "--seed", "4"), "another seed, others")
exact = {i["interval"]: i["coverage_exact"] for i in survey("simulate", "--epsilon", "2", "--share", "0.3", "--n", "1000", "--runs", "1")["intervals"]}
ok(abs(exact["exact"] - 0.9537) < 5e-5 and abs(exact["wilson"] - 0.9499) < 5e-5, "coverage by the binomial law", exact)

# Shares in per cent, counts by their powers of ten.
for a, b in ((["--spinner", "70%", "--yes", "40", "--n", "100"], ["--spinner", "0.7", "--yes", "40", "--n", "1e2"]),
             (["--coins", "50%,12.5%", "--yes", "40", "--n", "100"], ["--coins", "0.5,0.125", "--yes", "4e1", "--n", "100"]),
             (["--epsilon", "1", "--power", "--shares", "10%,1/4", "--chance", "90%"], ["--epsilon", "1", "--power", "--shares", "0.1,0.25", "--chance", "0.9"]),
             (["--epsilon", "1", "--yes", "4", "--n", "10", "--level", "99%"], ["--epsilon", "1", "--yes", "4", "--n", "10", "--level", "0.99"])):
    ok(survey(*a) == survey(*b), "%s is %s" % (" ".join(a), " ".join(b)))

# What makes no sense.
E = ["--epsilon", "1"]
C = [*E, "--yes", "4", "--n", "10"]
for args, words in (
        ([*E, "--yes", "5", "--n", "4"], "--yes (5) must not exceed --n (4)"), ([*E, "--yes=-1", "--n", "4"], "--yes: count 1"), ([*E, "--yes", "4.5", "--n", "9"], "--yes: count 1"),
        ([*E, "--yes", "4,x", "--n", "9,9"], "--yes: count 2"), ([*E, "--yes", "4", "--n", "1e-3"], "--n: count 1"), ([*E, "--yes", "0", "--n", "0"], "nobody answered"),
        ([*E, "--yes", "4,5", "--n", "9"], "give one of each for every group"), ([*E, "--yes", "4"], "--yes needs --n"), ([*E, "--n", "4"], "missing answers"), ([*E], "missing answers"), (["--yes", "4", "--n", "9"], "missing design"),
        ([*E, "--yes", "99999999999999999999", "--n", "9"], "2^53"), (["--spinner", "1/2", "--yes", "4", "--n", "9"], "no information; take P other than 1/2"),
        (["--spinner", "0.5", "--power", "--margin", "0.1"], "no information"), (["--coins", "0,1/2", "--yes", "4", "--n", "9"], "no information; take T above 0"),
        (["--channel", "0.3,0.3", "--yes", "4", "--n", "9"], "no information"), (["--crosswise", "0.5", "--yes", "4", "--n", "9"], "no information"),
        (["--forced", "0.5,0.5", "--yes", "4", "--n", "9"], "no information"), (["--forced", "0.7,0.5", "--yes", "4", "--n", "9"], "more than 1"),
        (["--two-sample", "0.5,0.5", "--yes", "4,4", "--n", "9,9"], "no information"), (["--two-sample", "0.7,0.5", "--yes", "4", "--n", "9"], "two counts"),
        (["--spinner", "1.5", "--yes", "4", "--n", "9"], "--spinner takes a probability"), (["--coins", "0.5", "--yes", "4", "--n", "9"], "--coins takes two"),
        (["--epsilon", "99", "--yes", "4", "--n", "9"], "--epsilon takes"), ([*C, "--spinner", "0.7"], "use only one"), ([*C, "--matrix", square], "--matrix cannot be used with --epsilon"),
        ([*C, "--answers", file, "--column", "answer"], "--yes cannot be used with --answers"), ([*E, "--answers", file], "--answers needs --column"), ([*C, "--group", "where"], "--group needs --answers"),
        ([*C, "--sample", "x"], "--sample needs --two-sample"), ([*E, "--answers", file, "--column", "answer", "--sample", "x"], "needs --two-sample"),
        (["--two-sample", "0.7,0.3", "--answers", file, "--column", "answer"], "needs --sample"),
        (["--two-sample", "0.7,0.3", "--answers", file, "--column", "answer", "--sample", "id", "--group", "where"], "--group cannot be used with --two-sample"),
        ([*C, "--margin", "0.1"], "--margin needs --power"), ([*E, "--power"], "--power needs either --margin"), ([*E, "--power", "--margin", "0.1", "--shares", "0.1,0.2"], "either --margin"),
        ([*E, "--power", "--margin", "0"], "--margin takes a share"), ([*E, "--power", "--shares", "0.1"], "two shares"), ([*E, "--power", "--margin", "0.1", "--innocuous", "0.1"], "needs --two-sample"),
        (["--two-sample", "0.7,0.3", "--power", "--margin", "0.1"], "needs --margin M, --share F"), ([*E, "--power", "--margin", "0.1", "--plot", "x.svg"], "--power cannot be used with --plot"),
        ([*E, "--power", "--questionnaire"], "--power cannot be used with --questionnaire"), ([*E, "--questionnaire", "--yes", "4", "--n", "9"], "--questionnaire cannot be used with --yes"), ([*E, "--questionnaire", "--format", "json"], "--questionnaire cannot be used with --format"),
        ([*E, "--questionnaire", "--other-question", "x"], "--other-question needs"), (["--channel", "0.2,0.9", "--questionnaire"], "reverse the question"),
        (["simulate", *E, "--share", "0.1"], "simulate needs"), (["simulate", *E, "--n", "10"], "simulate needs"), (["simulate", *E, "--share", "2", "--n", "10"], "--share takes"),
        (["simulate", *E, "--share", "0.1", "--n", "0"], "must be at least 1"), (["simulate", *E, "--share", "0.1", "--n", "10,10"], "at most 1"), (["simulate", "--two-sample", "0.7,0.3", "--share", "0.1", "--n", "9,9"], "--innocuous"),
        ([*C, "--runs", "5"], "--runs is only for 'survey simulate'"), ([*C, "extra"], "unexpected argument 'extra'"), ([*C, "--level", "1"], "--level takes"), ([*C, "--level", "95"], "--level takes"),
        (["--matrix", square], "--matrix needs --counts or --answers"), (["--matrix", square, "--counts", "1,2"], "3 lines"), (["--matrix", square, "--counts", "1,2,3", "--group", "x"], "--matrix cannot be used with --group"),
        ([*C, "--plot", path("no-such/dir.svg")], None)):
    r = run("survey", *args)
    ok(r.code == (2 if words else 1) and (words or "dir.svg") in r.err.replace("\n", " ") and r.out == b"", "refused: " + " ".join(map(str, args[-4:])).replace(TMP, ""), r)
for name, text, words in (("stochastic", "0.7,0.3\n0.2,0.7\n", "column 1: matrix: does not add up to 1"), ("singular", "1/2,1/2\n1/2,1/2\n", "singular"),
                          ("nearly", "0.500000001,0.5\n0.499999999,0.5\n", "as good as singular"), ("shape", "0.5,0.5\n", "as many of both"), ("words", "0.5,x\n0.5,1\n", "line 1, field 2")):
    r = run("survey", "--matrix", write(name, text), "--counts", "1,2")
    ok(r.code == 1 and words in r.err and r.out == b"", "a matrix is refused: " + name, r)
r = run("survey", "--matrix", square, "--counts", "0,0,0")
ok(r.code == 1 and "nobody answered" in r.err, "answers of nobody", r)
r = run("survey", "--matrix", square, "--values-file", write("short", "red\nblue\n"), "--counts", "1,2,3")
ok(r.code == 1 and "2 values, but the matrix has 3 lines" in r.err, "too few names", r)

# Files: line and column, never the answer.
SECRET = "hunter2"
for header, body, more, words in (
        ("answer,g", "yes,a\n%s,b\n" % SECRET, [], "line 3, column answer: must be yes or no"), ("answer,g", "yes,a\n\nno,b\n", [], "line 3: empty; only the last lines may be"), ("answer,g", ",a\nrefused,b\n", [], "no answers"),
        ("answer,g", 'yes,a\n"%s,b\n' % SECRET, [], "line 3: a quote is out of place"), ("answer,g", "yes,a,%s\n" % SECRET, [], "line 2: not as many fields"), ("answer,g", "yes\n", [], "line 2: not as many fields"),
        ("a,g", "yes,a\n", [], "--column answer: no such column; the first line must name the columns, separated by commas or semicolons"), ("answer,answer", "yes,no\n", [], "column answer: the header has it twice"), ("answer,g", "", [], "no answers"),
        ("answer,g", "yes,a\n", ["--group", "where"], "--group where: no such column"), ("answer,grop", "yes,a\n", ["--group", "group"], "did you mean column 2?"), ("anser,g", "yes,a\n", [], "--column answer: no such column in the first line; did you mean column 1?"), ("answer,g", "yes,a\nno,\n", ["--group", "g"], "line 3, column g: empty"), ("answer,g", "yes,a\nno,a\n", ["--group", "g"], "all answers are in one group"),
        ("answer,g", "".join("yes,%d\n" % i for i in range(101)), ["--group", "g"], "line 102, column g: more than 100 groups"), ("answer,g", "yes,%s\n" % ("x" * 256), ["--group", "g"], "line 2, column g: longer than 255"),
        ("answer,g", "yes,1\nno,%s\n" % SECRET, ["--weight", "g"], "line 3, column g: not a weight"), ("answer,g", "yes,-1\n", ["--weight", "g"], "line 2, column g: not a weight"), ("answer,g", "yes,0\nno,0\n", ["--weight", "g"], "weights of a group are 0"),
        ("answer,g", "yes,nan\n", ["--weight", "g"], "not a weight")):
    r = run("survey", *E, "--answers", write("bad.csv", header + "\n" + body), "--column", "answer", *more)
    ok(r.code == 1 and words in r.err and SECRET not in r.err and r.out == b"", "a file is refused: " + words, r)
r = run("survey", "--two-sample", "0.7,0.3", "--answers", write("bad.csv", "answer,s\nyes,3\n"), "--column", "answer", "--sample", "s")
ok(r.code == 1 and "line 2, column s: neither 1 nor 2" in r.err, "a sample that is none", r)
r = run("survey", "--two-sample", "0.7,0.3", "--answers", write("bad.csv", "answer,s\nyes,1\n"), "--column", "answer", "--sample", "s")
ok(r.code == 1 and "sample 2 has no answers" in r.err, "a sample of nobody", r)
r = run("survey", "--matrix", square, "--answers", write("bad.csv", "answer\n2\n3\n"), "--column", "answer")
ok(r.code == 1 and "line 3, column answer: not the number of an answer" in r.err, "an answer that the matrix has not", r)
r = run("survey", *E, "--answers", path("nothing"), "--column", "a")
ok(r.code == 1 and "No such file" in r.err, "no file", r)
silent = []
for _ in range(20):
    noise_ = bytes(rng.choice(b'yesno,"\n\r\0\xff01') for _ in range(200))
    r = run("survey", *E, "--answers", "-", "--column", "answer", "--group", "g", stdin=b"answer,g\n" + noise_)
    if not (r.code in (0, 1) and (r.code == 0 or ": line " in r.err or "group" in r.err)):
        silent.append(r)
ok(not silent, "noise is an error with its line", silent)
r = run("survey", *C, "--plot", path("full.svg"), "--level", "0.99")
before = open(path("full.svg"), "rb").read()
r = run("survey", *E, "--answers", path("bad.csv"), "--column", "nope", "--plot", path("full.svg"))
ok(r.code == 1 and open(path("full.svg"), "rb").read() == before, "what fails leaves the old figure alone", r)

# The page.
page, shown = examples("survey.md")
ok(len(shown) >= 11, "the page has its examples")
os.chdir(ROOT)
tells_the_truth(page, shown)
done()
