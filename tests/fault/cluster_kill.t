#!/usr/bin/python3 -B
"""Two collectors on a primary with a synchronous standby: any of the four is
killed at random moments, under load. A primary that dies is followed by its
standby, and comes back as the other's. Nothing acknowledged is lost, nothing is
counted twice, and every answer is right.

HSY_TEST_LONG=1: 500 rounds; HSY_TEST_CYCLES for another number."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from many import *

needs_postgres()
ROUNDS = int(os.environ.get("HSY_TEST_CYCLES") or (500 if LONG else 5))
ROUND, MOST = 300, 2500  # acknowledged until something is killed; begun until the next
FIRST = ["primary", "standby", "node", "primary and node", "standby and node"]  # then at random


def kill(what):
    """Kill, and mend."""
    global primary, standby
    victim = rng.choice(nodes)
    if "node" in what:
        victim.kill()
        victim.public = None
    if "primary" in what:
        primary.kill9()
        standby.promote()
        primary, standby = standby, primary
    if "standby" in what:
        standby.kill9()
        time.sleep(rng.uniform(0, 0.1))
        standby.start()
        standby.in_step()
    if "node" in what:
        victim.start()
    if "primary" in what:
        if rng.random() < 0.5:
            crowd.more(1)  # it goes on alone meanwhile
        standby.rebuild(primary)


rng = random.Random(SEED)
primary = postgres.Postgres("a")
standby = primary.standby("b")
nodes = nodes_on([postgres.url(primary, standby)], 2, cells("cells", 2 * MOST * ROUNDS))
crowd = Crowd(nodes)
killed = collections.Counter()
for i in range(ROUNDS):
    crowd.more(rng.randint(1, ROUND), most=MOST)
    time.sleep(rng.uniform(0, 0.02))
    what = FIRST[i] if i < len(FIRST) else rng.choice(FIRST)
    before = len(crowd.acked)
    kill(what)
    killed[what] += 1
crowd.more(100)
crowd.rest()
exact(crowd, nodes[0], [primary], "%d kills (%s)" % (ROUNDS, ", ".join("%s %d" % k for k in sorted(killed.items()))))
ok(len(crowd.acked) > 100 and crowd.doubts and crowd.again and crowd.refused, "control: there was load, doubt, and all kinds of devices", dict(crowd.statuses))
ok(nodes[1].settled("cells", books([primary])[0]) == nodes[0].settled("cells", books([primary])[0]), "both nodes show the same")
ok([n.stop() for n in nodes] == [0, 0], "they stop on request", nodes[0].said())
done()
