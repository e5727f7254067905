#!/usr/bin/python3 -B
"""hearsay store: a collector's data is checked, exported, imported, compacted;
what is damaged, newer, foreign or in use is refused and said."""

import os
import random
import shutil
import sqlite3
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from collector import *

SMALL = cells("cells", 50) + task("crash", "yes-no: true; epsilon: 1; repeat: daily")
GOLDEN = os.path.join(ROOT, "tests", "golden")


def store(*args):
    return run("store", *args)


def checked(data):
    """What check says of data that is sound."""
    return json.loads(must("store", "check", data, "--format", "json"))


def tallies(data, name):
    """Its tally files by name."""
    must("store", "export", data, "--tallies", path(name))
    return {f: open(os.path.join(path(name), f), "rb").read() for f in sorted(os.listdir(path(name)))}


def copy(data, name):
    shutil.copytree(data, path(name))
    os.chmod(path(name), 0o700)
    return path(name)


def change(data, file, sql, *values):
    db = sqlite3.connect(os.path.join(data, file))
    db.execute(sql, values)
    db.commit()
    db.close()


def says(r, *words):
    return r.code == 1 and r.out == b"" and all(w in r.err for w in words)


# ---- A collector's data -----------------------------------------------------------

c = Collector("one", tasks=SMALL, checkpoint_seconds=1).start()
sent = [c.task["cells"].upload([i % 50]) for i in range(60)]
for body in (b"".join(sent), c.task["crash"].upload([1, 0, 1]), c.task["crash"].upload([0], null=True)):
    answer = c.bring([body])
    assert answer[0] == 204, answer


def rests(needle):
    """Whether a file of the data holds these bytes."""
    return any(needle in open(os.path.join(c.data, f), "rb").read() for f in os.listdir(c.data) if f.endswith((".db", "-wal")))


noise = [random.Random(7).randrange(50) for _ in range(400)]
many = c.task["cells"].upload(noise)
assert c.bring([many])[0] == 204
ok(c.until(lambda: not rests(many[-200:-100])), "a report that was folded leaves the data, its logs too, while it is served")
r = store("check", c.data)
ok(says(r, "process %d" % c.process.pid, "stop it first"), "data that is being served is refused, and it is said by whom", r)
c.kill()
c.start()
assert c.upload([c.task["cells"].upload([7])])[0] == 204
c.kill()

got = checked(c.data)
task_rows = {t["task"]: t for t in got["tasks"]}
ok(got["sound"] and got["problem"] is None and got["ids"] == 64 and task_rows["cells"]["reports"] == 461
   and task_rows["crash"]["reports"] == 3 and task_rows["crash"]["nulls"] == 1 and all(t["agrees"] for t in got["tasks"]),
   "after a kill everything is there and agrees", got)
r = store("check", c.data)
ok(r.code == 0 and b"sound" in r.out and b"cells" in r.out, "the same as a table", r)

# ---- Export and import ------------------------------------------------------------

files = tallies(c.data, "tallies")
want = {i: 1 + (i < 10) + (i == 7) + noise.count(i) for i in range(50)}
ok(sorted(files) == ["cells-1.tally", "crash-1.tally"], "a tally a task", files.keys())
found, n = cells_of(files["cells-1.tally"])
ok(n == 461 and found == want, "with every report, those too that were not folded", (n, found))
r = run("estimate", os.path.join(path("tallies"), "crash-1.tally"), "--format", "json")
ok(r.code == 0 and json.loads(r.out)["reports"] == 3, "and estimate reads it", r)

token = must("serve", "token", "add", "ann", "--role", "operator", "--data", c.data).decode().strip()
old_mask = os.umask(0o022)
must("store", "export", c.data, "-o", path("archive"), "--tallies", path("private"))
os.umask(old_mask)
modes = [os.stat(path(p)).st_mode & 0o777 for p in ("archive", "private", "private/cells-1.tally")]
ok(modes == [0o600, 0o700, 0o600], "what is exported is for its owner only", modes)
must("store", "import", path("archive"), path("heir"))
heir = checked(path("heir"))
ok(heir["tasks"] == got["tasks"] and heir["ids"] == got["ids"] and heir["day"] == got["day"], "an archive becomes the same data", heir)
ok(tallies(path("heir"), "tallies-2") == files, "with the same tallies, byte for byte")


def book(data, name):
    """All that a book beside the data says."""
    db = sqlite3.connect(os.path.join(data, name))
    said = list(db.iterdump())
    db.close()
    return said


ok(all(book(path("heir"), name) == book(c.data, name) for name in ("shown.db", "tokens.db")) and len(book(c.data, "tokens.db")) > 6
   and os.stat(os.path.join(path("heir"), "shown.db")).st_mode & 0o777 == 0o600, "with what readers were shown, and the tokens")
