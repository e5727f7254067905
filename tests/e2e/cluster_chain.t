#!/usr/bin/python3 -B
"""A chain of shufflers whose collector is two nodes on PostgreSQL behind HAProxy:
a batch is delivered by itself; by hand in parts, with the node that has them killed
in between; to both nodes at once; while the database is gone; and again at each.
It has one receipt, and every report is counted once."""

import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "rig"))
from parcels import *
from collector import _die_with_us
import postgres

why = postgres.why_not() or (None if shutil.which("haproxy") else "haproxy is not installed")
if why:
    skip_all(why)


def own_host():
    return "127.%d.%d.%d" % (*os.urandom(2), 1 + os.urandom(1)[0] % 254)


class Front:
    """HAProxy as packaging/haproxy/hearsay-cluster.cfg has it, but for TLS and addresses."""

    def __init__(self, hosts):
        self.public, self.dir = (own_host(), 8080), path("haproxy")
        os.makedirs(self.dir)
        conf = open(os.path.join(ROOT, "packaging", "haproxy", "hearsay-cluster.cfg")).read()
        for old, new in (("bind :443 ssl crt /etc/hearsay/both.pem alpn h2,http/1.1", "bind %s:8080" % self.public[0]), ("maxconn 8000", "maxconn 200"),
                         ("/run/haproxy/hearsay.sock", os.path.join(self.dir, "stats")), ("10.77.0.21:", hosts[0] + ":"), ("10.77.0.22:", hosts[1] + ":")):
            assert old in conf, old
            conf = conf.replace(old, new)
        with open(os.path.join(self.dir, "conf"), "w") as f:
            f.write(conf)

    def start(self):
        log = open(os.path.join(self.dir, "log"), "wb")
        self.process = subprocess.Popen(["haproxy", "-db", "-f", os.path.join(self.dir, "conf")], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                        preexec_fn=_die_with_us)
        atexit.register(self.stop)

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def passes(self):
        """Whether somebody answers behind it."""
        try:
            return ask(self.public, "GET", "/healthz")[0] == 200
        except Gone:
            return False


def node(c, name, storage):
    """A party of the chain that is the collector, or half of it."""
    n = c.collector if name == "collector" else Party(c, name, ("serve",))
    os.makedirs(n.data, mode=0o700)
    n.more = {**c.collector.more, "storage": storage, "node": name, "admin": "%s:8081" % c.address(n)[0]}
    n.configure()
    return n


def holds(n):
    """The parts of batches that a node has."""
    return sum(os.path.getsize(os.path.join(n.data, "incoming", f)) for f in os.listdir(os.path.join(n.data, "incoming")))


