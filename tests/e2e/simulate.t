#!/usr/bin/python3 -B
"""hearsay simulate attack: what it prints, draws and refuses; docs/attacks.md tells the same."""

import re
import xml.etree.ElementTree as xml

from e2e import *

ATTACKS = ("averaging", "change", "fingerprint", "drift")
SMALL = {"averaging": ["--days", "20", "--devices", "40"], "change": ["--days", "20", "--devices", "40"],
         "fingerprint": ["--devices", "40"], "drift": ["--days", "20", "--devices", "60"]}
SVG = "{http://www.w3.org/2000/svg}"


def rows(attack, *args):
    text = must("simulate", "attack", attack, *args, "--format", "csv").decode()
    return list(csv.DictReader(io.StringIO(text)))


# What must be shown: 1,000 days of fresh answers at ln 3, and of kept ones.
devices = 100 if SHORT else 400
table = rows("averaging", "--devices", str(devices))
last = {t["client"]: t for t in table if t["days"] == "1000"}
ok(float(last["fresh"]["accuracy"]) > 0.999, "1,000 fresh answers at ln 3 tell more than 99.9 % of the truths", last)
for client in ("memoised", "two-step"):
    for t in (t for t in table if t["client"] == client):
        most = float(t["allowed"])
        ok(float(t["accuracy"]) <= most + 5 * math.sqrt(most * (1 - most) / devices) and float(t["exact"]) <= most + 1e-9 and
           float(t["epsilon"]) <= float(t["charged"]), "%s ones after %s days no more than the ledger allows" % (client, t["days"]), t)
text = must("simulate", "attack", "averaging", *SMALL["averaging"]).decode()
ok(all(n in text for n in ("75 times yes in 100", "1.279e-25", "1.435e-25", "1.393e-24", "cost 109.9")),
   "75 yes in 100 answers: point, tail and likelihood ratio", text)
answer = json.loads(must("simulate", "attack", "averaging", *SMALL["averaging"], "--epsilon", "1", "--format", "json"))
ok(answer["answers_99"] == 23 and answer["epsilon"] == 1 and answer["epsilon_permanent"] == 2, "23 answers at epsilon 1 give 99 % certainty", answer)
answer = json.loads(must("simulate", "attack", "averaging", *SMALL["averaging"], "--yes", "3", "--of", "4", "--format", "json"))
ok(abs(answer["point"] - 12 / 256) < 1e-9 and abs(answer["tail"] - 13 / 256) < 1e-9 and abs(answer["ratio"] - 1 / 9) < 1e-9,
   "three yes of four: 12/256, 13/256 and 1/9", answer)

text = must("simulate", "attack", "averaging", "--days", "2", "--devices", "2", "--epsilon", "32").decode()
ok("less than 1e-307" in text and "1 gives the truth away" in text, "what no double holds is said in words", text)

# The other attacks, by their figures.
table = rows("change", *SMALL["change"])
ok({t["client"] for t in table} == {"fresh", "memoised", "two-step", "first kept"} and
   all(t["allowed"] == "0.5" for t in table if t["client"] == "first kept"), "change has its four clients", table)
table = rows("fingerprint", "--devices", "2000")
found = {t["upload"]: t for t in table if t["devices"] == "2000"}
ok(found["rappor, permanent answer"]["relinked"] == "1" == found["rappor, permanent answer"]["unique"],
   "raw answers of 32 bits are unique and found again", found)
ok(float(found["olh, another task"]["relinked"]) < 0.01, "another task shows another seed", found)
table = rows("drift", *SMALL["drift"])
keys = {t["rounding"]: int(t["keys"]) for t in table if t["day"] == "20"}
ok(keys["each value (RAPPOR)"] == 20 and keys["alpha-point, range"] <= 2 and keys["bin centres"] == 1, "drift counts keys", keys)
table = rows("drift", *SMALL["drift"], "--grain", "36500")
ok({t["rounding"]: t["epsilon_all_values"] for t in table}["alpha-point"] == {t["rounding"]: t["epsilon_all_values"] for t in table}["alpha-point, range"],
   "a grain of the whole range is the range", table)

# Tables, formats, figures.
for attack in ATTACKS:
    args = ["simulate", "attack", attack, *SMALL[attack]]
    text = must(*args).decode()
    ok(max(map(len, text.splitlines())) <= 80, attack + ": a table fits a screen", text)
    answer = json.loads(must(*args, "--format", "json"))
    ok(answer["attack"] == attack and answer["seed"] == 1 and len(answer["rows"]) == len(rows(attack, *SMALL[attack])),
       "json has as many rows as csv", answer)
    one, two = path(attack + ".svg"), path(attack + "2.svg")
    r = run(*args, "--plot", one)
    ok(r.code == 0 and r.err == "" and r.out == text.encode(), "a figure does not change what is printed", r)
    must(*args, "--plot", two)
    svg = open(one, "rb").read()
    ok(svg == open(two, "rb").read(), "the same seed gives the same figure")
    tree = xml.fromstring(svg)
    ok(tree.tag == SVG + "svg" and tree.find(SVG + "title").text and len(tree.find(SVG + "desc").text) > 40,
       "which is SVG with title and description")
    ok(b"prefers-color-scheme: dark" in svg and re.findall(rb"https?://[^\"]*", svg) == [b"http://www.w3.org/2000/svg"] and
       b"font-face" not in svg, "for light and dark, with nothing from elsewhere")
    ok(must(*args, "--seed", "2") != text.encode(), "another seed, other devices")

