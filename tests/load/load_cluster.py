#!/usr/bin/python3 -B
"""load_cluster.py - what collectors on PostgreSQL take and what they cost, beside
one collector with a disk of its own and an nginx that keeps nothing.

All of them run on this machine in this run, one after the other, so that ratios
count and absolute figures are the machine's. Each figure is printed with what is
wanted of it; it fails only if a request failed that must not, or if an upload was
lost or doubled: `make load-cluster`.
"""

import argparse
import contextlib
import hashlib
import os
import statistics
import sys

from wrk import *
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "rig"))
import postgres
from postgres import Postgres

parser = argparse.ArgumentParser()
parser.add_argument("--seconds", type=int, default=5, help="of a run")
parser.add_argument("--runs", type=int, default=5, help="of each kind; the median counts")
parser.add_argument("--connections", type=int, default=512, help="to each collector")
parser.add_argument("--only", nargs="+", choices=("uploads", "ids", "drop", "shards"))
parser.add_argument("--ids", type=int, default=10 ** 7, help="of the epoch that is dropped")
options = parser.parse_args()

# As docs/cluster.md asks: rare checkpoints, for pages are written whole after one.
SERVER = {"shared_buffers": "512MB", "max_wal_size": "8GB", "checkpoint_timeout": "30min"}
missed = []


def figure(text, good):
    print("%s: %s" % (text, "ok" if good else "NOT ok"), flush=True)
    if not good:
        missed.append(text)


# ---- Collectors ---------------------------------------------------------------------

class Embedded:
    """One collector with a disk of its own."""

    name, servers = "embedded", {}

    def __init__(self):
        self.nodes = [Collector("embedded", ids_epoch=400000000).start()]

    def running(self):
        return contextlib.nullcontext()

    def settle(self):
        until(lambda: b"hearsay_commits_unfolded 0\n" in self.nodes[0].get("/metrics")[1], "reports are not folded")

    def commits(self):
        return int(re.search(rb"^hearsay_commits_total (\d+)", self.nodes[0].get("/metrics")[1], re.M).group(1))

    def counted(self):
        return self.nodes[0].get("/v1/tasks/browser")[1]["reports"]


class Cluster:
    """Some nodes on some shards. Nodes run only while they are measured."""

    def __init__(self, name, shards=1, standby=False):
        primaries = [Postgres("%s%d" % (name, i), disk=True, **SERVER) for i in range(shards)]
        standbys = [p.standby(p.name + "b") for p in primaries] if standby else []
        self.shards, self.servers = primaries, {"primary": primaries, "standby": standbys}
        storage = [postgres.url(*pair) for pair in (zip(primaries, standbys) if standby else zip(primaries))]
        common = {"data": None, "storage": storage, "ids_epoch": 400000000}
        first = Collector(name + "-a", node="a", **common)
        second = Collector(name + "-b", node="b", public_key=first.config["public_key"], document=first.config["document"], **common)
        second.task = first.task
        self.both = [first, second]
        must("store", "init-cluster", first.yaml)

    def with_nodes(self, n):
        """The same cluster, of which so many nodes are to run."""
        self.nodes = self.both[:n]
        return self

    @contextlib.contextmanager
    def running(self):
        for node in self.nodes:
            node.start()
        yield
        for node in self.nodes:
            if node.stop() != 0:
                raise SystemExit("a node did not end well: " + node.said())

    def rows(self, text):
        return [int(shard.sql(text, database="hearsay")) for shard in self.shards]

    def settle(self):
        until(lambda: not any(self.rows("select count(*) from hearsay.batches")), "reports are not folded")

    def commits(self):
        # Runs send uploads of one task and day: a commit writes one row.
        return sum(self.rows("select case when is_called then last_value else 0 end from hearsay.batches_number_seq"))

    def counted(self):
        return sum(self.rows("select coalesce(sum(reports), 0) from hearsay.counts"))


def until(condition, what):
    end = time.monotonic() + DEADLINE
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(what)
        time.sleep(0.2)


def server_cpu(servers):
    """Seconds of processor of all processes of servers, those that have ended too."""
    total = 0
    for server in servers:
        for pid in postgres.processes(server.data):
            with contextlib.suppress(OSError):
                total += cpu(pid, ended=pid == server.process.pid)
    return total


def used(system):
    return {"node": sum(cpu(node.process.pid) for node in system.nodes), **{name: server_cpu(some) for name, some in system.servers.items()}}


def together(rows):
    """Several runs at once as one: the slower one's times count."""
    return {**{key: sum(row[key] for row in rows) for key in ("n", "rate", "bad")}, **{key: most(rows, key) for key in ("p50", "p99", "p999")}}


