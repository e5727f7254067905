#!/usr/bin/python3 -B
"""Ids go to the disk while a collector runs, in its sandbox: what was counted is
known after that, after a kill, in a backup and in an archive; without its files
it does not start."""

import glob
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from collector import *

MANY, REQUEST = 70000, 3500  # of a day; 65,536 are worth a file when nobody waits
c = Collector("runs", tasks=cells("cells", 65536), checkpoint_seconds=1).start()
t = c.task["cells"]


def uploads(first, n, epoch=DAY):
    """The same uploads for the same numbers; every third says nothing."""
    return [t.upload([i % 65536], id=struct.pack("<QQ", i, epoch), epoch=epoch, null=i % 3 == 0) for i in range(first, first + n)]


def metric(c, name):
    return int(re.search(r"^hearsay_%s (\d+)$" % name, c.get("/metrics")[1].decode(), re.M).group(1))


def counted(c):
    return c.get("/v1/status")[1]["store"]["ids"]


def known(c, first=0, step=7000):
    """Uploads that are sent again change nothing; whether all are acknowledged."""
    before = counted(c)
    codes = [c.upload(uploads(i, 100))[0] for i in range(first, MANY, step)]
    return set(codes) == {204} and counted(c) == before


sent = [uploads(i, REQUEST) for i in range(0, MANY, REQUEST)]
ok(all(c.upload(body)[0] == 204 for body in sent), "%d uploads are counted" % MANY)
ok(c.until(lambda: metric(c, "ids_runs") >= 2), "their ids go into files when nobody waits", c.said())
files = glob.glob(os.path.join(c.data, "runs", "*"))
ok(counted(c) == MANY and sum(map(os.path.getsize, files)) > 16 * MANY and metric(c, "ids_disk_bytes") > 0, "all of them", (counted(c), files))
ok(c.until(lambda: metric(c, "ids_bytes") < 5 * MANY), "and memory is given back", metric(c, "ids_bytes"))
modes = {os.stat(f).st_mode & 0o777 for f in files}
ok(modes == {0o600} and os.stat(os.path.join(c.data, "runs")).st_mode & 0o777 == 0o700, "nobody else may read them", modes)
ok(known(c), "they are known")
ok(c.upload([t.upload([1], id=struct.pack("<QQ", 7001, DAY))])[0] in (200, 409), "with another content they are refused")

status, _, body = ask(c.admin, "POST", "/v1/backup")
ok(status in (200, 201), "a backup is made", (status, body))
backup = glob.glob(os.path.join(c.data, "backup-*"))[0]
ok(len(glob.glob(os.path.join(backup, "runs", "*"))) >= 2, "with its files", os.listdir(backup))

c.kill()
r = run("store", "check", c.data)
ok(r.code == 0, "after a kill the data is sound", r)
c.start()
ok(counted(c) == MANY and known(c, 50) and metric(c, "ids_runs") >= 2, "and a start knows all ids")
c.upload(uploads(MANY, 10))
ok(counted(c) == MANY + 10, "others are new")
ok(c.stop() == 0, "it ends", c.said())

ok(run("store", "check", backup).code == 0, "the backup is sound")
r = run("store", "export", c.data, "-o", path("archive"))
ok(r.code == 0 and run("store", "import", path("archive"), path("imported")).code == 0, "an archive is written and read", r)
r = run("store", "check", path("imported"), "--format", "json")
ok(r.code == 0 and b'%d' % (MANY + 10) in r.out, "with all ids", r)

victim = sorted(glob.glob(os.path.join(c.data, "runs", "*")), key=os.path.getsize)[-1]
with open(victim, "r+b") as f:
    f.seek(3 * 4096 + 5)
    f.write(b"changed")
r = run("store", "check", c.data)
name = "runs/*." + victim.split(".")[-1] + ": "
ok(r.code == 1 and name in r.err, "a file that has changed is found by store check, and named", r)
os.unlink(victim)
r = run("store", "check", c.data)
ok(r.code == 1 and name in r.err, "one that is missing too", r)
c.launch()
ok(c.wait() == 1 and "a file of ids is missing" in c.said(), "and it does not start", c.said())
done()
