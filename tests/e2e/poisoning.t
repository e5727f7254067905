#!/usr/bin/python3 -B
"""Devices that lie: estimate --assume-lying, the warning, simulate attack poisoning; and estimate --plot."""

import random
import re
import xml.etree.ElementTree as xml

from e2e import *

SVG = "{http://www.w3.org/2000/svg}"
random.seed(5)
N = 4000 if SHORT else 20000
VALUES = ["v%d" % i for i in range(20)]
truths = lines(random.choices(VALUES, [1 / (i + 1) for i in range(20)], k=N))


def reports(mechanism, *more):
    return must("randomize", "--values", ",".join(VALUES), "--epsilon", "1", "--mechanism", mechanism, "--simulate", "--seed", "3", *more,
                stdin=truths)


def tally(name, stream):
    return write(name, must("tally", stdin=stream))


# ---- Intervals

oue = tally("oue.tally", reports("oue"))
plain = must("estimate", oue, "--format", "csv")
r = run("estimate", oue, "--format", "csv", "--assume-lying", "1%")
e = math.e
up, down = 0.01 * (1 - 1 / (e + 1)) / (0.5 - 1 / (e + 1)), 0.01 * 0.5 / (0.5 - 1 / (e + 1))
before, after = rows(plain), rows(r.out)
ok(r.code == 0 and plain.split(b"\n")[0] == b"value,estimate,stderr,low,high,level,target,rounds,devices,reports" and
   r.out.split(b"\n")[0] == b"value,estimate,stderr,low,high,low_lying,high_lying,level,target,assume_lying,rounds,devices,reports" and all(row["assume_lying"] == 0.01 for row in after),
   "the columns keep their names, and two follow", r)
ok(all(a[k] == b[k] for a, b in zip(after, before) for k in b), "what liars could do changes no column unasked")
ok(all(abs(a["low"] - a["low_lying"] - up) < 1e-9 and abs(a["high_lying"] - a["high"] - down) < 1e-9 for a in after),
   "their interval is wider by (1-q)/(p-q) and p/(p-q)")
ok(r.err == "", "named columns need no word on standard error", r)
ok(run("estimate", oue, "--format", "csv", "--assume-lying", "0.01").out == r.out, "1% is 0.01")
text = must("estimate", oue, "--assume-lying", "1%").decode()
ok("also allow for 1 % of lying devices" in text and "up by 3.164 percentage points or down by 2.164" in text, "a table says so", text)
answer = json.loads(must("estimate", oue, "--format", "json", "--assume-lying", "1%"))
ok([list(t.values())[1:] for t in answer["estimates"]] == [list(t.values())[1:7] for t in after] and list(answer["estimates"][0]) == list(after[0])[:7], "json has the same members", answer)
ok(answer["assume_lying"] == 0.01 and abs(answer["lying_up"] - up) < 1e-9 and abs(answer["lying_down"] - down) < 1e-9,
   "json has the share and the bound", answer)
answer = json.loads(must("estimate", oue, "--format", "json"))
ok("assume_lying" not in answer and 1e-6 < answer["lying_p"] <= 1, "without it there is neither, but the p-value", answer)
answer = json.loads(must("estimate", oue, "--against", oue, "--format", "json", "--assume-lying", "1%"))
ok(abs(answer["lying_up"] - up - down) < 1e-9 and all(abs(t["low"] - t["low_lying"] - up - down) < 1e-9 for t in answer["estimates"]), "a difference has the lies of both", answer)
exact = rows(must("estimate", oue, "--format", "csv", "--assume-lying", "20%", "--interval", "exact"))
ok(all(t["low_lying"] >= 0 and t["high_lying"] <= 1 for t in exact) and any(t["low_lying"] < t["low"] for t in exact), "exact intervals stay from 0 to 1", exact)
yes = tally("yes.tally", must("randomize", "--yes-no", "--set", "coins=1/2,1/3", "--simulate", "--seed", "1", stdin=lines(["yes", "no", "no"] * 900)))
a, b = rows(must("estimate", yes, "--format", "csv", "--assume-lying", "1%")), rows(must("estimate", yes, "--format", "csv"))
ok(abs(b[0]["low"] - a[0]["low_lying"] - 0.01 * 5 / 3) < 1e-9 and abs(a[0]["high_lying"] - b[0]["high"] - 0.01 * 4 / 3) < 1e-9 and
   abs(b[1]["low"] - a[1]["low_lying"] - 0.01 * 4 / 3) < 1e-9, "yes and no have each their own ends", a)
mean = tally("mean.tally", must("randomize", "--range", "-10:30", "--epsilon", "1", "--mechanism", "onebit", "--simulate", "--seed", "1",
                                stdin=lines(range(-10, 30))))
a, b = rows(must("estimate", mean, "--format", "csv", "--assume-lying", "1%")), rows(must("estimate", mean, "--format", "csv"))
ok(abs(b[0]["low"] - a[0]["low_lying"] - 0.4 * e / (e - 1)) < 1e-6 and a[0]["low"] == b[0]["low"], "of a mean the bit's extreme, in the range's units", a)

