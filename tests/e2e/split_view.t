#!/usr/bin/python3 -B
"""A collector that gives one device another document than everybody else learns
nothing from that device: shufflers open no envelope that was made under other
terms than their own document's. The target sends a report, 600 others, whose
document samples them out, send null uploads."""

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
done()
