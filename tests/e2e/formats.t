#!/usr/bin/python3 -B
"""What is printed can be read: csv, json, tables, any UTF-8."""

from e2e import *

ODD = ["plain", "a,b", 'say "hi"', " edges ", "gr\u00fcn", "\u65e5\u672c", "\U0001f600", "tab\there", "-5", "=1+1", "yes", "\\n", "x" * 200]
values = write("values", lines(ODD))
how = ["--epsilon", "4", "--mechanism", "grr", "--simulate", "--seed", "5"]
truths = lines(v for i, v in enumerate(ODD) for _ in range(500 + 100 * i))
tally = must("tally", stdin=must("randomize", "--values-file", values, *how, stdin=truths))

out = must("estimate", "-", "--format", "csv", stdin=tally)
ok(out.decode().splitlines()[0] == "value,estimate,stderr,low,high", "the header of csv")
table = rows(out)
ok([r["value"] for r in table] == ODD, "any UTF-8, commas and quotes come back from csv")
data = json.loads(must("estimate", "-", "--format", "json", stdin=tally))
ok([r["value"] for r in data["estimates"]] == ODD, "and from json")
ok(all(a[k] == b[k] for a, b in zip(table, data["estimates"]) for k in ("estimate", "stderr", "low", "high")),
   "csv and json have the same doubles, every digit")
ok(data["mechanism"] == "grr" and data["epsilon"] == 4 and 0 < 4 - data["epsilon_exact"] + 1e-9 < 1e-6 and
   data["reports"] == sum(500 + 100 * i for i in range(len(ODD))) and data["level"] == .95 and
   data["interval"] == "score" and data["target"] == "people" and data["post"] == "none", "json says what it is", data)

quoted = ",".join('"%s"' % v.replace('"', '""') for v in ODD)
same = must("tally", stdin=must("randomize", "--values", quoted, *how, stdin=truths))
ok(same == tally, "--values, quoted as in csv, is the same list")

shown = must("estimate", "-", stdin=tally).decode()
ok("grr, epsilon 4" in shown and "95 %" in shown and "%d reports" % data["reports"] in shown, "a table says what it is", shown)
body = [l for l in shown.splitlines()[4:] if l]
ok(len(body) == len(ODD) and all("%" in l for l in body), "a table has a line a value", shown)
ok(max(len(l) for l in body) < 160, "a table cuts what is too long", shown)

top = rows(must("estimate", "-", "--top", "3", "--format", "csv", stdin=tally))
every = sorted(table, key=lambda r: -r["estimate"])
ok(top == every[:3], "--top: the largest, largest first, unchanged otherwise")
few = write("few", lines([ODD[4], ODD[1]]))
ok(rows(must("estimate", "-", "--candidates", few, "--format", "csv", stdin=tally)) == [table[4], table[1]],
   "--candidates picks from a list, in its order")

post = rows(must("estimate", "-", "--post", "norm-sub", "--format", "csv", stdin=tally))
ok([{k: r[k] for k in table[0]} for r in post] == table, "--post leaves the other columns as they are")
ok(abs(sum(r["post"] for r in post) - 1) < 1e-12 and min(r["post"] for r in post) >= 0, "norm-sub is a distribution")
picked = rows(must("estimate", "-", "--post", "norm-sub", "--candidates", few, "--format", "csv", stdin=tally))
ok(picked == [post[4], post[1]], "--post sees the whole domain, whatever is picked from it")
for method in ("norm", "norm-mul", "norm-cut", "base-cut", "mle"):
    r = run("estimate", "-", "--post", method, "--format", "csv", stdin=tally)
    ok(r.code == 0 and all(0 <= x["post"] <= 1 for x in rows(r.out)), "--post %s" % method, r)

wide = rows(must("estimate", "-", "--simultaneous", "--format", "csv", stdin=tally))
ok(all(w["low"] < r["low"] and w["high"] > r["high"] for w, r in zip(wide, table)), "--simultaneous widens every interval")
for interval in ("wald", "wilson", "score", "exact", "likelihood", "hoeffding"):
    for target in ("people", "population"):
        r = run("estimate", "-", "--interval", interval, "--target", target, "--format", "json", stdin=tally)
        d = json.loads(r.out) if r.code == 0 else {}
        ok(r.code == 0 and d["interval"] == interval and d["target"] == target and
           all(x["low"] <= x["high"] for x in d["estimates"]), "%s intervals for %s" % (interval, target), r)

# Yes/no: one statement, said twice.
yes = must("tally", stdin=must("randomize", "--yes-no", "--epsilon", "1", "--simulate", "--seed", "1",
                               stdin=b"yes\n" * 3000 + b"NO\r\n" * 7000))
