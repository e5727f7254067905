#!/usr/bin/python3 -B
"""etcd, two PostgreSQL under Patroni and two collectors: the primary is killed when
Patroni shows a synchronous standby, under load, and the other takes over by
itself. Nothing acknowledged is lost, nothing is counted twice.

`make crash-cluster` does it a hundred times, with machines and zombies."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from many import *
import cluster

if cluster.why_not():
    skip_all(cluster.why_not())
from patroni import *

rounds = Rounds(1)
rounds.process()
rounds.crowd.more(400)  # of each kind of device there is one, but for one run in 10^9
rounds.ends("a primary under Patroni is killed")
ok(rounds.crowd.again and rounds.crowd.refused, "control: there was load", dict(rounds.crowd.statuses))
rounds.whole.down()
done()
