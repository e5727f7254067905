#!/usr/bin/python3 -B
"""A node whose databases answer but commit nothing: it says which trouble that is,
is not ready while no database commits, and is ready again without an upload."""

import os
import sys
import time

left = 86400 - time.time() % 86400
time.sleep(left + 1 if left < 300 else 0)  # no day ends while this runs: tables of today and yesterday are taken away

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "rig"))
from collector import *
import postgres

why = postgres.why_not()
if why:
    skip_all(why)

p = postgres.Postgres("only")
DATABASES = ("hearsay", "second")
URLS = [p.url(), p.database("second")]
one = Collector("one", data=None, storage=URLS, node="one", estimate_seconds="1h", admin_open=False)
must("store", "init-cluster", one.yaml)
TOKEN = must("serve", "token", "add", "operator", "--role", "operator", "--storage", URLS[0]).decode().split()[-1]
one.start()
task = one.task["cells"]


def sql(text, databases=DATABASES):
    for database in databases:
        p.sql("set search_path to hearsay; " + text, database=database)


def ready():
    code, _, body = ask(one.admin, "GET", "/readyz")
    return code, body.decode()


def status():
    return one.get("/v1/status", TOKEN)[1]


def troubles():
    """Names of all troubles but that of asynchronous replication, with whether they are grave."""
    return {t["name"]: t["grave"] for t in status()["troubles"] if t["name"] != "not-replicated"}


def reasons():
    return [s["why"] for s in status()["cluster"]["shards"]]


def replicated():
    text = one.get("/metrics", TOKEN)[1].decode()
    return [int(re.search(r'^hearsay_shard_replicated\{shard="%d"\} (\d)' % i, text, re.M).group(1)) for i in range(2)]


def send(epoch=DAY):
    """Send enough uploads to reach both databases: the status, and how many were refused."""
    code, body = one.upload([task.upload([i], epoch=epoch) for i in range(40)])
    return code, len(body["refused"]) if body else 0


def until_sending(expected):
    """Send uploads until the troubles are as expected."""
    return one.until(lambda: send() and troubles() == expected)


def uploads():
    return sum(s["uploads"] for s in status()["cluster"]["shards"])


def recovers(what):
    """The trouble ends without an upload, and uploads are accepted then."""
    before = uploads()
    ok(one.until(lambda: ready()[0] == 200 and troubles() == {}) and reasons() == [None, None] and uploads() == before, "%s: the node is ready again without an upload" % what, status())
    ok(send() == (204, 0), "%s: the node accepts uploads again" % what, status())


ok(send() == (204, 0) and send(DAY - 1) == (204, 0) and ready()[0] == 200 and troubles() == {}, "control: both databases commit uploads", status())

# ---- A statement is refused ----------------------------------------------------------

sql("revoke insert on batches from hearsay", ["second"])
ok(until_sending({"not-committing": False}), "a database that refuses an insert is a trouble", status())
ok(ready()[0] == 200 and "not-committing: the database answers, but commits have failed for seconds, and uploads get 503; databases, of 2: 1\n" in ready()[1],
   "the node is ready for the database that commits", ready())
ok(reasons() == [None, "permission denied for table batches"], "operators read the database's own words", status())
ok(one.until(lambda: "commit-failed" in one.said()) and [line for line in one.said().splitlines() if "commit-failed" in line and "/second: permission denied for table batches" in line],
   "the log has the server and its words", one.said())
ok("permission" not in ready()[1] and p.host not in ready()[1] and "/second" not in ready()[1], "strangers read neither the words nor the name of the database", ready())
sql("revoke insert on batches from hearsay", ["hearsay"])
ok(until_sending({"not-committing": True}), "it is grave if no database commits", status())
ok(ready()[0] == 503 and json.loads(ready()[1])["detail"].startswith("not-committing: "), "the node is not ready", ready())
ok(send() == (503, 40), "every upload gets 503 meanwhile", status())
sql("grant insert on batches to hearsay")
recovers("after a grant")

# ---- The database's disk is full -----------------------------------------------------

sql("create function full_disk() returns trigger language plpgsql as $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$; "
    "create trigger full_disk before insert on batches for each row execute function full_disk()")
ok(until_sending({"disk-full": True}) and ready()[0] == 503, "a database whose disk is full is the trouble disk-full", status())
ok(reasons() == ["could not extend file"] * 2, "the full disk's reason is the database's", status())
ok(p.sql("select count(*) from pg_class where relname = 'room'", database="hearsay") == "0", "probing for room leaves no table behind")
sql("drop trigger full_disk on batches; drop function full_disk")
recovers("after a full disk")

# ---- A table is missing --------------------------------------------------------------

sql("alter table ids_%d rename to away" % (DAY - 1))
ok(send(DAY - 1)[0] == 503 and send() == (204, 0), "a missing table of yesterday stops the uploads of yesterday alone", status())
ok(one.until(lambda: send(DAY - 1) and troubles() == {"not-committing": False}) and ready()[0] == 200, "commits of today do not hide it, and the node stays ready", status())
ok(reasons() == ['relation "ids_%d" does not exist' % (DAY - 1)] * 2, "the reason names the missing table", status())
sql("alter table away rename to ids_%d" % (DAY - 1))
recovers("after the table of yesterday was missing")
sql("alter table ids_%d rename to away" % DAY)
ok(until_sending({"not-committing": True}) and ready()[0] == 503, "without the table of today the node is not ready", status())
sql("alter table away rename to ids_%d" % DAY)
recovers("after the table of today was missing")

# ---- No standby ----------------------------------------------------------------------

p.configure(synchronous_standby_names="nobody")
ok(one.until(lambda: troubles() == {"no-standby": True}), "a required standby that is missing is a trouble, without an upload", status())
ok(ready()[0] == 503 and replicated() == [0, 0] and not any(s["replicated"] for s in status()["cluster"]["shards"]), "nothing is called replicated then", status())
ok(send() == (503, 40), "uploads get 503 without the standby", status())
p.configure(synchronous_standby_names="")
recovers("after a missing standby")

follower = p.standby("follower")
ok(one.until(lambda: replicated() == [1, 1]) and send() == (204, 0) and troubles() == {}, "with its standby the database is replicated", status())
p.configure(wal_sender_timeout="0")  # the server does not notice that the standby hangs
follower.freeze()
ok(until_sending({"not-committing": True}) and ready()[0] == 503, "a standby that hangs stops commits, and the node is not ready", status())
ok(reasons() == ["no answer in time"] * 2, "the reason is that no answer comes", status())
follower.thaw()
recovers("after a standby hung")

# ---- A frozen primary ----------------------------------------------------------------


def retries():
    return [s["retries"] for s in status()["cluster"]["shards"]]


before = retries()
p.freeze()
ok(send() == (503, 40) and retries() == before, "uploads to a frozen primary wait for one answer, and for no second try", (before, status()))
p.thaw()
recovers("after a primary was frozen")
ok(one.stop() == 0, "the node ends")
done()
