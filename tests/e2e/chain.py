"""chain.py - shufflers and a collector for tests, each a process on a free port,
all on one clock that the test drives (a rehearsal's).

    c = Chain(shufflers=2, min_batch=5)   # keys, statements, document; started
    c.send(c.uploads([1, 2, 3]))          # to the first shuffler
    c.later(days=1, hours=7)              # the clock goes on
    assert c.collector.settled("veiled", 3) == {1: 1, 2: 1, 3: 1}

Each report hits a cell of its own, so that what is lost or doubled shows.
"""

import os
import tempfile

TOOLS = tempfile.mkdtemp(prefix="hearsay-tools-", dir=os.environ.get("TMPDIR") or "/tmp")  # nothing in /dev/shm may be run, in places

from collector import *
from collector import _die_with_us

atexit.register(shutil.rmtree, TOOLS, True)
SEAL = os.path.join(TOOLS, "seal_reports")
_B = os.path.abspath(os.environ.get("B") or os.path.join(ROOT, "build"))
subprocess.run(["gcc", "-std=c11", "-D_DEFAULT_SOURCE", "-DHSY_UNSTABLE", "-O1", "-Wall", "-Wextra", "-Werror", "-I" + os.path.join(ROOT, "include"),
                "-I" + os.path.join(ROOT, "src"), os.path.join(ROOT, "tests", "fault", "seal_reports.c"), os.path.join(_B, "libhearsay-host.a"),
                os.path.join(_B, "libhearsay.a"), "-lyaml", "-lsodium", "-ljansson", "-lnettle", "-lz", "-lm", "-o", SEAL], check=True)

CELLS = 4096
PERIOD = 32  # days of an envelope's period
FIRST = DAY - DAY % PERIOD + 2  # the clock is driven: its first day is early in a period, whatever today is


class Party(Collector):
    """A shuffler or the collector of a chain: its command, on a fixed port."""

    def __init__(self, chain, name, words, **config):
        self.chain, self.words = chain, words
        self.dir = os.path.join(chain.dir, name)
        os.makedirs(self.dir)
        self.data, self.log = os.path.join(self.dir, "data"), os.path.join(self.dir, "stderr")
        self.process = self.public = self.admin = None
        self.token = None
        self.more = config
        atexit.register(self.kill)

    def configure(self, **config):
        super().configure(**{"document": self.chain.signed, "public_key": self.chain.name("author.public"), "rehearsal": self.chain.clock,
                             "listen": "%s:%d" % self.chain.address(self), "body_bytes": "4M", **self.more, **config})

    def ready(self):
        """the line with "ready" and both addresses"""
        at = re.search(r"ready public=([0-9.]+):(\d+) admin=([0-9.]+):(\d+)\n", self.said())
        if at:
            self.public, self.admin = (at[1], int(at[2])), (at[3], int(at[4]))
        return at is not None

    def launch(self, wrap=(), env=None, args=(), sockets=()):
        self.err = open(self.log, "ab")
        self.mark = self.err.tell()
        self.process = subprocess.Popen([*wrap, HEARSAY, *self.words, self.yaml, *args], stdin=subprocess.DEVNULL, stdout=self.err, stderr=self.err,
                                        env={**os.environ, **(env or {})}, preexec_fn=_die_with_us)

    def batches(self):
        """What a shuffler has decided: (epoch, part) -> (state, envelopes)."""
        return {(b["epoch"], b["part"]): (b["state"], b["envelopes"]) for b in self.get("/v1/batches")[1]["batches"]}


