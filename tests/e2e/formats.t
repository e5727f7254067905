#!/usr/bin/python3 -B
"""What is printed can be read: csv, json, tables, any UTF-8."""

from e2e import *

ODD = ["plain", "a,b", 'say "hi"', " edges ", "gr\u00fcn", "\u65e5\u672c", "\U0001f600", "tab\there", "-5", "=1+1", "yes", "\\n", "x" * 200]
values = write("values", lines(ODD))
how = ["--epsilon", "4", "--mechanism", "grr", "--simulate", "--seed", "5"]
truths = lines(v for i, v in enumerate(ODD) for _ in range(500 + 100 * i))
tally = must("tally", stdin=must("randomize", "--values-file", values, *how, stdin=truths))

out = must("estimate", "-", "--format", "csv", stdin=tally)
ok(out.decode().splitlines()[0] == "value,estimate,stderr,low,high,level,target,rounds,devices,reports", "the header of csv")
ok(all(r["level"] == 0.95 and r["target"] == "people" and r["reports"] == len(truths.split(b"\n" if isinstance(truths, bytes) else "\n")) - 1 for r in rows(out)),
   "every row of csv says level, target and reports", out)
ok(all(r["level"] == 0.8 for r in rows(must("estimate", "-", "--format", "csv", "--level", "80%", stdin=tally))), "another level shows in it")
table = rows(out)
ok([r["value"] for r in table] == ["'" * (v[0] == "=") + v for v in ODD], "any UTF-8, commas and quotes come back from csv; a formula does not", table)
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

ok("tab\\there" in shown, "a control character is written out", shown)
turned = must("randomize", "--values", "a\u202eb,\u65e5\u672c,e\u0301,\x1b[31m,abcdefghijkl", *how, stdin="a\u202eb\n" * 200)
body = must("estimate", "-", stdin=turned).decode().splitlines()[4:]
ok("a\\u{202e}b" in body[0] and "\\u{1b}[31m" in body[3] and not any(c in "".join(body) for c in "\u202e\x1b"),
   "so is what turns the direction of writing, or moves the cursor", body)
columns = [l.index("%") + extra for l, extra in zip(body, (0, 2, -1, 0, 0))]
ok(len(set(columns)) == 1, "columns stand under each other, whatever the width of characters", (columns, body))
shown = must("estimate", "-", "--level", "0.999999999999", stdin=tally).decode()
ok("99.9999999999 %" in shown and "(exactly %.16g)" % data["epsilon_exact"] in shown, "a table does not round to what is not true", shown)

top = rows(must("estimate", "-", "--top", "3", "--format", "csv", stdin=tally))
every = sorted(table, key=lambda r: -r["estimate"])
ok([r["value"] for r in top] == [r["value"] for r in every[:3]] + ["(not shown)"], "--top: the largest, largest first, and what is not shown", top)
ok(all(a["estimate"] == b["estimate"] and a["stderr"] == b["stderr"] and a["low"] < b["low"] and a["high"] > b["high"] and
       abs(a["level_selected"] - (1 - 0.05 * 3 / len(ODD))) < 1e-12 for a, b in zip(top, every[:3])),
   "their intervals are adjusted for selection, nothing else", top)
ok(abs(top[3]["estimate"] - 1 + sum(r["estimate"] for r in top[:3])) < 1e-12 and top[3]["low"] < top[3]["estimate"] < top[3]["high"] and
   top[3]["level_selected"] == 0.95, "what is not shown has an interval of its own", top)
whole = json.loads(must("estimate", "-", "--top", len(ODD), "--format", "json", stdin=tally))
ok(whole["unexplained"] is None and whole["level_selected"] == 0.95 and whole["selected"] == whole["of"] == len(ODD) and
   [{k: r[k] for k in ("low", "high")} for r in whole["estimates"]] == [{k: r[k] for k in ("low", "high")} for r in every],
   "where everything is shown nothing changes", whole)
answers = must("randomize", "--yes-no", "--epsilon", "1", "--simulate", "--seed", "1", stdin="yes\nno\nno\n" * 100)
ok([r["value"] for r in rows(must("estimate", "-", "--top", "1", "--format", "csv", stdin=answers))] == ["no", "yes"],
   "--top 1 of a yes/no question names both answers, which are one share")
