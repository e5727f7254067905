#!/usr/bin/python3 -B
"""Strings found in batches: each stage a task, by randomize and on devices; one
answer and one charge a device; and what is refused."""

import random

from devices import *

# ---- Files: start, randomize, tally, next --------------------------------------

rng = random.Random(5)
WORDS = ["sun"] * 40 + ["sea"] * 25 + ["\xff\x01"] * 15


def people(n):
    return b"".join((rng.choice(WORDS) if rng.random() < 0.8 else "".join(rng.choices("abcdefghij", k=3))).encode("latin-1") + b"\n"
                    for _ in range(n))


def start(name, *more):
    return run("discover", "start", "--epsilon", "4", "--bits", "24", "--source", "words", "--question", "Which word?",
               "--from", "2026-11-16", "--to", "2026-11-18", "-o", path(name), *more)


r = start("words-1.yaml")
ok(r.code == 0 and run("tasks", "check", path("words-1.yaml")).code == 0, "the first stage is a task", r)
for i in (1, 2, 3):
    task = path("words-%d.yaml:words" % i)
    halves = [write("half%d" % k, must("tally", stdin=must("randomize", "--task", task, "--simulate", "--seed", 10 * i + k, stdin=people(1500))))
              for k in (0, 1)]
    tally = write("words-%d.tally" % i, must("tally", *halves))
    if i == 1:
        r = run("discover", "next", *halves, "--task", task, "-o", path("words-2.yaml"))
        ok(r.code == 0 and b"stage 1 of 3: 3000 reports, 32 of 256 prefixes are kept" in r.out, "from tallies of it the next one is written", r)
        again = must("discover", "next", tally, "--task", task)
        ok(again == open(path("words-2.yaml"), "rb").read(), "merged before or after, and to standard output too")
    elif i == 2:
        must("discover", "next", tally, "--task", task, "--significant", "-o", path("words-3.yaml"))
        got = json.loads(must("discover", "show", tally, "--significant", "--format", "json"))
        ok([s["value"] for s in got["strings"]][:2] == ["su", "se"] and (got["stage"], got["stages"], got["bits"]) == (2, 3, 16),
           "a tally of an inner stage shows the prefixes that go on", got)
third = open(path("words-3.yaml")).read()
ok("discover next" in open(path("words-2.yaml")).read() and "'hearsay discover show'\n# prints the strings" in third and "discover next" not in third, "each stage says what comes after it", third)
ok('prefixes: ["7365", "7375", "ff01"]' in third and "release: 3" in third and "version: 3" in third and
   "start: 2026-11-16\n    end: 2026-11-24" in third, "the next stage keeps the task, one release on, as long again", third)
got = json.loads(must("discover", "show", tally, "--significant", "--format", "json"))
ok([s["value"] for s in got["strings"]][:2] == ["sun", "sea"] and got["found"] == 3 and
   all(abs(s["estimate"] - f) < 5 * s["stderr"] for s, f in zip(got["strings"], (0.4, 0.25))),
   "the last tally shows the strings with their shares", got)
ok(b"3 strings found" in must("discover", "show", tally, "--significant") and b"stage 3 of 3" in must("discover", "show", tally), "and a table for a person")
for how in (["--all-stages"], ["--all"], ["--threshold", "3"]):
    r = run("discover", "show", tally, *how)
    ok(r.code == 1 and how[0] in r.err and r.out == b"", "of one stage there is no %s" % how[0], r)
must("discover", "show", tally, "--significant", "--plot", path("found.svg"))
r = run("discover", "show", tally, "--plot", path("no/such.svg"))
ok(r.code == 1 and r.out == b"", "a figure that cannot be written is an error before the search", r)
ok(">sun<" in open(path("found.svg")).read(), "and a figure")
for how, want in ((["--oracle", "oue"], "oue"), (["--alphabet", "a-z", "--bits", "10", "--step", "5", "--sizes", "rising"], "a-z")):
    r = run("discover", "start", "--epsilon", "2", "--source", "w", "--question", 'Which "word"?', "-o", path("other.yaml"), *how)
    shown = must("tasks", "check", path("other.yaml"))
    ok(r.code == 0 and b"stage" in shown and want in open(path("other.yaml")).read(), "a start with %s" % " ".join(how), r)

