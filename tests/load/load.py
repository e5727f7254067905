#!/usr/bin/python3 -B
"""load.py - how much a collector takes, beside what nginx does with nothing.

Starts a collector and an nginx that answers 204 from memory, on this machine
and in this run, and has wrk send both the same uploads: pairs of runs, one
after the other. What counts is the ratio; absolute figures are the machine's.
Prints them, and fails only if a request failed or an upload was lost or
doubled: `make load`.
"""

import argparse
import os
import random
import shutil
import statistics
import threading

from wrk import *
import ohttp
from chain import DAY, SEAL, Chain
from collector import _die_with_us
from relays import Relay

parser = argparse.ArgumentParser()
parser.add_argument("--seconds", type=int, default=5, help="of a run")
parser.add_argument("--runs", type=int, default=5, help="of each kind; the median counts")
parser.add_argument("--connections", type=int, default=128)
parser.add_argument("--only", nargs="+", choices=("single", "batches", "beside", "relay", "sealed", "shuffle", "slow", "open"))
parser.add_argument("--envelopes", type=int, default=1000000, help="of the batch that is mixed, opened and counted")
parser.add_argument("--bits", type=int, default=26, help="the busy task beside has 2^bits cells")
options = parser.parse_args()

def peak():
    with open("/proc/%d/status" % c.process.pid) as f:
        return 1024 * int(re.search(r"VmHWM:\s+(\d+)", f.read()).group(1))


def run(upload, token=""):
    """One run against the collector, with its processor time a request in us."""
    before = cpu(c.process.pid)
    row = Wrk(c.public[1], upload, options.connections, options.seconds, token).result()
    row["cpu"] = (cpu(c.process.pid) - before) / max(1, row["n"]) * 1e6
    if row["bad"]:
        raise SystemExit("%d requests failed: %s" % (row["bad"], c.said()))
    return row


def pairs(upload):
    rows = []
    for _ in range(options.runs):
        theirs = Wrk(nginx.port, upload, options.connections, options.seconds).result()
        ours = run(upload)
        ours.update(ratio=ours["rate"] / theirs["rate"], theirs=theirs["p999"])
        rows.append(ours)
        print("  nginx %7.0f/s p99 %6.2f ms   hearsay %7.0f/s p50 %6.2f p99 %6.2f p99.9 %6.2f ms  %5.1f us CPU   ratio %.2f"
              % (theirs["rate"], theirs["p99"], ours["rate"], ours["p50"], ours["p99"], ours["p999"], ours["cpu"], ours["ratio"]), flush=True)
    return rows


# ---- What is sent -----------------------------------------------------------------

BITS = options.bits
big = task("big", "strings: true; epsilon: 2; mechanism: hcms; set: {hashes: 1024, width: %d}; repeat: daily" % (1 << BITS - 10))
# A document that no socket's buffers hold: for readers who do not read.
wide = task("wide", "values: [%s]; epsilon: 1; mechanism: oue; repeat: daily" % ", ".join("value-%060d" % i for i in range(4096)))
secret = write("gateway.secret", "x25519-secret %s\n" % os.urandom(32).hex())
os.chmod(secret, 0o600)
c = Collector("load", TASKS + big + wide, ids_epoch=400000000, gateway_keys=[secret])
FORWARDERS = must("serve", "token", "forwarder", "--count", options.runs + 1, "--quota", 2 ** 32 - 1, "--data", c.data).decode().split()
c.start()
nginx = Nginx()
GATEWAY_KEY, = ohttp.keys(ask(c.public, "GET", "/.well-known/ohttp-gateway")[2]).values()


class Busy:
    """Somebody else's uploads at a steady pace, each of 1,000 reports: to the
    large task, or to a small one for comparison."""

    def __init__(self, large, rate=50):
        self.large, self.rate, self.stop = large, rate, threading.Event()
        self.sent = 0
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def upload(self, coins):
        bits = BITS + 1
        if self.large:
            return c.task["big"].upload(range(1000), payload=packed([coins.getrandbits(bits) for _ in range(1000)], bits))
        return c.task["cells"].upload([coins.getrandbits(16) for _ in range(1000)])

    def run(self):
        line = Line(c.public)
        bodies = [self.upload(random.Random(i)) for i in range(20)]
        while not self.stop.wait(1 / self.rate):
            body = bodies[self.sent % len(bodies)]
            wire = body[:80] + os.urandom(16) + body[96:124]
            assert line.post(wire + struct.pack("<I", crc32c(wire)) + body[128:], headers="Authorization: Bearer %s\r\n" % FORWARDERS[-1])[0] == 204
            self.sent += 1
        line.close()

    def end(self):
        self.stop.set()
        self.thread.join()
        return self.sent


