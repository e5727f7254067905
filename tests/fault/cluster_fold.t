#!/usr/bin/python3 -B
"""Nodes fold what all of them count, and are killed while they do: each before one
of the calls by which it speaks, to its database or to devices, whichever comes at
a number that is drawn. Every report is in the tally once in the end, and tally,
counts and ids agree.

A rehearsal, whose nodes look at their databases all the time. HSY_TEST_LONG=1:
5,000 kills; HSY_TEST_CYCLES for another number."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from machine import *
from many import *

needs_postgres()
KILLS = int(os.environ.get("HSY_TEST_CYCLES") or (5000 if LONG else 50))
NODES, CALLS = 3, 250  # killed at one of so many calls

server = postgres.Postgres("fold", max_connections=100)
clock = write("clock", date(DAY) + "\n")
nodes = nodes_on([server.url()], NODES, cells("cells", 200 * KILLS), started=False, rehearsal=clock, sandbox="off")
rng = random.Random(SEED)


class Doomed:
    """A node that is started again whenever it was killed."""

    def __init__(self, node, number):
        self.node, self.machine, self.armed = node, Machine("machine%d" % number), False
        self.start()

    def start(self):
        self.armed = False
        self.machine.well()
        self.node.launch(env=self.machine.env)

    def look(self, arm):
        """Arm it once it is ready; whether it was killed, and is started again."""
        if self.node.process.poll() is not None:
            self.node.public = None
            self.node.kill()
            if not self.armed and UNREACHABLE not in self.node.said():
                raise SystemExit("Bail out! the collector does not start: " + self.node.said())
            self.start()
            return True
        if arm and not self.armed and self.node.ready():
            self.machine.strike(KILL, rng.randrange(CALLS), SENDS)
            self.armed = True
        return False


doomed = [Doomed(node, i) for i, node in enumerate(nodes)]
crowd = Crowd(nodes)
kills = 0
while kills < KILLS:
    kills += sum(d.look(True) for d in doomed)
    time.sleep(0.001)
for d in doomed:
    d.machine.well()
postgres.until(lambda: not sum(d.look(False) for d in doomed) and all(n.ready() for n in nodes), "not all come back")
rounds = int(server.sql("select round from hearsay.folds", database="hearsay"))
crowd.more(50)
crowd.rest()
exact(crowd, nodes[0], [server], "%d kills of nodes that fold, %d folds" % (kills, rounds))
ok(kills >= KILLS and rounds > KILLS // 10, "control: nodes were killed, and folded", (kills, rounds))
ok([n.stop() for n in nodes] == [0] * NODES, "they stop on request", nodes[0].said())
done()
