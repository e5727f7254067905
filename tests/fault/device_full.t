#!/usr/bin/python3 -B
"""Every call of a device that changes something fails once, or from there on,
for want of room or by a failing disk: the command fails with a message or does
its work; nothing is answered that was not charged; and once the disk is well
again the device gives the answers, and has spent, what it would have."""

import errno
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from devices import *

TRUTHS = (("crash", "yes"), ("browser", "chrome"), ("page", "home"))
FAULTS = [(name, on) for name in ("ENOSPC", "EIO", "EROFS", "EDQUOT") for on in (False, True)]
if not os.environ.get("HSY_TEST_LONG"):
    FAULTS = [("ENOSPC", True), ("EIO", False), ("EROFS", True)]
doc = document("one")
newer = document("two", TASKS + ["extra,usage,yes-no,1000000000,1,0,0,1,1"], version=2)
out = path("packed-here")


def sending(where):
    """What is sent in the end, and what is spent."""
    return set(u[2] for u in uploads(pack(where, DAY + 3))), spent(where, DAY + 3)


def answering(where):
    """The same after answering what is not answered."""
    for task, truth in TRUTHS:
        good("answer", where, task, stdin=truth)
    return sending(where)


def scenario(name, base, args, stdin=b"", day=DAY, finish=answering, same=lambda got, want: got == want):
    def ready():
        where = copy(base, "failing")
        if os.path.exists(out):
            os.remove(out)
        return where, [where if a == "DIR" else a for a in args]

    where, command = ready()
    good(*command, stdin=stdin, day=day, count_to=path("count"))
    n = int(open(path("count")).read())
    want = finish(copy(base, "reference"))
    wrong, failures = [], 0
    for fault, on in FAULTS:
        for i in range(n):
            where, command = ready()
            how = dict(at=i, do=getattr(errno, fault))
            if on:
                how["on"] = 1
            r = device(*command, stdin=stdin, day=day, **how)
            failures += r.code == 1
            at = "%s%s at %d: " % (fault, " from there on" if on else "", i)
            if r.code not in (0, 1) or (r.code == 1 and (not r.err.startswith("hearsay: ") or b"answered" in r.out)):
                wrong.append(at + str(r))
            if os.path.exists(out) and not carried() <= want[0]:
                wrong.append(at + "left a file that is not whole")
            if not same(finish(where), want):
                wrong.append(at + "other answers, or another budget")
    ok(n > 5 and failures > n and not wrong, "%s: %d calls fail in turn, %d runs fail cleanly" % (name, n, failures),
       "\n".join(wrong) or failures)


def carried():
    return set(u[2] for u in uploads(open(out, "rb").read())) if os.path.exists(out) else set()


new = fresh("new", doc)
used = copy(new, "used")
for task, truth in TRUTHS[1:]:
    good("answer", used, task, stdin=truth)
scenario("the first answer", new, ["answer", "DIR", "crash"], "yes")
scenario("an answer beside others", used, ["answer", "DIR", "crash"], "yes")
scenario("a new document", used, ["take", "DIR", newer], same=lambda got, want: got[1] == want[1] and want[0] <= got[0])
full = copy(used, "full")
good("answer", full, "crash", stdin="yes")
scenario("pack", full, ["pack", "DIR", "-o", out], day=DAY + 1, finish=sending)
scenario("pack and mark", full, ["pack", "DIR", "-o", out, "--mark-sent"], day=DAY + 1, finish=sending,
         same=lambda got, want: got[0] | carried() == want[0] and got[1] == want[1])

# Made on a failing disk: it can be made later, or was made.
wrong = []
where = path("made")
made = ["init", where, "--document", doc, "--public-key", doc + ".pub"]
good(*made, count_to=path("count"))
for i in range(int(open(path("count")).read())):
    shutil.rmtree(where, ignore_errors=True)
    r = device(*made, at=i, do=errno.ENOSPC, on=1)
    again = device(*made)
    if r.code not in (0, 1) or (again.code != 0 and "already" not in again.err) or device("budget", where).code != 0:
        wrong.append("at %d: %s %s" % (i, r, again))
ok(i > 20 and not wrong, "init: a disk that is full from any call on leaves what opens, or can be made", "\n".join(wrong))

# A real file system of 256 KiB, where it may be mounted.
small = path("small")
os.mkdir(small)
if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k,mode=0700", "tmpfs", small], capture_output=True).returncode != 0:
    ok(True, "a real full disk # SKIP no file system may be mounted here")
else:
    try:
        shutil.copytree(full, os.path.join(small, "device"))
        where = os.path.join(small, "device")
        os.chmod(where, 0o700)
        filler = os.open(os.path.join(small, "filler"), os.O_WRONLY | os.O_CREAT)
        try:
            while True:
                os.write(filler, bytes(4096))
        except OSError:
            os.close(filler)
        r = device("answer", where, "crash", day=DAY + 1, stdin="yes")
        ok(r.code == 1 and "full" in r.err and r.out == b"" and spent(where) == spent(full), "a real full disk: refused, nothing charged", r)
        os.remove(os.path.join(small, "filler"))
        ok(good("answer", where, "crash", day=DAY + 1, stdin="yes").out == b"answered\n", "and answered once there is room")
    finally:
        subprocess.run(["umount", small])
done()
