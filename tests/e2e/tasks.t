#!/usr/bin/python3 -B
"""Task files: every problem with its line, task and field; compiling, keys,
signatures, the rules of change, and questions asked by --task."""

import datetime
import re
import stat

from e2e import *

HEAD = ["version: 3", "issued: 2024-11-18", "expires: 2099-12-31", "tasks:"]
TASK = ["  - id: a",                       # line 5
        "    source: s.a",                 # 6
        "    question: What is it?",       # 7
        "    yes-no: true",                # 8
        "    epsilon: 1",                  # 9
        "    start: 2026-11-23",           # 10
        "    end: 2027-11-21"]             # 11: 364 days


def yaml(*changes, more=()):
    """The file with lines replaced: (number, text); text None: left out."""
    file = HEAD + TASK + list(more)
    for line, text in changes:
        file[line - 1] = text
    return "\n".join(l for l in file if l is not None) + "\n"


def problem(text, line, task, field, words, sentence, warning=False):
    """One problem (warning: or as many warnings), at this place, that says these words."""
    r = run("tasks", "check", write("t.yaml", text))
    where = "t.yaml:" + ("%d:" % line if line else "") + (" warning:" if warning else "")
    where += (" task %s:" % task if task else "") + (" %s:" % field if field else "")
    good = (r.code == (0 if warning else 1) and where in r.err and words in r.err and len(r.err.splitlines()) == max(1, int(warning)))
    ok(good, "%s: line %s%s" % (sentence, line or "-", ", " + field if field else ""), r)


def wrong(line, text, field, words, sentence, **more):
    problem(yaml((line, text), **more), line, "a", field, words, sentence)


ok(run("tasks", "check", write("t.yaml", yaml())).code == 0, "the smallest task file is sound")

# The shape of the file.
problem("", 0, "", "", "is empty", "an empty file")
problem("# nothing\n", 0, "", "", "is empty", "a file of comments")
problem("hello\n", 1, "", "", "'key: value'", "a word")
problem(yaml() + "---\nversion: 4\n", 12, "", "", "second document", "a second document")
problem(yaml((9, "\tepsilon: 1")), 9, "", "", "spaces, not tabs", "a tab")
problem(b"\xef\xbb\xbf" + yaml().encode(), 1, "", "", "byte-order mark", "a byte-order mark")
problem(yaml().encode("utf-16"), 1, "", "", "not UTF-8", "UTF-16")
problem(yaml().encode().replace(b"What", b"Gr\xfc\xdf"), 7, "", "", "not UTF-8", "Latin-1")
problem(yaml((9, "    epsilon: &e 1")), 9, "a", "epsilon", "anchors", "an anchor")
problem(yaml((9, "    epsilon: !!str 1")), 9, "a", "epsilon", "tags", "a tag")
problem(yaml((1, "x: &x [1, 1]"), (9, "    epsilon: *x")).replace("x: &x [1, 1]", "version: 3"), 9, "a", "epsilon", "aliases", "an alias")
problem(yaml((9, "    epsilom: 1")), 9, "a", "", "'epsilom'; did you mean 'epsilon'?", "an unknown key, with the nearest")
problem(yaml((9, "    salary: 1")), 9, "a", "", "'salary'; see tasks.yaml(5)", "an unknown key that is near to none")
problem(yaml(more=["    every: day"]), 12, "a", "", "'every' does not belong here: move it into 'permanent'", "a key of permanent in a task")
problem(yaml(more=["    issued: 2026-01-01"]), 12, "a", "", "to the top level of the file", "a key of the file in a task")
problem(yaml(more=["grace_days: 3"]), 12, "", "", "'grace_days' does not belong in this file: move it into hearsay.yaml", "a key of the collector's file")
problem(yaml(more=["    lifetime: 3"]), 12, "a", "", "'lifetime' does not belong in this file: move it into an entry of 'sources' of policy.yaml",
        "a key of a device's policy")