# ---- The plan ------------------------------------------------------------------

plan = json.loads(must("discover", "plan", "--batches", "--epsilon", "4", "--frequency", "0.02", "--sizes", "diminishing", "--format", "json"))
ok(len(plan["stages"]) == 6 and abs(plan["users"] - max(s["users"] / s["part"] for s in plan["stages"])) < 2 and
   [s["candidates"] for s in plan["stages"]] == [256] + 5 * [8192] and plan["epsilon_same_people"] == 24,
   "a plan says how many people it takes, by the sizes of the batches", plan)
ok(b"would spend 24" in must("discover", "plan", "--batches", "--epsilon", "4", "--frequency", "0.02"), "and what other readings would cost")

# ---- Devices -------------------------------------------------------------------

must("tasks", "keygen", "-o", path("key"))
LETTERS = ["--alphabet", "ab", "--bits", "6", "--step", "2", "--epsilon", "16", "--top", "2", "--keep", "1"]
r = run("discover", "start", *LETTERS, "--source", "words", "--question", "Which word?", "--from", "2026-11-16", "--to", "2026-11-17",
        "-o", path("stage-1.yaml"))
ok(r.code == 0, "a search of short words", r)
truth = {"dev%d" % k: "ba" for k in range(9 if SHORT else 15)}  # one word, since a batch may be one device
POLICY = ["--source", "words=16,16,40", "--day", "40", "--lifetime", "40"]


def compile_stage(i):
    """Signed as of the devices' first day, whatever today is."""
    yaml = open(path("stage-%d.yaml" % i)).read()
    write("stage-%d.yaml" % i, re.sub("(?m)^version: .*$", r"\g<0>\nissued: 2026-11-16\nexpires: 2027-11-16", yaml))
    must("tasks", "compile", path("stage-%d.yaml" % i), "--key", path("key.secret"), "-o", path("stage-%d.signed" % i))
    return path("stage-%d.signed" % i)


def tally_uploads(i, payloads):
    """The reports of uploads as a tally, by way of the readable twin."""
    twin = must("randomize", "--task", path("stage-%d.yaml:words" % i), "--json", stdin=b"").splitlines()[0]
    body = b"".join(b'{"report":%d}\n' % int.from_bytes(p, "little") for p in payloads)
    return write("stage-%d.tally" % i, must("tally", stdin=twin + b"\n" + body + b'{"end":%d}\n' % len(payloads)))


answered, enrolled, late, day = {}, set(), set(), DAY
for i in (1, 2, 3):
    doc = compile_stage(i)
    reports, nulls, turn = [], 0, list(truth)
    while turn:
        name = turn.pop(0)
        home = path(name)
        if name not in enrolled:
            good("init", home, "--document", doc, "--public-key", path("key.public"), *POLICY, day=day)
            good("consent", home, "send", day=day)
            enrolled.add(name)
            if i > 1:
                late.add(name)  # its batch may be over
        else:
            good("take", home, doc, day=day)
        for word in (truth[name], "bb"):
            if good("answer", home, "words", stdin=word, day=day).out == b"answered\n":
                answered.setdefault(name, []).append(i)
        for kind, task, data in uploads(pack(home, day + 3, "--mark-sent")):
            if kind == 1:
                reports.append(data[128:])
            nulls += kind == 2
        if not turn and not reports:  # a third of the devices are in a batch, at times none of a few
            turn.append("dev%d" % len(truth))
            truth[turn[0]] = "ba"
    ok(len(reports) + nulls == len(truth) and len(reports) == sum(s == [i] for s in answered.values()),
       "stage %d: every device sends one upload, those of its batch a report" % i, (len(reports), nulls, answered))
    tally = tally_uploads(i, reports)
    if i < 3:
        must("discover", "next", tally, "--task", path("stage-%d.yaml:words" % i), "-o", path("stage-%d.yaml" % (i + 1)))
    day += 2
ok(all(len(s) == 1 for s in answered.values()) and set(truth) - set(answered) <= late, "every device there from the start has answered one stage", answered)
ok(all(spent(path(n), day)["words"] == 16 * 10 ** 9 for n in answered), "and was charged once")
found = [s["value"] for s in json.loads(must("discover", "show", tally, "--top", "2", "--format", "json"))["strings"]]
ok(found[0] == "ba", "what devices hold is found", found)