fine = must("randomize", "--domain", "512", "--epsilon", "1", "--simulate", "--seed", "5", stdin="".join("%d\n" % (i % 200) for i in range(20000)))
noted = json.loads(must("estimate", "-", "--format", "json", stdin=fine))
total = sum(r["estimate"] for r in noted["estimates"])
ok(abs(total - 1) > 0.1 and any("do not sum to 100 %" in n for n in noted["notes"]), "shares of all values that sum to far from 100 % get a note", (total, noted["notes"]))
ok("the shares sum to %.1f %%\n" % (100 * total) in must("estimate", "-", stdin=fine).decode(), "a table has the sum of such shares")
ok(json.loads(must("estimate", "-", "--post", "norm-sub", "--format", "json", stdin=fine))["notes"] == [] == data["notes"],
   "shares that are post-processed, or sum to 100 %, get no note")
wide = must("randomize", "--domain", "1024", "--mechanism", "grr", "--epsilon", "4", "--simulate", "--seed", "1", stdin="7\n" * 200)
noted = [json.loads(must("estimate", "-", *how, "--format", "json", stdin=wide))["notes"] for how in (["--simultaneous"], [])]
ok(any("say nothing" in n for n in noted[0]) and not any("say nothing" in n for n in noted[1]),
   "simultaneous intervals that cover 0 to 100 % get a note, others none", noted)
both = rows(must("estimate", "-", "--top", "3", "--simultaneous", "--format", "csv", stdin=tally))
ok(all(r["level_selected"] == 0.95 for r in both), "simultaneous intervals hold for what is selected as they are", both)
shown = must("estimate", "-", "--top", "3", stdin=tally).decode()
ok("adjusted for selection: the 3 largest of %d are shown" % len(ODD) in shown, "a table says so", shown)
for level in ("0", "1", "100", "100%"):
    r = run("estimate", "-", "--level", level, stdin=tally)
    ok(r.code == 2 and "--level" in r.err and "above 0 and below 1" in r.err and r.out == b"", "--level %s is refused" % level, r)
r = run("estimate", "-", "--top", "0", stdin=tally)
ok(r.code == 2 and "--top" in r.err and r.out == b"", "a selection of nothing is refused", r)
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
ok(d["reports_against"] == 10000 and d["mechanism_against"] == "rr" and d["epsilon_against"] == 2 and d["epsilon"] == 1 and
   d["epsilon_exact_against"] <= 2 and row["low"] < -.3 < row["high"] and row["p_value"] < 1e-12, "a difference, at two epsilons", d)
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
for edges, b, names in (("1000000000:1000000001", 4, ["1000000000..1000000000.25", "1000000000.25..1000000000.5",
                                                      "1000000000.5..1000000000.75", "1000000000.75..1000000001"]),
                        ("-9000000000.5:0", 2, ["-9000000000.5..-4500000000.25", "-4500000000.25..0"]),
                        ("0:1", 3, ["0..0.333333334", "0.333333334..0.666666667", "0.666666667..1"])):
    bins = rows(must("estimate", "-", "--format", "csv",
                     stdin=must("randomize", "--range=" + edges, "--bins", b, "--epsilon", "4", "--clip", stdin=b"0\n" * 1000)))
    ok([r["value"] for r in bins] == names, "%d bins of %s are called by their exact edges" % (b, edges), bins)
edge = rows(must("estimate", "-", "--format", "csv", stdin=must("randomize", "--range", "0:1", "--bins", "3", "--epsilon", "32", "--mechanism",
                 "grr", "--simulate", "--seed", "1", stdin=b"0.333333333\n" * 100 + b"0.333333334\n" * 300)))
ok([round(r["estimate"], 2) for r in edge] == [.25, .75, 0], "and an edge is the least number of the upper bin", edge)
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
ok(r.code == 0 and "honest devices" in r.err and "outside" in r.err, "counts that cannot be are shown with a warning", r)
r = run("estimate", "-", stdin="\n".join(twin) + "\n")
ok(r.code == 0 and r.err == "", "control: true ones without", r)
r = run("estimate", "-", stdin=must("randomize", "--yes-no", "--epsilon", "4", stdin="yes\nno\n"))
ok(r.code == 0 and "only 2 reports;" in r.err, "few reports are remarked upon", r)
r = run("estimate", "-", stdin=must("randomize", "--yes-no", "--epsilon", "4", stdin="yes\n"))
ok(r.code == 0 and "only 1 report;" in r.err and b", 1 report\n" in r.out, "one is one report", r)
odd = write("odd", "\n".join([twin[0]] + ['{"report":1}'] * 90 + ['{"end":90}']) + "\n")
r = run("estimate", "-", "--against", odd, stdin="\n".join(twin) + "\n")
ok(r.code == 0 and odd + ": honest devices" in r.err and odd + ": only 90 reports" in r.err and "standard input" not in r.err,
   "--against: the second tally is looked at as well", r)