problem(yaml(more=["epsilon: 1"]), 12, "", "", "'epsilon' does not belong here: move it into an entry of 'tasks'", "a key of a task at the top")
problem(yaml(more=["    epsilon: 2"]), 12, "a", "", "'epsilon' is given twice", "a key given twice")
r = run("tasks", "check", write("t.yaml", yaml((9, "    epsilom: 1"), (10, "    start: soon"), more=["    every: day", "    answers: 65"])))
said = [line.partition("t.yaml:")[2].split(": ")[0] for line in r.err.splitlines()]
ok(r.code == 1 and said == ["9", "10", "12", "13"], "one pass lists keys that are none and values that do not do, and nothing that follows from them", r)
problem(yaml(more=["    set: {bit: 3}"]), 12, "a", "set", "did you mean 'bits'", "an unknown parameter")
problem(yaml((9, "    epsilon: [1, 2]")), 9, "a", "epsilon", "plain value", "a list for a number")
problem(yaml((8, "    values: a")), 8, "a", "values", "a list", "a word for a list")
problem(yaml(more=["    permanent: true"]), 12, "a", "permanent", "'key: value'", "a word for pairs")
problem(yaml(more=["    ? [a, b]", "    : c"]), 12, "a", "", "plain word", "a list for a key")
problem(yaml((7, '    question: "a\\0b"')), 7, "a", "question", "NUL", "a NUL")
problem(yaml((7, "    question: " + "a" * 5000)), 7, "a", "question", "4096", "a value of 5000 bytes")
r = run("tasks", "check", write("t.yaml", "version: " + "[" * 100000))
ok(r.code == 1 and "t.yaml:1:" in r.err and "too deeply" in r.err, "100,000 brackets are not followed", r)
r = run("tasks", "check", write("t.yaml", "".join("k%d: 1\n" % i for i in range(1000))))
ok(r.code == 1 and len(r.err.splitlines()) == 200, "at most 200 problems are listed", r)
r = run("tasks", "check", write("t.yaml", b"#" * (16 << 20) + b"\n"))
ok(r.code == 1 and "16 MiB" in r.err, "a file of more than 16 MiB is refused", r)
problem('version: 1\n"\\e[31mred": 1\ntasks: []\n', 2, "", "", "'?[31mred'", "an escape sequence does not reach the terminal")
r = run("tasks", "check", path("nonesuch"))
ok(r.code == 1 and "No such file" in r.err, "no file", r)

# The file as a whole.
problem(yaml((1, None)), 1, "", "", "version is missing", "no version")
problem(yaml((1, "version: 0")), 1, "", "version", "at least 1", "version 0")
problem(yaml((1, "version: 1.5")), 1, "", "version", "at least 1", "version 1.5")
problem(yaml((2, "issued: 16.11.2026")), 2, "", "issued", "2026-01-31", "a day in another order")
problem(yaml((2, "issued: 2026-02-29")), 2, "", "issued", "2026-01-31", "a day that there is not")
problem(yaml((3, "expires: 2024-11-17")), 3, "", "expires", "before the day of issue", "expired before it was issued")
problem("version: 1\n", 1, "", "", "tasks is missing", "no tasks")
ok(run("tasks", "check", write("t.yaml", "version: 1\ntasks: []\n")).code == 0, "no tasks at all may be meant")
ok(run("tasks", "check", write("t.yaml", yaml((2, "issued: 2024-02-29")))).code == 0, "a leap day")
problem(yaml((3, "expires: 2024-12-31")), 3, "", "expires", "its last day is over", "a document that has expired", warning=True)
problem(yaml((3, "expires: %s" % (datetime.datetime.now(datetime.timezone.utc).date() + datetime.timedelta(3)))), 3, "", "expires", "days that are left: ", "one that will soon", warning=True)
ok("expires" not in run("tasks", "check", write("t.yaml", yaml((3, "expires: %s" % (datetime.datetime.now(datetime.timezone.utc).date() + datetime.timedelta(16)))))).err,
   "one of two weeks and more is not worth a word")

# Every field of a task.
problem(yaml((5, "  - id: Abc")), 5, "Abc", "id", "1 to 32 characters of a-z", "an id with a capital")
problem(yaml((5, "  - release: 1")), 5, "1", "id", "is missing: the task's name", "no id")
wrong(6, "    source: S", "source", "1 to 64", "a source with a capital")
problem(yaml((6, None)), 5, "a", "source", "is missing: name the private data", "no source")
problem(yaml((7, None)), 5, "a", "question", "is missing", "no question")
wrong(7, '    question: "a\\tb"', "question", "control", "a question with a tab")
wrong(7, '    question: "a\\u202eb"', "question", "control", "a question that turns direction")
wrong(7, "    question: " + "a" * 1025, "question", "1024", "a question of 1025 bytes")
problem(yaml((8, None)), 5, "a", "", "the question is missing", "no kind of question")
wrong(8, "    yes-no: yes", "yes-no", "yes-no: true", "yes-no: yes")
problem(yaml(more=["    strings: true"]), 12, "a", "strings", "already has 'yes-no'", "two questions")
wrong(8, "    values: []", "values", "empty", "an empty list")
wrong(8, "    values: [x, y, x]", "values", "value 3 is the same as value 1", "a value twice")
problem(yaml((8, "    values:"), more=[]).replace("values:\n", "values:\n      - x\n      - y\n      - x\n"), 11, "a", "values", "value 3 is the same",
        "a value twice, in lines")
