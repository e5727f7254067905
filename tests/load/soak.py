#!/usr/bin/python3 -B
"""soak.py - C10: 25 hours of a collector's life in TIME seconds, everything at
once: steady uploads, readers, day changes, reloads of sound and of broken
files, backups, slow strangers, nonsense; restarts by SIGTERM and SIGKILL.
`make soak` runs it for TIME seconds, 7,200 unless that is given; 1,200 is the
least that shows something, and shorter runs hold nothing against memory.

Shown: no acknowledged report is lost, none is counted twice; from three
tenths of the time on memory grows by ids, which are to be kept, and besides them by no
more than 2 % of all of it (what it is at its least in a third of the time: a
merge or an estimate takes more for a moment); no answer comes later than 100 ms
beyond the longest sync of a plain writer beside it, but for those that were
asked while it was started again.

A rehearsal's clock runs so that two midnights pass. Restarts are in the first
quarter and after nine tenths: memory is looked at in one long life between. A
sender that gets no answer sends the same bytes again until there is one, so in
the end every report was acknowledged, and the tally must be exactly theirs.
The load is 70 % of what these senders bring it to take in a closed loop."""

import multiprocessing
import os
import random
import statistics
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import tempfile

import quick_disk
tempfile.tempdir = None  # a real disk: syncs are what is measured
from collector import *
from collector import _CRC, _die_with_us

SECONDS = int(sys.argv[1]) if len(sys.argv) > 1 else 7200
SENDERS, BATCH, CELLS = 4, 16, 65536
STRANGERS = 200
HOURS, BEGIN = 25, 23.5  # simulated; at this hour of the first day
TENTHS = 10000  # of a millisecond: the times of answers are counted by these
LATE = 0.05  # seconds; answers that took longer are written down
ALLOWED = 0.1
LONG = SECONDS >= 1200


# ---- Uploads, quickly: a CRC is linear, so what an id adds to it can be looked up ----

class Maker:
    """Uploads of one cell each, with ids of a sender's own, by a few look-ups."""

    def __init__(self, task_, sender):
        self.task, self.count, self.name = task_, 0, os.urandom(11) + bytes([sender])
        self.shift = [[self.crc_of(bytes(80 + i) + bytes([v]) + bytes(43 - i)) for v in range(256)] for i in range(12, 16)]
        self.heads = {}
        assert self.one(7, DAY)[:-2] + b"\x07\0" == task_.upload([7], id=self.name + struct.pack("<I", 1), epoch=DAY)

    @staticmethod
    def crc_of(data):
        """Without the complements: linear."""
        crc = 0
        for byte in data:
            crc = crc >> 8 ^ _CRC[(crc ^ byte) & 255]
        return crc

    def head(self, cell, epoch):
        """Head and payload with counter 0, and its CRC."""
        key = cell, epoch
        if key not in self.heads:
            if len(self.heads) > 200000:
                self.heads.clear()
            wire = self.task.upload([cell], id=self.name + bytes(4), epoch=epoch)
            self.heads[key] = wire[:92], wire[96:124], struct.unpack_from("<I", wire, 124)[0], wire[128:]
        return self.heads[key]

    def one(self, cell, epoch):
        self.count += 1
        n = struct.pack("<I", self.count)
        before, after, crc, payload = self.head(cell, epoch)
        for i in range(4):
            crc ^= self.shift[i][n[i]]
        return before + n + after + struct.pack("<I", crc) + payload


# ---- Processes beside it ---------------------------------------------------------------

class Shared:
    """What the processes tell each other."""

    def __init__(self):
        self.over = multiprocessing.Event()
        self.port = multiprocessing.Value("i", 0)
        self.epoch = multiprocessing.Value("i", DAY)
        self.pause = multiprocessing.Value("d", 0.0)
        self.sent = [multiprocessing.Value("Q", 0) for _ in range(SENDERS)]
        self.found = multiprocessing.Queue()


