"""patroni.py - a whole cluster under Patroni (tests/rig/cluster.py), a crowd before
its collectors, and the ways in which a primary is lost. Every loss waits until
Patroni shows a synchronous standby: only then has it somebody to promote."""

import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from many import *
import cluster

MOST = 800  # reports that are begun from one loss to the next
PROCESS, MACHINE, ZOMBIE = "process", "machine", "zombie"


class Member(Collector):
    """A collector of the cluster."""

    def __init__(self, whole, name, task, operator):
        self.whole, self.name, self.task, self.operator = whole, name, task, operator
        self.public, self.admin = whole.public(name), whole.admin(name)

    def said(self):
        return self.whole.said(self.name, "hearsay")

    def get(self, path_, token=None):
        return super().get(path_, token or self.operator)


class Rounds:
    def __init__(self, rounds):
        paper = Collector("paper", cells("cells", 3 * MOST * (rounds + 2)))
        self.whole = cluster.Cluster(document=paper.config["document"], public_key=paper.config["public_key"], grace_days=3, snapshot_seconds=0,
                                     estimate_seconds=3600)
        self.whole.enter()  # who is started from here on is in its network
        operator = must("serve", "token", "add", "o", "--role", "operator", "--storage", self.whole.url()).decode().strip()
        self.nodes = [Member(self.whole, name, paper.task, operator) for name in self.whole.nodes]
        self.crowd = Crowd(self.nodes)
        self.times = collections.defaultdict(list)  # seconds, by what happened
        self.rng = random.Random(SEED)

    def load(self):
        """Until there is something to lose, and who takes over; (primary, standby)."""
        self.whole.wait_sync()
        self.crowd.more(self.rng.randint(50, 200), most=MOST)
        who = self.whole.wait_sync()
        self.crowd.limit = self.crowd.next + MOST
        return who

    def resumes(self, what):
        """Note how long it takes from now until an upload is acknowledged that is sent from now on."""
        begin = self.crowd.watch()
        postgres.until(lambda: self.crowd.first is not None, lambda: "nothing is acknowledged: %s" % self.whole.members())
        self.times[what].append(self.crowd.first - begin)

    def process(self):
        primary, _ = self.load()
        time.sleep(self.rng.uniform(0, 0.02))
        self.whole.kill(primary)
        self.resumes(PROCESS)

    def machine(self):
        primary, _ = self.load()
        time.sleep(self.rng.uniform(0, 0.02))
        self.whole.kill(primary, whole=True)
        self.resumes(MACHINE)
        self.whole.start(primary)

    def zombie(self):
        """A primary whose Patroni sleeps is cut off and comes back when another was
        promoted; a node is started beside it, and then its Patroni wakes up."""
        primary, standby = self.load()
        self.whole.signal(primary, signal.SIGSTOP, "patroni")
        self.whole.cut(primary)
        postgres.until(lambda: self.whole.sql_or_none("select not pg_is_in_recovery()", standby) == "t", "nobody is promoted: %s" % self.whole.members())
        self.whole.heal(primary)
        postgres.until(lambda: self.whole.sql_or_none("select not pg_is_in_recovery()", primary) == "t", "the zombie does not answer")
        self.whole.kill("node2")
        begin = time.monotonic()
        self.whole.start("node2")
        self.acknowledges(self.nodes[1])
        self.times[ZOMBIE].append(time.monotonic() - begin)
        self.whole.signal(primary, signal.SIGCONT, "patroni")

    def acknowledges(self, node):
        piece = self.crowd.piece(self.crowd.take_one())

        def sent():
            try:
                return node.upload([piece.wire])[0]
            except Gone:
                return None
        while not self.crowd.told(piece, sent()):
            time.sleep(0.01)

    def ends(self, what):
        """All are answered; assert that it was exact."""
        self.crowd.limit = self.crowd.next
        self.crowd.rest()
        return exact(self.crowd, self.nodes[0], [self.whole], what)


def sql_or_none(self, text, machine):
    try:
        return self.sql(text, machine, seconds=5)
    except (cluster.Trouble, subprocess.SubprocessError):
        return None


cluster.Cluster.sql_or_none = sql_or_none
