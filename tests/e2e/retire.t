#!/usr/bin/python3 -B
"""What is over can go: a release that is asked no more leaves memory and disk,
its counts and figures stay, and nothing more of it is taken. Over HTTP, and by
`hearsay store` while nobody serves the data."""

import sqlite3

from collector import *


def big(name, release, cells_=60000):
    return task(name, "release: %d; range: [0, %d]; bins: %d; epsilon: 16; mechanism: grr; repeat: daily" % (release, cells_, cells_))


c = Collector("retire", tasks=big("age", 1) + big("size", 1) + big("past", 1), checkpoint_seconds=1, estimate_seconds=1, admin_open=False).start()
token = {}
for role in ("analyst", "operator"):
    token[role] = must("serve", "token", "add", role, "--role", role, "--data", c.data).decode().strip()
ok(c.until(lambda: c.get("/v1/status", token["operator"])[0] == 200), "the tokens are known")
A, O = token["analyst"], token["operator"]
old = {name: c.task[name] for name in ("age", "size", "past")}
for name in old:
    status, answer = c.upload([old[name].upload([n], epoch=DAY - n % 2) for n in range(40)])
    assert status == 204, answer
    c.settled(name, 40, token=O)


def post(where, who=O):
    status, _, body = ask(c.admin, "POST", where, token=who)
    return status, json.loads(body)


def memory():
    return c.get("/v1/status", O)[1]["store"]["tally_bytes"]


ok(c.until(lambda: c.get("/v1/tasks/age/history", A)[0] == 200), "there is a history")
full = memory()
ok(post("/v1/tasks/age/retire")[0] == 409, "what is asked is not retired")
document = c.document(big("age", 2) + big("size", 2) + big("other", 1))
with open(document, "rb") as f:
    status = ask(c.admin, "PUT", "/v1/document", f.read(), token=O)[0]
ok(status == 200, "another document asks new releases, and one task no more", status)
ok(post("/v1/tasks/age/retire", A)[0] == 403 and post("/v1/tasks/nothing/retire")[0] == 404 and post("/v1/tasks/age/retire?release=9")[0] == 404,
   "only by an operator, and only what is there")
ok(post("/v1/tasks/age/retire")[0] == 409, "a task that is asked is not retired as a whole")
status, said = post("/v1/tasks/age/retire?release=1")
ok(status == 200 and said == {"task": "age", "retired": 1}, "but an old release of it", said)
ok(post("/v1/tasks/age/retire?release=1") == (200, {"task": "age", "retired": 0}), "once")
ok(c.until(lambda: memory() <= full - 3 * 8 * 60000), "its tallies leave memory, those of its days too", (full, memory()))
answer = c.upload([old["age"].upload([1])])
ok(answer[0] == 410 and answer[1]["refused"][0]["reason"] == "closed" and c.upload([old["size"].upload([1])])[0] == 204, "nothing more of it is taken; of others it is", answer)
row = c.get("/v1/tasks/age?release=1", O)[1]
ok(row["reports"] == 40 and len(row["days"]) == 2, "what was counted is still known", row)
gone = {(t["task"], t["release"]): t["retired"] for t in c.get("/v1/tasks", A)[1]["tasks"]}
ok([key for key in gone if gone[key]] == [("age", 1)] and len(gone) == 6, "and the list says which is retired", gone)
said = [c.get("/v1/tasks/age/%s?release=1" % what, O) for what in ("estimate", "estimate.csv", "estimate.svg", "tally", "live")] + [c.get("/v1/tasks/age/compare?release=2&with=1", O)]
said = [(status, json.loads(body) if isinstance(body, bytes) else body) for status, body in said]
ok(all(status == 410 and body["title"] == "Retired" and "is retired" in body["detail"] for status, body in said), "who asks for its figures is told so, everywhere", said)
ok(row["retired"] is True and c.get("/v1/tasks/age", O)[1]["retired"] is False, "as in what is said of the task", row)
status, history = c.get("/v1/tasks/age/history?release=1", A)
ok(status == 200 and history, "and so is its history", (status, str(history)[:200]))
ok("retired task=age" in c.said(), "the log says it", c.said())
ok(post("/v1/purge")[0] == 400 and post("/v1/purge?before=soon")[0] == 400 and post("/v1/purge?before=" + date(DAY))[0] == 409, "a purge needs a day, and a closed one")
ok(post("/v1/purge?before=" + date(DAY - 4)) == (200, {"before": date(DAY - 4), "retired": 0}), "what was over before a day is purged; here nothing was")
c.kill()
c.start()
again = c.get("/v1/tasks/age/history?release=1", A)
ok(again == (200, history) and c.get("/v1/tasks/age?release=1", O)[1]["live"]["reports"] == 40, "all that is there after a kill", (str(again)[:300], str(history)[:300]))
c.kill()