def run(system, upload):
    """One run against all nodes of a system; processor time is an upload's, in us,
    with what it takes to fold it."""
    with system.running():
        before, commits = used(system), system.commits()
        row = together([wrk.result() for wrk in [Wrk(node.public[1], upload, options.connections, options.seconds) for node in system.nodes]])
        system.settle()
        row["cpu"] = {name: (now - before[name]) / max(1, row["n"]) * 1e6 for name, now in used(system).items()}
        row["total"], row["commit"] = sum(row["cpu"].values()), row["n"] / max(1, system.commits() - commits)
        if row["bad"]:
            raise SystemExit("%d requests failed: %s" % (row["bad"], "".join(node.said() for node in system.nodes)))
    return row


# Made when they are wanted: servers take their time.
_clusters = {}


def cluster(name, **how):
    if name not in _clusters:
        _clusters[name] = Cluster(name, **how)
    return _clusters[name]


# ---- The figures --------------------------------------------------------------------

KINDS = (("1 node", "alone", 1), ("2 nodes", "alone", 2), ("1 node, standby", "pair", 1), ("2 nodes, standby", "pair", 2))


def show(name, row, us=""):
    print("  %-17s %7.0f/s p50 %6.2f p99 %6.2f ms  %s" % (name, row["rate"], row["p50"], row["p99"], us), flush=True)


def costs(row):
    return " + ".join("%s %.1f" % item for item in row["cpu"].items() if item[1]) + " us CPU, %.0f uploads a commit" % row["commit"]


def uploads():
    print("single reports, %d connections to each collector, %d runs of %d s" % (options.connections, options.runs, options.seconds))
    embedded, nginx, rows = Embedded(), Nginx(), {}
    clusters = {"alone": cluster("alone"), "pair": cluster("pair", standby=True)}
    sent = {"embedded": 0, "alone": 0, "pair": 0}
    for _ in range(options.runs):
        show("nginx", Wrk(nginx.port, ONE, options.connections, options.seconds).result())
        own = run(embedded, ONE)
        rows.setdefault("embedded", []).append(own)
        sent["embedded"] += own["n"]
        show("embedded", own, costs(own))
        for name, which, nodes in KINDS:
            row = run(clusters[which].with_nodes(nodes), ONE)
            row["ratio"] = row["total"] / own["total"]
            rows.setdefault(name, []).append(row)
            sent[which] += row["n"]
            show(name, row, costs(row) + ", %.2f of embedded" % row["ratio"])
    nginx.stop()
    for name, _, _ in KINDS:
        some = rows[name]
        each = ", ".join("%s %.1f" % (part, statistics.median(row["cpu"][part] for row in some)) for part in some[0]["cpu"] if some[0]["cpu"][part])
        figure("%s: %.0f/s, p50 %.2f p99 %.2f ms; CPU %s us: %.2f times the embedded engine's %.1f (at most 2.0 wanted), at %.0f uploads a commit (at least 100)"
               % (name, median(some, "rate"), median(some, "p50"), median(some, "p99"), each, median(some, "ratio"), median(rows["embedded"], "total"), median(some, "commit")),
               median(some, "ratio") <= 2 and median(some, "commit") >= 100)
    for name, system in (("embedded", embedded), *clusters.items()):
        exact(name, sent[name], system.counted(), (len(KINDS) + 1) * options.runs * options.connections)
    embedded.nodes[0].stop()


def exact(name, sent, counted, slack):
    """Whatever wrk had acknowledged is counted; what it left unread at the end of a
    run may be counted besides."""
    print("  %s: acknowledged %d, counted %d" % (name, sent, counted))
    if not sent <= counted <= sent + slack:
        raise SystemExit("lost or doubled")


def ids():
    alone = cluster("alone").with_nodes(1)
    if not _filled(alone):
        run(alone, ONE)
    heap, index, n = (int(word) for word in alone.shards[0].sql(
        "select pg_table_size('hearsay.ids_%d'), pg_indexes_size('hearsay.ids_%d'), count(*) from hearsay.ids_%d" % (DAY, DAY, DAY), database="hearsay").split("|"))
    figure("ids: %.1f bytes each, %.1f in the table and %.1f in the index, of %d (at most 80 wanted)" % ((heap + index) / n, heap / n, index / n, n), heap + index <= 80 * n)


def _filled(system):
    shard = system.shards[0]
    there = shard.sql("select to_regclass('hearsay.ids_%d') is not null" % DAY, database="hearsay") == "t"
    return there and int(shard.sql("select count(*) from hearsay.ids_%d" % DAY, database="hearsay")) > 0


