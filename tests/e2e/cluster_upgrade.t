#!/usr/bin/python3 -B
"""A cluster is upgraded while it serves: nodes of two versions side by side, then
its tables. The later version is this one with a step more (schema.h)."""

import os
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), where) for where in ("", "../rig")]
import collector
from collector import *
import postgres

OLD, NEW = HEARSAY, os.path.join(os.path.dirname(HEARSAY), "tests/hearsay-trial")
if postgres.why_not():
    skip_all(postgres.why_not())
if not os.path.exists(NEW):
    skip_all("%s: 'make tests' builds it" % NEW)

pg = postgres.Postgres("a")
urls = [pg.url(), pg.database("second")]
sent = []


def node(name, program):
    collector.HEARSAY = program
    return Collector(name, tasks=cells("cells", 50), storage=urls, node=name)


def start(c, program):
    collector.HEARSAY = program
    return c.start(env={"ASAN_OPTIONS": "detect_leaks=0"})


def store(program, *words):
    return subprocess.run([program, "store", *words], capture_output=True, text=True)


def columns():
    return [pg.sql("select count(*) from information_schema.columns where table_schema = 'hearsay' and table_name = 'nodes'", database=name) for name in ("hearsay", "second")]


def counted(*nodes):
    """Each node takes 40 more, knows all that came before by whichever node, and shows all of it."""
    for c in nodes:
        more = [one.task["cells"].upload([i % 50]) for i in range(40)]
        if not c.until(lambda: c.upload(more)[0] == 204):
            return False
        sent.extend(more)
    return all(c.until(lambda: c.upload(sent)[0] == 204) and c.until(lambda: c.get("/v1/tasks/cells")[1]["live"]["reports"] == len(sent)) for c in nodes)


one, two = node("one", OLD), node("two", OLD)
two.configure(**{**two.config, "document": one.config["document"], "public_key": one.config["public_key"]})
r = store(OLD, "init-cluster", one.yaml)
ok(r.returncode == 0 and columns() == ["3", "3"], "tables of one version", r)
start(one, OLD)
start(two, OLD)
ok(counted(one, two), "and two nodes of it")
two.stop()
start(two, NEW)
ok(counted(one, two), "a node of the next version works with them, beside the other")
r = store(NEW, "check", one.yaml)
ok(r.returncode == 0, "and finds them sound", r)
one.stop()
start(one, NEW)
ok(counted(one, two) and columns() == ["3", "3"], "when all nodes are new the tables are still the old ones", columns())
left = node("left", OLD)
left.configure(**{**left.config, "document": one.config["document"], "public_key": one.config["public_key"]})
start(left, OLD)
ok(counted(left) and ask(left.admin, "GET", "/readyz")[0] == 200, "an old node that was forgotten works with them")
r = store(NEW, "init-cluster", one.yaml)
ok(r.stdout == "2 shards made or upgraded\n" and columns() == ["4", "4"], "init-cluster upgrades them, while nodes serve", (r, columns()))
r = store(NEW, "init-cluster", one.yaml)
ok(r.stdout == "nothing to do: all shards have their tables\n" and columns() == ["4", "4"], "once", r)
ok(counted(one, two), "and they go on")
ok(left.until(lambda: ask(left.admin, "GET", "/readyz")[0] == 503) and "a newer hearsay made the tables" in left.said(), "the node that was forgotten is not ready, and its log says why",
   left.said())
more = [one.task["cells"].upload([0]) for _ in range(40)]
ok(left.upload(more)[0] == 503 and counted(one), "it acknowledges nothing of the new tables, which the others count", left.said())
ok(left.stop() == 0, "it ends on request", left.said())
r = store(OLD, "init-cluster", one.yaml)
ok(r.returncode == 1 and "a newer hearsay made the tables" in r.stderr and columns() == ["4", "4"], "the version before leaves them alone", r)
late = node("late", OLD)
late.launch()
ok(late.wait() == 1 and "a newer hearsay made the tables" in late.said(), "and does not serve them", late.said())
pg.database("fresh")
urls = [pg.url(database="fresh")]
fresh = node("fresh", NEW)
r = store(NEW, "init-cluster", fresh.yaml)
ok(r.returncode == 0 and pg.sql("select version from hearsay.meta", database="fresh") == "2", "new tables are of the next version at once", r)
ok(one.stop() == 0 and two.stop() == 0, "all end")
done()
