#!/usr/bin/python3 -B
"""hearsay account: totals of what was spent; docs/accounting.md tells the same."""

import xml.etree.ElementTree as xml

from e2e import *


def account(*args):
    return json.loads(must("account", *args, "--format", "json"))


def near(got, want, most=1e-10):
    """Not below, and above by little."""
    return want * (1 - 1e-15) <= got <= want * (1 + most)


# ---- Vectors ---------------------------------------------------------------

for epsilon, k, want in (
        ("0.1", 100, {"basic": 10, "exact": 4.77456758810798615, "grouposition": 5.75652176975693198, "advanced": 6.30823095051340823}),
        ("0.5", 10, {"basic": 5, "exact": 4.99988547110998618, "grouposition": 9.56129068134554963}),
        ("0.5", 100, {"exact": 33.3197882385373097, "grouposition": 38.7826088487846599, "advanced": 58.7186723837910672}),
        ("1", 10, {"exact": 9.99997706582073262, "grouposition": 21.6225813626910993}),
        ("1", 100, {"exact": 83.5307016784836120, "grouposition": 102.565217697569320, "advanced": 224.393400543473843})):
    for what in ("group", "compose"):
        got = account(what, "--epsilon", epsilon, "--k", k)
        ok(all(near(got[n], want[n]) for n in want) and got["k"] == k and got["delta"] == 1e-6, "%s of %d at %s" % (what, k, epsilon), got)

got = account("shuffle", "--epsilon", "4", "--n", "100000")
ok(near(got["closed_form"], 0.534633991651707646) and abs(got["clones"] - 0.1697697473) < 5e-11 and "blanket" not in got, "shuffle, any mechanism", got)
got = account("shuffle", "--yes-no", "--epsilon", "1", "--n", "1000")
ok(abs(got["blanket"] - 0.1486706164) < 5e-11 and abs(got["clones"] - 0.1824123475) < 5e-11 and got["exact"] < got["blanket"] and got["mechanism"] == "rr",
   "shuffle of yes and no, with the exact form", got)
got = account("shuffle", "--domain", "16", "--mechanism", "grr", "--epsilon", "2", "--n", "10000")
ok(abs(got["blanket"] - 0.067490288) < 5e-9, "shuffle of grr", got)
got = account("shuffle", "--domain", "16", "--mechanism", "oue", "--epsilon", "2", "--n", "10000")
ok("blanket" not in got and abs(got["clones"] - 0.1550452425) < 1e-9, "unary reports have clones only", got)
got = account("shuffle", "--epsilon", "2", "--target", "0.1")
ok(got["clones_n"] == 22640 and "clones" not in got and "clones_epsilon_report" not in got, "shuffle to a target", got)
for mechanism in ("hr", "ss", "olh"):  # their integers change with epsilon, and their law with them
    question = ("shuffle", "--domain", "100", "--mechanism", mechanism, "--n", "5000")
    most = account(*question, "--epsilon", "1", "--target", "0.1")["blanket_epsilon_report"]
    got = account(*question, "--epsilon", "%.9f" % most)
    ok(got["blanket"] <= 0.1, "the largest epsilon of a report by %s is not too large" % mechanism, (most, got))

got = account("longitudinal", "--domain", "4", "--mechanism", "grr", "--epsilon", "1", "--permanent", "2", "--reports", "2")
ok(abs(got["exact"] - 1.67811805164157704) < 1e-9 and got["keys"] == 4 and abs(got["epsilon_all_values"] - 8) < 1e-8 and abs(got["basic"] - 2) < 1e-8, "longitudinal grr", got)
got = account("longitudinal", "--domain", "1000", "--mechanism", "grr", "--epsilon", "0.01", "--permanent", "2", "--reports", "30")
ok(abs(got["basic"] - 0.3) < 1e-6 and abs(got["exact"] - 1.99999999963) < 1e-8 and got["exact"] > 6 * got["basic"] and got["exact"] <= got["epsilon_permanent"],
   "few reports of a small epsilon from a kept answer cost more than with fresh coins", got)
said = " ".join(must("account", "compose", "--epsilon", "1", "--k", "2").decode().split())
ok("cost less" not in said and "any number is bounded by the permanent epsilon, but few of a small epsilon may cost more" in said,
   "and account compose says so", said)
