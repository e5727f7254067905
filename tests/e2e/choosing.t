#!/usr/bin/python3 -B
"""hearsay mechanisms says what auto takes and why; its page tells the same."""

import re

from e2e import *


def costs(epsilon, d, *more):
    return json.loads(must("mechanisms", "--epsilon", str(epsilon), "--domain", str(d), "--format", "json", *more))


def chosen(m):
    return [r for r in m["mechanisms"] if r["auto"] and "values" in r["kinds"]]


page = open(os.path.join(ROOT, "docs", "choosing-mechanism.md")).read()
lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if re.match(r"\| (d|\d+) \|", line)]
wrong = []
for row in lines[1:]:
    for epsilon, told in zip(lines[0][1:], row[1:]):
        m = costs(epsilon, row[0])
        least = min(r["n_variance_0"] for r in m["mechanisms"] if "values" in r["kinds"] and r["n_variance_0"] is not None)
        best, = chosen(m)
        above = 100 * (best["n_variance_0"] / least - 1)
        if told != "%s %d +%.1f" % (best["mechanism"], best["bits"], above) or above > 5 or best["mechanism"] != m["choice"]:
            wrong.append((epsilon, row[0], told, best))
ok(len(lines) == 17 and len(lines[0]) == 12 and not wrong, "the page's table is what the command says, within 5 %", wrong)

shown = must("mechanisms", "--epsilon", "1", "--domain", "1024").decode()
why = "auto chooses pgr: error of the histogram 2.4 % above the least (ss), in 11 bits against 1024"
ok(why + ".\n" in shown and why + "." in page, "one line says why, as on the page", shown)
m = costs(1, 1024, "--users", "1000000")
ok(m["why"] == why and m["choice"] == "pgr" and m["max_bits"] is None and m["users"] == 1000000, "and json", m)
by = {r["mechanism"]: r for r in m["mechanisms"]}
ok(abs(by["pgr"]["stderr_0"] - math.sqrt(by["pgr"]["n_variance_0"] / 1e6)) < 1e-12, "with users come standard errors", by["pgr"])
ok(by["ss"]["decode"] == 1024 + 16 * 1000000 and by["pgr"]["decode"] == 1093 * 16, "and steps of counting", by)
ok(by["grr"]["memory"] == 8 * 1025 and by["olh"]["memory"] > 8 << 18, "memory is a tally's and the scratch", by)
ok(all(by[name][key] is None for name in ("sw", "rappor") for key in ("n_variance_0", "n_variance_1", "stderr_0", "decode", "memory")),
   "what is estimated by iteration has no formula", by)
ok(costs(4, 16)["why"] == "auto chooses grr: the least error of the histogram, in 4 bits per report", "the best and shortest needs no more words")
m = costs(2, 17)
error = {r["mechanism"]: 16 * r["n_variance_0"] + r["n_variance_1"] for r in m["mechanisms"] if r["n_variance_0"] is not None}
ok("error of the histogram 17.2 % above the least (ss)" in m["why"] and abs(error["grr"] / error["ss"] - 1.172) < 5e-4,
   "the line says by how much the error of all shares together is above the least", (m["why"], error))

m = costs(8, 16384, "--max-bits", "64")
ok(m["choice"] == "hpg" and m["max_bits"] == 64 and "within the limits, in 17 bits" in m["why"], "a limit on bits", m["why"])
ok(len(m["mechanisms"]) == len(by) and {r["mechanism"]: r for r in m["mechanisms"]}["ss"]["bits"] == 16384, "all are listed all the same")
m = costs(1, 65536, "--max-steps", "70000")
ok(m["choice"] == "ss" and m["max_steps"] == 70000, "a limit on steps", m["why"])
m = costs(1, 65536, "--max-steps", "70000", "--users", "1000")
ok(m["choice"] == "grr", "counts what the reports take", m["why"])
m = costs(1, 1024, "--max-bits", "1")
ok(m["choice"] is None and not chosen(m) and m["why"] == "auto chooses none: no mechanism is within the limits", "nothing in one bit", m["why"])


def head(*more):
    return json.loads(must("randomize", "--json", "--domain", "16384", "--epsilon", "8", *more, stdin=b"7\n").splitlines()[0])["scheme"]


ok(head()["mechanism"] == "ss" and head("--max-bits", "64")["mechanism"] == "hpg", "randomize keeps a limit too", head())
free, kept = head("--mechanism", "grr"), head("--mechanism", "grr", "--max-bits", "14", "--max-steps", "16384", "--users", "9")
ok(free == kept, "which leaves no trace in the stream", (free, kept))
for args, words in ((["--max-bits", "13"], "--max-bits: a report needs more bits than allowed"),
                    (["--max-steps", "9"], "--max-steps: estimating needs more steps than allowed"),
                    (["--mechanism", "ss", "--max-bits", "64"], "--max-bits"), (["--max-bits", "0"], "--max-bits"),
                    (["--users", "x"], "--users")):
    r = run("randomize", "--domain", "16384", "--epsilon", "8", *args, stdin=b"7\n")
    ok(r.code == 2 and words in r.err and not r.out, "refused: %s" % " ".join(args), r)
for args in (["--users", "5"], ["--max-bits", "5"], ["--max-steps", "5"]):
    r = run("mechanisms", *args)
    ok(r.code == 2 and "needs --domain or --task" in r.err, "mechanisms %s alone" % args[0], r)

done()