def shown(sql, *values):
    """Something of what readers were shown, as it lies on the disk."""
    with sqlite3.connect(os.path.join(c.data, "shown.db")) as db:
        found = db.execute(sql, values).fetchone()
    db.close()
    return found and found[0]


def pieces(entry):
    return shown("SELECT count(*) FROM pieces WHERE entry = ?", entry)


r = run("store", "check", c.data)
ok(r.code == 0, "the data is sound", r)
kept = shown("SELECT count(*) FROM blocks")
ok(pieces(1) > 0 and pieces(2) > 0 and kept > 0, "something is shown", (pieces(1), pieces(2), kept))
for first in (DAY - 30, DAY - 25):  # blocks of days that are over
    shown("INSERT INTO blocks VALUES(1, ?, ?, 1)", first, first + 1)
    shown("INSERT INTO pieces VALUES(1, ?, 0, zeroblob(8))", first)
r = run("store", "purge", c.data, "--before", date(DAY - 26))
left = shown("SELECT count(*) FROM blocks"), shown("SELECT count(*) FROM pieces WHERE block = ?", DAY - 30), shown("SELECT count(*) FROM pieces WHERE block = ?", DAY - 25)
ok(r.code == 0 and left == (kept + 1, 0, 1), "store purge: what was shown of these days goes, of later ones it stays", (r, kept, left))
r = run("store", "retire", c.data, "size")
ok(r.code == 1 and "in force" in r.err, "store retire refuses what is asked", r)
r = run("store", "retire", c.data, "nothing")
ok(r.code == 1 and "no such task" in r.err, "and what is not there", r)
r = run("store", "retire", c.data, "size", "one")
ok(r.code == 2, "a release is a number", r)
r = run("store", "retire", c.data, "size", "1")
ok(r.code == 0 and r.out == b"retired: 1\n" and pieces(1) == 0 and pieces(2) > 0, "store retire: a release, and what was shown of it", (r, pieces(1), pieces(2)))
r = run("store", "retire", c.data, "past")
ok(r.code == 0 and r.out == b"retired: 1\n", "store retire: a task", r)
ok(pieces(2) == 0, "and what was shown of it", pieces(2))
r = run("store", "purge", c.data)
ok(r.code == 2, "store purge needs a day", r)
r = run("store", "purge", c.data, "--before", date(DAY - 4))
ok(r.code == 0 and r.out == b"retired: 0\n", "store purge", r)
rows_ = {(r["task"], r["release"]): r for r in rows(must("store", "check", c.data, "--format", "csv"))}
ok(all(row["agrees"] in ("true", "yes", 1) for row in rows_.values()), "the data is sound", rows_)
must("store", "export", c.data, "--tallies", path("tallies"), "-o", path("archive"))
ok(not {"age-1.tally", "size-1.tally", "past-1.tally"} & set(os.listdir(path("tallies"))), "tallies that have gone are not exported", os.listdir(path("tallies")))
must("store", "compact", c.data)
must("store", "import", path("archive"), path("again"))
shutil.rmtree(c.data)
shutil.move(path("again"), c.data)
c.start()
ok(c.get("/v1/status", O)[0] == 200, "an archive keeps the tokens")
ok(c.upload([old["age"].upload([2])])[0] == 410 and c.upload([old["past"].upload([2])])[0] == 410 and c.upload([c.task["age"].upload([2])])[0] == 204,
   "an archive keeps what is retired")
ok(memory() <= 3 * 8 * 60100 and c.get("/v1/tasks/past", O)[1]["live"]["reports"] == 40, "and its counts", memory())
code = c.stop()
ok(code == 0, "the collector ends", (code, c.said()))
done()