got = account("longitudinal", "--domain", "8", "--mechanism", "oue", "--epsilon", "1", "--permanent", "2", "--reports", "3")
ok(abs(got["exact"] - 1.89915) < 1e-5, "longitudinal oue", got)
got = account("longitudinal", "--strings", "--mechanism", "rappor", "--set", "rappor=0.5,0.5,0.75", "--set", "hashes=2", "--reports", "1")
ok(abs(got["epsilon_report"] - 1.074286) < 1e-6 and abs(got["epsilon_permanent"] - 4.394449) < 1e-6 and "epsilon_all_values" not in got, "longitudinal rappor", got)
got = account("longitudinal", "--range", "0:24", "--mechanism", "onebit", "--epsilon", "1", "--permanent", "2", "--grain", "6", "--reports", "9")
ok(got["keys"] == 5 and abs(got["epsilon_all_values"] - 10) < 1e-6, "longitudinal onebit: a permanent bit a point", got)
got = account("longitudinal", "--epsilon", "16", "--days", "365")
ok(near(got["basic"], 5840) and near(got["exact"], 5839.999, 1e-6), "16 a day for a year", got)

got = account("poisoning", "--domain", "100", "--epsilon", "1", "--mechanism", "grr", "--lying", "5%", "--targets", "3", "--held", "0.01")
ok(abs(got["maximal"] - 2.87208702831623316) < 1e-8 and abs(got["input"] - 0.0495) < 1e-12, "poisoning of grr", got)
got = account("poisoning", "--domain", "100", "--epsilon", "1", "--mechanism", "oue", "--lying", "0.05", "--targets", "3", "--held", "0.01")
ok(abs(got["maximal"] - 0.474093012060797927) < 1e-8, "poisoning of oue", got)

# ---- Files -----------------------------------------------------------------

hundred = write("hundred", lines(["0.1"] * 60 + ["0.1,40"]))
ok(near(account("compose", "--file", hundred)["exact"], 4.77456758810798615), "a file of one epsilon is that epsilon")
mixed = write("mixed", lines(["ln3", "0.5,30", "1e-1,1000"]))
got = account("compose", "--file", mixed, "--delta", "1e-9")
ok(got["k"] == 1031 and got["kinds"] == 3 and near(got["basic"], 116.0986122886681) and got["exact"] < got["grouposition_kl"] < got["basic"], "a file of three", got)
various = ["%.4f" % (0.001 + i / 1000) for i in range(600)]
got = account("compose", "--file", write("various", lines(various)))
ok(got["kinds"] == 600 and near(got["basic"], sum(map(float, various))) and got["exact"] < got["grouposition_kl"], "more epsilons than the grid takes: only exact rounds them up", got)
ok(json.loads(must("account", "compose", "--file", "-", "--format", "json", stdin=b"1\r\n1\n")) ["k"] == 2, "standard input, either end of line")
for text, words in (("", "nothing was spent"), ("1\nx\n", "line 2"), ("1\n\n", "line 2"), ("0\n", "line 1"), ("1,0\n", "line 1"), ("1,1.5\n", "line 1"),
                    ("-1\n", "line 1"), ("nan\n", "line 1"), ("101\n", "line 1"), ("1,2,3\n", "line 1"), ("0x1\n", "line 1"), ("1,1000000000\n1\n", "line 2"),
                    ("2\n1\0,5\n", "line 2")):
    r = run("account", "compose", "--file", "-", stdin=text.encode())
    ok(r.code == 1 and words in r.err and r.out == b"", "bad file %r: %s" % (text, words), r)
ok(run("account", "compose", "--file", path("nonesuch")).code == 1, "a file that is not there")

# ---- Sizes -----------------------------------------------------------------

for args in (["group", "--epsilon", "1", "--k", "1000000"], ["compose", "--epsilon", "0.1", "--k", "1000000000"], ["shuffle", "--epsilon", "1", "--n", "1000000000"],
             ["shuffle", "--domain", "32", "--mechanism", "grr", "--epsilon", "2", "--n", "1000000000"]) if not SHORT else ():
    begun = os.times().children_user
    got = account(*args)
    ok(os.times().children_user - begun < 4 and all(x == x and x != float("inf") for x in got.values() if isinstance(x, float)),
       "%s in a few seconds" % " ".join(args), got)

# ---- Forms -----------------------------------------------------------------