# ---- The figures ------------------------------------------------------------------

def single():
    print("single reports, %d connections, %d pairs of %d s" % (options.connections, options.runs, options.seconds))
    rows = pairs(ONE)
    print("single: ratio to nginx %.2f (at least 0.60 wanted), %.0f/s, p99 at most %.2f ms (10), p99.9 %.2f ms (2.5 syncs: %.2f; nginx, without a disk: %.2f), CPU %.1f us an upload"
          % (median(rows, "ratio"), median(rows, "rate"), most(rows, "p99"), most(rows, "p999"), 2.5 * SYNC, most(rows, "theirs"), median(rows, "cpu")))
    return sum(row["n"] for row in rows)


def batches():
    """Each run is followed at once by one of single reports."""
    print("batches of 1,000 reports of 2 bytes, and single reports right after them")
    batch, rows, after = file("batch", c.task["cells"].upload(range(1000))), [], []
    for i in range(options.runs):
        theirs = Wrk(nginx.port, batch, options.connections, options.seconds).result()
        ours = run(batch, FORWARDERS[i])
        ours["ratio"] = ours["rate"] / theirs["rate"]
        rows.append(ours)
        after.append(run(ONE))
        print("  nginx %5.2f M   hearsay %5.2f M reports/s p99 %6.2f p99.9 %6.2f ms   ratio %.2f   then p99 %6.2f p99.9 %6.2f ms"
              % (theirs["rate"] / 1e3, ours["rate"] / 1e3, ours["p99"], ours["p999"], ours["ratio"], after[-1]["p99"], after[-1]["p999"]), flush=True)
    print("batches: %.2f M reports/s (at least 30 wanted), ratio %.2f, p99 at most %.2f ms (60), CPU %.0f ns a report; then p99 at most %.2f ms (25)"
          % (median(rows, "rate") / 1e3, median(rows, "ratio"), most(rows, "p99"), median(rows, "cpu"), most(after, "p99")))
    return sum(row["n"] for row in after)


def beside():
    print("single reports, alone / beside 50,000 reports/s to a small task / to one of %d cells" % (1 << BITS))
    sent, rows = 0, []
    for _ in range(options.runs):
        row = []
        for large in (None, False, True):
            busy = Busy(large) if large is not None else None
            got = run(ONE)
            if busy is not None:
                busy.end()
            sent += got["n"]
            row.append(got["p99"])
        rows.append(row)
        print("  p99 %6.2f %6.2f %6.2f ms" % tuple(row), flush=True)
    alone, little, much = (statistics.median(row[i] for row in rows) for i in range(3))
    print("beside: p99 %.2f times that alone (at most 1.5 wanted), %.2f times that beside a small task" % (much / alone, much / little))
    return sent


REQUEST = 512  # bytes of a request before it is sealed
SEALED = REQUEST + 55


def requests(name, n, upload=None, key=None):
    """A file of so many sealed uploads, each of its own."""
    program, B = path("seal_uploads"), os.path.dirname(HEARSAY)
    if "address" in B:  # a sanitized collector; who sends is the plain build's
        B = os.path.dirname(B)
    if not os.path.exists(program):
        subprocess.run(["gcc", "-std=c11", "-D_DEFAULT_SOURCE", "-DHSY_UNSTABLE", "-O2", "-I" + os.path.join(ROOT, "include"), "-I" + os.path.join(ROOT, "src"),
                        os.path.join(HERE, "seal_uploads.c"), os.path.join(B, "libhearsay-host.a"), os.path.join(B, "libhearsay.a"),
                        "-lyaml", "-lsodium", "-ljansson", "-lnettle", "-lz", "-lm", "-o", program], check=True)
    with open(path(name), "wb") as to:
        subprocess.run([program, (key or GATEWAY_KEY).hex(), upload or ONE, str(n), str(REQUEST)], stdout=to, check=True)
    return path(name)


def sealed_run(port, name, where, **how):
    return Wrk(port, "", options.connections, options.seconds, script="requests.lua", REQUESTS=name, SIZE=str(SEALED), PATH_=where, **how).result()


