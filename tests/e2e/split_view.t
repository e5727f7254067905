#!/usr/bin/python3 -B
"""A collector that gives one device another document than everybody else learns
nothing from that device: shufflers open no envelope that was made under other
terms than their own document's. The target sends a report, 600 others, whose
document samples them out, send null uploads. Nor does a new release, which the
others' answers are not given under, leave the report of a newcomer alone."""

from chain import *

OTHERS, TARGET = 600, 9
TASK = "range: [0, %d]; bins: %d; epsilon: 16; mechanism: grr; repeat: daily" % (CELLS, CELLS)


ALL, SAMPLED = "", "; sample: 1/2"  # added to the task


def arrive(name, hops, target, others):
    """A chain whose first shuffler has taken the uploads of all, and the documents (ALL or SAMPLED) of shufflers and collector, of the target, of the others."""
    c = Chain(shufflers=2, min_batch=OTHERS, max_wait=1, name=name, start=False)
    documents = {ALL: c.name("all.signed"), SAMPLED: c.name("sampled.signed")}
    for words, file in documents.items():
        os.rename(c.document(TASK + words), file)
    c.signed = documents[hops]
    for party in c.parties:
        party.configure()
        party.start()
    rest = c.uploads([None if others == SAMPLED else cell for cell in range(100, 100 + OTHERS)], document=documents[others])
    report = c.uploads([TARGET], document=documents[target])
    status, body = c.send(rest[:OTHERS // 2] + report + rest[OTHERS // 2:])
    ok(status == 204, name + ": 601 uploads are acknowledged", body)
    return c


def counted(c):
    row = c.collector.get("/v1/tasks/veiled")[1]["live"]
    return row["reports"], row["nulls"]


c = arrive("one document", ALL, ALL, ALL)
c.at(c.day + 1, 7)
ok(c.collector.until(lambda: counted(c) == (OTHERS + 1, 0)), "one document: all reports are counted", counted(c))
for party in c.parties:
    party.stop()

c = arrive("the others' document", SAMPLED, ALL, SAMPLED)
c.at(c.day + 1, 7)
ok(c.collector.until(lambda: counted(c)[1] == OTHERS), "the shufflers have the others' document: their null uploads are counted", counted(c))
ok(counted(c) == (0, OTHERS), "and no report of the target", counted(c))
for party in c.parties:
    party.stop()

c = arrive("the target's document", ALL, ALL, SAMPLED)
first = c.shufflers[0]
for days in (1, 2, 3):
    c.at(c.day + days, 7)
    decided = lambda: {day: state for (day, _), (state, _) in first.batches().items()}.get(date(c.day + days - 1)) in ("waiting", "erased")
    ok(first.until(decided), "the shufflers have the target's document: its report alone opens, and leaves in no batch of day %d" % days, first.batches())
ok(counted(c) == (0, 0) and not c.shufflers[1].batches(), "so that no report arrives", counted(c))
for party in c.parties:
    party.stop()

# ---- A new release, after everybody but a newcomer has answered ----

def device(c, name, document, cell):
    """A new device that answers today."""
    must("device", "init", c.name(name), "--document", document, "--public-key", c.name("author.public"), "--source", "test.veiled=16,16,64", "--day", 16,
         "--lifetime", 64, "--now", date(c.day))
    must("device", "consent", c.name(name), "send", "--now", date(c.day))
    answer(c, name, c.day, cell)


def answer(c, name, day, cell):
    must("device", "answer", c.name(name), "veiled", "--now", date(day), stdin=b"%d\n" % cell)


def send(c, names, day):
    """Send all that is due at noon: the number of uploads."""
    c.at(day, 12)
    c.shufflers[0].until(lambda: c.shufflers[0].get("/v1/status")[1]["day"] == date(day))
    found = [json.loads(must("device", "send", c.name(name), c.url(0), "--spread", "0", "--now", date(day), "--format", "json"))["sent"] for name in names]
    return sum(found)


def new_release(what, before, after):
    """A release that replaces some words of the task by others."""
    c = Chain(shufflers=2, min_batch=5, max_wait=3, name=what.replace(" ", "-"))
    today, release_1 = c.day, c.signed
    c.signed = c.name("second.signed")
    for i in range(2):
        c.statement(i, release=2, output=c.name("r%d.statement" % (i + 1)))
    with open(c.name("second.yaml"), "w") as f:
        f.write(re.sub(r"\bs([12])\.statement", r"r\1.statement", open(c.name("tasks.yaml")).read()).replace("version: 1", "version: 2")
                .replace("    start:", "    release: 2\n    start:").replace(before, after))
    must("tasks", "compile", c.name("second.yaml"), "--key", c.name("author.secret"), "-o", c.signed)
    for party in c.parties:
        party.configure()
        party.process.send_signal(signal.SIGHUP)
        ok(party.until(lambda: "note reloaded" in party.said()), what + ": a party loads its document", party.said())
    everybody = ["device%d" % i for i in range(6)]
    for i, name in enumerate(everybody):
        device(c, name, release_1, 200 + i)
        must("device", "take", c.name(name), c.signed, "--now", date(today))
        must("device", "tasks", c.name(name), "--now", date(today))  # admits the new release
    device(c, "newcomer", c.signed, TARGET)
    ok(send(c, everybody + ["newcomer"], today + 1) == 1, what + ": only the newcomer sends on its first day")
    for i, name in enumerate(everybody + ["newcomer"]):
        answer(c, name, today + 1, 300 + i)
    c.at(today + 2, 7)
    ok(c.shufflers[0].until(lambda: c.shufflers[0].batches().get((date(today + 1), 0)) == ("waiting", 1)), what + ": the newcomer's report waits for others", c.shufflers[0].batches())
    ok(counted(c) == (0, 0), what + ": nothing is counted of its first day", counted(c))
    ok(send(c, everybody + ["newcomer"], today + 2) == 7, what + ": all send on its second day")
    c.at(today + 3, 7)
    ok(c.collector.until(lambda: counted(c)[0] == 8), what + ": all reports are counted in one batch", [counted(c), c.shufflers[0].batches()])
    for party in c.parties:
        party.stop()


new_release("a new release", "    start:", "    delay: 5h\n    start:")
new_release("a new release with a smaller epsilon", "epsilon: 16", "epsilon: 8")
done()