wrong(8, '    values: [x, ""]', "values", "value 2: a value is empty", "an empty value")
wrong(8, '    values: [x, "a\\nb"]', "values", "control character", "a value of two lines")
wrong(8, "    values: [" + "x," * 4097 + "]", "values", "more than 4096", "4097 values")
wrong(8, "    values-file: nonesuch.txt", "values-file", "nonesuch.txt: No such file", "no file of values")
write("dup.txt", "x\ny\nx\n")
wrong(8, "    values-file: dup.txt", "values-file", "value 3 is the same", "a value twice in a file")
write("bytes.txt", b"x\n\xff\n")
wrong(8, "    values-file: bytes.txt", "values-file", "value 2: a value is not UTF-8", "a file that is not UTF-8")
wrong(8, "    values-file: /dev/zero", "values-file", "not a file", "a device for a file")
wrong(8, "    range: [1]", "range", "two ends", "half a range")
wrong(8, "    range: [1, 1e3]", "range", "no exponent", "an exponent")
wrong(8, "    range: [5, 5]", "range", "", "an empty range")
wrong(8, "    range: [0, 1.0000000001]", "range", "9 decimals", "ten decimals")
problem(yaml(more=["    bins: 4"]), 12, "a", "bins", "needs range", "bins without a range")
problem(yaml((8, "    range: [0, 8]"), more=["    bins: 1"]), 12, "a", "bins", "from 2", "one bin")
wrong(9, "    epsilon: e", "epsilon", "ln3", "an epsilon that is no number")
wrong(9, "    epsilon: 33", "epsilon", "to 32", "epsilon 33")
wrong(9, "    epsilon: 0", "epsilon", "from 0.000001", "epsilon 0")
problem(yaml((9, None)), 5, "a", "epsilon", "is missing", "no epsilon")
problem(yaml(more=["    mechanism: nonesuch"]), 12, "a", "mechanism", "", "an unknown mechanism")
problem(yaml(more=["    mechanism: onebit"]), 12, "a", "mechanism", "", "a mechanism for other questions")
problem(yaml((8, "    values: [x, y]"), more=["    mechanism: olh", "    set:", "      g: x"]), 14, "a", "set.g", "an integer", "a parameter that is no number")
problem(yaml((8, "    values: [x, y]"), more=["    mechanism: grr", "    set:", "      g: 4"]), 14, "a", "set.g", "", "a parameter of another mechanism")
problem(yaml((8, "    strings: true"), (9, "    mechanism: rappor"), more=["    set: {f: 0.5, p: 0.25}"]), 12, "a", "set", "'q' is missing", "RAPPOR without q")
problem(yaml((8, "    strings: true"), (9, "    mechanism: rappor"), more=["    set: {f: 2, p: 0.25, q: 0.75}"]), 12, "a", "set.f", "from 0 to 1", "f = 2")
problem(yaml((9, "    set: {spinner: 2}")), 9, "a", "set.spinner", "from 0 to 1", "a spinner of 2")
wrong(10, "    start: tomorrow", "start", "2026-01-31", "a start that is no day")
problem(yaml((11, None)), 5, "a", "end", "is missing", "no end")
wrong(11, "    end: 2026-11-22", "end", "is before the first day, 2026", "an end before its start")
for text, field, words in (("repeat: sometimes", "repeat", "a number of days"), ("repeat: 0 days", "repeat", "a number of days"),
                           ("repeat: 365 days", "repeat", "longer than the task"), ("sample: 0", "sample", "above 0"), ("sample: 5/4", "sample", "at most 1"),
                           ("answers: 65", "answers", "1 to 64"), ("send: 2", "send", "1 to 'answers' (1)"), ("delay: 6", "delay", "6h"), ("delay: 1y", "delay", "6h"),
                           ("delay: 364d", "delay", "shorter than a round"), ("grace: 36h", "grace", "whole days"), ("grace: 4000d", "grace", "3650"),
                           ("min_reports: -1", "min_reports", "an integer"), ("release: 0", "release", "an integer from 1")):
    problem(yaml(more=["    " + text]), 12, "a", field, words, text)


def permanent(pairs, line, field, words, sentence, changes=(), **more):
    lines = ["    permanent:"] + ["      " + p for p in pairs]
    problem(yaml(*changes, more=lines), line, "a", field, words, sentence, **more)


