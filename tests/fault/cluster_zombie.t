#!/usr/bin/python3 -B
"""Who must not acknowledge: a primary that is frozen, one that is cut off from its
standby, one that wakes up when another was promoted; a commit whose wait for the
standby was cancelled; an upload that was there already while no standby has it.
Nothing here hangs on time: what is held back is held back until it is let go."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from many import *
from cut_proxy import CutProxy

needs_postgres()


class Asked(threading.Thread):
    """A request that may wait long for its answer."""

    def __init__(self, node, wires):
        super().__init__(daemon=True)
        self.node, self.wires, self.status = node, wires, "none yet"
        self.start()

    def run(self):
        try:
            self.status = self.node.upload(self.wires)[0]
        except Gone:
            self.status = None

    def answer(self):
        self.join(DEADLINE)
        return self.status


def fresh(n=1):
    """Uploads that nobody has sent."""
    global cell
    first, cell = cell, cell + n
    return [nodes[0].task["cells"].upload([c]) for c in range(first, first + n)]


def lasting(node, wires):
    """Send until acknowledged."""
    if not node.until(lambda: node.upload(wires)[0] == 204):
        raise SystemExit("Bail out! an upload is never acknowledged: " + node.said())


def waits(server):
    """The sessions that have asked for ids and whose commit waits for a standby."""
    return server.sql("select distinct a.pid from pg_stat_activity a join pg_locks l on l.pid = a.pid join pg_class c on c.oid = l.relation "
                      "where a.wait_event = 'SyncRep' and c.relname like 'ids\\_%'", database="hearsay").split()


def held(node, wires, server):
    """Send until the commit waits, which it does until something is done."""
    while True:
        asked = Asked(node, wires)
        while asked.status == "none yet":
            if waits(server):
                return asked
        if asked.status != 503:  # it was left alone for a moment
            return asked


def ids(server):
    return books([server])[2]


cell = 0
a = postgres.Postgres("a")
to_a = CutProxy(a.address, moments={})  # between the primary and its standby
b = a.standby("b", via=to_a.address)
nodes = nodes_on([postgres.url(a, b)], 1, cells("cells", 1000))
node = nodes[0]
lasting(node, fresh(20))

# ---- A wait that is cancelled looks like a commit (trap 1) -------------------------------

for how in ("pg_cancel_backend", "pg_terminate_backend"):
    b.freeze()
    before, wires = ids(a), fresh(3)
    asked = held(node, wires, a)
    while asked.status == "none yet":
        for pid in waits(a):
            a.sql("select %s(%s)" % (how, pid))
        asked.join(0.02)
    ok(asked.status == 503, "%s while a commit waits for the standby: it is not acknowledged" % how, asked.status)
    ok(ids(a) == before + 3, "though it is there to be seen", (ids(a), before))
    again = held(node, wires, a)
    ok(again.status in ("none yet", 503), "the same again is not acknowledged while the standby is down (trap 2)", again.status)
    b.thaw()
    lasting(node, wires)
    ok(again.answer() in (204, 503) and ids(a) == before + 3, "with the standby it is, and counted once", (again.status, ids(a)))
    b.in_step()

# ---- Cut off from the standby --------------------------------------------------------------

to_a.freeze()
wires = fresh(5)
asked = held(node, wires, a)
ok(asked.status in ("none yet", 503), "a primary that is cut off from its standby acknowledges nothing")
b.promote()
# Now a is a zombie: it calls itself primary, and the node is connected to it.
ok(a.sql("select pg_is_in_recovery()") == b.sql("select pg_is_in_recovery()") == "f", "two call themselves primary")
second = Node("second", nodes[0])
second.start()
status = second.upload(fresh(5))[0]
ok(status == 204, "a node that is started beside a zombie goes to the promoted one at once", status)
ok(second.stop() == 0, "it stops on request", second.said())
ok(asked.status in ("none yet", 503), "the zombie acknowledges nothing", asked.status)
a.rebuild(b)  # b leads, a follows
ok(asked.answer() == 503, "when it dies neither", asked.status)
lasting(node, wires)
ok(ids(b) == cell, "the same again is counted by the promoted one", (ids(b), cell))

# ---- Frozen, and thawed when another was promoted ---------------------------------------------

lasting(node, fresh(5))
b.freeze()
wires = fresh(5)
asked = Asked(node, wires)
ok(asked.status in ("none yet", 503), "a frozen primary acknowledges nothing", asked.status)
a.promote()
third = Node("third", nodes[0])
third.start()
status = third.upload(wires)[0]
ok(status == 204 and ids(a) == cell, "a node that is started beside it goes to the promoted one", (status, ids(a), cell))
b.thaw()
ok(b.sql("select pg_is_in_recovery()") == "f", "thawed it still calls itself primary")
old = books([a])
fourth = Node("fourth", nodes[0])
fourth.start()
last = [(n, fresh(4)) for n in (node, third, fourth)]
for n, wires in last:
    lasting(n, wires)
ok(books([a])[2] == old[2] + 12, "what all nodes acknowledge is with the promoted one", (books([a]), old))
got = tallied(third, books([a])[0])
b.kill9()
ok(sum(got.values()) == books([a])[0] == books([a])[2] == cell and set(got.values()) == {1}, "and is all there is: nothing lost, nothing doubled", (sum(got.values()), books([a]), cell))
lasting(node, fresh(1))
ok(books([a])[2] == cell, "the zombie's end changes nothing")
ok([n.stop() for n in (node, third, fourth)] == [0] * 3, "they stop on request", node.said())
done()
