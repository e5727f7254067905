"""many.py - collectors that share databases, and a crowd of devices before them.

    nodes = nodes_on([url(p, s)], 2)       # tables are made, collectors started
    crowd = Crowd(nodes, seed=1)
    crowd.reaches(1000)                    # so many are acknowledged
    crowd.rest()                           # nobody begins; all are answered
    exact(crowd, nodes[0], [p])            # asserts

Every report has a cell of its own. Most devices send the same bytes again, to any
node, until they are answered; some give up at once; some send again what was
acknowledged; some use an id twice, with other bytes, after the first was
acknowledged or while it is under way. What an answer says must be so in the end:
204, and the cell is 1; 409, and it is 0; none, or 503, and it is 0 or 1.
"""

import collections
import os
import random
import sys
import threading

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(_HERE, "..", "e2e"), os.path.join(_HERE, "..", "rig")]
from collector import *
import postgres

SEED = int(os.environ.get("HSY_TEST_SEED") or 1)
LONG = bool(os.environ.get("HSY_TEST_LONG"))
COUNTED, CONFLICT, DOUBT = 204, 409, 503


def needs_postgres():
    if postgres.why_not():
        skip_all(postgres.why_not())


# ---- Nodes ------------------------------------------------------------------------------

class Node(Collector):
    """A collector with the tasks of another."""

    def __init__(self, name, like, **config):
        self.dir, self.data = path(name), path(name + "/data")
        os.makedirs(self.dir)
        self.log = os.path.join(self.dir, "stderr")
        self.process = self.public = self.admin = None
        self.task, self.token = like.task, None
        self.configure(**{**like.config, "data": None, "node": name, **config})
        atexit.register(self.kill)


def nodes_on(storage, n, tasks=TASKS, started=True, init=None, **config):
    """Collectors on shards. init: their URLs for whoever makes the tables."""
    config = {"estimate_seconds": 3600, **config}  # nobody looks at estimates
    first = Collector("tasks-%s" % os.urandom(4).hex(), tasks, data=None, storage=init or storage, **config)
    must("store", "init-cluster", first.yaml)
    nodes = [Node("%s-node%d" % (os.path.basename(first.dir), i), first, storage=storage) for i in range(n)]
    for node in nodes if started else ():
        node.start()
    return nodes


# ---- Devices ----------------------------------------------------------------------------

class Piece:
    """An upload on its way. wanted: the answer that is right, None if either is."""

    def __init__(self, cell, wire, wanted=COUNTED, gives_up=False):
        self.cell, self.wire, self.wanted, self.gives_up = cell, wire, wanted, gives_up
        self.later = None  # what is sent with its id once it is acknowledged: the answer that is right


def answers_of(status, body, n):
    """What a response says of each of n uploads."""
    if status == 204:
        return [COUNTED] * n
    said = [COUNTED if status == 200 else status] * n
    about = json.loads(body) if body else {}
    for refusal in about.get("refused", ()):
        said[refusal["upload"] - 1] = refusal["status"]
    return said


