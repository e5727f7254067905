#!/usr/bin/python3 -B
"""People who report one by one are simulated by all cores: HSY_TEST_LONG=1, on a machine that does nothing else.

Pairs of one and of two threads, one after the other, which of them first in turn; the median of 7. Of two free cores at least 80 % are used
by the clock. Whatever else runs, two threads take hardly more processor time than one: there is no work that is done twice, and no waiting in circles.
"""

import resource
import time

from e2e import *

PAIRS = 7
LEAST = 0.8
KINDS = {
    "ss": ["--data", "zipf:1.1", "--domain", "64", "--users", "12000000"],
    "olh": ["--data", "zipf:1.1", "--domain", "64", "--users", "60000000"],
    "oue": ["--data", "zipf:1.1", "--domain", "256", "--users", "10000000", "--sampling", "users"],
    "dwm": ["--data", "gaussian:50:15", "--range", "0:100", "--users", "60000000"],
}

if not os.environ.get("HSY_TEST_LONG"):
    skip_all("HSY_TEST_LONG=1, on an idle machine")


def spent(args, threads):
    """Seconds of all processors, and of the clock."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    must("simulate", "study", *args, "--threads", threads, "--format", "csv")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - start


def pair(args, swap):
    two = spent(args, "2") if swap else None
    one = spent(args, "1")
    return one, two or spent(args, "2")


def median(values):
    return sorted(values)[len(values) // 2]


idle = os.getloadavg()[0] < 0.5 and len(os.sched_getaffinity(0)) >= 2
for name, args in KINDS.items():
    pairs = [pair([*args, "--mechanism", name, "--runs", "1"], i % 2 == 1) for i in range(PAIRS)]
    work = median([one[0] / two[0] for one, two in pairs])
    clock = median([one[1] / two[1] / 2 for one, two in pairs])
    ok(work >= LEAST, "%s: two threads take %.0f %% of the work that one takes" % (name, 100 / work), pairs)
    ok(clock >= LEAST or not idle, "and use %.0f %% of two cores (%.2f s, %.2f s)%s" %
       (100 * clock, median([one[1] for one, _ in pairs]), median([two[1] for _, two in pairs]), "" if idle else " # SKIP the machine is not idle"), pairs)
done()
