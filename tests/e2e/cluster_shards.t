#!/usr/bin/python3 -B
"""Shards are added: what was counted stays where it is, and is counted once,
whatever a node believes; lists that are too short, out of order or of another
cluster are refused."""

import os
import subprocess
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), where) for where in ("", "../rig")]
import collector

collector.DAY = 20773  # the clock is driven, and so no day is today's
from collector import *
import postgres

if postgres.why_not():
    skip_all(postgres.why_not())

ENV = {"ASAN_OPTIONS": "detect_leaks=0"}
pg = postgres.Postgres("a")
urls = [pg.url(), pg.database("second"), pg.database("third")]
clock = write("clock", date(DAY) + "\n")
number = 0


def node(storage, **config):
    global number
    number += 1
    return Collector("n%d" % number, tasks=cells("cells", 50), storage=storage, node="n%d" % number, rehearsal=clock, **config)


def serve(storage, **config):
    return node(storage, **config).start(env=ENV)


def refused(storage, *words, **config):
    """It does not start, and says why."""
    n = node(storage, **config)
    r = run("serve", n.yaml, timeout=DEADLINE, env={**os.environ, **ENV})
    return r.code == 1 and all(w in r.err for w in words), r


def ids(epoch):
    """How many ids of an epoch each shard has."""
    return [int(pg.sql("select count(*) from hearsay.ids_%d" % epoch, database=name)) for name in ("hearsay", "second", "third")
            if pg.sql("select to_regclass('hearsay.ids_%d')" % epoch, database=name)]


def reports(n):
    return n.get("/v1/tasks/cells")[1]["live"]["reports"]


def today(day):
    """Drive the clock; a node has seen it when its uploads of that day are taken."""
    write("clock", date(day) + "\n")


def sent(n, uploads):
    """Send until all is decided: a node may not know the day yet."""
    answers = []

    def once():
        answers.append(n.upload(uploads)[0])
        return answers[-1] not in (503, 425, 200, 400, 422)
    n.until(once)
    return answers[-1]


def batch(n, count, epoch):
    return [n.task["cells"].upload([i % 50], epoch=epoch) for i in range(count)]


# ---- One, then two ------------------------------------------------------------------

n = node(urls[:1])
must("store", "init-cluster", n.yaml)
n.start(env=ENV)
old = batch(n, 60, DAY)
assert n.upload(old)[0] == 204
n.stop()
two = node(urls[:2])
r = run("store", "init-cluster", two.yaml)
ok(r.out == b"1 shard made or upgraded\n", "a longer list makes the tables of the new shard", r)
r = run("store", "init-cluster", two.yaml)
ok(r.out == b"nothing to do: all shards have their tables\n", "once", r)
ok(pg.sql("select epoch, shards from hearsay.widths order by 1", database="hearsay") == "0|1\n%d|2" % (DAY + 3), "to be used by a day that nobody has begun")
ok(*refused(urls[:1], "more shards than 'storage' lists")[:1], "a node that lists fewer shards than there are does not start")
good, said = refused(urls[1::-1], "in the order in which they were made")
ok(good, "nor does one that lists them in another order", said)
two.start(env=ENV)
ok(two.upload(old)[0] == 204 and two.upload(batch(n, 40, DAY))[0] == 204 and ids(DAY) == [100, 0], "the day that was begun stays in its shard", ids(DAY))
ok(reports(two) == 100, "and each upload is counted once")
today(DAY + 3)
new = batch(n, 200, DAY + 3)
ok(sent(two, new) == 204 and sum(ids(DAY + 3)) == 200 and min(ids(DAY + 3)) > 40, "a new day is spread over both", ids(DAY + 3))
ok(two.upload(old)[0] == 204 and two.upload(new)[0] == 204 and reports(two) == 300, "what comes again, old or new, is known", reports(two))
ok(two.upload([n.task["cells"].upload([9], id=new[3][80:96], epoch=DAY + 3)])[0] == 409 and two.upload([n.task["cells"].upload([9], id=old[3][80:96], epoch=DAY)])[0] == 409, "another content is not")

# ---- Two, then three, while a node runs ------------------------------------------------

three = node(urls)
r = run("store", "init-cluster", three.yaml)
ok(r.out == b"1 shard made or upgraded\n", "a shard is added while a node runs", r)
ok(two.until(lambda: "more shards than" in two.said()), "which says that its list is too short")
seen = pg.sql("select max(seen) from hearsay.nodes", database="hearsay")
ok(two.until(lambda: pg.sql("select max(seen) from hearsay.nodes", database="hearsay") != seen), "is a node that others know of")
ok(two.upload(new)[0] == 204 and two.upload(batch(n, 10, DAY + 3))[0] == 204, "and goes on with the days that it knows")
three.start(env=ENV)
ok(reports(three) == 310, "beside one that has the longer list")
today(DAY + 6)
newer = batch(n, 200, DAY + 6)
ok(sent(three, newer) == 204 and sum(ids(DAY + 6)) == 200 and min(ids(DAY + 6)) > 20 and len(ids(DAY + 6)) == 3, "a new day is spread over all three", ids(DAY + 6))
answers = []
two.until(lambda: answers.append(two.upload(newer)) or (answers[-1][0] == 200 and {r["status"] for r in answers[-1][1]["refused"]} == {503}))
ok(answers[-1][1]["accepted"] == sum(ids(DAY + 6)[:2]), "the node with the short list knows those of its shards, and leaves the others to who has them", answers[-1])
ok(three.upload(newer)[0] == 204 and reports(three) == 510 and sum(ids(DAY + 6)) == 200, "and nothing is counted twice", reports(three))

# ---- Somebody reads the ids of a day that ends -------------------------------------------

reader = subprocess.Popen(pg.psql_words("-c", "lock table hearsay.ids_%d in access share mode; select pg_sleep(600)" % (DAY + 6), database="hearsay"), stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
three.until(lambda: pg.sql("select 1 from pg_stat_activity where wait_event = 'PgSleep'") == "1")
today(DAY + 20)
newest = batch(n, 20, DAY + 20)
ok(sent(three, newest) == 204 and pg.sql("select to_regclass('hearsay.ids_%d')" % (DAY + 6), database="hearsay") != "",
   "who reads the ids of a closed day holds up their drop, and no new day")
pg.sql("select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep'")
reader.wait()
ok(three.until(lambda: pg.sql("select to_regclass('hearsay.ids_%d')" % (DAY + 6), database="hearsay") == ""), "and they go when it is done")
two.kill()
three.stop()
other = node([pg.database("fourth")])
must("store", "init-cluster", other.yaml)
good, said = refused(urls[:2] + [pg.url(database="fourth")], "another shard")
ok(good, "a list with another's shard is refused", said)
r = run("store", "init-cluster", node(urls + [pg.url(database="fourth")]).yaml)
ok(r.code == 1 and "another cluster" in r.err, "nor is it taken from the other", r)
ok(json.loads(must("store", "check", three.yaml, "--format", "json"))["sound"], "all is sound")
done()