def delivered(s, line, body, late, strange):
    """Send until it is acknowledged; the connection that did it."""
    while True:
        begin = time.monotonic()
        try:
            line = line or Line(("127.0.0.1", s.port.value))
            status = line.post(body)[0]
        except Gone:
            status, line = 0, None
        end = time.monotonic()
        if end - begin > LATE:
            late.append((begin, end, status))
        if status == 204:
            return line, end - begin
        if status not in (0, 503):
            strange.append(status)
        time.sleep(0.05)


def sender(s, k, task_):
    rng, make, line = random.Random(k), Maker(task_, k), None
    counted, late, strange, times = [0] * CELLS, [], [], [0] * TENTHS
    while not s.over.is_set():
        which = [rng.randrange(CELLS) for _ in range(BATCH)]
        line, took = delivered(s, line, b"".join(make.one(cell, s.epoch.value) for cell in which), late, strange)
        times[min(int(took * 1e4), TENTHS - 1)] += 1
        for cell in which:
            counted[cell] += 1
        s.sent[k].value += BATCH
        if s.pause.value:
            time.sleep(s.pause.value)
    s.found.put(("sender", counted, late, strange, times))


def writer(s, where):
    """What a plain writer's sync takes at most."""
    longest, late = 0.0, []
    with open(where, "wb") as f:
        while not s.over.is_set():
            f.write(bytes(4096))
            f.flush()
            begin = time.monotonic()
            os.fdatasync(f.fileno())
            took = time.monotonic() - begin
            longest = max(longest, took)
            if took > LATE:
                late.append(took)
            if f.tell() > 64 << 20:
                f.seek(0)
            time.sleep(0.005)
    s.found.put(("writer", longest, late))


def stranger(s):
    """Heads that come a byte a second, from many connections."""
    socks, n = [], 0
    while not s.over.is_set():
        while len(socks) < STRANGERS:
            one = socket.socket()
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", s.port.value))
            socks.append(one)
        for one in list(socks):
            try:
                one.send(b"P")
                n += 1
            except BlockingIOError:
                pass
            except OSError:
                one.close()
                socks.remove(one)
        time.sleep(1)
    s.found.put(("stranger", n))