ok(run("tasks", "check", write("t.yaml", yaml(more=["    permanent: {epsilon: 2}"]))).code == 0, "a permanent answer")
permanent(["every: day"], 12, "permanent.epsilon", "is missing", "a permanent answer without an epsilon")
permanent(["epsilon: 0.5"], 13, "permanent.epsilon", "at least the task's epsilon", "less than one report tells")
permanent(["epsilon: 2", "gamma: 0.1"], 14, "permanent.gamma", "leave out the task's epsilon", "gamma beside an epsilon")
problem(yaml((9, None), more=["    permanent: {epsilon: 2, gamma: 0.5}"]), 11, "a", "permanent.gamma", "below 1/2", "gamma 1/2")
permanent(["epsilon: 2", "every: never"], 14, "permanent.every", "a number of days", "reports that never come")
permanent(["epsilon: 2", "every: 5 days"], 11, "end", "end it 4 days earlier", "rounds that do not divide the task")
permanent(["epsilon: 2", "every: 3 days", "renew: week"], 15, "permanent.renew", "divide", "rounds that do not divide a slot")
permanent(["epsilon: 2", "every: week", "renew: week"], 14, "permanent.every", "several rounds", "one round a slot")
permanent(["epsilon: 2", "max_changes: 17"], 14, "permanent.max_changes", "1 to 16", "17 changes")
permanent(["epsilon: 2", "grain: 5"], 14, "permanent.grain", "without bins", "a grain without a range")
permanent(["epsilon: 2", "grain: 7"], 14, "permanent.grain", "", "a grain that does not divide the range", changes=[(8, "    range: [0, 100]")])
permanent(["epsilon: 2", "grain: 0.0000000001"], 14, "permanent.grain", "at most 9 decimals", "a grain finer than the range", changes=[(8, "    range: [0, 100]")])
problem(yaml(more=["    permanent: {epsilon: 2}", "    repeat: daily"]), 13, "a", "repeat", "every and renew", "repeat beside permanent")
problem(yaml(more=["    permanent: {epsilon: 2}", "    answers: 2"]), 13, "a", "answers", "leave it out", "answers beside permanent")
problem(yaml((8, "    values: [x, y]"), more=["    permanent: {epsilon: 2}", "    mechanism: ss"]), 13, "a", "mechanism", "has no permanent answer",
        "a mechanism without one")
problem(yaml((8, "    strings: true"), (9, "    mechanism: rappor"), more=["    set: {f: 0.5, p: 0.25, q: 0.75}", "    permanent: {epsilon: 2}"]), 13, "a",
        "permanent.epsilon", "leave it out", "RAPPOR with an epsilon for its permanent answer")

r = run("tasks", "show", write("t.yaml", yaml((8, "    strings: true"), (9, "    epsilon: 2"), more=["    mechanism: rappor", "    permanent: {}"])), "--format", "json")
ok(r.code == 0 and json.loads(r.out)["tasks"][0]["epsilon_slot"] > 2, "RAPPOR by an epsilon: its permanent answer tells more than a report", r)

# What reports tell, if they are divided among several kept answers; nine values and "other".
NINE = [(8, "    values: [a, b, c, d, e, f, g, h, i]")]


def divided(changes, end="2026-12-22"):
    more = ["    mechanism: grr", "    permanent: {epsilon: 2, max_changes: %d}" % changes]
    return json.loads(must("tasks", "show", write("t.yaml", yaml(*NINE, (11, "    end: " + end), more=more)), "--format", "json"))["tasks"][0]


def told(reports):
    args = ["--domain", "10", "--mechanism", "grr", "--epsilon", "1", "--permanent", "2", "--reports", str(reports)]
    return json.loads(must("account", "longitudinal", *args, "--format", "json"))["exact"] if reports else 0


one, three, more = divided(1), divided(3), divided(7)
told7 = [told(i) for i in range(8)]
want = max(told7[i] + told7[j] + told7[7 - i - j] for i in range(8) for j in range(8 - i))
ok(one["rounds"] == 30 and one["epsilon_slot_exact"] <= 2 and abs(one["epsilon_7"] - told7[7]) < 1e-9, "30 reports from one kept answer tell 2 at most", one)
ok(three["epsilon_slot"] == 6 and 5.99 < three["epsilon_slot_exact"] == three["epsilon_30"] <= 6, "30 from three kept answers tell 6, nearly", three)
ok(abs(three["epsilon_7"] - want) < 1e-9 and one["epsilon_7"] < want < 6, "seven of them %.9f, divided in the worst way" % want, three)
ok(abs(more["epsilon_7"] - 7 * told7[1]) < 1e-9, "seven from seven answers tell seven times one", more)
long = divided(3, "2028-01-05")
ok(long["rounds"] > 400 and 5.99 < long["epsilon_slot_exact"] <= 6, "and more than a year of them 6 at most", long)
two = json.loads(must("tasks", "show", write("t.yaml", yaml(more=["    permanent: {epsilon: 2, max_changes: 3}"])), "--format", "json"))["tasks"][0]
ok(two["keys"] == 2 and 3.99 < two["epsilon_slot_exact"] <= 4, "yes and no have two answers, however many changes there may be", two)

# Two tasks.
SECOND = [l.replace("id: a", "id: b") for l in TASK]
problem(yaml(more=TASK), 12, "a", "id", "task 1 has this id", "an id twice")
problem(yaml(more=SECOND), 12, "b", "", "the same as task 'a'", "the same question to one source twice")

# Warnings.
problem(yaml((9, "    epsilon: 8.5")), 9, "a", "epsilon", "4915 times", "epsilon above 8 is worth a remark", warning=True)
for few in "01":
    problem(yaml(more=["    min_reports: " + few]), 12, "a", "min_reports", "from a single report is shown", "min_reports: %s causes a warning" % few, warning=True)