# ---- Bad input -----------------------------------------------------------------


def refused(code, words, *args, stdin=b""):
    r = run("discover", *args, stdin=stdin)
    ok(r.code == code and words in r.err and r.out == b"", "%s: %s" % (" ".join(os.path.basename(str(a)) for a in args[:4]), words), r)


first, second = path("words-1.tally"), path("words-2.tally")
refused(1, "must divide", "start", "--epsilon", "1", "--source", "s", "--question", "q", "--bits", "48", "--step", "7")
refused(1, "--max-candidates (at most 1048576)", "start", "--epsilon", "1", "--source", "s", "--question", "q", "--step", "16", "--top", "100")
refused(1, "candidates", "plan", "--batches", "--epsilon", "1", "--frequency", "0.1", "--step", "12", "--top", "512")
refused(2, "'discover start' needs --source", "start", "--epsilon", "1")
refused(2, "'discover start' needs --question", "start", "--epsilon", "1", "--source", "s")
refused(2, "'discover start' needs --epsilon", "start", "--source", "s", "--question", "q")
refused(2, "'discover next' needs --task", "next", first)
refused(2, "unknown option --start", "next", "--start")
refused(2, "'discover plan' needs --frequency", "plan", "--batches", "--epsilon", "1")
refused(2, "--bits is only for 'discover plan' or 'discover start'", "next", first, "--task", path("words-1.yaml:words"), "--bits", "48")
refused(2, "unexpected argument", "start", "--epsilon", "1", "--source", "s", "--question", "q", first)
refused(1, "not a tally of stage 1 of --task", "next", second, "--task", path("words-1.yaml:words"))
other = write("other.tally", must("tally", stdin=must("randomize", "--strings", "--mechanism", "stage", "--set", "bits=24", "--epsilon", "2", stdin=b"sun\n")))
refused(1, "differ in epsilon", "next", other, "--task", path("words-1.yaml:words"))
refused(1, "not a stage of a search", "next", first, "--task", write("plain.yaml", open(path("words-1.yaml")).read().replace(
    "mechanism: stage", "mechanism: olh").replace("    sizes: equal\n", "").replace("    set:", "    # set:")) + ":words")
refused(1, "no task 'none'", "next", first, "--task", path("words-1.yaml:none"))
refused(1, "is the last", "next", path("words-3.tally"), "--task", path("words-3.yaml:words"))
refused(1, "exceed the 32", "next", first, "--task", path("words-1.yaml:words"), "--top", "64")
refused(2, "--from takes a day", "start", "--epsilon", "1", "--source", "s", "--question", "q", "--from", "tomorrow")
refused(1, "source", "start", "--epsilon", "1", "--source", "No Spaces", "--question", "q")
refused(1, "more strings than there are candidates", "show", path("stage-3.tally"), "--top", "64")
empty = write("empty.tally", must("tally", stdin=must("randomize", "--task", path("words-1.yaml:words"), stdin=b"")))
refused(1, "no reports", "next", empty, "--task", path("words-1.yaml:words"))
refused(1, "no data", "show", empty)
ok(not os.path.exists(path("none.yaml")) and run("discover", "next", second, "--task", path("words-1.yaml:words"), "-o", path("none.yaml")).code == 1 and
   not os.path.exists(path("none.yaml")), "nothing is written where something is refused")
for keys, words in (("    prefixes: [zz]\n", "hexadecimal"), ("    prefixes: []\n", "the list is empty"), ("    sizes: large\n", "equal, rising or diminishing")):
    bad = write("bad.yaml", open(path("words-2.yaml")).read().replace("    sizes: equal\n", "").split("    prefixes")[0] + keys +
                "    start: 2026-11-16\n    end: 2026-11-20\n")
    r = run("tasks", "check", bad)
    ok(r.code == 1 and words in r.err and "bad.yaml:" in r.err, "tasks check: %s" % words, r)
r = run("tasks", "check", write("bad.yaml", open(path("words-1.yaml")).read().replace("mechanism: stage", "mechanism: pem")))
ok(r.code == 1 and "mechanism: stage" in r.err, "sizes and prefixes are a stage's", r)

ok(runs_in_a_shell("batches.md", long="--runs") >= 8, "docs/batches.md has its examples")
done()
