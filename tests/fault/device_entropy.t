#!/usr/bin/python3 -B
"""L08: the kernel's randomness fails at each call, in each way. A device is made
with a whole key or not at all; one that has its key needs no more of it, so its
answers are the same."""

import errno
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from devices import *

RANDOM = os.path.join(TOOLS, "random.so")
subprocess.run(["gcc", "-shared", "-fPIC", "-O1", os.path.join(FAULT, "failing_getrandom.c"), "-o", RANDOM], check=True)
doc = document("one")
where = path("made")
made = ["init", where, "--document", doc, "--public-key", doc + ".pub"]


def shimmed(*args, stdin=b"", **fault):
    env = dict(os.environ, LD_PRELOAD=SHIM + " " + RANDOM, HSY_CLOCK=str(DAY * 86400 + 43200))
    for key, value in fault.items():
        env["HSY_" + key.upper()] = str(value)
    return run("device", *args, stdin=stdin, env=env)


# Both shims write their count: the later one is that of the first in the list,
# so this one stands alone.
env = dict(os.environ, LD_PRELOAD=RANDOM, HSY_COUNT_TO=path("count"))
shutil.rmtree(where, ignore_errors=True)
subprocess.run([HEARSAY, "device", *made], env=env, capture_output=True)
n = int(open(path("count")).read())
ok(n >= 1, "making a device asks the kernel for randomness", n)

# Two of the calls are libsodium's, when it starts. It falls back on a device
# file if its first one fails, kills the process if a later one does, and tries
# again for ever on EAGAIN.
ABORTED = -6
for name in ("EIO", "ENOSYS", "EAGAIN", "EFAULT", "EPERM", "ENOMEM", "zero"):
    wrong, failures = [], 0
    for i in [*range(n)] + ["all"] * (name != "EAGAIN"):
        shutil.rmtree(where, ignore_errors=True)
        r = shimmed(*made, fail_at=i, fail_how=getattr(errno, name, name))
        failures += r.code != 0
        if r.code == 1 and (os.path.exists(os.path.join(where, "key")) or "random" not in r.err):
            wrong.append("at %s: %s, left %s" % (i, r, os.listdir(where)))
        if r.code not in (0, 1, ABORTED) or device(*made).code != (r.code == 0):
            wrong.append("at %s: %s" % (i, r))
    ok(failures >= 1 and not wrong, "%s at each of %d calls: no key, no device" % (name, n), "\n".join(wrong) or failures)
for name in ("EINTR", "short"):
    results = []
    for i in range(n):
        shutil.rmtree(where, ignore_errors=True)
        results.append(shimmed(*made, fail_at=i, fail_how=getattr(errno, name, name)).code)
    ok(results[-1] == 0 and set(results) <= {0, ABORTED}, "%s is no failure of ours: the rest is read" % name, results)

dev = fresh("device", doc)
same = copy(dev, "same")
for task, truth in (("crash", "yes"), ("browser", "chrome"), ("page", "home")):
    good("answer", dev, task, stdin=truth)
    r = shimmed("answer", same, task, stdin=truth, fail_at="all")
    ok(r.code == 0 and r.out == b"answered\n", "%s is answered without the kernel's randomness" % task, r)
ok(pack(dev, DAY + 2) == pack(same, DAY + 2) != b"", "and the answers are the same")
done()