problem(yaml(more=["    repeat: daily"]), 12, "a", "repeat", "epsilon 364", "fresh answers every day are", warning=True)
permanent(["epsilon: 2", "max_changes: 2"], 14, "permanent.max_changes", "no epsilon bounds", "changes that may show are", warning=True)
permanent(["epsilon: 5", "max_changes: 2"], 14, "permanent.max_changes", "epsilon 10: all reports of all kept answers", "kept answers add up", warning=2)
KEPT = ["    permanent: {epsilon: 2}"]
NAMED = ["    mechanism: rappor", "    permanent: {}"]
for more, line, field, words in ((KEPT, 5, "set.pool-bits", "which of 65536"), (KEPT, 5, "set.pool-bits", "among 1000 devices (min_reports): at most 6,"),
                                 (KEPT + ["    set: {pool-bits: 7}"], 13, "set.pool-bits", "which of 128"),
                                 (KEPT + ["    min_reports: 2"], 5, "set.pool-bits", "at most 1,"),
                                 (KEPT + ["    mechanism: dbitflip", "    set: {sampled-bits: 4}"], 14, "set.pool-bits", "which of 65536"),
                                 (NAMED + ["    set: {cohorts: 101}"], 14, "set.cohorts", "which of 101"),
                                 (NAMED + ["    set: {cohorts: 101}"], 14, "set.cohorts", "at most 100,")):
    kind = "    range: [0, 64]\n    bins: 4" if "dbitflip" in str(more) else "    strings: true"
    problem(yaml((8, kind), more=more), line + (line > 8 and "bins" in kind), "a", field, words, "a kept seed that few devices share is: " + words, warning=True)
for more in (KEPT + ["    set: {pool-bits: 6}"], KEPT + ["    min_reports: 655360"], NAMED, NAMED + ["    set: {cohorts: 100}"], ["    repeat: once"]):
    r = run("tasks", "check", write("t.yaml", yaml((8, "    strings: true"), more=more)))
    ok(r.code == 0 and r.err == "", "one that many share is not: %s" % more, r)

# An answer that is kept should be to a question about what stays.
FROZEN = (("Did you use it yesterday?", "'yesterday'"), ("How many minutes a day?", "'a day'"), ("What is open NOW?", "'now'"), ("Did you see it?", "'did you'"),
          ("Do you,today,use it?", "'today'"), ("Which page did you open last night?", "'last night'"), ("What did it cost this year?", None))
for question, words in FROZEN:
    text = yaml((7, "    question: " + question), more=KEPT)
    if words is None:  # it lasts no longer than that
        ok(run("tasks", "check", write("t.yaml", text)).err == "", "a year is long enough for: " + question)
        continue
    problem(text, 7, "a", "question", words + " asks for what changes", "a question that a kept answer does not fit is: " + question, warning=True)
    problem(text, 7, "a", "question", "sent for 364 days, whatever comes later: ask for what stays", "with what happens", warning=True)
    problem(text, 7, "a", "question", "fresh answers (repeat, no permanent); or renew sooner; or max_changes\n", "and what to do", warning=True)
for question in ("On a usual day, how long?", "Which do you know?", "Do you like Yesterdays?", "Is it snow?", "Candid, you say?"):
    r = run("tasks", "check", write("t.yaml", yaml((7, '    question: "%s"' % question), more=KEPT)))
    ok(r.code == 0 and r.err == "", "one about what stays is not: " + question, r)
for more in (["    repeat: once"], [], ["    permanent: {epsilon: 2, renew: 7 days}"]):
    r = run("tasks", "check", write("t.yaml", yaml((7, "    question: Did it happen this week?"), (9, "    epsilon: 0.1"), more=[m.replace("2,", "0.2, ") for m in more])))
    ok(r.code == 0 and "what changes" not in r.err, "nor one whose answers are fresh, or renewed in time: %s" % more, r)
permanent(["epsilon: 2", "max_changes: 2"], 14, "permanent.max_changes", "no epsilon bounds", "with max_changes only that is said", warning=True, changes=[(7, "    question: Did you today?")])
for file in ("tasks.yaml", "collector/tasks.yaml"):
    r = run("tasks", "check", os.path.join(ROOT, "examples", file))
    ok(r.code == 0 and "what changes" not in r.err, "examples/%s asks for what stays" % file, r)
    shown = json.loads(must("tasks", "show", os.path.join(ROOT, "examples", file), "--format", "json"))["tasks"]
    ok({t["task"]: t["kept_days"] for t in shown}["dark-mode"] >= 3652 and any(t["kept_days"] is None for t in shown), "and says for how long an answer is kept", shown)