def fuzzer(s, task_):
    """Uploads with some bits wrong, cut, doubled; heads of nonsense. None may
    be acknowledged."""
    rng, n, taken = random.Random(99), 0, 0
    while not s.over.is_set():
        wire = bytearray(task_.upload([7], epoch=s.epoch.value))
        for bit in rng.sample(range(8 * len(wire)), rng.randrange(1, 4)):
            wire[bit // 8] ^= 1 << bit % 8
        body = bytes(wire[:rng.randrange(len(wire))] if rng.random() < 0.3 else wire)
        head = "POST /v1/uploads HTTP/1.1\r\nHost: x\r\nContent-Type: application/octet-stream\r\nContent-Length: %d\r\n\r\n" % (len(body) + (rng.randrange(9) if rng.random() < 0.2 else 0))
        raw = bytearray(head.encode() + body)
        if rng.random() < 0.3:
            raw[rng.randrange(len(head))] = rng.randrange(256)
        try:
            with socket.create_connection(("127.0.0.1", s.port.value), timeout=1) as one:
                one.sendall(bytes(raw))
                one.shutdown(socket.SHUT_WR)
                taken += one.recv(100).startswith(b"HTTP/1.1 204")
        except OSError:
            pass
        n += 1
        time.sleep(0.01)
    s.found.put(("fuzzer", n, taken))


# ---- The collector's life ----------------------------------------------------------------

class Life:
    def __init__(self):
        self.begin = time.monotonic()
        self.set_clock()
        self.c = Collector(tasks=cells("cells", CELLS), ids_epoch=4000000000, checkpoint_seconds=5, rehearsal=path("clock"))
        self.s = Shared()
        self.restarts, self.reloads, self.backups, self.reads, self.down = 0, 0, 0, 0, []
        self.looks, self.strange = [], []
        self.lock = threading.Lock()  # a reload or a backup does not meet a restart
        self.start()

    def elapsed(self):
        return time.monotonic() - self.begin

    def set_clock(self):
        seconds = int((DAY * 24 + BEGIN + self.elapsed() / SECONDS * HOURS) * 3600)
        with open(path("clock.new"), "w") as f:
            f.write(time.strftime("%Y-%m-%dT%H:%M:%SZ\n", time.gmtime(seconds)))
        os.replace(path("clock.new"), path("clock"))
        return seconds // 86400

    def start(self):
        self.c.start()
        self.s.port.value = self.c.public[1]

    def restart(self, kill):
        begin = time.monotonic()
        with self.lock:
            self.c.kill() if kill else self.c.stop()
            self.start()
        self.down.append((begin, time.monotonic()))
        self.restarts += 1

    def reload(self):
        """A sound file; then a broken one, which changes nothing."""
        with self.lock:
            for text in (None, "data: [\n"):
                good = open(self.c.yaml).read()
                with open(self.c.yaml, "w") as f:
                    f.write(text or good)
                self.c.process.send_signal(signal.SIGHUP)
                time.sleep(0.2)
                with open(self.c.yaml, "w") as f:
                    f.write(good)
        self.reloads += 2

    def backup(self):
        with self.lock:
            status, _, body = ask(self.c.admin, "POST", "/v1/backup")
        if status != 201:
            return self.strange.append(("backup", status))
        self.backups += 1
        copy = os.path.join(self.c.data, json.loads(body)["directory"])
        if self.backups > 1:
            shutil.rmtree(copy, True)
        else:
            self.copy = copy

    def read(self):
        with self.lock:
            for where in ("/metrics", "/v1/tasks/cells/estimate", "/readyz", "/v1/status"):
                status = ask(self.c.admin, "GET", where)[0]
                if status not in (200, 409):
                    self.strange.append((where, status))
        self.reads += 1

    def look(self):
        """Memory besides the ids, and in all; descriptors."""
        with self.lock:
            ids = self.c.get("/v1/status")[1]["store"]["ids_bytes"]
            self.looks.append((self.elapsed(), self.c.rss() - ids, self.c.rss(), len(os.listdir("/proc/%d/fd" % self.c.process.pid))))

    def run(self):
        """Do everything when it is due, until the time is over."""
        every = {"reload": SECONDS / 60, "backup": SECONDS / 12, "read": 1.0, "look": SECONDS / 120}
        due = {name: gap for name, gap in every.items()}
        restarts = [(f * SECONDS, k % 2 == 1) for k, f in enumerate((0.12, 0.16, 0.20, 0.23, 0.92, 0.96))]
        while self.elapsed() < SECONDS:
            self.s.epoch.value = self.set_clock()
            if restarts and self.elapsed() >= restarts[0][0]:
                self.restart(restarts.pop(0)[1])
            for name in every:
                if self.elapsed() >= due[name]:
                    getattr(self, name)()
                    due[name] = self.elapsed() + every[name]
            time.sleep(0.05)


def pace(life):
    """After a tenth of the time: 70 % of what was taken so far."""
    warm = min(60, SECONDS / 10)
    time.sleep(warm)
    rate = sum(v.value for v in life.s.sent) / warm
    life.s.pause.value = 0.3 / 0.7 * SENDERS * BATCH / max(rate, 1)
    life.rate = rate


def beside(life):
    """The processes around it; they end with us."""
    t = life.c.task["cells"]
    all_ = [multiprocessing.Process(target=sender, args=(life.s, k, t), daemon=True) for k in range(SENDERS)]
    all_ += [multiprocessing.Process(target=writer, args=(life.s, path("plain")), daemon=True), multiprocessing.Process(target=stranger, args=(life.s,), daemon=True),
             multiprocessing.Process(target=fuzzer, args=(life.s, t), daemon=True)]
    for one in all_:
        one.start()
    threading.Thread(target=pace, args=(life,), daemon=True).start()
    return all_


def meets(span, downs):
    """Whether an answer was asked for while it was started again."""
    return any(span[0] < end + 2 and span[1] > begin - 0.5 for begin, end in downs)


multiprocessing.set_start_method("fork")
life = Life()
processes = beside(life)
life.run()
life.s.over.set()
found = [life.s.found.get(timeout=DEADLINE) for _ in processes]
senders = [f for f in found if f[0] == "sender"]
plain = next(f for f in found if f[0] == "writer")
drips, fuzz = next(f for f in found if f[0] == "stranger"), next(f for f in found if f[0] == "fuzzer")
wanted = [sum(column) for column in zip(*(f[1] for f in senders))]
late = [x for f in senders for x in f[2]]
strange = life.strange + [x for f in senders for x in f[3]]
slow = [end - begin for begin, end, status in late if status == 204 and not meets((begin, end), life.down)]
worst = max(slow, default=LATE)
times = [sum(column) for column in zip(*(f[4] for f in senders))]
p99 = next(i for i in range(TENTHS) if 100 * sum(times[:i + 1]) >= 99 * sum(times)) / 10
got = life.c.cells("cells")
lost = sum(max(0, n - got.get(cell, 0)) for cell, n in enumerate(wanted))
doubled = sum(max(0, got.get(cell, 0) - n) for cell, n in enumerate(wanted))
steady = [x for x in life.looks if SECONDS * 0.3 <= x[0] <= SECONDS * 0.91]  # the restart before is over and forgotten
third = max(1, len(steady) // 3)
first, last = (min(x[1] for x in part) for part in (steady[:third], steady[-third:]))
usual = statistics.median(x[2] for x in steady)
log = open(life.c.log).read()
print("C10: %d seconds for %d hours; %d uploads acknowledged, %.0f a second of %.0f; %d restarts, %d reloads, %d backups, %d reads, %d midnights; %d bytes of slow strangers, %d of nonsense" % (
    SECONDS, HOURS, sum(wanted), sum(wanted) / SECONDS, life.rate, life.restarts, life.reloads, life.backups, life.reads, int((BEGIN + HOURS) // 24), drips[1], fuzz[1]))
print("C10: lost %d, doubled %d; memory besides ids %.1f MiB, then %.1f MiB (%+.1f %% of all), in all %.1f to %.1f MiB; descriptors %d to %d; p99 %.1f ms, longest %.0f ms (%d over %.0f ms); longest sync of a plain writer %.0f ms" % (
    lost, doubled, first / 2 ** 20, last / 2 ** 20, 100 * (last - first) / usual, min(x[2] for x in steady) / 2 ** 20, max(x[2] for x in steady) / 2 ** 20,
    min(x[3] for x in steady), max(x[3] for x in steady), p99, 1e3 * worst, len(slow), 1e3 * LATE, 1e3 * plain[1]))
print("C10: memory besides ids over that time, MiB: " + " ".join("%.1f" % (x[1] / 2 ** 20) for x in steady))
ok(sum(wanted) > 0 and lost == 0, "no acknowledged report is lost", lost)
ok(doubled == 0, "none is counted twice", doubled)
ok(not strange and fuzz[2] == 0, "nothing else is answered than should be, and no nonsense is taken", strange[:5])
ok(worst <= plain[1] + ALLOWED, "no answer is later than %.0f ms beyond a plain writer's longest sync" % (1e3 * ALLOWED), "%.3f s, %.3f s" % (worst, plain[1]))
ok(not LONG or last <= first + 0.02 * usual, "memory stays within 2 %", (first, last, usual))
ok("store-failed" not in log and log.count("note reloaded") >= life.reloads // 4, "reloads were done", log[-300:])
ok(life.c.stop() == 0 and run("store", "check", life.c.data).code == 0, "it ends, and the data are sound")
ok(run("store", "check", life.copy).code == 0, "so is the backup that was made meanwhile")
done()