def relay():
    """Both to the same nginx behind them, which answers from memory."""
    print("relay against nginx's proxy_pass, the same requests to the same gateway")
    between, file_ = Relay("http://127.0.0.1:%d" % nginx.port), requests("forwarded", 1000)
    rows = []
    for _ in range(options.runs):
        theirs = sealed_run(nginx.relay, file_, "/")
        ours = sealed_run(between.public[1], file_, "/")
        if theirs["bad"] or ours["bad"]:
            raise SystemExit("requests failed: %d by nginx, %d by the relay" % (theirs["bad"], ours["bad"]))
        ours["ratio"] = ours["rate"] / theirs["rate"]
        rows.append(ours)
        print("  nginx %7.0f/s p99 %6.2f ms   relay %7.0f/s p50 %6.2f p99 %6.2f ms   ratio %.2f"
              % (theirs["rate"], theirs["p99"], ours["rate"], ours["p50"], ours["p99"], ours["ratio"]), flush=True)
    between.stop()
    print("relay: ratio to nginx's proxy_pass %.2f (at least 0.85 wanted), %.0f/s" % (median(rows, "ratio"), median(rows, "rate")))
    return 0


def at_most(rate):
    """Requests of a run that has this rate; the machine may have been busier when it was measured."""
    return int(max(rate, 30000) * options.seconds)


def sealed():
    """Uploads by Oblivious HTTP against the same in clear. Sealing them takes
    longer than opening: it is done before."""
    print("sealed uploads against single ones in clear")
    rows, sent = [], 0
    for i in range(options.runs):
        direct = run(ONE)
        enough = at_most(1.2 * direct["rate"])
        ours = sealed_run(c.public[1], requests("sealed", enough), "/v1/ohttp")
        if ours["bad"] or ours["n"] > enough:
            raise SystemExit("%d sealed requests failed, %d sent of %d" % (ours["bad"], ours["n"], enough))
        sent += direct["n"] + ours["n"]
        ours["ratio"] = ours["rate"] / direct["rate"]
        rows.append(ours)
        print("  direct %7.0f/s   sealed %7.0f/s p50 %6.2f p99 %6.2f ms   ratio %.2f" % (direct["rate"], ours["rate"], ours["p50"], ours["p99"], ours["ratio"]), flush=True)
    print("sealed: %.2f of direct uploads (at least 0.25 wanted), %.0f/s" % (median(rows, "ratio"), median(rows, "rate")))
    return sent


def shuffle():
    """Sealed reports into a shuffler against reports in clear into the collector,
    by plain HTTP and by Oblivious HTTP. A shuffler looks at no envelope before
    it mixes, so one of them serves for all ids."""
    print("a shuffler's uploads against the collector's own")
    chain = Chain(shufflers=1, min_batch=2 ** 19, name="load-chain", day=DAY, rehearsal=None, ids_epoch=400000000, start=False)
    first = chain.shufflers[0].start()
    key, = ohttp.keys(ask(first.public, "GET", "/.well-known/ohttp-gateway")[2]).values()
    upload, rows, sent = file("veiled", chain.uploads([1])[0]), [], 0
    for _ in range(options.runs):
        direct = run(ONE)
        sent += direct["n"]
        ours = Wrk(first.public[1], upload, options.connections, options.seconds, host=first.public[0]).result()
        enough = at_most(0.8 * direct["rate"])
        behind = sealed_run(first.public[1], requests("veiled-sealed", enough, upload, key), "/v1/ohttp", host=first.public[0])
        if ours["bad"] or behind["bad"] or behind["n"] > enough:
            raise SystemExit("%d, %d requests failed: %s" % (ours["bad"], behind["bad"], first.said()))
        ours.update(ratio=ours["rate"] / direct["rate"], behind=behind["rate"] / direct["rate"])
        rows.append(ours)
        print("  collector %7.0f/s   shuffler %7.0f/s p50 %6.2f p99 %6.2f ms   ratio %.2f   behind OHTTP %7.0f/s   ratio %.2f"
              % (direct["rate"], ours["rate"], ours["p50"], ours["p99"], ours["ratio"], behind["rate"], ours["behind"]), flush=True)
    print("shuffle: %.2f of the collector's uploads (at least 0.70 wanted), behind OHTTP %.2f (0.25)" % (median(rows, "ratio"), median(rows, "behind")))
    first.kill()
    return sent


# What slowhttptest calls slow heads, bodies, many ranges, and readers.
SLOW = {"heads": ["-H"], "bodies": ["-B", "-t", "POST"], "ranges": ["-R"], "readers": ["-X", "-n", "5"]}


