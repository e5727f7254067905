#!/usr/bin/python3 -B
"""Connections to the database are cut around COMMIT: before it reaches the server,
once it is sent, after the server has answered; and after any message or byte.
What nobody can know is answered with 503, or not at all, and the same bytes again
find out. Several shards, so that one that is left alone for a moment after a cut
does not hold up the others.

HSY_TEST_LONG=1: 100,000 cuts; HSY_TEST_CYCLES for another number."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from many import *
from cut_proxy import *

needs_postgres()
CUTS = int(os.environ.get("HSY_TEST_CYCLES") or (100000 if LONG else 500))
SHARDS, NODES = 8, 3
AROUND = {BEFORE: 2, AFTER: 2, SENT: 2, MESSAGES: 1, BYTES: 1}

server = postgres.Postgres("cut", max_connections=SHARDS * (NODES + 1) * 4)
names = ["hearsay"] + ["shard%d" % i for i in range(1, SHARDS)]
for name in names[1:]:
    server.database(name)
proxy = CutProxy(server.address, SEED, AROUND, commits=2, bytes=3000, messages=20)
proxy.rest()
through = ["postgresql://hearsay@%s:%d/%s" % (*proxy.address, name) for name in names]
nodes = nodes_on(through, NODES, cells("cells", 40 * CUTS), started=False, init=[server.url(database=name) for name in names])
for node in nodes:
    node.start()
crowd = Crowd(nodes, devices=12)
crowd.more(100)
proxy.cutting = True
end = time.monotonic() + DEADLINE * max(1, CUTS // 500)
while sum(proxy.cuts.values()) < CUTS and time.monotonic() < end:
    time.sleep(0.02)
proxy.rest()
crowd.rest()
exact(crowd, nodes[0], [(server, name) for name in names], "%d cuts (%s)" % (sum(proxy.cuts.values()), ", ".join("%s %d" % c for c in sorted(proxy.cuts.items()))))
ok(sum(proxy.cuts.values()) >= CUTS and set(proxy.cuts) == set(AROUND), "control: there were so many cuts, of every kind", proxy.cuts)
ok([n.stop() for n in nodes] == [0] * NODES, "they stop on request", nodes[0].said())
done()
