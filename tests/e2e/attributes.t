#!/usr/bin/python3 -B
"""Several attributes: a table in, estimates of each column out."""

import csv
import io
import json
import random

from e2e import *

rng = random.Random(11)
ATTRIBUTES = ["--attribute", "smoker=yes-no", "--attribute", "age=0:120/4", "--attribute", 'city?=rome,"par,is"',
              "--attribute", "income=0:1000", "--attribute", "word=strings"]
N = 60000


def person():
    city = rng.choice(["rome", "rome", "par,is", ""])
    return {"smoker": "yes" if rng.random() < (.5 if city == "rome" else .1) else "no", "age": rng.randrange(121),
            "city": city, "income": rng.randrange(1001), "word": rng.choice(["tea", "tea", "milk"])}


def table(people, columns):
    out = io.StringIO()
    w = csv.DictWriter(out, columns, extrasaction="ignore", lineterminator="\n")
    w.writeheader()
    w.writerows(people)
    return out.getvalue()


def estimates(stream, *options):
    rows = list(csv.DictReader(io.StringIO(must("estimate", "--format", "csv", *options, "-", stdin=stream).decode())))
    return {(r["attribute"], r["value"]): r for r in rows}


def near(row, truth):
    return abs(float(row["estimate"]) - truth) < 6 * float(row["stderr"])


def share(f):
    return sum(map(f, people)) / N


people = [person() for _ in range(N)]
whole = table(people, ["city", "word", "smoker", "income", "age"])
seeded = ["--simulate", "--seed", "5"]
TRUE = {("smoker", "yes"): share(lambda p: p["smoker"] == "yes"), ("smoker", "no"): share(lambda p: p["smoker"] == "no"),
        ("age", "0..30"): share(lambda p: p["age"] < 30), ("age", "90..120"): share(lambda p: p["age"] >= 90),
        ("city", "rome"): share(lambda p: p["city"] == "rome"),
        ("city", "par,is"): share(lambda p: p["city"] == "par,is"), ("city", "none"): share(lambda p: p["city"] == ""),
        ("income", "mean"): share(lambda p: p["income"])}

stream = must("randomize", *ATTRIBUTES, "--epsilon", "2", *seeded, stdin=whole)
got = estimates(stream)
ok(len(got) == 2 + 4 + 3 + 1, "every attribute has its rows, but for strings", got)
ok(all(near(got[k], v) for k, v in TRUE.items()), "and each is near the truth", got)
wrong = dict(got[("smoker", "yes")])
wrong["estimate"] = float(wrong["estimate"]) + 12 * float(wrong["stderr"])
ok(not near(wrong, TRUE[("smoker", "yes")]), "control: 12 standard errors off is noticed")
words = estimates(stream, "--attribute", "word", "--candidates", write("words", "tea\nmilk\nbeer\n"))
ok(len(words) == 3 and near(words[("word", "tea")], share(lambda p: p["word"] == "tea")) and
   near(words[("word", "beer")], 0), "strings are estimated with candidates", words)
one = estimates(stream, "--attribute", "smoker")
ok(one == {k: v for k, v in got.items() if k[0] == "smoker"}, "--attribute picks one", one)
twin = must("randomize", *ATTRIBUTES, "--epsilon", "2", *seeded, "--json", stdin=whole)
ok(must("tally", stdin=twin) == must("tally", stdin=stream), "the JSON twin tallies as the stream does")
head = json.loads(twin.split(b"\n")[0])["scheme"]
ok([a["name"] for a in head["attributes"]] == ["smoker", "age", "city", "income", "word"] and
   head["attributes"][2]["scheme"]["values"] == ["rome", "par,is", "none"], "and has its attributes", head)
doc = json.loads(must("estimate", "--format", "json", "-", stdin=stream))
ok(doc["mechanism"] == "smp" and doc["estimates"][0]["attribute"] == "smoker", "json has an attribute in each row")