r = must("account", "group", "--epsilon", "1", "--k", "3", "--format", "csv").decode().splitlines()
ok(r[0] == "epsilon,k,delta,basic,grouposition,grouposition_kl,advanced,exact" and len(r) == 2 and len(r[1].split(",")) == 8, "csv is a header and a row", r)
for args in (["group", "--epsilon", "1", "--k", "30"], ["compose", "--epsilon", "1", "--k", "1"], ["longitudinal", "--epsilon", "1", "--days", "9"],
             ["longitudinal", "--yes-no", "--epsilon", "1", "--permanent", "2", "--reports", "9"], ["shuffle", "--yes-no", "--epsilon", "1", "--n", "50"],
             ["poisoning", "--domain", "9", "--mechanism", "ss", "--epsilon", "1", "--lying", "1%"]):
    text = must("account", *args, "--plot", path("figure.svg")).decode()
    drawn = xml.fromstring(open(path("figure.svg")).read())
    ok("Assumes" in text and max(map(len, text.splitlines())) <= 80 and drawn.tag.endswith("svg") and len(list(drawn.iter())) > 20,
       "account %s explains itself, says what it assumes, and draws" % " ".join(args[:2]), text)

# ---- Bad input -------------------------------------------------------------

for args, words in (
        ([], "missing subcommand: group, compose, longitudinal, shuffle or poisoning"), (["grup"], "did you mean 'account group'"), (["group", "compose"], "unexpected argument 'compose'"),
        (["group", "--epsilon", "1"], "needs --k"), (["group", "--k", "3"], "needs --epsilon"), (["group", "--epsilon", "1", "--k", "0"], "--k"),
        (["group", "--epsilon", "1", "--k", "1.5"], "--k"), (["group", "--epsilon", "1", "--k", "2000000000"], "--k"), (["group", "--epsilon", "0", "--k", "3"], "--epsilon"),
        (["group", "--epsilon", "-1", "--k", "3"], "--epsilon"), (["group", "--epsilon", "inf", "--k", "3"], "--epsilon"), (["group", "--epsilon", "1", "--k", "3", "--n", "3"], "--n is only for 'account shuffle'"),
        (["group", "--epsilon", "1", "--k", "3", "--delta", "0"], "--delta"), (["group", "--epsilon", "1", "--k", "3", "--delta", "1"], "--delta"),
        (["group", "--epsilon", "1", "--k", "3", "--delta", "-1"], "--delta"), (["group", "--epsilon", "1", "--k", "3", "--delta", "nan"], "--delta"),
        (["group", "--epsilon", "1", "--k", "3", "--mechanism", "grr"], "--mechanism is only for 'account longitudinal'"), (["compose", "--epsilon", "1"], "'account compose' needs --file or --k"),
        (["compose", "--file", "x", "--k", "3", "--epsilon", "1"], "--file cannot be used with --epsilon"), (["compose", "--file", "x", "--plot", "y"], "--file cannot be used with --plot"),
        (["shuffle", "--epsilon", "1"], "'account shuffle' needs --n or --target"), (["shuffle", "--epsilon", "1", "--n", "0"], "--n"), (["shuffle", "--epsilon", "1", "--target", "0.1", "--plot", "x"], "--plot"),
        (["shuffle", "--epsilon", "50", "--yes-no", "--n", "9"], "0.000001 to 32"), (["shuffle", "--epsilon", "1", "--mechanism", "grr", "--n", "9"], "--mechanism needs --yes-no, --domain, --range or --strings"),
        (["shuffle", "--epsilon", "1", "--yes-no", "--domain", "3", "--n", "9"], "one question"),
        (["shuffle", "--epsilon", "1", "--yes-no", "--n", "9", "--k", "3"], "--k is only for 'account group' or 'account compose'"), (["longitudinal", "--epsilon", "1"], "needs --reports or --days"),
        (["longitudinal", "--days", "3"], "--days needs --epsilon"), (["longitudinal", "--yes-no", "--epsilon", "1", "--permanent", "2"], "--reports"),
        (["longitudinal", "--yes-no", "--epsilon", "1", "--days", "3"], "--days cannot be used with --yes-no"), (["longitudinal", "--yes-no", "--epsilon", "1", "--permanent", "2", "--reports", "2", "--delta", "0.1"], "--delta"),
        (["poisoning", "--domain", "9", "--epsilon", "1", "--lying", "1%"], "--mechanism"),
        (["poisoning", "--domain", "9", "--epsilon", "1", "--mechanism", "grr", "--lying", "2"], "--lying"), (["poisoning", "--domain", "9", "--epsilon", "1", "--mechanism", "grr", "--lying", "1%", "--held", "2"], "--held"),
        (["poisoning", "--domain", "9", "--epsilon", "1", "--mechanism", "grr", "--lying", "1%", "--targets", "0"], "--targets")):
    r = run("account", *args)
    ok(r.code == 2 and words in r.err and r.out == b"", "account %s: %s" % (" ".join(args), words), r)
