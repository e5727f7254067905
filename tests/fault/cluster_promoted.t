#!/usr/bin/python3 -B
"""A standby is promoted while the old primary lives and every node is connected to
it. Replication is asynchronous, so nothing but the timeline says which server's
commits will last: the nodes have to notice, although their connections work."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from many import *

needs_postgres()


def fresh(n=10):
    """Uploads that nobody has sent."""
    global cell
    first, cell = cell, cell + n
    return [nodes[0].task["cells"].upload([c]) for c in range(first, first + n)]


def lasting(node, wires):
    """Send until acknowledged."""
    return node.until(lambda: node.upload(wires)[0] == 204)


def ids(server):
    return books([server])[2]


def timelines():
    """The highest timeline that each node knows."""
    return [[int(line.split()[-1]) for line in node.get("/metrics")[1].decode().splitlines() if line.startswith("hearsay_shard_timeline{")] for node in nodes]


def waiting_for(server, n):
    postgres.until(lambda: ids(server) == n, lambda: "%s has %d ids, not %d" % (server.name, ids(server), n))


cell = 0
a = postgres.Postgres("a")
b = a.standby("b", synchronous=False)
nodes = nodes_on([postgres.url(a, b)], 2, cells("cells", 1000))
ok(all(lasting(node, fresh()) for node in nodes) and ids(a) == 20, "two nodes count in the primary", ids(a))
waiting_for(b, 20)
ok(timelines() == [[1], [1]], "both know its timeline", timelines())

b.promote()
ok(a.sql("select pg_is_in_recovery()") == b.sql("select pg_is_in_recovery()") == "f", "two servers call themselves primary, and both answer")
ok(all(node.until(lambda: timelines()[i] == [2]) for i, node in enumerate(nodes)), "both nodes notice the promotion, without an upload and while their connections work",
   timelines())
before = ids(a)
ok(all(lasting(node, fresh()) for node in nodes), "both nodes go on", [node.said() for node in nodes])
ok(ids(b) == 40 and ids(a) == before == 20, "what they acknowledge from then on is with the server that was promoted", (ids(a), before, ids(b)))
a.kill9()
got = tallied(nodes[0], 40)
ok(set(got.values()) == {1} and len(got) == cell, "nothing is lost when the old primary goes, and nothing is doubled", len(got))
ok(lasting(nodes[1], fresh()) and ids(b) == cell, "the end of the old primary changes nothing", (ids(b), cell))
ok([node.stop() for node in nodes] == [0, 0], "the nodes end on request", nodes[0].said())
done()