problem(yaml((2, "issued: 9999-01-01"), (3, "expires: 9999-02-01"), (11, "    end: 9999-12-31")), 2, "", "issued", "devices accept the document from",
        "a day of issue in the future is", warning=True)
problem(yaml((10, "    start: 2023-11-01"), (11, "    end: 2023-11-30")), 11, "a", "end", "no device answers", "a task that is over already is",
        warning=True)

# What to do stands in the message.
problem(yaml((6, "      source: s")), 6, "", "", "in one column", "a key that is indented too far")
problem(yaml((6, "   source: s")), 6, "", "", "in one column", "a key that is not indented enough")
problem(yaml(more=["    repeat: hourly"]), 12, "a", "repeat", "once, daily, weekly or", "repeat names the words of the documentation")
problem(yaml(more=["    mechanism: rappr"]), 12, "a", "mechanism", "no such mechanism; 'hearsay mechanisms' lists", "an unknown mechanism")
problem(yaml(more=["    mechanism: hh"]), 12, "a", "mechanism", "this kind of question; 'hearsay mechanisms' lists", "a mechanism of another kind")

# Keys.
r = run("tasks", "keygen", "-o", path("k"))
secret, public = open(path("k.secret")).read(), open(path("k.public")).read()
ok(r.code == 0 and stat.S_IMODE(os.stat(path("k.secret")).st_mode) == 0o600, "keygen writes a secret that only its owner reads", r)
ok(re.fullmatch(r"[0-9a-f]{128}\n", secret) and re.fullmatch(r"[0-9a-f]{64}\n", public) and secret[64:128] == public[:64],
   "keys are hexadecimal digits, the public half in both")
r = run("tasks", "keygen", "-o", path("k"))
ok(r.code == 1 and "already exists" in r.err and open(path("k.secret")).read() == secret, "keygen overwrites no secret", r)
write("l.public", "x")
r = run("tasks", "keygen", "-o", path("l"))
ok(r.code == 1 and open(path("l.public")).read() == "x" and not os.path.exists(path("l.secret")), "nor a public key; then there is no secret either", r)
must("tasks", "keygen", "-o", path("n"))
must("tasks", "keygen", "--seal", "-o", path("gate"))
ok(all(re.fullmatch("x25519-%s [0-9a-f]{64}\n" % half, open(path("gate." + half)).read()) for half in ("secret", "public")) and stat.S_IMODE(os.stat(path("gate.secret")).st_mode) == 0o600,
   "keys to seal for begin with what they are")
for key in ("gateway_keys: [%s]", "collector_key: %s"):
    for name, words in (("gate.secret", "gate.secret: this is a secret key; name its .public file"), ("k.public", "k.public: this is a signing key")):
        file = write("slip.yaml", yaml() + "\n" + key % name + "\n")
        for what in (["check", file], ["compile", file, "--key", path("k.secret"), "-o", path("slip")]):
            r = run("tasks", *what)
            ok(r.code == 1 and words in r.err and open(path("gate.secret")).read().split()[1] not in r.err and not os.path.exists(path("slip")),
               "%s refuses %s" % (what[0], key % name), r)
    ok(run("tasks", "check", write("slip.yaml", yaml() + "\n" + key % "gate.public" + "\n")).code == 0, "and takes " + key % "gate.public")

# Compiling and showing.
EXAMPLE = os.path.join(ROOT, "examples", "tasks.yaml")
compile_ = ["tasks", "compile", EXAMPLE, "--key", path("k.secret"), "-o"]
must(*compile_, path("doc"))
must(*compile_, path("again"))
ok(open(path("doc"), "rb").read() == open(path("again"), "rb").read(), "compiling twice gives the same bytes")
both = [json.loads(must("tasks", "show", f, "--format", "json")) for f in (EXAMPLE, path("doc"))]
ok(both[0]["tasks"] == both[1]["tasks"] and len(both[0]["tasks"]) == 6, "the document says what the file said")
issued, expires = (datetime.date.fromisoformat(both[1][k]) for k in ("issued", "expires"))
ok(both[1]["version"] == 1 and (expires - issued).days == 89 and "not checked" in both[1]["signature"],
   "its version and 90 days too; the signature was not asked for")
by = {t["task"]: t for t in both[1]["tasks"]}
ok({t: by[t]["mechanism"] for t in ("dark-mode", "minutes", "homepage")} == {"dark-mode": "rr", "minutes": "onebit", "homepage": "rappor"},
   "permanent answers: rr for a bit, onebit for a mean, rappor as told")
d = by["dark-mode"]
ok(d["epsilon_report"] == 1 and d["epsilon_slot"] == d["epsilon_task"] == 2 and 1 < d["epsilon_7"] < d["epsilon_30"] <= d["epsilon_slot_exact"] <= 2 and d["keys"] == 2,
   "what one, 7, 30 and all reports tell", d)