must("store", "import", path("archive"), path("heir-nulls"))
r = store("forget-nulls", path("heir-nulls"), date(DAY))
ok(r.code == 0 and r.out == b"1 ids of null uploads deleted\n", "and which ids are of null uploads", r)
r = store("import", os.path.join(ROOT, "tests", "fuzz", "corpus", "archive", "golden"), path("heir-old"))
ok(r.code == 0 and "does not record what readers were shown" in r.err, "an archive that has no books is taken, and it is said", r)
c2 = Collector("two", tasks=SMALL, data=path("heir"))
shutil.copy(os.path.join(c.dir, "tasks.signed"), os.path.join(c2.dir, "tasks.signed"))
shutil.copy(os.path.join(c.dir, "key.public"), os.path.join(c2.dir, "key.public"))
c2.start()
again = c2.upload([b"".join(sent)])[0]
other = c2.upload([c.task["cells"].upload([9], id=sent[3][80:96])])[0]
c2.stop()
ok(again == 204 and other == 409, "a collector serves it, and knows the uploads it has seen elsewhere", (again, other))
ok(tallies(path("heir"), "tallies-3") == files, "and counts none of them twice")

r = store("import", path("archive"), path("heir"))
ok(says(r, "already exists"), "nothing is imported over other data", r)
archive = open(path("archive"), "rb").read()
wrong = []
for name, bytes_ in [("cut at %d" % k, archive[:k]) for k in range(0, len(archive), len(archive) // 23)] \
        + [("changed at %d" % k, archive[:k] + bytes([archive[k] ^ 4]) + archive[k + 1:]) for k in range(3, len(archive), len(archive) // 37)] \
        + [("longer", archive + b"x"), ("twice", archive + archive)]:
    r = store("import", write("bad", bytes_), path("made"))
    if not says(r, "bad") or os.path.exists(path("made")) or os.path.exists(path("made.draft")):
        wrong.append((name, str(r)))
ok(not wrong, "an archive that is cut, changed or too long is refused and nothing is made", wrong)
r = store("import", path("tallies/cells-1.tally"), path("made"))
ok(says(r, "no archive"), "so is another file", r)
r = store("export", c.data, "-o", "/nonexistent/archive")
ok(says(r, "/nonexistent/archive"), "an archive that cannot be written is an error", r)

# ---- Compact ----------------------------------------------------------------------

r = store("compact", c.data)
ok(r.code == 0 and re.fullmatch(rb"\d+ bytes, \d+ before\n", r.out), "data is compacted", r)
ok({**checked(c.data), "bytes": 0} == {**got, "bytes": 0}, "and says the same as before", checked(c.data))

# ---- What is wrong ----------------------------------------------------------------

for name, file, sql, words in (
        ("count", "record.db", "UPDATE counts SET reports = reports + 1", ["counts"]),
        ("batch", "record.db", "UPDATE batches SET epoch = epoch + 1", ["batches"]),
        ("id", "record.db", "UPDATE ids SET bytes = zeroblob(length(bytes))", ["ids"]),
        ("newer", "record.db", "PRAGMA user_version = 5", ["record.db", "newer program"]),
        ("stranger", "cells.db", "UPDATE meta SET name = zeroblob(16), sum = 0", ["cells.db", "missing or changed"]),
        ("entry", "record.db", "DELETE FROM entries WHERE number = 1", [])):
    data = copy(c.data, "bad-" + name)
    change(data, file, sql)
    r = store("check", data)
    ok(r.code == 1 and all(w in r.err for w in [data] + words), "check finds it: %s" % sql, r)


def row_sum(*columns):
    """The checksum of a row (docs/formats.md, 8)."""
    return crc32c(b"".join(struct.pack("<Q", x) if isinstance(x, int) else struct.pack("<Q", len(x)) + x for x in columns))


data = copy(c.data, "bad-sum")
db = sqlite3.connect(os.path.join(data, "record.db"))
entry, epoch, reports, nulls = db.execute("SELECT entry, epoch, reports, nulls FROM counts WHERE entry = 0").fetchone()
db.execute("UPDATE counts SET reports = ?, sum = ? WHERE entry = 0", (reports + 5, row_sum(entry, epoch, reports + 5, nulls)))
db.commit()
db.close()
r = store("check", data, "--format", "json")
ok(r.code == 1 and "cells, release 1: 466 reports were counted, its tally has 461" in r.err and not json.loads(r.out)["sound"],
   "a count that does not agree with its tally is found, whatever its checksum", r)

data = copy(c.data, "bad-day")  # two days change places: the sums agree, the days do not
db = sqlite3.connect(os.path.join(data, "record.db"))
entry, epoch, reports, nulls = db.execute("SELECT entry, epoch, reports, nulls FROM counts WHERE entry = 0").fetchone()
db.execute("DELETE FROM counts WHERE entry = 0")
for day, n in ((epoch - 1, reports), (epoch, 0)):
    db.execute("INSERT INTO counts(sum, entry, epoch, reports, nulls) VALUES(?,?,?,?,?)", (row_sum(0, day, n, nulls), 0, day, n, nulls))
db.commit()
db.close()
r = store("check", data)
ok(r.code == 1 and "cells, release 1: %s: 0 reports were counted" % date(epoch) in r.err, "so is a day's that does not agree with its own tally", r)

data = copy(c.data, "bad-page")
with open(os.path.join(data, "record.db"), "r+b") as f:
    f.seek(4096 * 3)
    f.write(b"\xff" * 4096)
r = store("check", data)
ok(r.code == 1 and data in r.err and "record.db" in r.err, "a page that was overwritten is found", r)

for command in (("check", path("nowhere")), ("export", path("nowhere"), "-o", path("x")), ("compact", path("nowhere"))):
    r = store(*command)
    ok(says(r, "not a collector's data directory") and not os.path.exists(path("nowhere")), "%s where nothing is: an error" % command[0], r)
os.makedirs(path("empty"), 0o700)
ok(says(store("check", path("empty")), "not a collector's data") and not os.listdir(path("empty")), "an empty directory stays empty")
os.chmod(path("empty"), 0o755)
r = store("check", path("empty"))
ok(says(r, "not a collector's data") and "chmod" not in r.err, "nobody is told to change the mode of what is no collector's", r)
os.chmod(c.data, 0o755)
r = store("check", c.data)
ok(says(r, "chmod 700"), "data that others can read is refused, with what to do", r)
os.chmod(c.data, 0o700)
if os.geteuid() == 0:
    os.chown(c.data, 65534, 65534)
    ok(says(run("store", "check", c.data), "run this as that one"), "so is another user's")
    os.chown(c.data, 0, 0)
ok(says(run("store", "check", write("plain", b"")), "not a directory"), "and a file")
for args, word in (((), "missing subcommand"), (("chek", "x"), "did you mean 'store check'"), (("check",), "takes DIR"), (("export", "x"), "needs --output or --tallies"),
                   (("compact", "x", "--format", "json"), "--format is only for 'store check'"), (("import", "x"), "takes FILE DIR")):
    r = store(*args)
    ok(r.code == 2 and word in r.err, "usage: store %s" % " ".join(args), r)

# ---- C13: data of every released version opens --------------------------------------

def without_rounds(tally):
    """A tally file as it was before files said their rounds."""
    at, (labels,) = 64 + 384, struct.unpack_from("<I", tally, 16)
    at += labels
    kept = tally[:at]
    while at < len(tally):
        kind, length = struct.unpack_from("<II", tally, at)
        if kind != 6:
            kept += tally[at:at + 32 + length]
        at += 32 + length
    return kept


for version in (1, 2, 3, 4):
    golden = os.path.join(GOLDEN, "store-%d" % version)
    old = copy(golden, "golden-%d" % version)
    want = {f: open(os.path.join(golden, f), "rb").read() for f in sorted(os.listdir(golden)) if f.endswith(".tally")}
    got = checked(old)
    ok(got["sound"] and sum(t["waiting"] for t in got["tasks"]) > 0 and got["ids"] > 0, "data of version %d opens" % version, got)
    found = tallies(old, "golden-tallies-%d" % version)
    if version == 1:
        found = {f: without_rounds(t) for f, t in found.items()}  # which files had not then
    ok(want and found == want, "and has the tallies it had", found.keys())

# ---- An upgrade, rehearsed ---------------------------------------------------------------

def program(name, text):
    with open(path(name), "w") as f:
        f.write("#!/bin/sh\n" + text)
    os.chmod(path(name), 0o755)
    return path(name)


OTHER = os.path.abspath(os.environ["HEARSAY"])
before = checked(c.data)
r = store("check", c.data, "--with", OTHER)
ok(r.code == 0 and b"reads all of the data, with the same result" in r.out and b"back to this program: yes" in r.out
   and not os.path.exists(c.data + ".rehearsal"), "an upgrade to the same program goes, and back", r)
newer = program("newer", '"%s" "$@" && python3 -c "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute(\'PRAGMA user_version = 5\')" "$3/record.db"\n' % OTHER)
r = store("check", c.data, "--with", newer)
ok(r.code == 0 and b"only with a backup from before" in r.out and b"a newer program made it" in r.out, "one that leaves a newer version: there is no way back, and why", r)
r = store("check", c.data, "--with", program("loses", '"%s" "$@" | sed "s/\\"reports\\": *461/\\"reports\\": 460/"\n' % OTHER))
ok(r.code == 1 and r.out == b"" and "differently" in r.err and "tasks" in r.err, "one that finds other counts is refused", r)
r = store("check", c.data, "--with", program("refuses", 'echo "no such version" >&2; exit 1\n'))
ok(r.code == 1 and "no such version" in r.err and "cannot read the data" in r.err, "one that cannot read it too, with its reason", r)
r = store("check", c.data, "--with", path("no-program"))
ok(r.code == 1 and "no-program" in r.err and not os.path.exists(c.data + ".rehearsal"), "and one that is not there", r)
ok({**checked(c.data), "bytes": 0} == {**before, "bytes": 0}, "the data itself stays as it is")
done()
