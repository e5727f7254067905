#!/usr/bin/python3 -B
"""Two shards, and days that end: what was acknowledged for an epoch when it is
closed under load is what was counted for it; a node whose clock is wrong closes
nothing; one that knew only the day before makes nothing again that is dropped.
And one of two shards stops: its share is refused, the rest is taken, and what is
sent again is counted once."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from machine import *
from many import *

needs_postgres()
GRACE, CLOSES = 3, 100 if LONG else 6  # as collector.py has it
YEARS = 3652 * 86400
shards = [postgres.Postgres("s%d" % i) for i in range(2)]


def storage(database):
    for s in shards:
        s.database(database)
    return [s.url(database=database) for s in shards]


def by_epoch(database, column="reports"):
    """What was counted for each epoch, in both shards."""
    found = collections.Counter()
    for s in shards:
        for row in s.sql("select epoch, sum(%s) from (select epoch, %s from hearsay.counts union all select epoch, %s from hearsay.batches where type <> 0) x group by epoch"
                         % (column, column, column), database=database).splitlines():
            epoch, n = map(int, row.split("|"))
            found[epoch] += n
    return +found


def days(database, shard=0):
    """day, closed, dropped as a shard has them."""
    return tuple(map(int, shards[shard].sql("select day, closed, dropped from hearsay.days", database=database).split("|")))


def tables(database, shard):
    return {int(n) for n in shards[shard].sql("select substr(table_name, 5) from information_schema.tables where table_schema = 'hearsay' and table_name like 'ids\\_%'",
                                              database=database).split()}


# ---- Epochs that are closed under load -----------------------------------------------------

today = DAY - 20


def tell(day):
    """It is this day for a rehearsal."""
    with open(clock + ".new", "w") as f:
        f.write(date(day) + "\n")
    os.rename(clock + ".new", clock)


clock = path("clock")
tell(today)
nodes = nodes_on(storage("rehearsed"), 2, cells("cells", 2000 * CLOSES), rehearsal=clock)
chance = random.Random(SEED)
crowd = Crowd(nodes, epoch=lambda: today - chance.randint(0, GRACE))
crowd.extra = {410}
crowd.more(200)
for _ in range(CLOSES):
    crowd.more(chance.randint(1, 200))
    ended, late = today - GRACE, crowd.statuses[410]
    tell(today + 1)
    postgres.until(lambda: crowd.statuses[410] > late, "epoch %d is not closed: %s" % (ended, nodes[0].said()))
    postgres.until(lambda: all(n.get("/v1/status")[1]["day"] == date(today + 1) for n in nodes), "a node does not know the day")
    today += 1
crowd.more(100)
crowd.rest()
postgres.until(lambda: all(days("rehearsed", i)[2] == ended for i in range(2)), "a shard still has its tables")
counted = by_epoch("rehearsed")
acked = collections.Counter(crowd.acked.values())
got = tallied(nodes[1], sum(counted.values()))
print("# %d closes: %d acknowledged, %d too late, %d in doubt" % (CLOSES, len(crowd.acked), crowd.statuses[410], crowd.doubts))
ok(not crowd.wrong, "while epochs are closed every answer is 204, 409, 410 or 503, and the right one", crowd.wrong[:5])
ok(counted == acked == by_epoch("rehearsed", "ids"), "%d epochs are closed under load: acknowledged is counted, epoch by epoch" % CLOSES, (counted, acked))
ok(set(got) == set(crowd.acked) and set(got.values()) == {1}, "each of them once, and nothing else")
ok(len([e for e in acked if e <= today - GRACE - 1]) >= CLOSES and crowd.statuses[410] > 0, "control: epochs had reports when they were closed, and some came too late",
   (acked, dict(crowd.statuses)))
ok(all(tables("rehearsed", i) == set(range(today - GRACE, today + 3)) for i in range(2)), "the tables of closed epochs are gone, in both shards", tables("rehearsed", 0))
late = [nodes[0].task["cells"].upload([0], epoch=today - GRACE - 1)]
ok([n.upload(late)[0] for n in nodes] == [410, 410], "a closed epoch stays closed for all nodes")

# ---- A node that had only heard of the day before --------------------------------------------

ended = today - GRACE
counts = by_epoch("rehearsed")
holding = subprocess.Popen(shards[1].psql_words(database="rehearsed"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "LC_ALL": "C"})


def hold(text):
    """Statements of one session; returns once they are done."""
    holding.stdin.write(text.encode() + b"; select 'done';\n")
    holding.stdin.flush()
    while b"done" not in holding.stdout.readline():
        pass


wire = [nodes[0].task["cells"].upload([crowd.take_one()], epoch=ended)]
ok(nodes[0].upload(wire)[0] == 204, "an upload of the oldest epoch is counted")
for n in nodes:
    n.kill()
hold("begin; select * from hearsay.days for update")
slow = Node("slow", nodes[0])
slow.launch()
postgres.until(lambda: shards[1].sql("select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = 'rehearsed'"), "the node does not get so far")
# It knows the day and wants to make tables. Meanwhile, as another node does it:
shards[0].sql("begin; update hearsay.days set day = day + 1, closed = closed + 1, moved = moved + 1; commit", database="rehearsed")
hold("drop table hearsay.ids_%d; update hearsay.days set dropped = dropped + 1, heeded = heeded + 1; commit" % ended)
postgres.until(lambda: slow.ready() or slow.process.poll() is not None, "it neither starts nor ends")
ok(ended not in tables("rehearsed", 1), "a node that had heard of the day before makes no table again that is dropped", tables("rehearsed", 1))
holding.stdin.close()
holding.wait()
slow.kill()
today += 1
tell(today)
nodes[0].start()
ok(nodes[0].upload(wire)[0] == 410 and by_epoch("rehearsed")[ended] == counts[ended] + 1, "and so nothing that was counted is counted again")
nodes[0].stop()

# ---- A clock that is wrong -------------------------------------------------------------------

nodes = nodes_on(storage("real"), 3, cells("cells", 1000), started=False, sandbox="off")
right, ahead, behind = nodes
right.start()
worlds = [Machine("ahead"), Machine("behind")]
for node, world, skew in zip((ahead, behind), worlds, (YEARS, -YEARS)):
    world.clock(skew)
    node.start(env=world.env)


def seen(node):
    return float(shards[0].sql("select extract(epoch from max(seen)) from hearsay.nodes where name = '%s'" % node.config["node"], database="real") or 0)


before = days("real")
wires = [right.task["cells"].upload([i]) for i in range(30)]
answers = [n.upload(wires[10 * i:10 * i + 10])[0] for i, n in enumerate(nodes)]
for _ in range(2):  # they look again, twice
    last = [seen(n) for n in nodes]
    postgres.until(lambda: all(seen(n) > at for n, at in zip(nodes, last)), "a node does not look")
answers += [n.upload(wires)[0] for n in nodes]
ok(answers == [204] * 6, "nodes whose clocks are ten years wrong refuse nothing", answers)
ok(days("real") == before and days("real", 1)[2] == before[1] and DAY in tables("real", 0) & tables("real", 1), "and close nothing", (before, days("real"), days("real", 1)))
ok(by_epoch("real") == {DAY: 30}, "each report is counted once", by_epoch("real"))
for n in nodes:
    n.stop()

# ---- A shard that stops ------------------------------------------------------------------------

two = nodes_on(storage("halves"), 2, cells("cells", 1000))
wires = [two[0].task["cells"].upload([i]) for i in range(100)]


def sent(node, wires):
    """The answer of each, and of the request."""
    status, _, body = ask(node.public, "POST", "/v1/uploads", b"".join(wires), **{"Content-Type": "application/octet-stream"})
    return status, answers_of(status, body, len(wires))


ok(two[0].upload(wires[:50])[0] == 204, "both shards take their share")
for down in (1, 0):
    shards[down].stop()
    some = wires[50:] if down else [two[0].task["cells"].upload([i]) for i in range(100, 200)]
    status, said = sent(two[1], some)
    ok(status == 200 and set(said) == {204, 503}, "shard %d is down: its share is refused, the rest acknowledged" % down, (status, collections.Counter(said)))
    refused = [w for w, s in zip(some, said) if s == 503]
    taken = [w for w, s in zip(some, said) if s == 204]
    ok(sent(two[0], refused)[0] == 503, "by another node too", sent(two[0], refused)[0])
    ok(sent(two[0], taken)[0] == 204, "and what was taken is known to it")
    shards[down].start()
    postgres.until(lambda: sent(two[0], some)[0] == 204, "the shard does not come back: " + two[0].said())
    ok(sent(two[1], wires[:50] + some)[0] in (204, 200), "it is back, and all can be sent again")
    wires = wires[:50] + some if down else wires + some
postgres.until(lambda: sent(two[1], wires)[0] == 204, "not all is acknowledged")
counted = by_epoch("halves")
got = tallied(two[0], 200)
ok(counted == {DAY: 200} and got == dict.fromkeys(range(200), 1), "after all that each is counted once, by one of them", (counted, len(got)))
ok(all(int(s.sql("select sum(ids) from hearsay.counts", database="halves")) > 0 for s in shards), "control: both had a share")
ok([n.stop() for n in two] == [0, 0], "they stop on request", two[0].said())
done()