a, b = rows(must("estimate", "-", "--format", "csv", stdin=yes))
ok((a["value"], b["value"]) == ("yes", "no") and abs(a["estimate"] + b["estimate"] - 1) < 1e-12 and
   abs(a["stderr"] - b["stderr"]) < 1e-12 and abs(a["low"] + b["high"] - 1) < 1e-9, "yes and no mirror each other", (a, b))
a, b = rows(must("estimate", "-", "--post", "mle", "--format", "csv", stdin=yes))
ok(abs(a["post"] + b["post"] - 1) < 1e-9 and abs(a["post"] - a["estimate"]) < 1e-9, "the likelihood agrees where it may", (a, b))

# Against: the difference, and its test.
other = write("other", must("tally", stdin=must("randomize", "--yes-no", "--epsilon", "2", "--simulate", "--seed", "2",
                                                 stdin=b"yes\n" * 6000 + b"no\n" * 4000)))
d = json.loads(must("estimate", "-", "--against", other, "--format", "json", stdin=yes))
row = d["estimates"][0]
ok(d["reports_against"] == 10000 and row["low"] < -.3 < row["high"] and row["p_value"] < 1e-12, "a difference, at two epsilons", d)
twin = write("twin", must("tally", stdin=must("randomize", "--yes-no", "--epsilon", "1", "--simulate", "--seed", "9",
                                               stdin=b"yes\n" * 3000 + b"no\n" * 7000)))
row = rows(must("estimate", "-", "--against", twin, "--format", "csv", stdin=yes))[0]
ok(row["p_value"] > 1e-4 and row["low"] < 0 < row["high"], "no difference where there is none", row)

# A mean: one row, in the range's units.
numbers = must("tally", stdin=must("randomize", "--range", "-100:300", "--epsilon", "4", "--simulate", "--seed", "1",
                                   stdin=b"50.25\n" * 100000))
out = must("estimate", "-", "--format", "csv", stdin=numbers)
mean = rows(out)
ok(len(mean) == 1 and mean[0]["value"] == "mean" and abs(mean[0]["estimate"] - 50.25) < 5 * mean[0]["stderr"] and
   mean[0]["low"] < mean[0]["estimate"] < mean[0]["high"], "a mean in the range's units", mean)
bins = rows(must("estimate", "-", "--format", "csv",
                 stdin=must("randomize", "--range", "0:1", "--bins", "4", "--epsilon", "4", stdin=b"0.3\n" * 1000)))
ok([r["value"] for r in bins] == ["0..0.25", "0.25..0.5", "0.5..0.75", "0.75..1"], "bins are called by their edges", bins)
clipped = rows(must("estimate", "-", "--format", "csv",
                    stdin=must("randomize", "--range", "0:1", "--bins", "2", "--epsilon", "16", "--clip",
                               stdin=b"-7\n" * 500 + b"99999999999999999999\n" * 500)))
ok([round(r["estimate"], 1) for r in clipped] == [.5, .5], "--clip moves numbers to the nearer end", clipped)
others = rows(must("estimate", "-", "--format", "csv",
                   stdin=must("randomize", "--values", "a,b", "--other", "--epsilon", "16",
                              stdin=b"a\n" * 500 + b"q\n" * 250 + b"other\n" * 250)))
ok([r["value"] for r in others] == ["a", "b", "other"] and round(others[2]["estimate"], 1) == .5,
   "--other takes in what is not listed", others)

# Reports that nobody's noise would give.
twin = must("randomize", "--yes-no", "--epsilon", "1", "--json", "--simulate", "--seed", "1", stdin=b"yes\n" * 2000).decode().splitlines()
r = run("estimate", "-", stdin="\n".join([twin[0]] + ['{"report":1}'] * 2000 + twin[-1:]) + "\n")
ok(r.code == 0 and "honest reports" in r.err and "outside" in r.err, "counts that cannot be are shown with a warning", r)
r = run("estimate", "-", stdin="\n".join(twin) + "\n")
ok(r.code == 0 and r.err == "", "control: true ones without", r)
r = run("estimate", "-", stdin=must("randomize", "--yes-no", "--epsilon", "4", stdin="yes\nno\n"))
ok(r.code == 0 and "only 2 reports" in r.err, "few reports are remarked upon", r)

m = json.loads(must("mechanisms", "--epsilon", "1", "--domain", "1024", "--users", "1000000", "--format", "json"))
by = {r["mechanism"]: r for r in m["mechanisms"]}
ok(abs(by["oue"]["n_variance_0"] - 3.68269437683116928) < 1e-6 and abs(by["olh"]["n_variance_0"] - 3.69165461745668857) < 1e-6 and
   by["grr"]["bits"] == 10 and by["oue"]["bits"] == 1024 and by["rr"]["bits"] is None, "mechanisms: variance and bits", by)
ok(sum(r["auto"] for r in m["mechanisms"] if "values" in r["kinds"]) == 1, "mechanisms marks what auto takes")

done()