for args, words in (
        (["longitudinal", "--yes-no", "--epsilon", "2", "--permanent", "1", "--reports", "2"], "epsilon"), (["longitudinal", "--yes-no", "--epsilon", "1", "--reports", "2"], "--permanent E is missing"),
        (["longitudinal", "--domain", "4", "--mechanism", "ss", "--epsilon", "1", "--permanent", "2", "--reports", "2"], "mechanism"),
        (["longitudinal", "--range", "0:24", "--mechanism", "onebit", "--epsilon", "1", "--permanent", "2", "--grain", "7", "--reports", "9"], "--grain"),
        (["longitudinal", "--yes-no", "--epsilon", "1", "--permanent", "2", "--grain", "7", "--reports", "9"], "--grain"),
        (["group", "--epsilon", "1", "--k", "3", "--delta", "1e-260"], "--delta"),
        (["poisoning", "--domain", "9", "--epsilon", "1", "--mechanism", "hr", "--lying", "1%"], "--mechanism"), (["poisoning", "--domain", "2", "--epsilon", "1", "--mechanism", "grr", "--lying", "1%", "--targets", "3"], "--targets"),
        (["shuffle", "--domain", "9", "--mechanism", "central", "--epsilon", "1", "--n", "9"], "--mechanism"),
        (["group", "--epsilon", "1", "--k", "3", "--plot", path("no/such/dir.svg")], "dir.svg")):
    r = run("account", *args)
    ok(r.code == 1 and words in r.err and r.out == b"", "account %s: %s" % (" ".join(args), words), r)

# ---- The page --------------------------------------------------------------

# What shuffling is worth, beside the estimates of a tally.
reports = run("randomize", "--domain", "6", "--epsilon", "3", "--simulate", "--seed", "1", stdin=lines("%d" % (i % 6) for i in range(2000))).out
tally = write("shuffled.tally", run("tally", stdin=reports).out)
plain = json.loads(must("estimate", "--format", "json", tally))
said = json.loads(must("estimate", "--min-batch", "1000", "--format", "json", tally))
worth = said.pop("shuffled")
ok(worth["n"] == 900 and worth["bound"] == "blanket" and worth["epsilon_central"] < worth["epsilon_report"] == 3, "estimate --min-batch says both epsilons", worth)
ok(said == plain and "shuffled" not in plain, "and estimates the same", said)
account = json.loads(must("account", "shuffle", "--domain", "6", "--mechanism", "grr", "--epsilon", "3", "--delta", "1e-8", "--n", "900", "--format", "json"))
ok(account["blanket"] == worth["epsilon_central"], "as account shuffle does", account)
text = must("estimate", "--min-batch", "1000", "--assume-honest", "0.5", "--delta", "1e-6", tally)
text = text if isinstance(text, str) else text.decode()
ok("batches of at least 1000" in text and "with 500" in text and "1e-06" in text, "a table says it in words", text)
for args, what in ((["--delta", "1e-6"], "--min-batch"), (["--assume-honest", "0.5"], "--min-batch"), (["--min-batch", "2001"], "no batch has more"),
                   (["--min-batch", "9", "--delta", "2"], "--delta"), (["--min-batch", "9", "--covariance"], "--covariance")):
    r = run("estimate", *args, tally)
    ok(r.code in (1, 2) and r.out == b"" and what in r.err, "refused: estimate " + " ".join(args), r)

page, shown = examples("accounting.md")
write("spent", "1\n0.5,30\n0.1,1000\n")
ok("printf '1\\n0.5,30\\n0.1,1000\\n' > spent" in page and len(shown) > 10, "the page has its examples")
tells_the_truth(page, [(c.replace("--file spent", "--file " + path("spent")), b) for c, b in shown if "printf" not in b])
done()
