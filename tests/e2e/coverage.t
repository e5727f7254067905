#!/usr/bin/python3 -B
"""How often a collector's interval for the population (target=population) holds
the share by which its devices' truths are drawn, where answers are kept. Each
task of a collector is a trial. HSY_TEST_LONG=1 has 7 and 30 rounds, all devices
stay or nine of ten leave after the first, 800 trials each, and prints the
table of docs/accuracy.md."""

import collector

collector.DAY = 20773  # the clock is driven, and so no day is today's

from collector import *

LONG = "HSY_TEST_LONG" in os.environ
FIRST, TASKS, STAY, LEFT = DAY - 20, 6 if SHORT else 20, 100, 20
OPTIONS = dict(start=FIRST, end=DAY + 300, min_reports=1)
# The share of yes, and of the first of five values and `other` by zipf.
KINDS = (("rr, (2, 1)", 0.3, "yes-no: true; epsilon: 1; permanent: {epsilon: 2}"),
         ("grr, (4, 2)", 1 / 2.45, "values: [a, b, c, d, e]; mechanism: grr; epsilon: 2; permanent: {epsilon: 4}"))


def tail(k, n, p):
    """P[X <= k], X binomial."""
    return sum(math.exp(math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) + i * math.log(p) + (n - i) * math.log1p(-p))
               for i in range(k + 1))


def limit(good):
    """The end of the p for which good(p), which has 0."""
    low, high = 0.0, 1.0
    for _ in range(40):
        p = (low + high) / 2
        low, high = (p, high) if good(p) else (low, p)
    return low


def limits(k, n, miss=0.05):
    """The exact limits of a proportion by Clopper and Pearson."""
    return (limit(lambda p: k > 0 and 1 - tail(k - 1, n, p) < miss / 2), limit(lambda p: k == n or tail(k, n, p) > miss / 2))


def trials(name, rounds, leave, seed):
    """Of each kind the trials of one collector: whether the population's interval
    holds the law's share, and whether the people's does."""
    clock = write("clock-" + name, date(FIRST) + "\n")
    text = "".join(task("t%d" % i, KINDS[i % 2][2], **OPTIONS) for i in range(TASKS))
    c = Collector(name, text, rehearsal=clock, keep_days=60).start(env={"ASAN_OPTIONS": "detect_leaks=0"})
    for devices, days in ((10 * LEFT, 1), (LEFT, rounds - 1)) if leave else ((STAY, rounds),):
        must("simulate", "fleet", "http://127.0.0.1:%d" % c.public[1], "--devices", devices, "--seed", seed, "--days", days, "--clock", clock, "--batch", 100)
    sent = 10 * LEFT + LEFT * (rounds - 1) if leave else STAY * rounds
    held = ([], [])
    for i in range(TASKS):
        c.settled("t%d" % i, sent)
        share = KINDS[i % 2][1]
        rows_ = [c.get("/v1/tasks/t%d/estimate?target=%s" % (i, target))[1] for target in ("population", "people")]
        if any(r["reports"] != sent or r["rounds"] != rounds for r in rows_):
            raise SystemExit("Bail out! %s has other reports: %s" % (name, rows_))
        held[i % 2].append([r["estimates"][0]["low"] <= share <= r["estimates"][0]["high"] for r in rows_])
    ok(c.stop() == 0, "%s: %d tasks of a collector with %d reports each" % (name, TASKS, sent))
    shutil.rmtree(c.dir)
    return held


table = []
for rounds in (7, 30) if LONG else (7,):
    for leave in (False, True) if LONG else (False,):
        what = "%d rounds, %s" % (rounds, "nine of ten leave" if leave else "all stay")
        all_ = ([], [])
        for seed in range(40 if LONG else 1):
            for sums, got in zip(all_, trials("c%d-%d-%d" % (rounds, leave, seed), rounds, leave, seed + 1)):
                sums.extend(got)
        for kind, got in (*((KINDS[i][0], all_[i]) for i in range(2)), ("both", all_[0] + all_[1])):
            n, population, people = len(got), sum(g[0] for g in got), sum(g[1] for g in got)
            low, high = limits(population, n, 1e-9)
            ok(low <= 0.975 and high >= 0.94, "%s, %s: %d of %d intervals for the population hold" % (what, kind, population, n), (low, high))
            table.append("| %s | %s | %.3f [%.3f, %.3f] | %.3f |" % (what, kind, population / n, *limits(population, n), people / n))
        if LONG and not leave:
            ok(limits(people, n, 1e-9)[1] < 0.94, "%s: control: those of the people hold the population's share in %d" % (what, people))
for line in table:
    print("# " + line)
done()