class Device(threading.Thread):
    def __init__(self, crowd, seed):
        super().__init__(daemon=True)
        self.crowd, self.rng, self.lines = crowd, random.Random(seed), {}

    def post(self, node, wires):
        """(status, body); raises Gone."""
        address = node.public
        if address is None:
            raise Gone("not there")
        line = self.lines.pop(address, None) or Line(address)
        status, _, body = line.post(b"".join(wires))
        self.lines[address] = line
        return status, body

    def send(self, pieces):
        """One request: those that are to be sent again."""
        crowd, node, begin = self.crowd, self.rng.choice(self.crowd.nodes), time.monotonic()
        try:
            status, body = self.post(node, [p.wire for p in pieces])
            said = answers_of(status, body, len(pieces))
        except Gone:
            said = [None] * len(pieces)
        if COUNTED in said and begin > crowd.since and crowd.first is None:
            crowd.first = time.monotonic()
        left = [p for p, status in zip(pieces, said) if not crowd.told(p, status)]
        if left:
            time.sleep(self.rng.uniform(0.002, 0.04))
        return left

    def settle(self, pieces):
        while pieces and not self.crowd.over:
            pieces = self.send(pieces)

    def hand(self):
        """What one who begins has to send."""
        crowd, pieces = self.crowd, []
        for cell in crowd.take(self.rng.randint(1, 3)):
            kind = self.rng.random()
            piece = crowd.piece(cell, gives_up=kind < 0.06)
            if 0.06 <= kind < 0.10:  # two of them, of which either may be counted
                rival = crowd.piece(crowd.take_one(), piece.id, None, epoch=piece.epoch)
                piece.wanted, piece.rival, rival.rival = None, rival, piece
                crowd.rivals.append(rival)
            elif 0.10 <= kind < 0.20:
                piece.later = CONFLICT if kind < 0.15 else COUNTED
            pieces.append(piece)
        return pieces

    def run(self):
        while not self.crowd.over:
            try:
                self.settle([self.crowd.rivals.pop()])
                continue
            except IndexError:
                pass
            if self.crowd.resting:
                return
            if self.crowd.next >= self.crowd.limit:
                time.sleep(0.005)
                continue
            pieces = self.hand()
            self.settle(pieces)
            for p in pieces:
                if p.later is not None and p.cell in self.crowd.acked:
                    self.settle([self.crowd.afterwards(p)])


class Crowd:
    def __init__(self, nodes, seed=SEED, devices=8, task="cells", epoch=None):
        self.nodes, self.task = list(nodes), nodes[0].task[task]
        self.epoch = epoch or (lambda: DAY)
        self.limit = self.task.values * 3 // 4  # cells that may be begun
        self.lock, self.next, self.over, self.resting = threading.Lock(), 0, False, False
        self.acked, self.refused, self.given_up = {}, set(), set()  # acked: cell to epoch
        self.rivals, self.pairs, self.again = collections.deque(), [], 0
        self.doubts, self.wrong, self.statuses = 0, [], collections.Counter()
        self.since, self.first = float("inf"), None  # from when on; the first that was sent then and acknowledged
        self.extra = set()  # other answers that are right here
        self.devices = [Device(self, "%s:%d" % (seed, i)) for i in range(devices)]
        for d in self.devices:
            d.start()

    def take(self, n):
        with self.lock:
            first = self.next
            self.next = first + n
        if self.next > self.task.values:
            raise SystemExit("Bail out! there are too few cells")
        return range(first, first + n)

    def take_one(self):
        return self.take(1)[0]

    def piece(self, cell, id=None, wanted=COUNTED, gives_up=False, epoch=None):
        id, epoch = id or os.urandom(16), epoch or self.epoch()
        p = Piece(cell, self.task.upload([cell], id=id, epoch=epoch), wanted, gives_up)
        p.id, p.epoch = id, epoch
        return p

    def afterwards(self, p):
        """What follows an upload that was acknowledged: the same, or another one."""
        if p.later == CONFLICT:
            return self.piece(self.take_one(), p.id, CONFLICT, epoch=p.epoch)
        self.again += 1
        p.later = None
        return p

    def told(self, p, status):
        """Note an answer, None if there was none; whether it is final."""
        with self.lock:
            self.statuses[status] += 1
            if status in (None, DOUBT):
                self.doubts += 1
                if p.gives_up:
                    self.given_up.add(p.cell)
                return p.gives_up
            if status == COUNTED and p.wanted in (COUNTED, None):
                self.acked[p.cell] = p.epoch
            elif status == CONFLICT and p.wanted in (CONFLICT, None):
                self.refused.add(p.cell)
            elif status in self.extra:
                self.given_up.add(p.cell)
            else:
                self.wrong.append((p.cell, status, p.wanted))
            if p.wanted is None:
                p.final = status
                if hasattr(p.rival, "final"):
                    self.pairs.append({p.final, p.rival.final})
            return True

    def reaches(self, acked):
        """Wait until so many are acknowledged."""
        end = time.monotonic() + DEADLINE
        while len(self.acked) < acked:
            if time.monotonic() > end or not any(d.is_alive() for d in self.devices):
                raise SystemExit("Bail out! nothing is acknowledged: %s\n%s" % (dict(self.statuses), self.nodes[0].said()))
            time.sleep(0.005)

    def more(self, acked, most=None):
        """Until so many more are acknowledged. most: no more than these begin, from now on."""
        self.limit = min(self.task.values - 100, self.next + most) if most else max(self.limit, min(self.task.values - 100, self.next + 4 * acked))
        self.reaches(len(self.acked) + acked)

    def watch(self):
        """From now on look for the first upload that is sent and acknowledged: crowd.first."""
        self.since = float("inf")
        self.first = None
        self.since = time.monotonic()
        return self.since

    def rest(self):
        """Nobody begins; who has begun goes on until answered."""
        self.resting = True
        for d in self.devices:
            d.join(DEADLINE)
        if any(d.is_alive() for d in self.devices):
            self.over = True
            raise SystemExit("Bail out! some are never answered: %s\n%s" % (dict(self.statuses), self.nodes[0].said()))


