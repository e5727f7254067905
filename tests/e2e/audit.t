#!/usr/bin/python3 -B
"""hearsay audit: what it prints, and when it fails."""

import json

from e2e import *

SMALL = ["--samples", "10000" if SHORT else "100000", "--seed", "5"]

# Every mechanism at epsilon 0.1, 1, 4: exact at most nominal, sampled at most
# exact, both ways to the exact figure agree.
r = run("audit", "--all", "--format", "csv", *SMALL)
table = list(csv.DictReader(io.StringIO(r.out.decode())))
ok(r.code == 0, "every mechanism holds", r)
ok({t["mechanism"] for t in table} == set(mechanisms()), "none is left out")
ok({round(float(t["epsilon"]), 3) for t in table} == {0.1, 1, 4}, "at epsilon 0.1, 1 and 4")
for t in table:
    name = "%s (%s) at epsilon %s" % (t["mechanism"], t["kind"], t["epsilon"])
    ok(float(t["sampled"]) <= float(t["exact"]) <= float(t["epsilon"]),
       name + ": sampled <= exact <= nominal", t)
    ok(t["verdict"] == "holds" and t["outputs"] != ""
       and abs(float(t["enumerated"]) - float(t["exact"])) < 1e-12
       and float(t["law_p"]) > 1e-9, name + ": enumerated, and the law fits", t)

ok(r.err == "", "and says nothing else", r)
r = run("audit", "--all", "--epsilon", "30", "--samples", "1000", "--seed", "1", "--format", "csv")
ok(r.code == 0 and all("oue (%s) at epsilon 30 is left out" % k in r.err for k in ("values", "bins")) and
   "oue" not in {t["mechanism"] for t in csv.DictReader(io.StringIO(r.out.decode()))}, "a row that is left out is named, with why", r)

# A lifetime rests on a permanent answer that is kept, and randomize keeps none.
r = run("audit", "--strings", "--epsilon", "1", "--mechanism", "rappor", *SMALL)
ok(r.code == 0 and b"permanent, if kept" in r.out and b"randomize keeps none" in r.out,
   "a lifetime is stated with what it rests on", r)
r = run("audit", "--yes-no", "--epsilon", "1", *SMALL)
ok(r.code == 0 and b"randomize keeps none" not in r.out, "and the note goes with lifetimes only", r)
ok("sampled: lower bound from %s reports" % SMALL[1] in r.out.decode().replace("\n", " "), "below the table stands what its columns are", r.out)
listed = must("mechanisms", "--domain", "10", "--epsilon", "1")
ok(b"permanent eps, if kept" in listed and b"randomize keeps none" in listed, "as it is among the mechanisms")

# One question, with fresh coins.
r = run("audit", "--values", "a,b,c", "--epsilon", "2", "--mechanism", "grr",
        "--samples", "50000", "--format", "json")
ok(r.code == 0, "a list of values with kernel coins", r)
answer = json.loads(r.out)
row = answer["audits"][0]
ok(len(answer["audits"]) == 1 and row["mechanism"] == "grr" and row["outputs"] == 3,
   "json has one row with its three outputs", answer)
ok(answer["confidence"] == 0.999999999 and answer["seeded"] is False,
   "and says how sure it is", answer)
ok(row["exact"] <= 2 and 1.5 < row["sampled"] <= row["exact"],
   "the sample comes close to the claim", row)

r = run("audit", "--yes-no", "--set", "spinner=3/4", *SMALL)
ok(r.code == 0 and b"holds" in r.out, "a spinner needs no epsilon", r)
r = run("audit", "--range", "0:100", "--epsilon", "0.5,2", "--format", "csv", *SMALL)
ok(r.code == 0 and len(r.out.splitlines()) == 3, "a list of epsilons gives a row each", r)
same = [run("audit", "--domain", "5", "--epsilon", "1", "--mechanism", "oue", *SMALL).out
        for _ in range(2)]
ok(same[0] == same[1] and len(same[0]) > 100, "a seed gives the same table twice")

# Usage.
for args, why in [(["--all", "--epsilon", "0"], "epsilon 0"),
                  (["--all", "--epsilon", "1,,2"], "an empty epsilon"),
                  (["--all", "--samples", "10"], "too few samples"),
                  (["--all", "--confidence", "1"], "certainty"),
                  (["--all", "--confidence", "nan"], "no confidence"),
                  (["--epsilon", "1"], "no question"),
                  (["--yes-no"], "no epsilon"),
                  (["--all", "--yes-no"], "all and a question"),
                  (["--all", "--mechanism", "grr"], "all and one of them"),
                  (["--yes-no", "--epsilon", "1", "--epsilon", "2"], "two epsilons, not as a list"),
                  (["--all", "file"], "a file")]:
    r = run("audit", *args)
    ok(r.code == 2 and r.err != "" and r.out == b"", why + " is a usage error", r)
r = run("audit", "--values", "only", "--epsilon", "1")
ok(r.code == 1 and "nothing" in r.err, "one value: nothing to audit", r)
done()
