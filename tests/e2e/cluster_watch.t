#!/usr/bin/python3 -B
"""What operators see of a cluster's node: metrics and /v1/status of shards and
nodes, troubles when a database goes and comes back, what `serve check` finds."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "rig"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fault"))
from collector import *
import postgres

why = postgres.why_not()
if why:
    skip_all(why)
import machine  # it builds what tells a collector the time

p = postgres.Postgres("only")
URLS = [p.url(), p.database("second")]
NAMES = ["%s:%d/%s" % (*p.address, name) for name in ("hearsay", "second")]


def node(name, **more):
    return Collector(name, **{"data": None, "storage": URLS, "node": name, "estimate_seconds": "1h", **more})


def check(c, **more):
    c.configure(**{**c.config, **more})
    r = run("serve", "check", c.yaml)
    return r.code, [line for line in r.err.splitlines() if line]


# ---- Before it is served -----------------------------------------------------------

one = node("one", admin_open=False)
code, found = check(one)
ok(code == 1 and len(found) == 2 and all("has no tables of hearsay: run 'hearsay store init-cluster'" in line for line in found)
   and all(name in line for name, line in zip(NAMES, found)), "serve check names every database without tables", found)
must("store", "init-cluster", one.yaml)
code, found = check(one)
ok(code == 0 and len(found) == 2 and all("warning: storage: %s has no synchronous standby" % name in line for name, line in zip(NAMES, found)),
   "with tables they are fine, but for a standby", found)
code, found = check(one, storage=URLS[::-1])
ok(code == 1 and len(found) == 2 and all("it is another shard" in line for line in found), "in another order they are not", found)
code, found = check(one, storage=URLS[:1])
ok(code == 1 and len(found) == 1 and "more shards than 'storage' lists" in found[0], "nor are some of them", found)
code, found = check(one, storage=["postgresql://hearsay@%s/nowhere" % p.host, URLS[1]])
ok(code == 1 and len(found) == 2 and "/nowhere" in found[0] and "does not exist" in found[0] and "no synchronous standby" in found[1],
   "what is wrong with one hides nothing of the others", found)
p.configure(synchronous_commit="off")
code, found = check(one, storage=URLS)
ok(code == 1 and len(found) == 2 and all("synchronous_commit" in line for line in found), "settings that would lose uploads are found", found)
p.configure(synchronous_commit="on")
p.sql("create role stranger login; grant usage on schema hearsay to stranger; grant select on all tables in schema hearsay to stranger", database="hearsay")
code, found = check(one, storage=[p.url(user="stranger"), URLS[1]])
ok(code == 1 and len(found) == 2 and "may not make tables" in found[0], "and a role without rights", found)
ok(run("serve", "check", write("odd.yaml", "storage: mysql://x\npublic_key: x\n")).code == 1, "and a URL of something else")
r = run("store", "init-cluster", path("odd.yaml"))
ok(r.code == 1 and "see 'hearsay serve check %s'" % path("odd.yaml") in r.err, "init-cluster says who tells", r)
one.configure(**{**one.config, "storage": URLS})

# ---- While all is well -------------------------------------------------------------

tokens = {role: must("serve", "token", "add", role, "--role", role, "--storage", URLS[0]).decode().split()[-1] for role in ("scraper", "analyst", "operator")}
one.start()
fast = machine.Machine("fast")
fast.clock(20 * 86400 + 43200)
two = node("two", document=None)
two.start(env=fast.env)


def metrics(c=one, role="operator"):
    text = c.get("/metrics", tokens[role])[1].decode()
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line and line[0] != "#"}


def shards(name, **more):
    row = metrics(**more)
    return [row['hearsay_shard_%s{shard="%d"}' % (name, i)] for i in range(2)]


def status(c=one, role="operator"):
    return c.get("/v1/status", tokens[role])[1]


def ready(c=one):
    code, _, body = ask(c.admin, "GET", "/readyz")
    return code, body.decode()


def troubles(c=one):
    """Of /v1/status; metrics and /readyz say the same."""
    row, is_ = metrics(c), status(c)
    names = {t["name"] for t in is_["troubles"]}
    agree = names == {k[22:-2] for k, v in row.items() if k.startswith('hearsay_trouble{name="') and v == 1} and is_["ready"] == bool(row["hearsay_ready"])
    return names if agree else {"they do not agree", *names}


def said(c, words):
    return [line for line in c.said().splitlines() if words in line]


t = one.task["cells"]
ups = [t.upload([i]) for i in range(60)]
ok(one.upload(ups)[0] == 204 and one.upload(ups[:1])[0] == 204, "uploads are taken")
ok(sum(shards("uploads_total")) == 61 and min(shards("uploads_total")) > 0 and min(shards("commits_total")) > 0, "metrics have the uploads and commits of each shard", metrics())
ok(shards("reachable") == [1, 1] and shards("replicated") == [0, 0] and shards("timeline") == [1, 1] and shards("doubts_total") == [0, 0]
   and shards("retries_total") == [0, 0] and shards("waiting") == [0, 0], "and how it is", metrics())
ok(one.until(lambda: sum(a + b for a, b in zip(shards("folded_total"), shards("folded_total", c=two))) == sum(shards("commits_total"))), "every batch is folded by one of them",
   (metrics(), metrics(two)))
ok(one.until(lambda: shards("unfolded_seconds") == [0, 0]) and metrics()["hearsay_unfolded_seconds"] == 0, "and nothing waits")
ok(sum(shards("uploads_total", role="scraper")) == 0 and shards("reachable", role="scraper") == [1, 1], "who is no operator sees counters in steps")
ok(one.until(lambda: metrics()["hearsay_nodes_alive"] == 2), "two nodes are alive", metrics())
absent = ("commits_total", "commits_unfolded", "ids_bytes", "ids_runs", "ids_disk_bytes", "log_bytes", "last_backup_timestamp_seconds", "last_checkpoint_timestamp_seconds",
          "clock_ahead_seconds", "disk_free_bytes", "disk_size_bytes")
ok(not [name for name in absent if "hearsay_" + name in metrics()], "what is of a store on a disk is absent", metrics())
page = open(os.path.join(ROOT, "docs", "collector.md")).read()
section = re.search(r"^## Metrics and alerts\n(.*?)^## ", page, re.M | re.S).group(1)
words = re.search(r"A node of a cluster has no store:\s(.*?)\sare\sabsent\sthere(.*?)\.", section, re.S)
ok({"hearsay_" + w for w in re.findall(r"`(?:hearsay)?_(\w+)`", words.group(1) + words.group(2))} == {"hearsay_" + name for name in absent}, "as the page says", words.groups())
new = {k.split("{")[0][8:] for k in metrics() if re.match("hearsay_(shard_|nodes_|database_)", k)}
ok(new and all(re.search(r"`(hearsay)?_%s(\{\w+\})?`" % name, section) for name in new), "all that a node has more is on the page", new)

is_ = status()["cluster"]
ok([(n["name"], n["alive"]) for n in is_["nodes"]] == [("one", True), ("two", True)] and len({n["version"] for n in is_["nodes"]}) == 1, "/v1/status lists the nodes", is_)
ok([s["server"] for s in is_["shards"]] == NAMES and all(s["reachable"] and s["why"] is None and s["timeline"] == 1 for s in is_["shards"])
   and sum(s["uploads"] for s in is_["shards"]) == 61, "and the shards", is_)
ok("cluster" not in status(role="analyst") and not any(name in json.dumps(status(role="analyst")) for name in (*NAMES, '"one"')), "to operators alone")
code, _, body = ask(one.admin, "POST", "/v1/backup", token=tokens["operator"])
body = json.loads(body)
ok(code == 409 and body["title"] == "Not here" and "PostgreSQL's own tools" in body["detail"], "a backup is the databases' business", body)

hold = subprocess.Popen(p.psql_words("-c", "select 1 from hearsay.folds for update; select pg_sleep(600)", database="hearsay"), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL)
ok(one.until(lambda: p.sql("select 1 from pg_stat_activity where wait_event = 'PgSleep'") == "1"), "nobody can fold in the first shard")
while shards("uploads_total")[0] == sum(s["uploads"] for s in is_["shards"][:1]):
    one.upload([t.upload([400])])
ok(one.until(lambda: shards("unfolded_seconds")[0] > 1) and metrics()["hearsay_unfolded_seconds"] > 1 and status()["cluster"]["shards"][0]["unfolded_seconds"] > 1, "how long a batch waits is told", metrics())
p.sql("select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep'")
hold.wait()
ok(one.until(lambda: shards("unfolded_seconds") == [0, 0]), "until it is folded", metrics())

# ---- Troubles ----------------------------------------------------------------------

ok(troubles() == {"not-replicated"} and ready()[0] == 200 and "not-replicated: " in ready()[1], "without a standby that is said, and it is ready", ready())
ok(len(said(one, "trouble name=not-replicated")) == 1, "in the log too", one.said())
ok(one.until(lambda: troubles(two) == {"not-replicated", "database-clock"}) and ready(two)[0] == 200, "a node whose clock is wrong says so, and is ready", ready(two))
ok("database-clock: this machine's clock is ahead of the database's, which decides; days: 20" in ready(two)[1] and metrics(two)["hearsay_database_behind_seconds"] > 19 * 86400,
   "and by how much", ready(two))
ok(status(two)["day"] == status()["day"], "its day is the database's all the same")
ok(two.stop() == 0 and one.until(lambda: [n["name"] for n in status()["cluster"]["nodes"]] == ["one"]), "a node that ends is off the list", status())
two.start()
two.process.kill()
two.process.wait()


def lend(open_):
    """Let nobody into the second database, or all."""
    p.sql("alter database second with allow_connections %s; select pg_terminate_backend(pid) from pg_stat_activity where datname = 'second'" % str(open_).lower())


def lost():
    return [name for name, s in zip(NAMES, status()["cluster"]["shards"]) if not s["reachable"]]


def split(answer):
    """How many uploads an answer acknowledges, and why others are refused."""
    code, body = answer
    refused = [u["reason"] for u in body["refused"]] if body else []
    return len(more) - len(refused), set(refused)


lend(False)
ok(one.until(lambda: lost() == NAMES[1:]) and troubles() == {"not-replicated", "database-unreachable"}, "one of two databases goes", status())
ok(ready()[0] == 200 and "some databases cannot be used, and their share of uploads gets 503; how many of 2: 1" in ready()[1], "and the node is ready for the other", ready())
ok("not currently accepting connections" in status()["cluster"]["shards"][1]["why"] and said(one, "error shard-lost"), "the reason is told", (status(), one.said()))
ok("second" not in ready()[1], "not to strangers")
more = [t.upload([100 + i]) for i in range(60)]
n, reasons = split(one.upload(more))
ok(0 < n < 60 and reasons == {"doubt"}, "its share of uploads is refused, in doubt", (n, reasons))
ok(shards("doubts_total")[0] == 0 < shards("doubts_total")[1] and metrics()['hearsay_uploads_total{verdict="doubt"}'] == 60 - n, "which is counted", metrics())
lend(True)
ok(one.until(lambda: troubles() == {"not-replicated"}), "it comes back, and the node goes on", status())
ok(one.until(lambda: one.upload(more)[0] == 204), "all is taken in the end")

one.document(TASKS, version=9, name="next")
p.stop()
ok(one.until(lambda: ready()[0] == 503), "all databases go", ready())
told = json.loads(ready()[1])
ok(told["detail"] == "database-unreachable: the database cannot be used, and uploads get 503" and troubles() == {"database-unreachable"}, "and the node is not ready", told)
ok(status()["why"] and lost() == NAMES and shards("reachable") == [0, 0] and shards("replicated") == [0, 0], "it says so everywhere", status())
ok(one.until(lambda: status()["cluster"]["nodes"][0]["seen"] > 1), "when nodes were seen is long ago", status())
code, body = one.upload([t.upload([200])])
ok(code == 503 and {u["reason"] for u in body["refused"]} == {"doubt"}, "uploads are in doubt", (code, body))
for method, where in (("GET", "/v1/tasks/cells/live"), ("GET", "/v1/tasks/cells/tally"), ("GET", "/v1/tasks/cells/estimate"), ("POST", "/v1/tasks/cells/retire"),
                      ("POST", "/v1/purge?before=" + date(DAY - 30)), ("PUT", "/v1/document")):
    body = open(os.path.join(one.dir, "next.signed"), "rb").read() if method == "PUT" else None
    code, _, body = ask(one.admin, method, where, body, tokens["operator"])
    ok(code == 503 and b"the database" in body, "what needs a database waits: %s %s" % (method, where), (code, body))
code, found = check(one)
ok(code == 1 and len(found) == 2 and all(name in line and "cannot be reached" in line for name, line in zip(NAMES, found)), "serve check says the same", found)
p.start()
ok(one.until(lambda: ready()[0] == 200 and troubles() == {"not-replicated"}), "it is ready again, unaided", ready())
ok(one.until(lambda: said(one, "note trouble-over name=database-unreachable")), "the log says that it is over", one.said())
ok(one.until(lambda: one.upload(ups + more)[0] == 204), "what was taken is known")

p.standby("follower")
ok(one.until(lambda: shards("replicated") == [1, 1] and troubles() == set()) and ready() == (200, "ready\n"), "with a standby all is well, and nobody had to connect anew", ready())
ok(check(one) == (0, []), "and serve check has no word", check(one))
ok(one.upload([t.upload([300])])[0] == 204, "uploads wait for it")
p.configure(log_statement="all")
ok(one.until(lambda: lost() == NAMES), "a setting that logs what must not be read is noticed while links stay", status())
looks = [(s["reachable"], "log_statement logs parameters" in (s["why"] or "") and "up to a second of reports was logged: delete that log" in s["why"]) for _ in range(20) for s in status()["cluster"]["shards"]]
ok(set(looks) == {(False, True)}, "its reason is told all the time, and that reports were logged until it was noticed", status())
ok([line for line in said(one, "error shard-lost") if "up to a second of reports was logged: delete that log" in line], "the log event says so, too", one.said())
code, found = check(one)
ok(code == 1 and all("log_statement logs parameters" in line and "was logged" not in line for line in found) and len(found) == 2,
   "serve check, which sent no reports, does not say that any were logged", found)
code, body = one.upload([t.upload([301])])
ok(code == 503 and {u["reason"] for u in body["refused"]} == {"doubt"}, "and nothing is acknowledged", (code, body))
p.configure(log_statement="none")
ok(one.until(lambda: one.upload([t.upload([301])])[0] == 204 and lost() == []), "set right, it goes on unaided", status())
ok(one.until(lambda: metrics()["hearsay_nodes_alive"] == 1), "one that was killed a while ago is not alive", metrics())
ok([(n["name"], n["alive"]) for n in status()["cluster"]["nodes"]] == [("one", True), ("two", False)], "though it is listed", status())
p.configure(synchronous_standby_names="")
ok(one.until(lambda: troubles() == {"not-replicated"}), "when commits do not wait for it any more that is said", ready())
ok(one.stop() == 0, "it ends")
done()