# ---- What was counted -------------------------------------------------------------------

def books(bases, database="hearsay"):
    """(reports, ids) of counts, with what is not folded, and rows of ids, by shard;
    bases: primaries, or (primary, database)."""
    found = []
    for base in bases:
        p, name = base if isinstance(base, tuple) else (base, database)
        tables = p.sql("select string_agg(format('select count(*) from hearsay.%I', table_name), ' union all ') from information_schema.tables "
                       "where table_schema = 'hearsay' and table_name like 'ids\\_%'", database=name)
        found.append([int(p.sql(text, database=name)) for text in (
            "select (select coalesce(sum(reports), 0) from hearsay.counts) + (select coalesce(sum(reports), 0) from hearsay.batches)",
            "select (select coalesce(sum(ids), 0) from hearsay.counts) + (select coalesce(sum(ids), 0) from hearsay.batches)",
            "select sum(count) from (%s) as x" % tables)])
    return tuple(sum(column) for column in zip(*found))


def tallied(node, reports, task="cells"):
    """The cells of a task, when all that is counted is in its tally."""
    return node.settled(task, reports)


def wrong_cells(crowd, got):
    """(lost, doubled, made up)"""
    lost = sum(got.get(cell) != 1 for cell in crowd.acked)
    doubled = sum(n != 1 for n in got.values())
    made_up = sum(cell >= crowd.next or cell in crowd.refused for cell in got)
    return lost, doubled, made_up


def exact(crowd, node, bases, what, ids=True):
    """Assert that what devices were told is what was counted."""
    reports, names, rows = books(bases)
    got = tallied(node, reports)
    lost, doubled, made_up = wrong_cells(crowd, got)
    seen = sum(cell in got for cell in crowd.given_up)
    print("# %s, seed %s: %d reports, %d acknowledged, %d times in doubt, %d gave up (%d counted), %d again, %d conflicts; lost %d, doubled %d" % (
        what, SEED, crowd.next, len(crowd.acked), crowd.doubts, len(crowd.given_up), seen, crowd.again, len(crowd.refused), lost, doubled))
    ok(not crowd.wrong, "every answer is 204, 409 or 503, and the right one, or there is none", crowd.wrong[:5])
    ok(all(pair == {COUNTED, CONFLICT} for pair in crowd.pairs), "of two with one id one is counted, and the other told", crowd.pairs)
    ok(lost == 0, "%s: of what was acknowledged none is lost" % what, lost)
    ok(doubled == 0 and made_up == 0, "and no report is counted twice, or against its answer", (doubled, made_up))
    ok(sum(got.values()) == reports == names and (not ids or rows == reports), "tally, counts and ids agree", (sum(got.values()), reports, names, rows))
    return got
