#!/usr/bin/python3 -B
"""Tallies add up: any split, any order, any format, byte for byte."""

import random

from e2e import *

rng = random.Random(7)
DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
KINDS = {
    "yes-no": (["--yes-no"], lambda: rng.choice(["yes", "no"])),
    "values": (["--values", ",".join(DAYS)], lambda: rng.choice(DAYS)),
    "number": (["--range", "0:1"], lambda: "%.3f" % rng.random()),
    "bins": (["--range", "0:1", "--bins", "9"], lambda: "%.3f" % rng.random()),
    "strings": (["--strings"], lambda: rng.choice(DAYS)),
    "tuple": (["--attribute", "a=yes-no", "--attribute", "b=x,y,z"],
              lambda: rng.choice(["yes", "no"]) + "," + rng.choice("xyz")),
}
HEADS = {"tuple": ["a,b"]}
PARTS = [1, 0, 99] if SHORT else [1, 0, 999, 5000, 8, 17]

for name, kinds in mechanisms().items():
    for kind in kinds:
        options, draw = KINDS[kind]
        if kind == "values" and run("randomize", *options, *noise(name, len(DAYS), "1")).code != 0:
            options, draw = ["--values", "a,b"], lambda: rng.choice("ab")
        if name == "stage":  # whose strings have one letter here
            draw = lambda: rng.choice("abc")
        how = [*options, *noise(name, len(DAYS), "1"), "--simulate"]
        parts = []
        for i, n in enumerate(PARTS):
            reports = must("randomize", *how, "--seed", i, stdin=lines(HEADS.get(kind, []) + [draw() for _ in range(n)]))
            parts.append(write("part%d" % i, reports))
        whole = must("tally", *parts)
        joined = b"".join(open(p, "rb").read() for p in parts)
        ok(must("tally", stdin=joined) == whole, "%s, %s: streams one after the other" % (name, kind))
        tallies = [write("tally%d" % i, must("tally", p)) for i, p in enumerate(parts)]
        alone = dict(zip(tallies, parts))
        rng.shuffle(tallies)
        ok(must("tally", *tallies) == whole, "%s, %s: tallies in another order" % (name, kind))
        first = write("first", must("tally", *tallies[:3]))
        ok(must("tally", first, *tallies[3:]) == whole, "%s, %s: merged in two steps" % (name, kind))
        ok(must("tally", tallies[0], *[p for p in parts if p != alone[tallies[0]]]) == whole,
           "%s, %s: a tally and streams together" % (name, kind))

how = ["--values", "a,b,c", "--epsilon", "1", "--mechanism", "grr", "--simulate", "--seed", "1"]
truths = lines(rng.choice("abc") for _ in range(3000))
binary, text = must("randomize", *how, stdin=truths), must("randomize", *how, "--json", stdin=truths)
ok(must("tally", stdin=text) == must("tally", stdin=binary), "the JSON twin tallies as the stream does")
ok(must("estimate", "-", stdin=binary) == must("estimate", "-", stdin=must("tally", stdin=binary)),
   "estimate reads a stream as it reads its tally")

b, t = write("b", binary), write("t", text)
ok(must("tally", b, t, b) == must("tally", stdin=binary + text + binary), "twins mix with streams")

MIXES = {
    "epsilon": (["--values", "a,b,c", "--epsilon", "2", "--mechanism", "grr"], "a\n"),
    "the names": (["--values", "a,b,d", "--epsilon", "1", "--mechanism", "grr"], "a\n"),
    "the number of values": (["--values", "a,b,c,d", "--epsilon", "1", "--mechanism", "grr"], "a\n"),
    "the mechanism": (["--values", "a,b,c", "--epsilon", "1", "--mechanism", "oue"], "a\n"),
    "the question": (["--yes-no", "--epsilon", "1"], "yes\n"),
}
for what, (options, truth) in MIXES.items():
    other = write("other", must("randomize", *options, stdin=truth))
    r = run("tally", b, other, "-o", path("mixed"))
    ok(r.code == 1 and other in r.err and b in r.err and "differ in" in r.err and not os.path.exists(path("mixed")),
       "streams that differ in %s do not mix, and the message names both" % what, r)
    print("# " + r.err.strip().replace(TMP, ""))

for seed in range(3):
    how = ["--domain", "50", "--epsilon", "1", "--simulate", "--seed", seed]
    truths = lines(rng.randrange(50) for _ in range(40000))
    f = write("truths", truths)
    whole = must("randomize", *how, f)
    with open(f, "rb") as stream:
        slow = subprocess.Popen(["sh", "-c", "dd bs=777 status=none"], stdin=stream, stdout=subprocess.PIPE)
        piped = subprocess.run([HEARSAY, "randomize", *map(str, how)], stdin=slow.stdout, stdout=subprocess.PIPE)
        slow.wait()
    ok(piped.stdout == whole, "a seed gives the same stream from a file and from a pipe in small pieces")

done()