e = math.exp
p1, p = e(2) / (1 + e(2)), e(1) / (1 + e(1))
p2 = (p + p1 - 1) / (2 * p1 - 1)
want = math.log((p1 * p2**7 + (1 - p1) * (1 - p2)**7) / ((1 - p1) * p2**7 + p1 * (1 - p2)**7))
ok(abs(d["epsilon_7"] - want) < 1e-9, "seven reports tell %.9f, by the formula" % want, d["epsilon_7"])
gamma = math.log((0.9 * p1 + 0.1 * (1 - p1)) / (0.1 * p1 + 0.9 * (1 - p1)))
ok(0 <= gamma - by["minutes"]["epsilon_report"] < 1e-8, "gamma 0.1 on epsilon 2 is epsilon %.9f a report" % gamma, by["minutes"]["epsilon_report"])
ok(by["emoji"]["epsilon_task"] == 7 and by["emoji"]["slots"] == 14, "fresh answers add up")
ok(by["browser"]["values"] == 5, "a list of four has room for other")
r = run("tasks", "show", path("doc"), "--key", path("k.public"), "--format", "json")
ok(json.loads(r.out)["signature"] == "good", "the signature is good", r)
r = run("tasks", "show", path("doc"), "--key", path("n.public"))
ok(r.code == 1 and "not signed by" in r.err and r.out == b"", "another key's is not", r)
for at in (9, 200, -1):
    data = bytearray(open(path("doc"), "rb").read())
    data[at] ^= 1
    r = run("tasks", "show", write("bad", bytes(data)), "--key", path("k.public"))
    ok(r.code == 1 and r.out == b"", "nor a document with byte %d changed" % at, r)
r = run("tasks", "show", write("cut", open(path("doc"), "rb").read()[:-1]))
ok(r.code == 1 and "length" in r.err, "a document cut short is refused", r)
labels = must("tasks", "show", path("doc"), "--labels").decode()
ok(all(w in " ".join(labels.split()) for w in ("You are asked: \"Do you use the dark colours?\"", "at most 2.8 times", "at most 7.4 times", "2026-11-02 to 2027-10-31")) and
   max(map(len, labels.splitlines())) <= 80, "labels in plain words, within 80 columns", labels)
must(*compile_, path("rotated"), "--next-key", path("n.public"))
ok(json.loads(must("tasks", "show", path("rotated"), "--format", "json"))["next_key"] == open(path("n.public")).read().strip(), "the next key stands in the document")


def refuses(args, code, words, sentence):
    r = run("tasks", *args)
    ok(r.code == code and words in r.err and not os.path.exists(path("out")), sentence, r)


os.chmod(path("k.secret"), 0o640)
refuses(["compile", EXAMPLE, "--key", path("k.secret"), "-o", path("out")], 1, "other users can read", "a secret that others can read signs nothing")
os.chmod(path("k.secret"), 0o600)
write("half.secret", "0" * 64 + public)
os.chmod(path("half.secret"), 0o600)
refuses(["compile", EXAMPLE, "--key", path("half.secret"), "-o", path("out")], 1, "not whole", "nor does half a secret")
refuses(["compile", EXAMPLE, "--key", path("k.public"), "-o", path("out")], 1, "this is a public key; name its .secret file", "nor a public key")
refuses(["compile", write("t.yaml", yaml((9, None))), "--key", path("k.secret"), "-o", path("out")], 1, "t.yaml:5:", "an unsound file is not compiled")
refuses(["compile", path("doc"), "--key", path("k.secret"), "-o", path("out")], 1, "already compiled", "nor is a document")
for args, words in ((["compile", EXAMPLE, "-o", path("out")], "needs --key"), (["compile", EXAMPLE, "--key", "k"], "needs --output"), (["check"], "'tasks check' takes FILE"),
                    ([], "check, compile, keygen, sheet or show"), (["chek", EXAMPLE], "did you mean 'tasks check'"), (["keygen", "x", "-o", "y"], "unexpected argument 'x'"),
                    (["check", EXAMPLE, "--labels"], "--labels is only for 'tasks show'"), (["show", EXAMPLE, "x"], "unexpected argument 'x'"), (["keygen", "-o", "-"], "name of a file"),
                    (["show", EXAMPLE, "--labels", "--format", "csv"], "--labels cannot be used with --format")):
    refuses(args, 2, words, "tasks %s" % " ".join(a.split("/")[-1] for a in args))

# The rules of change.
BASE = yaml((8, "    values: [x, y]"), more=["    release: 2", "    repeat: week", "    answers: 3", "    send: 2", "    delay: 1h", "    sample: 1/2"])
must("tasks", "compile", write("base.yaml", BASE), "--key", path("k.secret"), "-o", path("base"))