# ---- What has no bound, and what is no share

strings = must("randomize", "--strings", "--epsilon", "2", "--mechanism", "rappor", "--simulate", "--seed", "1", stdin=truths)
rappor = tally("rappor.tally", strings)
sw = tally("sw.tally", must("randomize", "--range", "0:100", "--bins", "8", "--epsilon", "1", "--mechanism", "sw", "--simulate", "--seed", "1",
                            stdin=lines(range(100))))
hh = tally("hh.tally", must("randomize", "--range", "0:100", "--bins", "8", "--epsilon", "1", "--mechanism", "hh", "--simulate", "--seed", "1",
                            stdin=lines(range(100))))
names = write("names", "v1\n")
for file, words in ((rappor, "rappor"), (sw, "shares by EM have no bound"), (hh, "hh has no bound")):
    r = run("estimate", file, "--assume-lying", "1%", *(["--candidates", names] if file == rappor else []))
    ok(r.code == 1 and words in r.err and r.out == b"", "no bound: " + words, r)
for share in ("0", "1", "100%", "-1%", "1e-2", "%", "", "x", "1%%", "0.01 %", "9" * 50 + "%"):
    r = run("estimate", oue, "--assume-lying", share)
    ok(r.code == 2 and "takes a share above 0 and below 1, e.g. 0.25, 25% or 1/4" in r.err and r.out == b"", "no share of devices: '%s'" % share, r)
for more in (["--quantile", "0.5"], ["--covariance"], ["--between", "0:50"]):
    for what in (["--assume-lying", "1%"], ["--plot", path("no.svg")]):
        r = run("estimate", hh, *more, *what)
        ok(r.code == 2 and "cannot be used with" in r.err and not os.path.exists(path("no.svg")), "%s and %s" % (what[0], more[0]), r)

# ---- The warning

def with_liars(mechanism, liars):
    stream = reports(mechanism, "--json").decode().splitlines()
    stream[-1:] = ['{"report":%d}' % x for x in liars] + ['{"end":%d}' % (N + len(liars))]
    return tally(mechanism + "-lies.tally", ("\n".join(stream) + "\n").encode())


def padded():
    rest = random.sample(range(5, 20), int(0.5 + 19 / (e + 1)) - 5)
    return sum(1 << v for v in [0, 1, 2, 3, 4] + rest)


