#!/usr/bin/python3 -B
"""Databases that cannot be used: a node does not start on them and says why, and
never the password; one that becomes so while nodes run is a 503, nothing is
acknowledged in doubt, and when it is well again so is the node, unaided."""

import ctypes
import errno
import os
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), where) for where in ("", "../rig")]
from collector import *
import postgres

if postgres.why_not():
    skip_all(postgres.why_not())

_LIBC = ctypes.CDLL(None, use_errno=True)


def small_disk(size):
    """A file system of so many bytes that only this process and its children see,
    and that goes with them; None where that is not allowed."""
    where = path("disk")
    os.mkdir(where, 0o755)
    if _LIBC.unshare(0x20000) != 0 or _LIBC.mount(b"none", b"/", None, 0x44000, None) != 0 \
            or _LIBC.mount(b"tmpfs", where.encode(), b"tmpfs", 0, b"size=%d,mode=0755" % size) != 0:
        return None
    os.chmod(TMP, 0o755)
    return where


disk = small_disk(24 << 20)
pg = postgres.Postgres("a")
number = 0


def node(*storage, **config):
    global number
    number += 1
    return Collector("n%d" % number, tasks=cells("cells", 50), storage=list(storage), node="n%d" % number, **config)


def refused(n, what, *words, store=True):
    """It does not start, and says why; nor does `hearsay store` look at it."""
    r = run("serve", n.yaml, timeout=DEADLINE)
    ok(r.code == 1 and all(w in r.err for w in words), "%s: no start" % what, r)
    look = run("store", "check", n.yaml)
    ok(not store or look.code == 1 and look.out == b"" and all(w in look.err for w in words), "%s: nothing to look after" % what, look)
    return r.err


def made(name, **config):
    """A cluster of one shard, in a database of its own."""
    n = node(pg.database(name), **config)
    must("store", "init-cluster", n.yaml)
    return n


# ---- No database, no access ------------------------------------------------------------

away = postgres.Postgres("away", start=False)
refused(node(away.url()), "nobody answers", "cannot be reached")
refused(node(pg.url(database="none")), "no such database", "does not exist")
refused(node(pg.url(user="stranger")), "no such user", "stranger")
pg.sql("alter role hearsay password 'right'")
access = open(os.path.join(pg.data, "pg_hba.conf")).read()
pg.write("pg_hba.conf", "local all all trust\nhost all all all scram-sha-256\n")
pg.sql("select pg_reload_conf()")
secret = node(pg.url(user="hearsay:wrong-secret"))
postgres.until(lambda: pg.psql("-c", "select 1", user="hearsay", database="hearsay", host=pg.host).returncode != 0, "a password is not asked for")
said = refused(secret, "a wrong password", "password")
ok("wrong-secret" not in said and "wrong-secret" not in run("store", "init-cluster", secret.yaml).err, "and it is not said")
pg.write("pg_hba.conf", access)
pg.sql("select pg_reload_conf()")
postgres.until(lambda: pg.psql("-c", "select 1", user="hearsay", database="hearsay", host=pg.host).returncode == 0, "a password is asked for")

# ---- Not ours, not whole ---------------------------------------------------------------

refused(node(pg.url()), "no tables", "init-cluster")
half = made("half")
pg.sql("drop table hearsay.folds", database="half")
refused(half, "a table is missing", "some tables of hearsay are missing")
r = run("store", "init-cluster", half.yaml)
ok(r.code == 1 and "some tables of hearsay are missing" in r.err, "which are not made beside the others", r)
pg.database("foreign")
pg.sql("create schema hearsay; create table hearsay.nodes(name text)", database="foreign", user="hearsay")
refused(node(pg.url(database="foreign")), "somebody else's tables", "some tables of hearsay are missing")
pg.database("theirs")
pg.sql("create schema hearsay", database="theirs")
r = run("store", "init-cluster", node(pg.url(database="theirs")).yaml)
ok(r.code == 1 and "no schema has been selected" in r.err, "nor are tables made in another's schema", r)
odd = made("odd")
pg.sql("update hearsay.meta set key = 'x'", database="odd")
refused(odd, "tables without an owner", "do not say whose they are")
newer = made("newer")
pg.sql("update hearsay.meta set version = 1000", database="newer")
refused(newer, "tables of a newer hearsay", "a newer hearsay made the tables")
r = run("store", "init-cluster", newer.yaml)
ok(r.code == 1 and "a newer hearsay made the tables" in r.err, "which are left as they are", r)
old = made("old")
pg.sql("update hearsay.meta set version = 0", database="old")
refused(old, "tables of a hearsay that is too old", "too old")
one, two = made("one"), made("two")
both = node(pg.url(database="one"), pg.url(database="two"))
refused(both, "two clusters", "another shard")
pg.sql("update hearsay.meta set shard = 1, key = '\\x%s'" % pg.sql("select encode(key, 'hex') from hearsay.meta", database="one"), database="two")
refused(both, "two clusters with one key", "belongs to another cluster")
refused(node(pg.url(database="one"), pg.url(database="one")), "one database twice", "another shard")
made("late")
today = "floor(extract(epoch from now()) / 86400)"
pg.sql("update hearsay.days set day = %s - 4, closed = %s - 12" % (today, today), database="late")
wider = node(pg.url(database="late"), pg.database("later"))
r = run("store", "init-cluster", wider.yaml)
ok(r.code == 1 and "behind its clock" in r.err and pg.sql("select max(shards) from hearsay.widths", database="late") == "1",
   "no shard is added while uploads of later days than it would be used from may have come", r)