def drop():
    """A table as nodes make it, of ids as random as theirs, dropped as they do."""
    alone, step = cluster("alone").with_nodes(1), 10 ** 6
    shard = alone.shards[0]
    with alone.running():
        pass  # it has made the tables of today
    shard.sql("create table hearsay.ids_1(like hearsay.ids_%d including all) with (autovacuum_enabled = off)" % DAY, database="hearsay")
    begin = time.monotonic()
    for first in range(0, options.ids, step):
        shard.sql("insert into hearsay.ids_1 select hashint8extended(i, 1), hashint8extended(i, 2) from generate_series(%d, %d) as i"
                  % (first + 1, min(first + step, options.ids)), database="hearsay")
    size = int(shard.sql("select pg_total_relation_size('hearsay.ids_1')", database="hearsay"))
    filled, begin = time.monotonic() - begin, time.monotonic()
    shard.sql("drop table hearsay.ids_1", database="hearsay")
    took = time.monotonic() - begin
    figure("drop: an epoch of %d ids (%d MB, filled in %.0f s) in %.2f s (under 2 wanted)" % (options.ids, size >> 20, filled, took), took < 2)


# ---- One of two shards --------------------------------------------------------------

PACE, BUSY = 20, 64  # milliseconds between two requests of a connection; connections to a shard


def of_shard(system, shard, n):
    """A file of n uploads that all go to one shard: by the hash of their ids under
    the key of the cluster, which no stranger has."""
    key = bytes.fromhex(system.shards[0].sql("select encode(key, 'hex') from hearsay.meta", database="hearsay"))
    task, name = system.nodes[0].task["browser"], path("shard%d" % shard)
    with open(name, "wb") as f:
        while n > 0:
            id = os.urandom(16)
            bits, = struct.unpack_from("<I", hashlib.blake2b(id, key=key, digest_size=16).digest(), 8)
            if bits * len(system.shards) >> 32 == shard:
                f.write(task.upload([1], id=id))
                n -= 1
    return name


def two(system, harm=None):
    """A run to both shards, each by its own wrk at a steady pace; harm comes to one
    of them in its midst, and lasts until a node has noticed that it is frozen."""
    seconds = options.seconds + (8 if harm is not None else 0)
    enough = BUSY * 1000 // PACE * seconds * 5 // 4
    files = [of_shard(system, shard, enough) for shard in (0, 1)]
    size = os.path.getsize(files[0]) // enough
    wrks = [Wrk(system.nodes[0].public[1], "", BUSY, seconds, script="requests.lua", REQUESTS=name, SIZE=str(size), PATH_="/v1/uploads",
                TYPE="application/octet-stream", DELAY=str(PACE)) for name in files]
    if harm is not None:
        time.sleep(options.seconds / 5)
        harm()
    rows = [wrk.result() for wrk in wrks]
    if rows[0]["bad"] or (rows[1]["bad"] != 0) != (harm is not None):
        raise SystemExit("%d requests to the shard that works failed, %d to the other: %s" % (rows[0]["bad"], rows[1]["bad"], system.nodes[0].said()))
    return rows


def again(system):
    """Wait until both shards take uploads; how many were taken."""
    taken = 0
    for shard in (0, 1):
        with open(of_shard(system, shard, 1), "rb") as f:
            upload = f.read()
        until(lambda: system.nodes[0].upload([upload])[0] == 204, "shard %d does not come back" % shard)
        taken += 1
    return taken


def shards():
    """What uploads to one shard notice of the other's end."""
    system, rows, sure, maybe = cluster("shard", shards=2).with_nodes(1), [], 0, 0
    victim = system.shards[1]
    print("one of two shards is lost, %d runs of 4 times %d s: p99 of the other" % (options.runs, options.seconds))
    with system.running():
        sure += again(system)
        for _ in range(options.runs):
            row = []
            for harm, mend in ((None, None), (victim.kill9, victim.start), (None, None), (victim.freeze, victim.thaw)):
                one, other = two(system, harm)
                sure += one["n"] + other["n"] - other["bad"]
                maybe += other["bad"] + 2 * BUSY
                row.append(one["p99"])
                if mend is not None:
                    mend()
                    sure += again(system)
                    system.settle()
                    victim.sql("checkpoint")  # or it comes in the next run
            rows.append(row)
            print("  p99 %6.2f ms, killed %6.2f; %6.2f, frozen %6.2f" % tuple(row), flush=True)
        system.settle()
        counted = system.counted()
    for name, at in (("killed", 0), ("frozen", 2)):
        ratio = statistics.median(row[at + 1] / row[at] for row in rows)
        figure("shards: one %s, the other's p99 %.2f times that before (at most 1.5 wanted)" % (name, ratio), ratio <= 1.5)
    exact("shards", sure, counted, maybe)


if postgres.why_not():
    raise SystemExit(postgres.why_not())
ONE = file("single", Collector("tasks").task["browser"].upload([1]))
disk(options.seconds)
for part in (uploads, ids, drop, shards):
    if part.__name__ in (options.only or [part.__name__]):
        part()
print("%d figures are not as wanted%s" % (len(missed), "".join("\n  " + text for text in missed)) if missed else "all figures are as wanted")
