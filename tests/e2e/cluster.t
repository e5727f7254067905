#!/usr/bin/python3 -B
"""The databases of packaging/cluster/hearsay-cluster fail over: a primary that is
cut off acknowledges nothing, the other goes on with all that was acknowledged;
and nothing is left when the cluster has ended."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "rig"))
from e2e import *
import cluster
from cluster import Cluster, Trouble, until

why = cluster.why_not(collectors=False)
if why:
    skip_all(why)
if not os.environ.get("HSY_TEST_LONG"):
    skip_all("with HSY_TEST_LONG=1; tests/fault/cluster_patroni.t lets one fail over each time")

interfaces = set(os.listdir("/sys/class/net"))
c = Cluster(collectors=False)
ok(set(os.listdir("/sys/class/net")) == interfaces, "a cluster that is apart has no interface here")
c.enter()
first, second = c.wait_sync()
ok({first, second} == {"a", "b"} and c.sql("show synchronous_commit") == "on" and c.sql("show log_min_error_statement") == "panic",
   "two PostgreSQL run, one the synchronous standby of the other")
ok(c.ask("etcd", 2379, "/v2/keys/service/hearsay/leader")[0] == 200, "Patroni keeps the leader in the v2 interface of etcd")
c.sql("create table t(n int primary key)", database="hearsay", user="hearsay")
numbers, tried, acknowledged = iter(range(1, 10 ** 6)), set(), set()


def write():
    """Try a new number at whoever is primary; whether it was acknowledged."""
    n = next(numbers)
    tried.add(n)
    try:
        c.sql("insert into t values (%d)" % n, database="hearsay", user="hearsay", seconds=20)
        acknowledged.add(n)
        return True
    except (Trouble, subprocess.TimeoutExpired):
        return False


def rows(machine):
    return {int(n) for n in c.sql("select n from t", machine, "hearsay").split()}


def exact():
    """What was acknowledged is on both, and nothing that was not tried."""
    leader, standby = c.wait_sync()
    at = c.sql("select pg_current_wal_lsn()", leader)
    until(lambda: c.sql("select pg_last_wal_replay_lsn() >= '%s'" % at, standby) == "t", "the standby does not follow")
    return acknowledged <= rows(leader) <= tried and rows(leader) == rows(standby)


def there(machine, text):
    """psql on that machine itself."""
    return c.words(machine, ["psql", "-XAtq", "-h", "127.0.0.1", "-U", "postgres", "-d", "hearsay", "-c", text])


def waits(machine):
    return b"1" in subprocess.run(there(machine, "select 1 from pg_stat_activity where wait_event = 'SyncRep'"), capture_output=True).stdout


for _ in range(5):
    write()
lonely, other = c.wait_sync()
c.cut(lonely)
own = subprocess.Popen(there(lonely, "insert into t values (0) returning 'yes'"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
until(lambda: own.poll() is not None or waits(lonely), "no commit waits")
until(write, "writes do not resume")
ok(c.role("leader") == other, "when the primary is cut off the other takes over", c.members())
c.heal(lonely)
tried.add(0)
ok(exact(), "and all that was acknowledged is on both when it is back", (acknowledged, tried, rows(c.role("leader"))))
answer = own.communicate()[0]
ok(answer == b"", "meanwhile the one that was cut off acknowledged nothing, even on its own machine", answer)
leader, standby = c.wait_sync()
c.kill(leader)
until(write, "writes do not resume")
ok(exact(), "the same when only its processes are killed", (acknowledged, tried, rows(c.role("leader"))))
c.sql("drop table t", database="hearsay")
c.down()
ok(not os.path.exists(c.dir) and not any(c.processes(m) for m in c.machines), "when it has ended nothing of it is left")
done()