r = run("estimate", odd, "--against", "-", stdin="\n".join(twin) + "\n")
ok(r.code == 0 and odd + ": honest devices" in r.err and odd + ": only 90 reports" in r.err and "standard input" not in r.err,
   "and the first", r)


def many(seed, truths, *how):
    return must("randomize", "--domain", "100", "--epsilon", "1", "--mechanism", "oue", "--simulate", "--seed", seed, *how, stdin=truths)


truths = lines(i % 5 for i in range(20000))
for seed in range(8):
    r = run("estimate", "-", "--format", "csv", stdin=many(seed, truths))
    outside = sum(x["high"] < 0 or x["low"] > 1 for x in rows(r.out))
    ok(r.code == 0 and "warning" not in r.err and
       (("note: %d of 100 interval" % outside) in r.err and "up to about 2.5" in r.err if outside > 5 else r.err == ""),
       "honest reports: %d intervals outside 0 to 1 are noted only above twice what chance makes" % outside, r)
noted = 0
for seed in range(8):  # everybody says no, and an interval of level 0.2 misses 40 times in 100 below 0
    r = run("estimate", "-", "--format", "csv", "--level", "0.2", stdin=must(
        "randomize", "--yes-no", "--epsilon", "1", "--simulate", "--seed", seed, stdin="no\n" * 1000))
    outside = any(x["high"] < 0 for x in rows(r.out))
    noted += outside
    ok(r.code == 0 and ("note: 1 of 1 interval lies" in r.err) == outside, "one of one is noted: %s" % outside, r)
window = {bins: must("randomize", "--range", "0:64", "--bins", bins, "--mechanism", "sw", "--epsilon", "1", "--simulate", "--seed", "1", stdin="9\n" * 500) for bins in ("16", "64")}
for bins in window:
    r = must("estimate", "-", stdin=window[bins])
    ok(b"95 % intervals (linear)" in r and b"smoothed" not in r, "%s bins: shares by EM have intervals" % bins, r)
    r = must("estimate", "-", "--density", "ems", stdin=window[bins])
    ok(b"smoothed (ems)" in r and b"no intervals: smoothing has a bias" in r, "smoothed ones have none, and the head says why", r)
r = run("estimate", "-", "--density", "ems", "--format", "csv", stdin=window["16"])
ok(r.code == 0 and r.out.decode().splitlines()[1].split(",")[2:5] == [""] * 3 and "note: no intervals: smoothing has a bias" in r.err, "empty in csv, with a note", r)
r = json.loads(must("estimate", "-", "--density", "ems", "--format", "json", stdin=window["16"]))
ok(r["interval"] == "none" and r["simultaneous"] is False and "bias" in r["why"] and
   all(x[k] is None for x in r["estimates"] for k in ("stderr", "low", "high")), "null in json, with the reason", r)
r = json.loads(must("estimate", "-", "--format", "json", stdin=window["16"]))
ok(r["interval"] == "linear" and r["why"] is None and r["target"] == "people" and r["level"] == .95 and
   all(x["low"] <= x["estimate"] <= x["high"] for x in r["estimates"]), "by EM they are there", r)
errors = {x["value"]: x["stderr"] for x in r["estimates"]}
for how in (["--level", "50%"], ["--level", "99%"], ["--top", "4"]):
    other = json.loads(must("estimate", "-", *how, "--format", "json", stdin=window["16"]))["estimates"]
    ok(len(other) >= 4 and all(x["stderr"] == errors[x["value"]] for x in other), "sw: %s leaves standard errors as they are" % " ".join(how), other)
errors = [json.loads(must("estimate", "-", "--between", "0:20", "--level", level, "--format", "json", stdin=window["16"]))["estimates"][0]["stderr"]
          for level in ("50%", "95%", "99%")]
