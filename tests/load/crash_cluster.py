#!/usr/bin/python3 -B
"""crash_cluster.py - primaries of a cluster under Patroni are lost, one after the
other, under load: their processes, their machines, and now and then one that
sleeps, is replaced, and wakes up (`make crash-cluster`). In the end lost and
doubled must be 0; the times are printed, and nothing hangs on them: until an
upload is acknowledged that is sent after the loss, and until a node acknowledges
that is started beside a zombie. docs/reliability.md keeps the last figures."""

import argparse
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fault"))
from many import *
import cluster


def line(what, seconds, allowed):
    if seconds:
        print("%s: %d times, median %.2f s, worst %.2f s (%s)" % (what, len(seconds), statistics.median(seconds), max(seconds), allowed), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no round after so long")
    parser.add_argument("--zombies", type=int, default=10, help="one round in so many")
    args = parser.parse_args()
    if cluster.why_not():
        sys.exit("crash_cluster.py: " + cluster.why_not())
    import patroni
    begin = time.monotonic()
    rounds = patroni.Rounds(args.rounds)
    done_rounds = 0
    while done_rounds < args.rounds and time.monotonic() - begin < args.seconds:
        done_rounds += 1
        if done_rounds % args.zombies == 0:
            rounds.zombie()
        elif done_rounds % 2:
            rounds.process()
        else:
            rounds.machine()
        print("# round %d: %s" % (done_rounds, ", ".join("%s %.2f s" % (k, v[-1]) for k, v in sorted(rounds.times.items()))), file=sys.stderr, flush=True)
    rounds.crowd.more(50)
    ttl = rounds.whole.state["timing"]["ttl"]
    line("writes resume after the process of the primary died", rounds.times[patroni.PROCESS], "5 s at the median")
    line("writes resume after its machine died", rounds.times[patroni.MACHINE], "ttl + 3 s at the median, ttl %d s" % ttl)
    line("a node started beside a zombie primary acknowledges", rounds.times[patroni.ZOMBIE], "1 s")
    rounds.ends("%d losses under Patroni in %d s" % (done_rounds, time.monotonic() - begin))
    rounds.whole.down()
    done()


if __name__ == "__main__":
    main()
