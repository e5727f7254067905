#!/usr/bin/python3 -B
"""Apple's sequence fragment puzzle: randomize, tally, discover, simulate, and what is refused."""

import random

from e2e import *

WORDLIST = "/usr/share/dict/words"  # Debian's wamerican
rng = random.Random(17)
N = 6000
FREQUENT = ["waterloo"] * 6 + ["firenze"] * 4 + ["bath"] * 3
people = [rng.choice(FREQUENT) if rng.random() < 0.8 else "".join(rng.choices("abcdefghij", k=rng.randint(1, 10))) for _ in range(N)]
SMALL = ["--set", "hashes=16", "--set", "width=256"]
SFP = ["--strings", "--mechanism", "sfp", "--alphabet", "a-z", *SMALL]


def randomize(some, seed, *more):
    return must("randomize", *SFP, "--epsilon", "8", "--simulate", "--seed", seed, *more, stdin=lines(some))


def refused(code, words, *args, stdin=b""):
    r = run(*args, stdin=stdin)
    ok(r.code == code and all(w in r.err for w in words), "refused: " + " ".join(words), r)


first = write("first.reports", randomize(people[:N // 2], 1))
second = write("second.tally", must("tally", stdin=randomize(people[N // 2:], 2)))
whole = write("whole.tally", must("tally", first, second))
got = json.loads(must("discover", "show", whole, "--format", "json"))
names = [row["value"] for row in got["strings"]]
ok(names == ["waterloo", "firenze", "bath"] and got["found"] == 3 and got["groups"] == 5 and got["reports"] == N,
   "the frequent words are found in a merged tally", got)
ok(all(abs(r["estimate"] - people.count(r["value"]) / N) < 5 * r["stderr"] for r in got["strings"]), "with their shares", got)
named = write("named", lines(names))
est = rows(must("estimate", whole, "--candidates", named, "--format", "csv"))
ok([e["estimate"] for e in est] == [r["estimate"] for r in got["strings"]], "which are those of estimate", est)
ok(must("discover", "show", first, second, "--format", "csv") == must("discover", "show", whole, "--format", "csv"), "files are counted together")
ok(b"waterloo" in must("discover", "show", whole) and b"in 5 offsets" in must("discover", "show", whole), "a person reads a table")
everything = json.loads(must("discover", "show", whole, "--all", "--threshold", "40", "--format", "json"))
ok([r["value"] for r in everything["strings"]][:3] == names, "chance or not, the largest come first", everything)
ok(len(json.loads(must("discover", "show", whole, "--top", "2", "--format", "json"))["strings"]) == 2, "or only so many")
must("discover", "show", whole, "--plot", path("found.svg"))
ok(b"waterloo" in open(path("found.svg"), "rb").read(), "a figure shows them")
twin = must("randomize", *SFP, "--epsilon", "8", "--json", stdin=b"bath\n")
ok(json.loads(twin.split(b"\n")[0])["scheme"]["alphabet"] == "a-z" and must("tally", stdin=twin) != b"", "the readable twin is read back")
one_bit = json.loads(must("discover", "show", "--format", "json", stdin=randomize(people * 4, 3, "--oracle", "hcms")))
ok([r["value"] for r in one_bit["strings"]][:2] == names[:2], "by one bit a sketch too", one_bit)

# Any bytes, one at a time.
raw = lines(["gr\u00fcn"] * 3000 + ["a"] * 2000)
got = must("discover", "show", "--format", "csv", stdin=must("randomize", "--strings", "--mechanism", "sfp", "--epsilon", "8", *SMALL,
                                                    "--simulate", "--seed", "5", stdin=raw))
ok([r["value"] for r in rows(got)] == ["gr\u00fcn", "a", "(not shown)"], "bytes without an alphabet", got)

# As a task.
task = write("tasks.yaml", b"""version: 1
expires: 2099-12-31
tasks:
  - {id: words, source: words, question: Which?, strings: true, epsilon: 8, mechanism: sfp, alphabet: a-z,
     set: {hashes: 16, width: 256}, repeat: once, start: 2026-01-01, end: 2099-12-31}
""")
ok(must("randomize", "--task", task + ":words", "--simulate", "--seed", 1, stdin=lines(people[:N // 2])) == open(first, "rb").read(),
   "a task asks the same")

# Before collecting.
plan = json.loads(must("discover", "plan", "--mechanism", "sfp", "--alphabet", "a-z", "--epsilon", "8", "--frequency", "0.01", "--format", "json"))
ok([(p["part"], p["epsilon"]) for p in plan["parts"]] == [("fragment", 6), ("word", 2)] and plan["users"] == max(p["users"] for p in plan["parts"]),
   "a plan says how many people it takes", plan)

# Bad input.
refused(1, ["line 2", "too long"], "randomize", *SFP, "--epsilon", "8", stdin=b"ok\nfartoolongword\n")
refused(1, ["line 1", "alphabet"], "randomize", *SFP, "--epsilon", "8", stdin=b"Upper\n")
refused(2, ["bits", "whole symbols"], "randomize", *SFP, "--set", "bits=48", "--epsilon", "8", stdin=b"a\n")
refused(2, ["word-share"], "randomize", *SFP, "--epsilon", "0.000002", stdin=b"a\n")
refused(2, ["oracle", "cms or hcms"], "randomize", *SFP, "--oracle", "olh", "--epsilon", "8", stdin=b"a\n")
refused(1, ["offset", "no reports"], "discover", "show", stdin=must("randomize", *SFP, "--epsilon", "8", stdin=b"a\n"))
refused(1, ["179968 pairs", "limit of 1000", "--max-candidates"], "discover", "show", whole, "--max-candidates", "1000")
refused(1, ["words could be joined", "limit of 179968", "--max-candidates", "--threshold"], "discover", "show", whole, "--all", "--threshold", "16384",
        "--max-candidates", "179968")
refused(1, ["--keep", "pem"], "discover", "show", whole, "--keep", "3")
refused(2, ["--significant cannot be used with --all"], "discover", "show", whole, "--all", "--significant")
refused(1, ["only for reports of sfp"], "discover", "show", "--all", stdin=must("randomize", "--strings", "--mechanism", "pem", "--epsilon", "4",
                                                                     "--set", "bits=16", "--set", "pool-bits=4", stdin=b"a\n" * 99))
refused(2, ["--mechanism is only for 'discover plan'"], "discover", "show", whole, "--mechanism", "sfp")

# In simulation.
listed = write("words.txt", lines(sorted({"".join(rng.choices("abcdefghijklmnop", k=rng.randint(3, 10))) for _ in range(400)}) + ["Upper", "isn't"]))
BASE = ["simulate", "discover", "sfp", "--words", listed, "--data", "zipf:1.5", "--runs", "2", "--top", "4", *SMALL]
SIM = [*BASE, "--users", "20000"]
table = rows(must(*SIM, "--epsilon", "2,8", "--format", "csv"))
ok([r["epsilon"] for r in table] == [2, 8] and all(0 <= r[m] <= 1 for r in table for m in ("f1", "ncr", "ndcg", "precision", "recall")),
   "simulate has a row an epsilon with f1, ncr, ndcg, precision and recall", table)
ok(table[1]["reached"] >= 0.75 and table[1]["held"] >= 0.9 and table[1]["reached"] >= table[0]["reached"], "and finds the words", table)
ok(must(*SIM, "--threads", "1", "--format", "csv") == must(*SIM, "--threads", "2", "--format", "csv"), "the numbers do not depend on the threads")
ok(b" 2 left out" in must(*SIM), "what cannot be spelled is left out, and said")
refused(2, ["--words"], "simulate", "discover", "sfp", "--data", "zipf:1")
refused(2, ["--data"], "simulate", "discover", "sfp", "--words", listed)
refused(2, ["--data", "no such distribution"], *SIM[:5], "--data", "magic:1")
refused(1, ["fewer than two words"], *SIM[:3], "--words", write("none", b"ABC\nDEF\n"), "--data", "uniform")
refused(1, ["--users", "no reports"], *BASE, "--users", "1")
refused(2, ["--users takes an integer from 1"], *BASE, "--users", "0")
refused(1, ["words could be joined", "--max-candidates"], *SIM, "--all", "--threshold", "16384")

# docs/discovery.md has a shell example.
page = open(os.path.join(ROOT, "docs", "discovery.md")).read()
block = re.search(r"## Apple's puzzle.*?```sh\n(.*?)```", page, re.S).group(1)
os.makedirs(path("bin"), exist_ok=True)
os.symlink(HEARSAY, path("bin/hearsay"))
shell = subprocess.run(["bash", "-ec", block], cwd=TMP, env={**os.environ, "PATH": path("bin") + ":" + os.environ["PATH"]}, capture_output=True)
ok(shell.returncode == 0 and b"waterloo" in shell.stdout and b"firenze" in shell.stdout, "the page's example finds its words", shell)

# The issue's own size: 10^6 people, 52,409 words.
if os.environ.get("HSY_TEST_LONG") != "1":
    print("# 10^6 people: with HSY_TEST_LONG=1")
elif not os.path.exists(WORDLIST):
    print("# 10^6 people: Debian's wamerican is not installed")
else:
    r = run("simulate", "discover", "sfp", "--words", WORDLIST, "--data", "zipf:1.1", "--users", 1000000, "--epsilon", "8",
            "--set", "hashes=256", "--set", "width=1024", "--runs", 4, "--format", "csv")
    t = rows(r.out)[0]
    ok(t["held"] >= 0.9 and t["precision"] >= 0.9 and t["reached"] >= 0.8 and t["recall"] >= 0.8,
       "of what it returns nine in ten are words that people hold, and eight of the top ten are there", t)
    shown = must("simulate", "discover", "sfp", "--words", WORDLIST, "--data", "zipf:1.1", "--users", 1000000, "--runs", 1).decode()
    ok(float(re.search(r"took ([0-9.]+) s", shown).group(1)) <= 5, "and the search takes at most 5 s", shown)
done()