def slow():
    """Single reports beside 2,000 connections of slowhttptest."""
    if not shutil.which("slowhttptest"):
        return print("slow: left out, slowhttptest is not installed") or 0
    sent, worst = 0, 0
    for mode, how in SLOW.items():
        where = "http://%s:%d%s" % (*c.public, "/v1/uploads" if mode == "bodies" else "/v1/document")
        words = ["slowhttptest", *how, "-c", "2000", "-r", "1000", "-i", "1", "-l", str(options.seconds + 10), "-u", where]
        with subprocess.Popen(["sh", "-c", 'ulimit -n 4096; exec "$@"', "sh", *words], stdout=subprocess.DEVNULL, preexec_fn=_die_with_us) as others:
            time.sleep(3)
            there = int(re.search(rb"^hearsay_connections.listener=.public.. (\d+)", ask(c.admin, "GET", "/metrics")[2], re.M)[1])
            got = run(ONE)
            others.terminate()
        sent, worst = sent + got["n"], max(worst, got["p99"])
        print("  %4d slow %s: %6.0f/s p50 %5.2f p99 %6.2f p99.9 %6.2f ms" % (there, mode, got["rate"], got["p50"], got["p99"], got["p999"]), flush=True)
    print("slow: others' p99 at most %.2f ms (50)" % worst)
    return sent


def x25519():
    """Seconds of one, on one core, in this run."""
    bench = os.path.join(os.path.dirname(HEARSAY), "hearsay-bench")
    out = subprocess.check_output([bench, "--quick", "--kernel", "x25519", "--format", "json"])
    row = next(r for r in json.loads(out)["kernels"] if r["kernel"] == "x25519")
    return 1 / row["per_second"]


def open_():
    """One large batch through a shuffler to the collector: processor time an
    envelope, beside that of one X25519, which opening one takes at least."""
    n, before = options.envelopes, x25519()
    print("a batch of %d envelopes, mixed by a shuffler, opened and counted by the collector" % n)
    chain = Chain(shufflers=1, min_batch=min(n, 2 ** 19), name="open-chain", ids_epoch=400000000, body_bytes="8M", memory="3G")
    shuffler, step, sealed_, at = chain.shufflers[0], 4096, 0, time.monotonic()
    with subprocess.Popen([SEAL, chain.signed, "veiled"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as sealing:
        threading.Thread(target=feed, args=(sealing.stdin, n, chain.now[0]), daemon=True).start()
        size = len(chain.uploads([1])[0])
        while sealed_ < n:
            want = min(step, n - sealed_)
            body = sealing.stdout.read(want * size)
            status, answer = chain.send(body)
            if status != 204:
                raise SystemExit("the shuffler answers %d: %s" % (status, answer))
            sealed_ += want
    print("  sealed and sent in %.0f s" % (time.monotonic() - at), flush=True)
    mixing, counting, at = cpu(shuffler.process.pid), cpu(chain.collector.process.pid), time.monotonic()
    chain.at(chain.now[0] + 1, 7)
    while chain.collector.get("/v1/tasks/veiled")[1].get("live", {}).get("reports", 0) < n:
        time.sleep(0.2)
    while "received" not in str(shuffler.batches()):
        time.sleep(0.05)
    mixing, counting = (cpu(p.process.pid) - was for p, was in ((shuffler, mixing), (chain.collector, counting)))
    limit = (before + x25519()) / 2
    print("open: X25519 %.1f us; the shuffler %.1f us an envelope, %.2f of it; the collector %.1f us, %.2f of it (at least 0.75 wanted); %.0f s in all"
          % (limit * 1e6, mixing / n * 1e6, limit / (mixing / n), counting / n * 1e6, limit / (counting / n), time.monotonic() - at))
    for p in chain.parties:
        p.kill()
    return 0


def feed(to, n, day):
    for i in range(n):
        to.write(b"%d %d %032x\n" % (i % 4096, day, i + 1))
    to.close()


ONE = file("single", c.task["browser"].upload([1]))
SYNC = disk(options.seconds)
sent = sum(figure() for figure in (single, batches, beside, relay, sealed, shuffle, slow, open_) if figure.__name__.strip("_") in (options.only or [figure.__name__.strip("_")]))

# Whatever wrk had acknowledged is counted; what it left unread at the end of a
# run may be counted besides.
counted = c.get("/v1/tasks/browser")[1]["reports"]
slack = 5 * options.runs * options.connections
print("acknowledged %d, counted %d" % (sent, counted))
print("memory: %d MB at most" % (peak() >> 20))
if not sent <= counted <= sent + slack:
    raise SystemExit("lost or doubled")
if c.stop() != 0:
    raise SystemExit("the collector did not end well: " + c.said())