pg.sql("update hearsay.days set day = %s" % today, database="late")
r = run("store", "init-cluster", wider.yaml)
ok(r.code == 0 and pg.sql("select shards, epoch - day from hearsay.widths, hearsay.days where epoch <> 0", database="late") == "2|3", "but when those are known", r)
rehearsed = node(pg.url(database="one"), rehearsal=write("clock", date(DAY) + "\n"))
refused(rehearsed, "a rehearsal on real data", "real uploads")

# ---- Set otherwise -----------------------------------------------------------------------

for name, value, words in (("fsync", "off", "fsync is off"), ("full_page_writes", "off", "full_page_writes is off"),
                           ("synchronous_commit", "off", "synchronous_commit is not 'on'"), ("synchronous_commit", "local", "synchronous_commit is not 'on'"),
                           ("log_statement", "all", "log_statement logs parameters"), ("log_min_duration_statement", "0", "slow statements are logged"),
                           ("log_parameter_max_length_on_error", "-1", "parameters of failed statements")):
    before = pg.settings.get(name)
    pg.configure(**{name: value})
    refused(one, "%s = %s" % (name, value), words)
    pg.configure(**{name: before})
standby = pg.standby("b")
refused(node(standby.url(database="one")), "a standby alone", "all are standbys")
pg.configure(synchronous_standby_names=None)
standby.stop()
pg.sql("alter database one set default_transaction_read_only = on")
refused(one, "a database that is read only", "no server takes writes")
pg.sql("alter database one reset default_transaction_read_only")

# ---- While a node runs ---------------------------------------------------------------------

one.start()
sent = []


def fresh(n=20):
    sent.append([one.task["cells"].upload([i % 50]) for i in range(n)])
    return sent[-1]


def doubted(what):
    """New uploads are a 503, until somebody mends it."""
    status, answer = one.upload(fresh())
    ok(status == 503, "%s: 503" % what, (status, answer))


def well(what):
    """The same uploads again are taken, and each is counted once."""
    ok(one.until(lambda: one.upload(sent[-1])[0] == 204), "%s: taken when it is well again" % what)
    n = sum(map(len, sent))
    again = {one.upload(s)[0] for s in sent}
    found = one.settled("cells", n)
    ok(again == {204} and sum(found.values()) == n, "%s: each counted once" % what, (again, n, sum(found.values())))


def cut():
    pg.sql("select pg_terminate_backend(pid) from pg_stat_activity where datname = 'one'")


assert one.upload(fresh())[0] == 204
pg.stop()
doubted("the database is stopped")
pg.start()
well("a database that was stopped")
pg.sql("alter role hearsay set synchronous_commit = off")
cut()
doubted("commits are not durable")
pg.sql("alter role hearsay reset synchronous_commit")
well("a setting that was mended")
key = pg.sql("select encode(key, 'hex') from hearsay.meta", database="one")
pg.sql("update hearsay.meta set key = sha256('x')", database="one")
cut()
doubted("another cluster answers under its address")
pg.sql("update hearsay.meta set key = '\\x%s'" % key, database="one")
well("its own again")
pg.sql("alter table hearsay.batches rename to away", database="one")
doubted("a table is missing")
pg.sql("alter table hearsay.away rename to batches", database="one")
well("a table that is back")
one.stop()

# ---- A full disk --------------------------------------------------------------------------

if disk is None:
    ok(True, "a full disk # SKIP no file system can be mounted")
else:
    place = os.path.join(disk, "pg")
    os.mkdir(place, 0o700)
    if pg.as_user:
        os.chown(place, pg.as_user["user"], pg.as_user["group"])
    pg.sql("create tablespace small location '%s'" % place)
    pg.sql("create database full_ owner hearsay tablespace small")
    one = node(pg.url(database="full_"))
    must("store", "init-cluster", one.yaml)
    one.start()
    sent = []
    assert one.upload(fresh())[0] == 204
    filler = os.open(os.path.join(disk, "filler"), os.O_WRONLY | os.O_CREAT)
    try:
        while True:
            os.write(filler, bytes(1 << 12))
    except OSError as e:
        assert e.errno == errno.ENOSPC
    status = [204]
    while status[-1] == 204 and len(status) < 50:  # what is there of pages is used up first
        status.append(one.upload(fresh(1000))[0])
    ok(status[-1] == 503, "the disk of the primary is full: 503", status)
    ok("No space left" in one.said(), "and the log has the reason", one.said()[-500:])
    os.close(filler)
    os.remove(os.path.join(disk, "filler"))
    well("a disk with room again")
    one.stop()
done()
