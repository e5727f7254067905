#!/usr/bin/python3 -B
"""The same words are the same scheme: on the command line, in a task file and
in a stream, so that their tallies merge."""

from e2e import *

LIST, OTHER = "values: [a, b, c]", ["--values", "a,b,c", "--other"]
RANGE, ENDS = "range: [0, 10]", ["--range", "0:10"]
BINS, SHARES = "range: [-0.5, 9.5]; bins: 12", ["--range", "-0.5:9.5", "--bins", "12"]
WORDS, STRINGS = "strings: true", ["--strings"]
ASKED = {  # what, the same as options, how, the same as options
    "rr": ("yes-no: true", ["--yes-no"], "", []),
    "spinner": ("yes-no: true", ["--yes-no"], "mechanism: rr; set: {spinner: 3/4}", ["--set", "spinner=0.75"]),
    "coins": ("yes-no: true", ["--yes-no"], 'set: {coins: "0.5,1/3"}', ["--set", "coins=1/2,1/3"]),
    "channel": ("yes-no: true", ["--yes-no"], 'set: {channel: "0.8,0.3"}', ["--set", "channel=0.8,0.3"]),
    "auto": (LIST, OTHER, "", []),
    "grr": (LIST, OTHER, "mechanism: grr", []), "oue": (LIST, OTHER, "mechanism: oue", []),
    "listed": ("values-file: list", ["--values-file", "@list", "--other"], "mechanism: sue", []),
    "olh": (LIST, OTHER, "mechanism: olh; set: {g: 3, pool-bits: 9, pool-seed: 0}", ["--set", "g=3", "--set", "pool-bits=9", "--set", "pool-seed=0"]),
    "hcms": (LIST, OTHER, "mechanism: hcms; set: {hashes: 4, width: 16}", ["--set", "hashes=4", "--set", "width=16"]),
    "onebit": (RANGE, ENDS, "mechanism: onebit", []), "dwm": (RANGE, ENDS, "mechanism: dwm", []),
    "laplace": ("range: [0.0, 10.50]", ["--range", "0:10.5"], "mechanism: laplace; set: {grid: 64}", ["--set", "grid=64"]),
    "wide": ("range: [-4000000000000, 9000000000000.5]", ["--range", "-4000000000000:9000000000000.5"], "mechanism: onebit", []),
    "sw": (BINS, SHARES, "mechanism: sw", []), "hh": (BINS, SHARES, "mechanism: hh; set: {fanout: 4}", ["--set", "fanout=4"]),
    "dbitflip": (BINS, SHARES, "mechanism: dbitflip; set: {sampled-bits: 3}", ["--set", "sampled-bits=3"]),
    "cms": (WORDS, STRINGS, "mechanism: cms", []),
    "rappor": (WORDS, STRINGS, "mechanism: rappor; set: {f: 1/4, p: 0.35, q: 0.65, cohorts: 8}", ["--set", "rappor=0.25,0.35,0.65", "--set", "cohorts=8"]),
    "pem": (WORDS, STRINGS, "mechanism: pem; alphabet: a-z; oracle: hcms; set: {bits: 40, step: 10}",
            ["--alphabet", "a-z", "--oracle", "hcms", "--set", "bits=40", "--set", "step=10"]),
    "sfp": (WORDS, STRINGS, "mechanism: sfp; set: {bits: 32, hashes: 16, width: 256}", ["--set", "bits=32", "--set", "hashes=16", "--set", "width=256"]),
}
GIVEN = ("spinner", "coins", "channel", "rappor")  # by probabilities, without an epsilon

listed = write("list", "one\ntwo\nthree\n")
text = "version: 1\nexpires: 2099-12-31\ntasks:\n"
for name, (what, _, how, _) in ASKED.items():
    pairs = ["id: " + name, "source: s." + name, "question: What?", "start: 2026-01-01", "end: 2026-01-01", what, how] + ([] if name in GIVEN else ["epsilon: 1.5"])
    text += "  - " + "\n    ".join(p for pair in pairs for p in pair.split("; ") if p) + "\n"
tasks = write("tasks.yaml", text)


def digest(stream):
    return stream[24:56].hex()


for name, (_, what, how, more) in ASKED.items():
    options = [listed if o == "@list" else o for o in what + more] + ([] if name in GIVEN else ["--epsilon", "1.5"])
    for pair in how.split("; "):
        if pair.startswith("mechanism"):
            options += ["--mechanism", pair.split(": ")[1]]
    mine = must("randomize", *options, stdin="")
    asked = must("randomize", "--task", tasks + ":" + name, stdin="")
    twin = must("randomize", *options, "--json", stdin="")
    head = json.loads(twin.splitlines()[0])
    a, b, c = (write(f, must("tally", stdin=s)) for f, s in (("a", mine), ("b", asked), ("c", twin)))
    ok(digest(mine) == digest(asked), name + ": options and task file are one scheme", (options, head["scheme"]))
    ok(head["scheme"]["digest"] == digest(mine) == digest(bytes.fromhex(head["prefix"])), name + ": and so is the stream's twin", head["scheme"])
    ok(run("tally", a, b, c).code == 0, name + ": their tallies merge")

done()
