#!/usr/bin/python3 -B
"""The command and the collector have the same digits of the same tally: of
every mechanism that a task can ask by, twice each. (Simulations take no tally
from outside: tests/unit/sim/study/test_same.c holds them against the same
code.) Several attributes are no task; all formats agree on theirs."""

from collector import *
import random

N = 300 if SHORT else 1000
WORDS = ["anna", "bert", "carl", "dora", "emil"]
RANGE = "range: [0, 96]"
STRINGS = "strings: true"
ASKED = {
    "rr": "yes-no: true", "grr": "values: [a, b, c]", "sue": "values: [a, b, c]", "oue": "values: [a, b, c]",
    "blh": "values: [a, b, c]; set: {pool-bits: 4}", "ss": "values: [a, b, c]", "hr": "values: [a, b, c]",
    "pgr": "values: [a, b, c]", "hcms": "values: [a, b, c]; set: {hashes: 4, width: 16}",
    "onebit": RANGE, "dwm": RANGE, "pm": RANGE, "hm": RANGE, "laplace": RANGE,
    "hh": RANGE + "; bins: 12", "haar": RANGE + "; bins: 12", "sw": RANGE + "; bins: 12",
    "dbitflip": RANGE + "; bins: 12; set: {sampled-bits: 3, pool-bits: 8}", "hpg": RANGE + "; bins: 12",
    "olh": STRINGS + "; set: {pool-bits: 8}", "cms": STRINGS + "; set: {hashes: 8, width: 70}",
    "rappor": STRINGS + "; set: {filter-bits: 32, hashes: 2, cohorts: 8, f: 0.25, p: 0.35, q: 0.65}",
    "pem": STRINGS + "; set: {bits: 32, step: 8, pool-bits: 8}", "sfp": STRINGS + "; set: {bits: 32, hashes: 16, width: 256}",
}
TRUTHS = {"yes-no": ["yes", "no", "no"], "values": ["a", "a", "b", "c"], "range": ["3", "16", "17", "64"], "strings": WORDS + ["anna"] * 3}
FINDS = ("pem", "sfp")
EPSILON = {"rappor": "", "pem": "epsilon: 4; ", "sfp": "epsilon: 6; "}


def asked(name):
    return task(name, "%s; %smechanism: %s; repeat: once" % (ASKED[name], EPSILON.get(name, "epsilon: 2; "), name))


def tally(c, name, seed):
    rng = random.Random(seed)
    truths = TRUTHS[ASKED[name].split(":")[0]]
    people = seed * (4 * N if name in FINDS else N)
    stream = must("randomize", "--task", "%s:%s" % (os.path.join(c.dir, "tasks.signed"), name), "--simulate", "--seed", seed,
                  stdin=lines(rng.choice(truths) for _ in range(people)))
    return write("%s-%d" % (name, seed), must("tally", "--round", "0:0", stdin=stream))


def printed(name, whole):
    """What the command prints of a tally as the collector asks it."""
    if name in FINDS:
        return json.loads(must("discover", "show", whole, "--format", "json"))
    strings = ["--candidates", CANDIDATES, "--top", 50] if ASKED[name].startswith("strings") else []
    return json.loads(must("estimate", whole, *strings, "--format", "json"))


def differs(figure, command):
    """Members of the command's that are not the collector's, to the last digit."""
    wrong = []
    for key, value in command.items():
        mine = figure.get("estimates" if key == "strings" else key, "missing")
        if key == "notes":  # of days only the collector knows
            mine = [note for note in mine if "of no day" not in note]
        if key not in ("releases", "people") and mine != value:
            wrong.append("%s: %r, printed %r" % (key, mine, value))
    return wrong


# ---- The collector ------------------------------------------------------------------

CANDIDATES = write("words", lines(WORDS + ["nobody"]))
os.makedirs(path("candidates"))
for name in ASKED:
    if ASKED[name].startswith("strings") and name not in FINDS:
        shutil.copy(CANDIDATES, path("candidates/%s.txt" % name))
c = Collector("same", "".join(map(asked, ASKED)), candidates=path("candidates")).start()
compared = 0
for name in ASKED:
    parts = []
    for seed in (1, 2):
        parts.append(tally(c, name, seed))
        status, _, answer = ask(c.admin, "POST", "/v1/tasks/%s/tally" % name, open(parts[-1], "rb").read())
        assert status == 200, (name, answer)
        whole = write(name, must("tally", *parts))
        command = printed(name, whole)
        c.settled(name, command["reports"])
        status, figure = c.get("/v1/tasks/%s/estimate?lying=0" % name)
        wrong = differs(figure, command) if status == 200 else [figure]
        compared += ok(not wrong and len(figure["estimates"]) > 0 and len(command) > 15,
                       "%s, %d reports: every number is the same" % (name, command["reports"]), "\n".join(map(str, wrong)))
        if name == "grr" and not wrong:
            figure["estimates"][0]["estimate"] = math.nextafter(figure["estimates"][0]["estimate"], 2)
            ok(differs(figure, command), "control: one unit in the last place is noticed")
ok(compared >= 40, "at least 40 tallies", compared)
c.stop()

# ---- Several attributes ---------------------------------------------------------------

rng = random.Random(5)
table = lines(["smoker,city"] + ["%s,%s" % (rng.choice(["yes", "no"]), rng.choice(["rome", "rome", "oslo"])) for _ in range(N)])
for name in ("smp", "joint"):
    stream = must("randomize", "--attribute", "smoker=yes-no", "--attribute", "city=rome,oslo", "--mechanism", name, "--epsilon", 2,
                  "--simulate", "--seed", 1, stdin=table)
    for how in ((), ("--joint",)) if name == "joint" else ((),):
        words = " ".join((name,) + how)
        both = json.loads(must("estimate", "-", "--format", "json", *how, stdin=stream))["estimates"]
        sheet = list(csv.DictReader(io.StringIO(must("estimate", "-", "--format", "csv", *how, stdin=stream).decode())))
        ok(len(both) == len(sheet) >= 4 and all(float(text[k]) == r[k] for r, text in zip(both, sheet) for k in ("estimate", "stderr", "low", "high")),
           "%s: json and csv have the same digits" % words, (both, sheet))
    apart = [r for a in ("smoker", "city")
             for r in json.loads(must("estimate", "-", "--format", "json", "--attribute", a, stdin=stream))["estimates"]]
    whole = json.loads(must("estimate", "-", "--format", "json", stdin=stream))["estimates"]
    ok(apart == whole, "%s: attributes one by one have the digits of all together" % name, (apart, whole))

done()
