#!/usr/bin/python3 -B
"""hearsay store with a cluster: the data of one machine moves into one and back,
exactly; a cluster is checked, compacted, retired and purged; shards are added."""

import os
import shutil
import sqlite3
import struct
import subprocess
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), where) for where in ("", "../rig")]
from collector import *
import postgres

if postgres.why_not():
    skip_all(postgres.why_not())

KEPT = cells("cells", 50) + task("crash", "yes-no: true; epsilon: 1; repeat: daily") + task("browser", "values: [firefox, chrome]; epsilon: 1; mechanism: grr; repeat: daily")
QUOTA = 2


def store(*args):
    return run("store", *args)


def checked(data):
    return json.loads(must("store", "check", data, "--format", "json"))


def tallies(data, name):
    """Its tally files by name."""
    must("store", "export", data, "--tallies", path(name))
    return {f: open(os.path.join(path(name), f), "rb").read() for f in sorted(os.listdir(path(name)))}


def book(data, name):
    """All that a book beside the data says."""
    db = sqlite3.connect(os.path.join(data, name))
    said = sorted(db.iterdump())
    db.close()
    return said


def rows(data, sql):
    db = sqlite3.connect("file:%s?mode=ro" % os.path.join(data, "record.db"), uri=True)
    got = sorted(db.execute(sql).fetchall())
    db.close()
    return got


def records(archive):
    """Type and payload of each record (docs/formats.md, 8)."""
    at = 16
    while at < len(archive):
        kind, _, length = struct.unpack_from("<IIQ", archive, at)
        yield kind, archive[at + 16:at + 16 + length]
        at += 16 + length


def archived(all_):
    """An archive of these records."""
    head = b"HSYA" + struct.pack("<II", 1, 0)
    wire = head + struct.pack("<I", crc32c(head))
    for kind, payload in all_:
        kind, length = struct.pack("<I", kind), struct.pack("<Q", len(payload))
        wire += kind + struct.pack("<I", crc32c(kind + length + payload)) + length + payload
    return wire


def meaning(archive):
    """What an archive says, but for books and the number of commits."""
    said, tally = set(), None
    for kind, payload in records(archive):
        if kind in (6, 13):  # ids, however many a record has
            said |= {(kind, payload[:4], payload[i:i + 16]) for i in range(4, len(payload), 16)}
        elif kind == 8:
            said.add((kind, tally, payload))
        elif kind not in (12, 14):
            said.add((kind, payload[:32] + payload[40:] if kind == 1 else payload))
        tally = payload if kind == 7 else tally
    return said


def says(r, *words):
    return r.code == 1 and r.out == b"" and all(w in r.err for w in words)


def post(c, where, body=b""):
    status, _, answer = ask(c.admin, "POST", where, body)
    return status, answer


# ---- The data of one machine ------------------------------------------------------

c = Collector("one", tasks=KEPT + cells("past", 5), estimate_seconds=1, enrolled=["browser"])
token = must("serve", "token", "enrol", "browser", "--count", 1, "--quota", QUOTA, "--data", c.data).decode().strip()
must("serve", "token", "add", "ann", "--role", "operator", "--data", c.data)
c.start()
mine = {"Authorization": "Bearer " + token}
sent = [c.task["cells"].upload([i % 50], epoch=DAY - (i % 3 == 0)) for i in range(90)]
nulls = [c.task["cells"].upload([0], null=True) for _ in range(5)] + [c.task["crash"].upload([0], null=True)]
enrolled = [c.task["browser"].upload([i]) for i in range(2)]
assert c.upload(sent)[0] == c.upload(nulls)[0] == c.upload(enrolled, **mine)[0] == c.upload([c.task["past"].upload([3])])[0] == 204
merged = must("tally", stdin=must("randomize", "--task", os.path.join(c.dir, "tasks.signed") + ":crash", "--simulate", "--seed", 1, stdin=b"yes\nno\n" * 20))
assert post(c, "/v1/tasks/crash/tally", merged)[0] == 200
c.cells("cells")
assert c.until(lambda: rows(c.data, "select * from figures"))
c.document(KEPT)
assert ask(c.admin, "PUT", "/v1/document", open(os.path.join(c.dir, "tasks.signed"), "rb").read())[0] == 200
assert post(c, "/v1/tasks/past/retire")[0] == 200
c.stop()
c.start()
late = [c.task["cells"].upload([i], epoch=DAY - i % 2) for i in range(10)]
assert c.upload(late)[0] == 204
c.kill()
every = sent + nulls + late
waiting = [t["waiting"] for t in checked(c.data)["tasks"]]
ok(waiting[0] == 10, "the data has batches that are not folded", waiting)
before, was = tallies(c.data, "before"), checked(c.data)
must("store", "export", c.data, "-o", path("archive"))