def change(changes, line, field, words, sentence):
    text = BASE.replace("version: 3", "version: 4")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    r = run("tasks", "check", write("t.yaml", text), "--against", path("base"))
    errors = [l for l in r.err.splitlines() if "warning" not in l]
    if line is None:
        ok(r.code == 0 and not errors, sentence + ": allowed", r)
    else:
        ok(r.code == 1 and len(errors) == 1 and "t.yaml:%d:" % line in errors[0] and " %s:" % field in errors[0] and words in errors[0],
           "%s: line %d, %s" % (sentence, line, field), r)


change([], None, "", "", "a new version of the same")
change([("What is it?", "What was it?"), ("delay: 1h", "delay: 2h"), ("sample: 1/2", "sample: 1/4"), ("2027-11-21", "2027-10-24")], None, "", "",
       "other words, delay and sample, an earlier end")
change([("version: 4", "version: 3")], 1, "version", "must be 4", "the same version again")
change([("issued: 2024-11-18", "issued: 2024-11-17")], 2, "issued", "issued later", "issued before")
change([("release: 2", "release: 1")], 12, "release", "must not decrease", "an earlier release")
NEW = "set 'release: 3'"
change([("[x, y]", "[x, z]")], 8, "values", NEW, "another list")
change([("epsilon: 1", "epsilon: 2")], 9, "epsilon", NEW, "another epsilon")
change([("start: 2026-11-23", "start: 2026-11-30")], 10, "start", NEW, "another start")
change([("end: 2027-11-21", "end: 2027-11-28")], 11, "end", NEW, "a later end")
change([("repeat: week", "repeat: 14 days")], 13, "repeat", NEW, "other slots")
change([("answers: 3", "answers: 4")], 14, "answers", NEW, "more answers")
change([("send: 2", "send: 3")], 15, "send", NEW, "more uploads")
change([("values: [x, y]", "values: [x, z]"), ("release: 2", "release: 3"), ("epsilon: 1", "epsilon: 2")], None, "", "", "a new release may change all of it")
change([("source: s.a", "source: s.b"), ("release: 2", "release: 3")], 6, "source", "its own id", "but not the source")
change([("id: a", "id: b")], None, "", "", "a task may go, another come")
r = run("tasks", "check", write("t.yaml", yaml()), "--against", EXAMPLE)
ok(r.code == 1 and "not a task document" in r.err, "what is in force is a document", r)

# --task.
stream = must("randomize", "--task", EXAMPLE + ":browser", stdin="Firefox\nLynx\n")
again = must("randomize", "--values", "Firefox,Chrome,Safari,Edge,other", "--epsilon", "ln3", "--mechanism", "grr", stdin="Firefox\nother\n")
ok(stream[:64 + 384] == again[:64 + 384] and len(stream) == len(again), "--task asks as the options would; what is not listed is other")
ok(must("randomize", "--task", path("doc") + ":browser", stdin="Firefox\nLynx\n")[:448] == stream[:448], "the compiled document asks the same")
r = run("randomize", "--task", path("doc") + ":memory", "--json", stdin="-5\n1000\n")
ok(r.code == 0 and len(r.out.splitlines()) == 4, "a number outside the range counts as its end", r)
r = run("randomize", "--task", EXAMPLE + ":dark-mode", "--json", stdin="yes\n")
ok(r.code == 0 and "no permanent answer is kept" in r.err, "a note says that no permanent answer is kept", r)
ok(run("audit", "--task", EXAMPLE + ":browser", "--samples", "10000", "--seed", "1").code == 0, "audit takes a task")
r = run("audit", "--task", EXAMPLE + ":dark-mode", "--samples", "10000", "--seed", "1")
ok(r.code == 0 and "this is about one report" in r.err and "hearsay tasks show" in r.err, "and says that it is about one report", r)
ok(b"auto chooses ss" in must("mechanisms", "--task", EXAMPLE + ":memory"), "mechanisms takes a task")
for args, code, words in ((["--task", EXAMPLE], 2, "FILE:ID"), (["--task", EXAMPLE + ":"], 2, "FILE:ID"), (["--task", EXAMPLE + ":nonesuch"], 1, "no task 'nonesuch'"),
                          (["--task", path("none") + ":x"], 1, "No such file"), (["--task", EXAMPLE + ":browser", "--epsilon", "1"], 2, "--task cannot be used with --"),
                          (["--task", EXAMPLE + ":browser", "--values", "a,b"], 2, "--task cannot be used with --"), (["--task", EXAMPLE + ":browser", "--mechanism", "grr"], 2, "--task cannot be used with --"),
                          (["--task", EXAMPLE + ":browser", "--set", "g=3"], 2, "--task cannot be used with --"), (["--task", EXAMPLE + ":browser", "--clip"], 2, "--task cannot be used with --")):
    r = run("randomize", *args, "-o", path("out"), stdin="Firefox\n")
    ok(r.code == code and words in r.err and not os.path.exists(path("out")), "randomize %s" % " ".join(a.split("/")[-1] for a in args), r)

done()
