#!/usr/bin/python3 -B
"""What a node leaves in its database of uploads until they are folded: of a small
task their sum, of a large one the reports; a sum that is damaged stops the fold
and changes nothing."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "rig"))
from collector import *
import postgres
from postgres import Postgres

if postgres.why_not():
    skip_all(postgres.why_not())

p = Postgres()
c = Collector("node", data=None, storage=[p.url()], node="a")
must("store", "init-cluster", c.yaml)
c.start()


def rows(text):
    return p.sql(text, database="hearsay")


# Whoever holds this row folds: nobody else does meanwhile.
holder = subprocess.Popen(p.psql_words(database="hearsay"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
holder.stdin.write("set idle_in_transaction_session_timeout = 0;\nbegin;\nselect 'held' from hearsay.folds for update;\n")
holder.stdin.flush()
ok(holder.stdout.readline() == "held\n", "nothing is folded for now")

status, answer = c.upload([c.task["browser"].upload([i % 3 != 0]) for i in range(30)] + [c.task["cells"].upload([7000 + i]) for i in range(3)])
ok(status == 204, "uploads of two tasks come in one request", (status, answer))
got = rows("select type, reports, octet_length(bytes) from hearsay.batches order by reports")
ok(got.split()[0] == "1|3|18", "of the large task there are the reports", got)
kind, reports, length = map(int, got.split()[1].split("|"))
ok(kind == 4 and reports == 30 and length < 10, "of the small one their sum, in %d bytes" % length, got)
ok(c.until(lambda: b"\nhearsay_ids 33\n" in c.get("/metrics")[1]), "their ids count before they are folded")

r = run("store", "check", c.yaml)
ok(r.code == 0, "store check counts what waits", r)
rows("update hearsay.batches set reports = 31 where type = 4")
r = run("store", "check", c.yaml)
ok(r.code != 0 and "browser" in str(r), "and sees if a sum is of other reports than its row says", r)
rows("update hearsay.batches set reports = 30 where type = 4")

rows("insert into hearsay.batches(entry, epoch, type, reports, nulls, ids, enrolled, bytes) "
     "select entry, epoch, type, 1, 0, 1, 0, bytes from hearsay.batches where type = 4")
holder.communicate("rollback;\n")
ok(c.until(lambda: "fold-failed" in c.said()), "a sum of other reports than its row says is damage", c.said())
ok(rows("select count(*) from hearsay.cells") == "0" and rows("select count(*) from hearsay.batches") == "3", "and nothing was folded")
rows("update hearsay.batches set bytes = '\\x0000' where reports = 1")
ok(c.until(lambda: "no sum of reports" in c.said()), "as are bytes that are no sum", c.said())
rows("delete from hearsay.batches where reports = 1")
ok(c.settled("browser", 30) == {0: 10, 1: 20}, "without it all is counted as it was sent", c.settled("browser", 30))
ok(c.settled("cells", 3) == {7000: 1, 7001: 1, 7002: 1}, "of both tasks")
c.until(lambda: rows("select count(*) from hearsay.batches") == "0")
ok(rows("select sum(ids) from hearsay.counts") == "33", "with all their ids")
ok(c.stop() == 0, "the node ends well")
done()