class Chain:
    def __init__(self, shufflers=2, min_batch=5, max_wait=1, name="chain", day=FIRST, start=True, **config):
        self.dir, self.day = path(name), day
        os.makedirs(self.dir)
        self.addresses = {}
        self.clock = self.name("clock")
        self.at(day, 12)
        must("tasks", "keygen", "-o", self.name("author"))
        must("shuffle", "keys", "-o", self.name("collector"))
        self.shufflers = [Party(self, "shuffler%d" % (i + 1), ("shuffle", "serve"), **config) for i in range(shufflers)]
        self.collector = Party(self, "collector", ("serve",), **config)
        self.parties = [*self.shufflers, self.collector]
        self.min_batch, self.max_wait, self.version = min_batch, max_wait, 0
        for i in range(shufflers):
            must("shuffle", "keys", "-o", self.name("s%d" % (i + 1)))
        self.document()
        for i, s in enumerate(self.parties):
            own = "collector" if s is self.collector else "s%d" % (i + 1)
            keys = {"sign_key": self.name(own + "-sign.secret"), "seal_keys": [self.name(own + "-seal.secret")]}
            if s is not self.collector:
                keys.update(next=self.url(i + 1), receipt_key=self.name("collector-sign.public"))
            if i == 0:
                keys.update(gateway_keys=[self.name(own + "-gateway.secret")])
            s.more.update(keys)
            s.configure()
        if start:
            for s in self.parties:
                s.start()

    def name(self, file):
        return os.path.join(self.dir, file)

    def address(self, party):
        """Others know it by configuration, through restarts: a port of a loopback
        address that nobody else has, for one that was free may be taken."""
        if party not in self.addresses:
            self.addresses[party] = ("127.%d.%d.%d" % (*os.urandom(2), 1 + os.urandom(1)[0] % 254), 8080)
        return self.addresses[party]

    def url(self, i):
        return "http://%s:%d" % self.address(self.parties[i])

    def at(self, day, hours):
        """Set the clock of all."""
        self.now = (day, hours)
        with open(self.clock + ".new", "w") as f:
            f.write("%d\n" % (day * 86400 + hours * 3600))
        os.rename(self.clock + ".new", self.clock)

    def statement(self, i, task="veiled", **more):
        out = more.get("output") or self.name("s%d.statement" % (i + 1))
        if os.path.exists(out):
            os.remove(out)
        at = {"place": i + 1, "of": len(self.shufflers), "min-batch": self.min_batch, "max-wait": self.max_wait, "operator": "Party %d" % (i + 1),
              "from": date(self.day - 30), "until": date(self.day + 300), "sign-key": self.name("s%d-sign.secret" % (i + 1)),
              "seal-key": self.name("s%d-seal.public" % (i + 1)), "output": out,
              **({"gateway-key": self.name("s1-gateway.public")} if i == 0 else {}), **more}
        must("shuffle", "statement", task, *(w for k, v in at.items() for w in ("--" + k, str(v))))
        return out

    def document(self, task="range: [0, %d]; bins: %d; epsilon: 16; mechanism: grr; repeat: daily" % (CELLS, CELLS), extra=""):
        """Statements and tasks, signed as the next version."""
        self.version += 1
        for i in range(len(self.shufflers)):
            self.statement(i)
        self.signed = self.name("tasks.signed")
        yaml = self.name("tasks.yaml")
        with open(yaml, "w") as f:
            f.write("version: %d\nissued: %s\nexpires: %s\ncollector_key: collector-seal.public\ngateway_keys: [s1-gateway.public]\n%stasks:\n"
                    % (self.version, date(self.day - 40), date(self.day + 300), extra))
            f.write(_task("veiled", task + "; model: shuffled; relay: optional; shufflers: [%s]; min_batch: %d; max_wait: %d; delta: 1e-6; assume_honest: 0.9"
                          % (", ".join("s%d.statement" % (i + 1) for i in range(len(self.shufflers))), self.min_batch, self.max_wait),
                          self.day - 30, self.day + 250))
        if os.path.exists(self.signed):
            os.remove(self.signed)
        must("tasks", "compile", yaml, "--key", self.name("author.secret"), "-o", self.signed)
        return self.signed

    def uploads(self, cells, epoch=None, ids=None, document=None, task="veiled"):
        """Sealed uploads, one a cell (None: null), of the clock's day."""
        epoch = self.now[0] if epoch is None else epoch
        ids = ids or [os.urandom(16) for _ in cells]
        text = "".join("%s %d %s\n" % ("-" if c is None else c, epoch, i.hex()) for c, i in zip(cells, ids))
        out = subprocess.run([SEAL, document or self.signed, task], input=text.encode(), capture_output=True, check=True).stdout
        size = len(out) // len(ids)
        return [out[i * size:(i + 1) * size] for i in range(len(ids))]

    def send(self, uploads):
        return self.shufflers[0].upload(uploads)


def _task(name, what, start, end):
    return task(name, what, start=start, end=end)