ok(len(set(errors)) == 1, "sw: the standard error of a range is the same at every level", errors)
many_bins = must("randomize", "--range", "0:1000", "--bins", "1000", "--mechanism", "sw", "--epsilon", "1", stdin="9\n" * 500)
r = json.loads(must("estimate", "-", "--format", "json", stdin=many_bins))
ok(r["interval"] == "none" and "256" in r["why"], "nor do more than 256 bins have any", {k: r[k] for k in ("interval", "why")})
half, percent = (json.loads(must("estimate", "-", "--quantile", q, "--format", "json", stdin=window["16"]))["estimates"] for q in ("0.5,0.25", "50%,25%"))
ok([r["estimate"] for r in half] == [r["estimate"] for r in percent] and percent[0]["value"] == "quantile 50%", "a quantile may be said as 50%", percent)
for wrong in ("50%%", "100%", "%", "5%0", "0%"):
    r = run("estimate", "-", "--quantile", wrong, stdin=window["16"])
    ok(r.code == 2 and "--quantile" in r.err and r.out == b"", "a quantile of %s is refused" % wrong, r)
for ask in (["--quantile", "0.5"], ["--between", "8:12"]):
    r = json.loads(must("estimate", "-", "--format", "json", *ask, stdin=window["64"]))
    ok(r["interval"] == "linear" and r["estimates"][0]["low"] <= r["estimates"][0]["estimate"] <= r["estimates"][0]["high"], "%s of sw" % ask[0], r)
ok(0 < noted < 8, "which happens, and not always", noted)
one = must("randomize", "--domain", "100", "--epsilon", "1", "--mechanism", "grr", "--json", stdin=b"0\n").decode().splitlines()
r = run("estimate", "-", stdin="\n".join([one[0]] + ['{"report":7}'] * 2000 + ['{"end":2000}']) + "\n")
ok(r.code == 0 and "warning: 100 of 100 intervals" in r.err and "due to chance" in r.err, "far more of them than chance makes are a warning", r)

before = write("before", must("tally", stdin=many(1, lines(i % 2 for i in range(20000)))))
after = must("tally", stdin=many(2, lines(2 if i % 10 == 0 else 1 for i in range(20000))))
top = rows(must("estimate", "-", "--against", before, "--top", "3", "--format", "csv", stdin=after))
ok([r["value"] for r in top] == ["0", "1", "2"] and top[0]["estimate"] < -.4 and top[1]["estimate"] > .3,
   "--against --top: the largest changes first, up or down", top)
r = run("randomize", "--yes-no", "--epsilon", "1", "-o", "-", stdin=b"yes\n", cwd=TMP)
ok(r.code == 0 and r.out[:4] == b"\x89HSY" and not os.path.exists(path("-")), "randomize -o - is standard output", r)
r = run("tally", "--output=-", stdin=r.out, cwd=TMP)
ok(r.code == 0 and r.out[:4] == b"\x89HSY" and not os.path.exists(path("-")), "tally --output=- too", r)
r = run("randomize", "--yes-no", "--epsilon", "1")
ok(r.code == 0 and r.out[:4] == b"\x89HSY" and "standard input is empty" in r.err, "no truths: a stream without reports, and a note", r)

m = json.loads(must("mechanisms", "--epsilon", "1", "--domain", "1024", "--users", "1000000", "--format", "json"))
by = {r["mechanism"]: r for r in m["mechanisms"]}
ok(abs(by["oue"]["n_variance_0"] - 3.68269437683116928) < 1e-6 and abs(by["olh"]["n_variance_0"] - 3.69165461745668857) < 1e-6 and
   by["grr"]["bits"] == 10 and by["oue"]["bits"] == 1024 and by["rr"]["bits"] is None, "mechanisms: variance and bits", by)
ok(by["olh"]["decode"] == 1024 << 16 and by["grr"]["decode"] == 1024, "mechanisms: decode steps are integers", by)
ok({k for r in m["mechanisms"] for k in r["kinds"].split()} == {"yes-no", "values", "number", "bins", "strings", "tuple"},
   "kinds are called as in the readable twin", m)
shown = must("mechanisms", "--epsilon", "1", "--domain", "1024").decode()
ok("67.1 M" in shown and "e+" not in shown, "and legible in a table", shown)
ok(sum(r["auto"] for r in m["mechanisms"] if "values" in r["kinds"]) == 1, "mechanisms marks what auto takes")

done()