# ---- Into a cluster -----------------------------------------------------------------

pg = postgres.Postgres("a")
urls = [pg.url(), pg.database("second")]


def node(name, data=c, **config):
    """A node of a cluster, with the document and the tokens of a collector."""
    n = Collector(name, tasks=KEPT, **{"storage": urls, "node": name, "enrolled": ["browser"], "estimate_seconds": 1, **config})
    for f in ("tasks.signed", "key.public"):
        shutil.copy(os.path.join(data.dir, f), os.path.join(n.dir, f))
    os.mkdir(n.data, 0o700)
    shutil.copy(os.path.join(data.data, "tokens.db"), n.data)
    n.task = data.task
    return n


def same(of, what):
    """What check says of two stores alike."""
    keys = ("sound", "problem", "day", "closed", "ids", "merged", "figures")
    got = checked(of)
    tasks_ = [{**t, "waiting": 0} for t in got["tasks"]]
    ok([got[k] for k in keys] == [was[k] for k in keys] and tasks_ == [{**t, "waiting": 0} for t in was["tasks"]], what, (got, was))


n = node("n1")
r = store("import", path("archive"), n.yaml)
ok(says(r, "init-cluster"), "no archive goes into databases without tables", r)
must("store", "init-cluster", n.yaml)
whole = open(path("archive"), "rb").read()
wrong = []
for k in range(0, len(whole), len(whole) // 7):
    r = store("import", write("bad", whole[:k]), n.yaml)
    wrong += [] if says(r, "bad") else [(k, str(r))]
    at = k + 3
    r = store("import", write("bad", whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1:]), n.yaml)
    wrong += [] if says(r, "bad") else [(at, str(r))]
ok(not wrong and checked(n.yaml)["tasks"] == [], "an archive that is cut or changed is refused, and nothing of it is there", wrong)
must("store", "import", path("archive"), n.yaml)
same(n.yaml, "the data of one machine is that of a cluster")
ok(tallies(n.yaml, "cluster-1") == before, "with the same tallies, byte for byte")
r = store("import", path("archive"), n.yaml)
ok(says(r, "something is in it already"), "nothing is imported over other data", r)
ok(pg.sql("select count(*) from hearsay.batches", database="hearsay") == "0", "what waited is folded")


def served(n, what):
    """Whoever serves it knows every upload, and counts none twice."""
    n.start()
    again = n.upload(every)[0], n.upload(enrolled, **mine)[0]
    other = n.upload([c.task["cells"].upload([9], id=sent[3][80:96], epoch=DAY - 1)])[0], n.upload([c.task["cells"].upload([9], id=late[4][80:96])])[0]
    quota = n.upload([c.task["browser"].upload([1])], **mine)[0]
    ok(again == (204, 204) and other == (409, 409), "%s knows the uploads it has seen elsewhere" % what, (again, other))
    ok(quota == 429, "and what tokens have used", quota)
    ok(post(n, "/v1/tasks/crash/tally", merged)[0] == 409, "and which tallies were merged")
    ok(n.get("/v1/tasks/past")[1]["retired"], "and what is retired")


