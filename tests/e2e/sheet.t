#!/usr/bin/python3 -B
"""tasks sheet: its numbers are those of `tasks show`, relays and shufflers are
named where a document has them, what it cannot know is a marked blank, and
docs/deployment-sheet.md quotes it."""

from decimal import Decimal

from e2e import *

EXAMPLE = os.path.join(ROOT, "examples", "tasks.yaml")
BLANK = r"\[ [^\]]+ \]"


def sheet(*words):
    r = run("tasks", "sheet", *words)
    ok(r.code == 0 and r.err == "", "tasks sheet " + " ".join(os.path.basename(w) for w in words), r)
    return r.out.decode()


def section(text, title):
    return re.search(r"^## %s\n(.*?)(?=^## |\Z)" % re.escape(title), text, re.M | re.S).group(1)


def table(text, title, nth=0):
    """Rows of a section's table by their first cell, without the head."""
    found = re.findall(r"(?:^\|.*\n)+", section(text, title), re.M)[nth]
    rows_ = [re.split(r" \| ", line[2:-2]) for line in found.splitlines()]
    return {row[0]: row[1:] for row in rows_[2:]}


def shown(file):
    return json.loads(must("tasks", "show", file, "--format", "json").decode(), parse_float=Decimal)["tasks"]


def number(cell):
    return Decimal(cell.split(" ")[0])


def agrees(text, file):
    """Every number of the sheet is that of `tasks show`."""
    tasks = shown(file)
    asked, prices = table(text, "What is asked"), table(text, "What it can tell about a person")
    kept = table(text, "What is kept, and for how long", 1)
    wrong = []
    for t in tasks:
        name, price = t["task"], prices[t["task"]]
        want = (t["epsilon_report"], t["epsilon_slot"], t["slots"], t["epsilon_task"])
        if (number(price[0]), number(price[2]), int(price[3]), number(price[4])) != want:
            wrong.append((name, price, want))
        if t["epsilon_slot_exact"] is None:
            wrong += [price] * (price[1] != "none is kept")
        elif not t["epsilon_slot_exact"] <= number(price[1]) * t["max_changes"] == t["epsilon_slot"]:
            wrong.append((name, price[1], t["epsilon_slot_exact"]))
        if asked[name][2] != "%s to %s" % (t["start"], t["end"]) or asked[name][4] != t["mechanism"] or asked[name][0] != t["source"]:
            wrong.append((name, asked[name]))
        if t["kept_days"] is not None and kept[name][0] != "%d days" % t["kept_days"]:
            wrong.append((name, kept[name]))
    ok(not wrong and len(prices) == len(tasks), "its numbers are those of 'tasks show'", wrong)
    life, sums = table(text, "For life"), {}
    for t in tasks:
        sums[t["source"]] = sums.get(t["source"], 0) + t["epsilon_task"]
    ok({s: number(life[s][1]) for s in sums} == sums and number(life["all together"][1]) == sum(sums.values()), "a source's sum is that of its tasks", life)


# ---- A tasks.yaml, and the document made of it ---------------------------------------

text = sheet(EXAMPLE)
agrees(text, EXAMPLE)
labels = " ".join(must("tasks", "show", EXAMPLE, "--labels").decode().split())
told = section(text, "What people are told")
ok(all(" ".join(p.split()) in labels for p in re.split(r"\n+### .*\n+", told) if p.strip()) and told.count("###") == 6, "people are told what the labels say", told)
ok("| relay | none" in text and "| shufflers | none |" in text and "epsilon_central" not in text, "without relay and shufflers it says so")
for what in ("operator of the collector", "data-protection officer", "purpose and legal basis", "people asked", "backups", "outside hearsay"):
    ok(re.search(r"^\| %s \|.*%s \|$" % (what, BLANK), text, re.M) is not None, "the sheet leaves a blank: " + what)
ok(re.search(r"writes 10 and 20 unless told \]", text) is not None, "and one for the caps of a program, beside those of 'device init'")

keys = set(re.findall(r"`([a-z]+_(?:seconds|days))`", text))
manual = open(os.path.join(ROOT, "docs", "man", "hearsay.yaml.5")).read()
ok(len(keys) == 3 and all(".It Cm %s\n" % k in manual for k in keys), "blanks that name keys of hearsay.yaml name such that there are", keys)