r = json.loads(must("simulate", "attack", "fingerprint", "--devices", "100", "--plot", path("marks.svg"), "--format", "json"))
marks = len(re.findall(r'<path class="f\d"', open(path("marks.svg")).read()))  # one more a series, in the legend
ok(marks == len(r["rows"]) + len({row["upload"] for row in r["rows"]}) and any(row["relinked"] < row["chance"] / 2 for row in r["rows"]),
   "nothing is left out of a figure, however seldom it is found", marks)

# A figure is written whole, or not at all.
for target in (path("none/x.svg"), TMP):
    r = run("simulate", "attack", "drift", *SMALL["drift"], "--plot", target)
    ok(r.code == 1 and r.out == b"" and target in r.err, "a figure that cannot be written is said, and nothing is printed", r)
if os.path.exists("/dev/full"):
    r = run("simulate", "attack", "drift", *SMALL["drift"], "--plot", "/dev/full")
    ok(r.code == 1 and r.out == b"" and "/dev/full" in r.err, "a full disk too", r)

# What makes no sense is refused, with what to do.
for args, words in (([], "missing subcommand: study, attack, fleet or discover"), (["attack"], "missing subcommand: averaging"), (["fleets"], "did you mean 'simulate fleet'"), (["--data", "zipf:1"], "unknown option --data"), (["attack", "averagin"], "did you mean 'simulate attack averaging'"),
                    (["attack", "xyz"], "unknown command 'simulate attack xyz'"), (["attack", "drift", "change"], "unexpected argument 'change'"),
                    (["attack", "fingerprint", "--days", "5"], "--days is only for 'simulate attack averaging', 'simulate attack change' or 'simulate attack drift'"),
                    (["attack", "change", "--yes", "5"], "--yes is only for 'simulate attack averaging'"), (["attack", "averaging", "--grain", "5"], "--grain is only for 'simulate attack drift'"),
                    (["attack", "change", "--days", "3"], "--days from 4"), (["attack", "drift", "--days", "99999"], "--days from 1 to 29566"),
                    (["attack", "drift", "--devices", "49"], "--devices from 50"), (["attack", "averaging", "--devices", "1"], "integer from 2"),
                    (["attack", "averaging", "--devices", "1000001"], "integer from 2"), (["attack", "averaging", "--days", "0"], "integer from 1"),
                    (["attack", "averaging", "--days", "1e-3"], "integer from 1"), (["attack", "averaging", "--days", "-1"], "integer from 1"),
                    (["attack", "averaging", "--epsilon", "0"], "from 0.000001 to 32"), (["attack", "averaging", "--epsilon", "nan"], "not a number"),
                    (["attack", "averaging", "--permanent", "33"], "--permanent: must be from"),
                    (["attack", "averaging", "--permanent", "1", "--epsilon", "2"], "must not be below"),
                    (["attack", "drift", "--grain", "7"], "must divide 36500"), (["attack", "drift", "--grain", "0"], "integer from 1"),
                    (["attack", "averaging", "--yes", "5", "--of", "4"], "must not exceed --of"), (["attack", "averaging", "--format", "xml"], "one of"),
                    (["attack", "averaging", "--seed", "x"], "integer from 0"), (["attack", "averaging", "--plot"], "needs a value"),
                    (["attack", "averaging", "--plot", "-"], "the name of a file"),
                    (["attack", "averaging", "--days", "5", "--days", "6"], "twice")):
    r = run("simulate", *args)
    ok(r.code == 2 and words in r.err and "usage: hearsay simulate" in r.err and r.out == b"", "simulate %s: %s" % (" ".join(args), words), r)

# The ends of what is allowed.
for args in (["averaging", "--days", "1", "--devices", "2"], ["averaging", "--days", "3", "--devices", "2", "--epsilon", "32"],
             ["averaging", "--days", "3", "--devices", "2", "--epsilon", "0.000001"], ["change", "--days", "4", "--devices", "4", "--epsilon", "32"],
             ["change", "--days", "4", "--devices", "4", "--permanent", "ln3"], ["fingerprint", "--devices", "2"],
             ["fingerprint", "--devices", "20", "--epsilon", "8"], ["drift", "--days", "29566", "--devices", "50", "--grain", "1"]):
    r = run("simulate", "attack", *args, "--plot", path("edge.svg"), "--format", "json")
    ok(r.code == 0 and b"nan" not in r.out and b"inf" not in r.out and json.loads(r.out) and xml.parse(path("edge.svg")), " ".join(args), r)

# docs/attacks.md shows what the commands print and draw.
page, shown = examples("attacks.md")
ok(len(shown) >= 4 and all(any("attack " + a in command for command, _ in shown) for a in ATTACKS), "the page has every attack", shown)
tells_the_truth(page, shown)
done()
