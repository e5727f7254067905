#!/usr/bin/python3 -B
"""Backups of a running collector by the clock: made when one is due, sound, and
no more of them than are kept; those by hand stay."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from collector import *

where = path("backups")
os.mkdir(where, 0o700)
c = Collector("collector", tasks=cells("cells", 50), backups=where, backup_hours=2, backup_keep=2)
LONG_AGO = 3 * 3600


def there():
    return sorted(os.listdir(where))


def scheduled():
    return [name for name in there() if "-scheduled" in name and not name.endswith(".draft")]


def logged(event):
    return sum(1 for line in c.said().splitlines() if re.search(r"\b%s\b" % event, line))


def older(names, seconds):
    for name in names:
        made = os.stat(os.path.join(where, name)).st_mtime - seconds
        os.utime(os.path.join(where, name), (made, made))


c.start()
assert c.upload([c.task["cells"].upload([7])])[0] == 204
ok(c.until(lambda: len(scheduled()) == 1), "the first is made at once", there())
first = scheduled()
r = run("store", "check", os.path.join(where, first[0]))
ok(r.code == 0 and b"sound" in r.out, "it is sound", r)
token = os.path.join(where, "backup-by-hand")
os.mkdir(token)
c.stop()

c.start()
assert c.upload([c.task["cells"].upload([8])])[0] == 204
c.stop()
ok(scheduled() == first, "a restart makes no other before it is due", there())

made, pruned = [], 0
for k in range(4):
    older(scheduled(), LONG_AGO)
    before = set(scheduled())
    c.start()
    assert c.upload([c.task["cells"].upload([10 + k])])[0] == 204
    c.until(lambda: set(scheduled()) - before and len(scheduled()) <= 2)
    made.append(len(set(scheduled()) - before))
    c.stop()
    pruned += logged("backup-pruned")
ok(made == [1, 1, 1, 1] and len(scheduled()) == 2, "one more when it is due, and the latest two are kept", (made, there()))
ok(pruned == 3, "what is removed is said", pruned)
ok(os.path.isdir(token), "what is not of the schedule stays", there())
sound = [run("store", "check", os.path.join(where, name)).code for name in scheduled()]
ok(sound == [0, 0], "both are sound", sound)

# ---- Where none can be made -----------------------------------------------------------

older(scheduled(), LONG_AGO)
kept = scheduled()
for day in (DAY, DAY + 1):  # the next name of today, and of tomorrow should that begin
    names = ["backup-%s-scheduled%s" % (date(day), "-%d" % k if k > 1 else "") for k in range(1, 20)]
    blocked = os.path.join(where, next(name for name in names if name not in kept) + ".draft")
    os.mkdir(blocked)
    open(os.path.join(blocked, "something else"), "w").close()  # no file of a store: it is not ours to remove
c.start()
ok(c.until(lambda: re.search(r"backup\b.*cannot be written", c.said())), "one that fails is said", c.said())
ok(c.upload([c.task["cells"].upload([20])])[0] == 204 and scheduled() == kept, "nothing else fails, and no other is removed for it", there())
c.stop()

# ---- Whose the directory is ------------------------------------------------------------

mine = [os.path.join(where, name) for name in ("backup-before-upgrade.draft", "backup-restored1.draft", "backup-%s-1.draft" % date(DAY), "backup-%s-scheduled-x.draft" % date(DAY), "backup-mine-scheduled")]
begun = os.path.join(where, "backup-%s-17.draft" % date(DAY))
for directory in (*mine, begun):
    os.mkdir(directory)
    open(os.path.join(directory, "record.db"), "w").close()
older([os.path.basename(name) for name in mine], LONG_AGO)
c.start()
ok(ask(c.admin, "POST", "/v1/backup", b"")[0] in (200, 201) and not os.path.exists(begun), "what a backup left half done is removed", there())
ok(all(os.path.exists(os.path.join(name, "record.db")) for name in mine), "and nothing that only looks like it", there())
other = Collector("second", tasks=cells("cells", 50), backups=where)
other.launch()
code = other.process.wait(DEADLINE)
ok(code == 1 and "another collector keeps its backups here" in other.said() and where in other.said(), "a second collector does not start with the same directory", (code, other.said()))
ok(c.stop() == 0, "ends")
ok(other.start().stop() == 0, "afterwards another may have it")
done()