for mechanism, liars in (("oue", [padded() for _ in range(N // 10)]), ("olh", [7 | 2 << 16] * (N // 100))):
    honest = run("estimate", tally("honest.tally", reports(mechanism)))
    ok(honest.code == 0 and honest.err == "", mechanism + ": of honest devices there is nothing to say", honest)
    file = with_liars(mechanism, liars)
    r = run("estimate", file)
    ok(r.code == 0 and "some devices seem to lie to promote values (p-value" in r.err, mechanism + ": liars are warned of", r)
    ok(json.loads(must("estimate", file, "--format", "json"))["lying_p"] < 1e-6, "json has the p-value")
answer = json.loads(must("estimate", tally("grr.tally", reports("grr")), "--format", "json"))
ok(answer["lying_p"] is None, "reports of grr show nothing: null", answer)

# ---- Figures of estimates

def figure(*args, code=0):
    name = path("figure.svg")
    if os.path.exists(name):
        os.remove(name)
    r = run("estimate", *args, "--plot", name)
    ok(r.code == code and r.err == "" and r.out == must("estimate", *args), "a figure does not change what is printed", r)
    svg = open(name, "rb").read()
    tree = xml.fromstring(svg)
    ok(tree.tag == SVG + "svg" and tree.find(SVG + "title").text and len(tree.find(SVG + "desc").text) > 40 and
       b"prefers-color-scheme: dark" in svg and re.findall(rb"https?://[^\"]*", svg) == [b"http://www.w3.org/2000/svg"] and
       b"nan" not in svg and b"inf" not in svg, "is SVG for light and dark with title and description, and nothing from elsewhere")
    run("estimate", *args, "--plot", name)
    ok(open(name, "rb").read() == svg, "the same bytes each time")
    return [t.text for t in tree.iter(SVG + "text")], svg


texts, svg = figure(oue)
by_share = {r["value"]: -r["estimate"] for r in rows(must("estimate", oue, "--format", "csv"))}
ok([t for t in texts if t in VALUES] == sorted(VALUES, key=by_share.get) and svg.count(b"<path class=\"frame\"") == 21, "each share is a bar with an error bar, the largest first", texts)
texts, svg = figure(oue, "--top", "3")
ok(sum(t in VALUES for t in texts) == 3, "--top 3 draws three", texts)
texts, svg = figure(oue, "--assume-lying", "1%")
ok(any("pale: wider for 1 % of lying devices" in t for t in texts) and svg.count(b"further") == svg.count(b"<path class=\"frame\"") - 1 == 20, "both intervals are drawn, and told apart", texts)
texts, svg = figure(oue, "--against", oue)
ok(any("difference" in t for t in texts), "a difference", texts)
wide = write("wide.txt", lines(["<&'\"> %s" % ("é" * i) for i in range(60)]))
stream = must("randomize", "--values-file", wide, "--epsilon", "1", "--mechanism", "grr", "--simulate", "--seed", "1",
              stdin=lines(["<&'\"> %s" % ("é" * (i % 60)) for i in range(600)]))
texts, svg = figure(tally("wide.tally", stream))
ok(any("the 40 largest of 60" in t for t in texts) and svg.count(b"<path class=\"frame\"") == 41, "of many the largest, and that is said", texts)
ok(max(len(t) for t in texts if t.startswith("<&'\">")) == 44 and any(t.endswith("é…") for t in texts), "long names are cut", texts)
bins = tally("bins.tally", must("randomize", "--range", "-5:5", "--bins", "10", "--epsilon", "2", "--mechanism", "oue", "--simulate", "--seed", "1",
                                stdin=lines([i % 10 - 5 for i in range(2000)])))
texts, svg = figure(bins)
ok("value" in texts and svg.count(b"opacity=\".6\"") == 10, "bins are a histogram", texts)
bins = tally("grr-bins.tally", must("randomize", "--range", "-5:5", "--bins", "10", "--epsilon", "2", "--mechanism", "grr", "--simulate",
                                    "--seed", "1", stdin=lines([i % 10 - 5 for i in range(2000)])))
texts, svg = figure(bins, "--density", "em")
ok(svg.count(b"opacity=\".6\"") == 10, "also by EM")
YES_NO = must("randomize", "--yes-no", "--epsilon", "1", "--simulate", "--seed", "1", stdin=lines(["yes", "no", "no", "no"] * 100))
coins = tally("coins.tally", YES_NO)
texts, svg = figure(coins, "--interval", "likelihood")
yes = rows(must("estimate", coins, "--interval", "likelihood", "--format", "csv"))[0]
ok("Its logarithm" in texts and "95 %% interval: %.4g to %.4g" % (yes["low"], yes["high"]) in texts, "a likelihood interval is drawn as the cut it is", texts)
texts, svg = figure(coins, "--interval", "likelihood", "--simultaneous", "--level", "0.8")
ok(any(t.startswith("80 % interval") for t in texts), "at any level; yes and no are one question", texts)
for more in ([], ["--interval", "likelihood", "--assume-lying", "1%"], ["--interval", "likelihood", "--against", coins]):
    texts, svg = figure(coins, *more)
    ok("Its logarithm" not in texts and "yes" in texts, "otherwise shares are bars", texts)
ok(runs_in_a_shell("estimates.md") == 1, "docs/estimates.md draws one")
for target in (path("none/x.svg"), TMP):
    r = run("estimate", oue, "--plot", target)
    ok(r.code == 1 and r.out == b"" and target in r.err, "a figure that cannot be written is said, and nothing is printed", r)
r = run("estimate", mean, "--plot", path("mean.svg"))
texts = [t.text for t in xml.parse(path("mean.svg")).iter(SVG + "text")]
ok(r.code == 0 and texts.count("mean") == 2 and any("Mean among" in t for t in texts), "a mean is a mark with its interval", texts)

# ---- simulate attack poisoning

few = ["simulate", "attack", "poisoning", "--devices", "1000" if SHORT else "4000"]
text = must(*few, "--plot", path("b.svg")).decode()
ok(max(map(len, text.splitlines())) <= 80, "the table fits a screen", text)
table = list(csv.DictReader(io.StringIO(must(*few, "--format", "csv", "--plot", path("a.svg")).decode())))
ok(len(table) == 36 and {t["mechanism"] for t in table} == {"grr", "ss", "oue", "olh"}, "four mechanisms, three attacks, three shares", table)
ok(all(abs(float(t["gain"]) - float(t["exact"])) < 0.05 * float(t["exact"]) for t in table if t["attack"] == "maximal"),
   "maximal gain is within 5 % of the closed form", table)
ok(all(float(t["used"]) < 1 + 1e-9 for t in table), "no value ever passes its bound", table)
ok(open(path("a.svg"), "rb").read() == open(path("b.svg"), "rb").read() and xml.parse(path("a.svg")), "a figure, the same each time")
ok(must(*few, "--seed", "2") != text.encode(), "another seed, other devices")
for args, words in ((["--days", "5"], "--days is only for 'simulate attack averaging'"), (["--devices", "999"], "--devices from 1000"),
                    (["--epsilon", "4.1"], "--epsilon up to 4")):
    r = run("simulate", "attack", "poisoning", *args)
    ok(r.code == 2 and words in r.err, words, r)
ok(json.loads(must(*few, "--epsilon", "0.01", "--format", "json"))["targets"] == 10, "at epsilon 0.01")

# docs/poisoning.md shows what the command prints and draws.
page, shown = examples("poisoning.md")
ok(len(shown) == 1 or SHORT, "the page has the command", shown)
tells_the_truth(page, shown)
done()
