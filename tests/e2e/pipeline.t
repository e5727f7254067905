#!/usr/bin/python3 -B
"""Truths through randomize | tally | estimate come back within their errors."""

from e2e import *

MANY, MILLION = (20000, 20000) if SHORT else (100000, 1000000)
Z_SEEDED = 5.0  # the issue's bound, with seeds fixed once and for all
Z_FRESH = 8 if SHORT else 7.2  # normal tail 6e-13: real coins, below 1e-12 a value, with the skewness of few people too

LIST = ["red", "green", "blue", "dark, blue", 'say "x"', "gr\u00fcn", "a", "violet"]
SPELLED = ["red", "green", "blue", "dark", "say", "gr\u00fcn", "a", "violet"]  # at most six bytes
ENDS = [("0", "480"), ("0", "240"), ("0", "120"), ("0", "1000"), ("0", "1440"), ("0.1", "0.7"), ("-3", "3"), ("-0.3", "-0.1"),
        ("-1000", "-120"), ("0", "0.000000004"), ("17.05", "19.999999999"), ("0", "4611686018427387903"), ("0.1", "2147483647.123456789")] + [
            ("0", str(h)) for h in range(7, 1000, 41)]
COUNTS = [400, 250, 150, 100, 50, 30, 20, 0]  # of 1000


def population(values, counts, n):
    return [v for v, c in zip(values, counts) for _ in range(n * c // 1000)]


def estimate(kind, truths, *how, stdin_estimate=()):
    reports = must("randomize", *kind, *how, stdin=lines(truths))
    tally = must("tally", stdin=reports)
    return rows(must("estimate", "-", "--rounds", "1", "--format", "csv", *stdin_estimate, stdin=tally))


def within(table, want, z):
    got = {r["value"]: r for r in table}
    return set(got) == set(want) and all(
        abs(got[v]["estimate"] - want[v]) <= z * got[v]["stderr"] and
        got[v]["low"] <= got[v]["estimate"] <= got[v]["high"] for v in want)


def shares(values=LIST):
    return {v: c / 1000 for v, c in zip(values, COUNTS)}


def takes(kind, name):
    return run("randomize", *kind, *noise(name, len(LIST), "1")).code == 0


seeded = ["--simulate", "--seed", "20260101"]
values_file = write("values", lines(LIST))
for name, kinds in mechanisms().items():
    for epsilon, N in (("0.5", MANY), ("4", MANY)) if SHORT else (("0.5", MANY), ("ln3", MILLION), ("4", MANY)):
        truths = population(LIST, COUNTS, N)
        how = [*noise(name, len(LIST), epsilon), *seeded]
        if "values" in kinds and not takes(["--values-file", values_file], name):
            t = estimate(["--values", "a,b"], population("ab", [300, 700], N), *how)
            ok(within(t, {"a": .3, "b": .7}, Z_SEEDED), "%s, two values, epsilon %s" % (name, epsilon), t)
        elif "values" in kinds:
            t = estimate(["--values-file", values_file], truths, *how)
            ok(within(t, shares(), Z_SEEDED), "%s, a list, epsilon %s: every share" % (name, epsilon), t)
            t[0]["estimate"] += 12 * t[0]["stderr"]
            ok(not within(t, shares(), Z_SEEDED), "control: 12 standard errors off is noticed")
        if "yes-no" in kinds:
            t = estimate(["--yes-no"], population(["yes", "no"], [300, 700], N), *how)
            ok(within(t, {"yes": .3, "no": .7}, Z_SEEDED), "%s, yes/no, epsilon %s" % (name, epsilon), t)
        if "number" in kinds:
            t = estimate(["--range", "-10:30.5"], population(["-10", "0.125", "30.5"], [200, 500, 300], N), *how)
            ok(within(t, {"mean": -2 + .0625 + 9.15}, Z_SEEDED), "%s, a mean, epsilon %s" % (name, epsilon), t)
        if "bins" in kinds:
            t = estimate(["--range", "0:100", "--bins", "4"],
                         population(["0", "24.999", "25", "74", "100"], [100, 300, 200, 150, 250], N), *how)
            ok(within(t, {"0..25": .4, "25..50": .2, "50..75": .15, "75..100": .25}, Z_SEEDED),
               "%s, bins, epsilon %s" % (name, epsilon), t)
        if "strings" in kinds:
            words = SPELLED if name in ("pem", "sfp") else list("rgbdsuav") if name == "stage" else LIST
            t = estimate(["--strings"], population(words, COUNTS, MANY), *how,
                         stdin_estimate=["--candidates", write("words", lines(words))])
            ok(within(t, shares(words), Z_SEEDED), "%s, strings, epsilon %s" % (name, epsilon), t)

for design in ("spinner=0.7", "coins=1/2,0.5", "channel=0.75,0.25", "channel=0.9,0.35"):
    t = estimate(["--yes-no"], population(["TRUE", "0"], [300, 700], MILLION), "--set", design, *seeded)
    ok(within(t, {"yes": .3, "no": .7}, Z_SEEDED), "randomized response, %s" % design, t)

few = population(LIST, COUNTS, MANY)
for name, kinds in mechanisms().items():
    if "values" in kinds and takes(["--values-file", values_file], name):
        t = estimate(["--values-file", values_file], few, *noise(name, len(LIST), "2"))
        ok(within(t, shares(), Z_FRESH), "%s with coins from the kernel" % name, t)
# The ends of a range, digit by digit as they were given.
wrong = []
for lo, hi in ENDS:
    for more in ([], ["--bins", "4"]):
        reports = must("randomize", "--range", lo + ":" + hi, *more, "--epsilon", "1", stdin=(hi + "\n").encode())
        said = re.findall(r'"(?:lo|hi)": ([^,\n]*)', must("estimate", "--format", "json", stdin=reports).decode())
        if said != [lo, hi]:
            wrong.append((lo, hi, said))
ok(not wrong, "estimate prints the ends of %d ranges as they were given" % len(ENDS), wrong)

t = estimate(["--yes-no"], population(["1", "no"], [300, 700], MANY), "--epsilon", "1")
ok(within(t, {"yes": .3, "no": .7}, Z_FRESH), "yes/no with coins from the kernel, mechanism chosen by hearsay", t)

done()