TWO = ["--attribute", "smoker=yes-no", "--attribute", "city?=rome,oslo", "--epsilon", "3"]
few = [dict(p, city=p["city"].replace("par,is", "oslo")) for p in people]
both = must("randomize", *TWO, *seeded, stdin=table(few, ["smoker", "city"]))
got = estimates(both)
ok(all(near(got[k], TRUE[k]) for k in (("smoker", "yes"), ("city", "rome"), ("city", "none"))),
   "a few values at a large epsilon are asked together", got)
cells = estimates(both, "--joint")
ok(len(cells) == 6 and all(
    near(cells[("smoker | city", "%s | %s" % (s, c or "none"))],
         sum(p["smoker"] == s and p["city"] == c for p in few) / N)
    for s in ("yes", "no") for c in ("rome", "oslo", "")), "and every combination is estimated", cells)
lone = must("randomize", "--attribute", "a=yes-no", "--attribute", "b=yes-no", "--epsilon", "1", "--mechanism", "smp",
            *seeded, stdin="a,b\nyes,no\n")
r = run("estimate", "-", stdin=lone)
answered = "a" if b"\na " in r.out else "b"
ok(r.code == 0 and r.out.count(b" yes ") == 1 and ", %s: no data" % ("b" if answered == "a" else "a") in r.err,
   "an attribute without reports is noted, the other estimated", r)
r = run("estimate", "-", "--attribute", "b" if answered == "a" else "a", stdin=lone)
ok(r.code == 1 and "no data" in r.err and r.out == b"", "alone it is no data", r)
r = run("randomize", *TWO, stdin="smoker,city\n")
ok(r.code == 0 and "a header and no rows" in r.err, "a header alone is said to be that", r)
r = run("estimate", "--joint", "-", stdin=stream)
ok(r.code == 1 and "one attribute" in r.err, "which smp cannot tell, and says so", r)

BAD = {
    "line 1, column 3: not a declared attribute": "smoker,city,extra\nyes,rome,1\n",
    "line 1, column 1: not a declared": "maybe,atlantis\n",
    "line 1, smoker: the header has this column twice": "smoker,smoker\nyes,yes\n",
    "line 1, city: the header has no column": "smoker\nyes\n",
    "line 2, smoker: must be yes or no": "smoker,city\nmaybe,rome\n",
    "line 3, city: not one of": "smoker,city\nyes,rome\nno,atlantis\n",
    "line 2, smoker: empty": "smoker,city\n,rome\n",
    "line 2: the number": "smoker,city\nyes\n",
    "line 2: the number of fields differs": "smoker,city\nyes,rome,oslo\n",
    "line 2: a quote": 'smoker,city\nyes,"rome\n',
}
for message, text in BAD.items():
    r = run("randomize", *TWO, stdin=text)
    ok(r.code == 1 and message in r.err and "maybe" not in r.err and "atlantis" not in r.err,
       "refused: %s" % message, r)

USAGE = [["--attribute", "a=yes-no"], ["--attribute", "a", "--attribute", "b=yes-no"],
         ["--attribute", "a=yes-no", "--attribute", "a=yes-no"], ["--attribute", "a=x", "--attribute", "b=yes-no"],
         ["--attribute", "a=0:1/1", "--attribute", "b=yes-no"], ["--attribute", "a?=0:1", "--attribute", "b=yes-no"],
         ["--attribute", "a?=x,none", "--attribute", "b=yes-no"],
         ["--attribute", "a=yes-no", "--attribute", "b=yes-no", "--yes-no"],
         ["--attribute", "a=yes-no", "--attribute", "b=0:10", "--mechanism", "joint"]]
for options in USAGE:
    r = run("randomize", *options, "--epsilon", "1", stdin="a,b\n")
    ok(r.code == 2 and r.err != "", "a usage error: %s" % " ".join(options), r)
r = run("estimate", "--attribute", "smoker", "-", stdin=must("randomize", "--yes-no", "--epsilon", "1", stdin="yes\n"))
ok(r.code == 1 and "several attributes" in r.err, "one question has no attributes", r)
r = run("estimate", "--attribute", "nobody", "-", stdin=stream)
ok(r.code == 1 and "nobody" in r.err, "an attribute that is not there is named", r)

done()