must("tasks", "keygen", "-o", path("k"))
must("tasks", "keygen", "-o", path("other"))
must("tasks", "compile", EXAMPLE, "--key", path("k.secret"), "-o", path("tasks.signed"))
same = sheet(path("tasks.signed"), "--key", path("k.public"))
ok(same.replace("| signature | good |", "| signature | none yet: a tasks.yaml |") == text, "a signed document has the same sheet, but for its signature")
ok("| signature | not checked" in sheet(path("tasks.signed")), "which is not checked without a key")
r = run("tasks", "sheet", path("tasks.signed"), "--key", path("other.public"))
ok(r.code == 1 and r.out == b"" and "not signed by the key" in r.err, "another's signature is refused", r)
r = run("tasks", "sheet")
ok(r.code == 2 and "takes FILE|DOCUMENT" in r.err, "a file is wanted", r)
r = run("tasks", "sheet", EXAMPLE, "--labels")
ok(r.code == 2 and "--labels is only for 'tasks show'" in r.err, "and nothing that does not go with it", r)
r = run("tasks", "sheet", write("bad.yaml", "version: 1\ntasks:\n  - id: a\n"))
ok(r.code == 1 and r.out == b"" and "bad.yaml:" in r.err, "a file that is wrong has no sheet", r)
if os.path.exists("/dev/full"):
    with open("/dev/full", "wb") as full:
        ok(run("tasks", "sheet", EXAMPLE, stdout=full).code == 1, "a full disk is noticed")

# ---- Relay, shufflers, changes, a hostile question -------------------------------------

for pair in ("gate", "seal"):
    must("tasks", "keygen", "--seal", "-o", path(pair))
for place, who in ((1, "Acme <Trust> | Geneva"), (2, "Example University")):
    must("shuffle", "keys", "-o", path("s%d" % place))
    must("shuffle", "statement", "steps", "--place", place, "--of", 2, "--min-batch", 500, "--max-wait", 2, "--close-after", "6h", "--operator", who,
         "--sign-key", path("s%d-sign.secret" % place), "--seal-key", path("s%d-seal.public" % place), "--from", "2026-12-01", "--until", "2027-11-30",
         "-o", path("s%d.statement" % place))
SHUFFLED = """version: 7
issued: 2026-11-20
expires: 2099-12-31
relay: https://relay.example/ohttp
gateway_keys: [gate.public]
collector_key: seal.public
tasks:
  - id: steps
    source: health.steps
    question: "How many? a|b <img src=x> `c` [d](e)"
    values: [few, some, many]
    epsilon: 2
    mechanism: grr
    repeat: once
    start: 2026-12-01
    end: 2026-12-31
    model: shuffled
    shufflers: [s1.statement, s2.statement]
    min_batch: 500
    max_wait: 2
    close_after: 6h
    delta: 1e-8
  - id: mood
    source: health.mood
    question: How are you?
    yes-no: true
    epsilon: 1
    permanent: {epsilon: 2, every: day, renew: 30d, max_changes: 2}
    start: 2026-12-01
    end: 2026-12-30
    relay: required
"""
file = write("shuffled.yaml", SHUFFLED)
text = sheet(file)
agrees(text, file)
(steps, mood), batch = shown(file), table(text, "Shuffled tasks")
ok(number(batch["steps"][3]) == steps["epsilon_central"] and int(batch["steps"][1]) == 500 == steps["min_batch"] and Decimal(batch["steps"][4]) == steps["delta"] and "mood" not in batch,
   "a shuffled task has epsilon_central, delta and its batch", batch)
ok(batch["steps"][0] == "Acme \\<Trust\\> \\| Geneva, then Example University", "and who runs its shufflers", batch)
ok("| relay | https://relay.example/ohttp, run by [ name" in text, "the relay is named, its operator a blank")
seen = table(text, "Who sees what")
ok("first shuffler" in seen and "relay" in seen and "addresses" in seen["collector"][1] and "which upload" in seen["collector, of shuffled tasks"][1],
   "who sees what follows the document", seen)
ok("unless the\ncollector and all shufflers of a task work together" in text, "and so does whom to trust")
ok("no epsilon bounds that" in section(text, "What it can tell about a person"), "changes that may show are said")
ok(table(text, "What is asked")["steps"][1] == r"How many? a\|b \<img src=x\> \`c\` \[d\](e)", "a question is words, not Markdown", text)
ok("2 days, then erased" in text, "small batches wait as long as the task says")

# ---- The page --------------------------------------------------------------------------

page = open(os.path.join(ROOT, "docs", "deployment-sheet.md")).read()
quoted = re.findall(r"^```markdown\n(.*?)^```$", page, re.M | re.S)
text = sheet(EXAMPLE)
ok(len(quoted) >= 2 and all(q in text for q in quoted), "docs/deployment-sheet.md quotes the sheet of examples/tasks.yaml", [q for q in quoted if q not in text])
titles = re.findall(r"^## (.*)$", text, re.M)
ok([t for t in titles if t in re.findall(r"^### (.*)$", page, re.M)] == titles, "and explains each of its sections", titles)
done()