# As of a node that folded when it did not know yet.
pg.sql("insert into hearsay.cells values(3, 0, 0, 1, '\\x00')", database="hearsay")
served(n, "a node")
ok(n.until(lambda: pg.sql("select count(*) from hearsay.cells where entry = 3", database="hearsay") == "0"), "and lets go of a tally that was made again")
r = store("export", n.yaml, "-o", path("no"))
ok(says(r, "n1", "stop all nodes") and not os.path.exists(path("no")), "a cluster that is served is not exported", r)
r = store("import", path("archive"), n.yaml)
ok(says(r, "n1", "stop all nodes"), "nor is anything imported into it", r)
same(n.yaml, "but it is checked, and nothing was counted twice")
new = [c.task["cells"].upload([i]) for i in range(7)]
counted = [t["reports"] for t in checked(n.yaml)["tasks"]]
hold = subprocess.Popen(pg.psql_words("-c", "select 1 from hearsay.folds for update; select pg_sleep(600)", database="hearsay"), stdin=subprocess.DEVNULL,
                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
n.until(lambda: pg.sql("select count(*) from pg_stat_activity where query like '%pg_sleep(600)' and wait_event = 'PgSleep'") == "1")
assert n.upload(new)[0] == 204
ok(pg.sql("select count(*) from hearsay.batches where type = 4", database="hearsay") == "1", "a sum of reports waits to be folded")
r = store("check", n.yaml, "--format", "json")
ok(r.code == 0 and json.loads(r.out)["sound"] and [t["reports"] for t in json.loads(r.out)["tasks"]] == [counted[0] + 7] + counted[1:], "and is checked as what it is", r)
pg.sql("select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_sleep(600)' and pid <> pg_backend_pid()")
hold.wait()
n.stop()

# ---- What may be forgotten ---------------------------------------------------------

must("store", "export", n.yaml, "-o", path("archive-2"), "--tallies", path("after"))
r = store("compact", n.yaml)
ok(r.code == 0 and re.fullmatch(rb"\d+ bytes, \d+ before\n", r.out), "a cluster is compacted", r)


def used():
    return dict(row.split("|") for row in pg.sql("select entry, ids from hearsay.counts where epoch = %d" % DAY, database="hearsay").splitlines())


shares = used()
r = store("forget-nulls", n.yaml, date(DAY))
ok(r.code == 0 and r.out == b"6 ids of null uploads deleted\n", "the ids of null uploads are forgotten", r)
ok({k: int(shares[k]) - int(v) for k, v in used().items()} == {"0": 5, "1": 1, "2": 0, "3": 0}, "and each task has room for as many", (shares, used()))
r = store("forget-nulls", n.yaml, date(DAY))
ok(r.out == b"0 ids of null uploads deleted\n" and store("forget-nulls", n.yaml, date(DAY - 300)).out == r.out, "once", r)
ok(says(store("retire", n.yaml, "crash"), "in force") and says(store("retire", n.yaml, "nothing"), "no such task"), "what is asked is not retired, nor what is not there")
ok(store("retire", n.yaml, "past").out == b"retired: 0\n", "nor what is retired")
r = store("purge", n.yaml, "--before", date(DAY))
ok(says(r, "still open"), "nor what is open purged", r)
ok(store("purge", n.yaml, "--before", date(DAY - 5)).out == b"retired: 0\n" and checked(n.yaml)["sound"], "what was over is")
r = store("check", n.yaml)
ok(r.code == 0 and b"sound: 2 shards, 110 ids" in r.out, "and all is sound", r)
copy = node("copy", storage=[pg.url(database="copy"), urls[1]])
for sql, words in (("update hearsay.cells set words = substr(words, 9) where entry = 0 and epoch = 0", "not as long as it must be"),
                   ("update hearsay.counts set reports = reports + 1 where entry = 0 and epoch = %d" % DAY, "108 reports were counted, its tally has 107"),
                   ("drop table hearsay.ids_%d" % (DAY - 1), "ids_%d of an open day is missing" % (DAY - 1)),
                   ("insert into hearsay.batches(entry, epoch, type, reports, nulls, ids, enrolled, bytes) values(9, 1, 1, 1, 0, 1, 0, '')", "belongs to no entry")):
    pg.sql("create database copy template hearsay")
    pg.sql(sql, database="copy")
    r = store("check", copy.yaml)
    ok(r.code == 1 and words in r.err, "check says what is wrong: %s" % words, r)
    pg.sql("drop database copy")

# ---- And back ------------------------------------------------------------------------

must("store", "import", path("archive-2"), path("heir"))
heir = checked(path("heir"))
ok(heir["sound"] and heir["ids"] == was["ids"] + 7 and heir["tasks"][0]["reports"] == was["tasks"][0]["reports"] + 7, "and becomes the data of one machine again", heir)
after = {f: open(os.path.join(path("after"), f), "rb").read() for f in sorted(os.listdir(path("after")))}
ok(tallies(path("heir"), "heir-1") == after and after["crash-1.tally"] == before["crash-1.tally"], "with the same tallies, byte for byte")
ok(book(path("heir"), "tokens.db") == book(c.data, "tokens.db"), "with its tokens")
first, second = ({line for line in book(data, "shown.db") if "counts" in line or "blocks" in line} for data in (c.data, path("heir")))
ok(len(first) > 4 and len(second) >= len(first), "and what was shown", (first, second))
must("store", "export", path("heir"), "-o", path("archive-3"))
third, second = (open(path(name), "rb").read() for name in ("archive-3", "archive-2"))
ok(meaning(third) == meaning(second) and len(meaning(third)) > 150, "an archive of it is that of the cluster", meaning(third) ^ meaning(second))
all_ = list(records(third))
came = [(15, os.urandom(48) + struct.pack("<IIQQQQ", i % 2, DAY - i, 50, 3, i, 0) + os.urandom(40)) for i in range(3)]
all_[-1:] = []
at = next(i for i, (kind, _) in enumerate(all_) if kind in (10, 11, 14))
all_[at:at] = came
with_batches = archived(all_ + [(12, struct.pack("<Q", len(all_)))])
m = node("m1", storage=[pg.database("third"), pg.database("fourth")], document=None)
must("store", "init-cluster", m.yaml)
for what, change in (("a tally has other reports", lambda kind, p: p[:8] + struct.pack("<Q", 1 + struct.unpack_from("<Q", p, 8)[0]) + p[16:] if kind == 4 else p),
                     ("more ids than uploads", lambda kind, p: p + os.urandom(16 * 200) if kind == 6 else p)):
    changed = [(kind, change(kind, p)) for kind, p in records(third)]
    r = store("import", write("bad", archived(changed)), m.yaml)
    ok(says(r, "bad", what), "an archive that does not agree with itself is refused: %s" % what, r)
m.start()
ok(says(store("import", write("archive-4", with_batches), m.yaml), "m1"), "a node that runs is told of, be the cluster as empty as it may")
m.process.send_signal(signal.SIGSTOP)
# As one that nobody has seen for long; what it had sent is done by then.
ok(postgres.until(lambda: pg.sql("delete from hearsay.nodes", database="third") == "" and store("import", path("archive-4"), m.yaml).code == 0, "no import"),
   "one that is frozen is not waited for")
m.process.send_signal(signal.SIGCONT)
ok(m.until(lambda: "another cluster" in m.said()), "and when it wakes it knows that the key is another")
m.kill()
must("store", "export", m.yaml, "-o", path("archive-5"))
fifth = open(path("archive-5"), "rb").read()
ok(meaning(fifth) == meaning(with_batches) and sum(kind == 15 for kind, _ in records(fifth)) == 3, "nor is anything of an archive lost in a cluster, batches of shufflers neither",
   meaning(fifth) ^ meaning(with_batches))
one = node("back", storage=None, node=None)
shutil.rmtree(one.data)
os.rename(path("heir"), one.data)
every += new
served(one, "a collector")
one.stop()
ok(tallies(one.data, "heir-2") == after, "and none is counted twice")
done()