def at_once(*calls):
    """What each answers, called at the same time."""
    answers = [None] * len(calls)

    def call(i):
        answers[i] = calls[i]()
    threads = [threading.Thread(target=call, args=(i,)) for i in range(len(calls))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return answers


def counted(*parties):
    """What every node has counted, once all have it."""
    return [p.settled("veiled", len(expected)) for p in parties]


base = [postgres.Postgres("one"), postgres.Postgres("two")]
c = Chain(shufflers=2, min_batch=5, start=False)
first, second = c.shufflers
nodes = [node(c, name, [p.url() for p in base]) for name in ("collector", "collector2")]
front = Front([c.address(n)[0] for n in nodes])
second.more["next"] = "http://%s:%d" % front.public
second.configure()
must("store", "init-cluster", nodes[0].yaml)
for party in (*nodes, first, second):
    party.start()
front.start()
ok(nodes[0].until(front.passes), "two nodes that take batches are behind HAProxy")
today, expected = c.now[0], {}


def batch(cells):
    """One more day's uploads, mixed by the second shuffler while no node is there to take them; it is gone then too."""
    front.stop()  # HAProxy would keep what the shuffler sends, and bring it to a node when the shuffler is gone
    for n in nodes:
        n.kill()
    status, body = c.send(c.uploads(cells))
    if status != 204:
        raise SystemExit("Bail out! not acknowledged: %s" % body)
    c.at(c.now[0] + 1, 7)
    b = Batch.of(second)
    second.kill()
    for n in nodes:
        n.start()
    front.start()
    nodes[0].until(front.passes)
    expected.update({i: 1 for i in cells})
    return b


# ---- By itself -----------------------------------------------------------------------

ok(c.send(c.uploads(range(8)))[0] == 204, "eight uploads are acknowledged by the first shuffler")
c.at(today + 1, 7)
expected.update({i: 1 for i in range(8)})
ok(second.until(lambda: second.batches().get((date(today), 0)) == ("received", 8)), "the second delivers them", (second.batches(), second.said(), nodes[0].said()))
ok(counted(*nodes) == [expected] * 2, "and both nodes have each once", counted(*nodes))
rows_ = [n.get("/v1/tasks/veiled")[1]["live"]["batches"] for n in nodes]
ok(rows_[0] == rows_[1] and rows_[0]["batches"] == 1 and rows_[0]["smallest"] == 8, "and say of the batch the same", rows_)

# ---- A node is killed between two parts ------------------------------------------------

good = batch(range(100, 110))
key, collector_key = secret(c, 2), secret(c, "collector")[32:]
half = b"".join(good.envelopes[:4])
rest = b"".join(good.envelopes[4:])
ok(begin(front, good)[0] == 200 and piece(front, good, key, data=half)[0] == 200, "half of a batch comes through HAProxy")
has, other = sorted(nodes, key=holds, reverse=True)
ok(holds(has) >= len(half) and holds(other) == 0, "to one node, which alone has it", [holds(n) for n in nodes])
ok(piece(other, good, key, at=len(half), data=rest)[0] == 404, "the other knows nothing of it")
ok(piece(front, good, key, at=len(half), data=rest[:good.length])[0] == 200 and holds(other) == 0, "another part goes to the one that has the first")
has.kill()
answer = piece(front, good, key, at=len(half) + good.length, data=rest[good.length:])
ok(answer[0] == 404, "it is killed: the other gets the next part, and asks for all", answer)
answer = deliver(front, good, key)
ok(answer[0] == 200 and good.receipt_holds(receipt_of(answer[1]), collector_key), "brought to it, the batch has a receipt", answer)
has.start()
again = [deliver(n, good, key) for n in (*nodes, front)]
ok(again == [answer] * 3, "the same wherever it is brought again, at the node that was killed with half of it too", again)
ok(counted(*nodes) == [expected] * 2, "every report is counted once", counted(*nodes))
second.start()
ok(second.until(lambda: second.batches().get((date(today + 1), 0)) == ("received", 10)), "the shuffler learns that it is there", second.batches())

# ---- Both nodes at once, and without the database ------------------------------------------

good = batch(range(200, 207))
for n in nodes:
    begin(n, good)
    piece(n, good, key)
answers = at_once(*(lambda n=n: end(n, good, key) for n in nodes))
ok(answers[0] == answers[1] and good.receipt_holds(receipt_of(answers[0][1]), collector_key), "two nodes that have all of a batch take it at once: one receipt", answers)
ok(counted(*nodes) == [expected] * 2, "and every report is counted once", counted(*nodes))
second.start()
second.until(lambda: second.batches().get((date(today + 2), 0)) == ("received", 7))

good = batch(range(300, 309))
begin(nodes[0], good)
piece(nodes[0], good, key)
for p in base:
    p.kill9()
answer = end(nodes[0], good, key)
ok(answer[0] == 503, "without the database there is no receipt", answer)
for p in base:
    p.start()
answers = []
back = nodes[0].until(lambda: answers.append(end(nodes[0], good, key)) or answers[-1][0] == 200)
ok(back and good.receipt_holds(receipt_of(answers[-1][1]), collector_key), "when it is back there is", (answers[-1], nodes[0].said()))
others = []
nodes[1].until(lambda: others.append(deliver(nodes[1], good, key)) or others[-1][0] != 503)
ok(others[-1] == answers[-1], "at the other too", (others, answers[-1]))
ok(deliver(nodes[1], good.copy(envelopes=good.envelopes[::-1]).sign(c, 2), key)[0] == 409, "another batch of its id is refused for ever, by a node that never had it")
ok(counted(*nodes) == [expected] * 2, "every report is counted once", counted(*nodes))
second.start()
ok(second.until(lambda: second.batches().get((date(today + 3), 0)) == ("received", 9)), "the shuffler learns it", second.batches())
ok([n.get("/v1/tasks/veiled")[1]["live"]["batches"]["batches"] for n in nodes] == [4, 4], "both nodes know of four batches")

# ---- A replay under an old epoch -------------------------------------------------------------


def under(b, epoch, part):
    """The batch as both shufflers would sign it if they lied about its epoch and part."""
    before = Batch(b.before).copy(epoch=epoch, part=part).named(c, 1).sign(c, 1, digest=False)
    return b.copy(epoch=epoch, part=part, before=bytes(before.head)).named(c, 2).sign(c, 2)


good = batch(range(400, 408))
old = c.now[0] - 20
answer = deliver(nodes[0], under(good, old, 0), key)
ok(answer[0] == 200, "takes a batch of a long closed epoch", answer)
for n in nodes:
    n.kill()
c.at(c.now[0] + 1, 7)
for n in nodes:
    n.start()
answer = deliver(nodes[1], under(good, old, 1), key)
ok(answer[0] == 200 and counted(*nodes) == [expected] * 2, "leaves out a replay of its envelopes a day later", (answer, nodes[1].said()))
second.start()
ok(second.until(lambda: second.batches().get((date(today + 4), 0)) == ("received", 8)), "takes the batch under its own epoch", second.batches())
ok(counted(*nodes) == [expected] * 2, "and counts no report twice", counted(*nodes))


def go_on(day):
    """All clocks, by no more than a clock may jump."""
    while c.now[0] < day:
        c.at(min(day, c.now[0] + 6), 7)
        for n in nodes:
            n.until(lambda: n.get("/v1/status")[1]["day"] == date(c.now[0]))


border = today - today % PERIOD + 2 * PERIOD
for day, part, why in ((border - 1, 2, "the last day on which its envelopes open"), (border, 3, "the first day on which they do not"), (border + 50, 4, "the day after they are forgotten")):
    go_on(day)
    answers = []  # 503 while tables of days are dropped
    nodes[part % 2].until(lambda: answers.append(deliver(nodes[part % 2], under(good, old, part), key)) or answers[-1][0] != 503)
    ok(answers[-1][0] == 200 and counted(*nodes) == [expected] * 2, "counts none of them again on " + why, (answers[-1], nodes[part % 2].said()))
taken = [line.split(" taken=")[1] for n in nodes for line in n.said().splitlines() if "batch-taken" in line and "epoch=%d " % old in line]
ok(sorted(taken)[:4] == ["0 nulls=0 unopened=0 again=8"] * 2 + ["0 nulls=0 unopened=8 again=0"] * 2, "left out while they are remembered, and then not opened", taken)
for party in (*nodes, first, second):
    ok(party.stop() == 0, "%s ends" % os.path.basename(party.dir), party.said())
done()
