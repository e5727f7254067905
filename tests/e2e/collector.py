"""collector.py - a collector for tests: started on free ports in a directory of
its own, fed with uploads made byte by byte, asked what it has counted.

    c = Collector("one")              # signs TASKS, writes hearsay.yaml
    c.start()                         # returns once it is ready
    status, body = c.upload([c.task["cells"].upload([7])])
    assert c.cells("cells") == {7: 1}
    c.stop()                          # drains; c.kill() does not

Whatever a test does, no collector outlives it. A report here is no answer to
anything: a collector cannot tell, and so each can hit the one cell it should.
"""

import ctypes
import fcntl
import http.client
import selectors
import shutil
import signal
import socket
import struct
import tempfile

import quick_disk
from e2e import *

DAY = int(time.time()) // 86400
_TASK = """  - id: %s
    source: test.%s
    question: Which one is it?
    %s
    start: %s
    end: %s
    min_reports: %d
"""


def date(day):
    return time.strftime("%Y-%m-%d", time.gmtime(day * 86400))


def task(name, what, start=DAY - 30, end=DAY + 300, min_reports=1):
    """A task of tasks.yaml; what: its question, `; ` between the fields."""
    return _TASK % (name, name, what.replace("; ", "\n    "), date(start), date(end), min_reports)


def cells(name, n, **more):
    """A task with n cells, of which a report hits the one that it names."""
    return task(name, "range: [0, %d]; bins: %d; epsilon: 16; mechanism: grr; repeat: daily" % (n, n), **more)


TASKS = (cells("cells", 65536) + task("crash", "yes-no: true; epsilon: 1; repeat: daily")
         + task("browser", "values: [firefox, chrome]; epsilon: 1; mechanism: grr; repeat: daily")
         + task("minutes", "range: [0, 1440]; epsilon: 1; repeat: daily")
         + task("page", "strings: true; epsilon: 2; mechanism: olh; repeat: daily"))


# ---- Uploads (docs/formats.md, 5) -----------------------------------------------

def _crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_CRC = _crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _CRC[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def packed(values, bits):
    """Reports of at most 64 bits, without gaps."""
    whole = 0
    for i, value in enumerate(values):
        whole |= value << i * bits
    return whole.to_bytes((len(values) * bits + 7) // 8, "little")


class Task:
    def __init__(self, row, document):
        self.id, self.release = row["task"], row["release"]
        self.digest = must("randomize", "--task", "%s:%s" % (document, self.id))[24:56]  # the scheme's
        self.values = row["values"]
        self.bits = {"yes-no": 1, "number": 1}.get(row["kind"]) or max(1, ((row["values"] or 2) - 1).bit_length())

    def upload(self, values, id=None, epoch=DAY, null=False, payload=None, **head):
        """The bytes of one upload. head: other magic, version, release, task,
        digest, count, length, reserved, crc than are right."""
        payload = packed(values, self.bits) if payload is None else payload
        at = {"magic": b"HSYU", "version": 1, "release": self.release, "task": self.id.encode(), "digest": self.digest,
              "count": len(values), "length": len(payload), "reserved": bytes(12), **head}
        wire = at["magic"] + struct.pack("<III", at["version"], 2 if null else 1, at["release"]) + at["task"].ljust(32, b"\0") + at["digest"] \
            + (id or os.urandom(16)) + struct.pack("<IIII", epoch, at["count"], at["length"], crc32c(payload)) + at["reserved"]
        return wire + struct.pack("<I", at.get("crc", crc32c(wire))) + payload


def cells_of(tally):
    """The cells of a tally file that are not 0, and how many reports it has."""
    found, (labels,) = {}, struct.unpack_from("<I", tally, 16)
    at = 64 + 384 + labels
    while True:
        kind, length, first, n = struct.unpack_from("<IIQQ", tally, at)
        at += 32
        if kind == 5:
            return found, n
        if kind == 4:
            found.update((first + i, v) for i, v in enumerate(struct.unpack_from("<%dq" % n, tally, at)) if v)
        at += length


# ---- Ports ------------------------------------------------------------------------

_reserved = []


def reserve_port():
    """A port of 127.0.0.1 that is this test's until its end: a socket that is
    bound and does not listen keeps the system from giving it to anybody else,
    but not a server that sets SO_REUSEADDR from listening there."""
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("127.0.0.1", 0))
    _reserved.append(s)
    return s.getsockname()[1]


# ---- HTTP -------------------------------------------------------------------------

class Gone(Exception):
    """The connection broke before there was a whole answer."""


class Line:
    """One connection that is kept: as little HTTP as uploads need."""

    def __init__(self, address, source=None):
        try:
            self.sock = socket.create_connection(address, timeout=DEADLINE, source_address=source)
        except OSError as e:
            raise Gone(e)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest = b""

    def send(self, data):
        try:
            self.sock.sendall(data)
        except OSError as e:
            raise Gone(e)

    def _more(self):
        try:
            got = self.sock.recv(65536)
        except OSError as e:
            raise Gone(e)
        if not got:
            raise Gone("closed")
        self.rest += got

    def answer(self):
        """(status, headers in lower case, body)"""
        while b"\r\n\r\n" not in self.rest:
            self._more()
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        first, *fields = head.decode("latin-1").split("\r\n")
        headers = {k.strip().lower(): v.strip() for k, v in (f.split(":", 1) for f in fields)}
        length = int(headers.get("content-length", 0))
        while len(self.rest) < length:
            self._more()
        body, self.rest = self.rest[:length], self.rest[length:]
        return int(first.split()[1]), headers, body

    def post(self, body, kind="application/octet-stream", path="/v1/uploads", headers=""):
        self.send(("POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\n%s\r\n" % (path, kind, len(body), headers)).encode() + body)
        return self.answer()

    def close(self):
        self.sock.close()


def ask(address, method, path_, body=None, token=None, **headers):
    """One request on a connection of its own: (status, headers, body)."""
    line = http.client.HTTPConnection(*address, timeout=DEADLINE)
    try:
        if token is not None:
            headers["Authorization"] = "Bearer " + token
        line.request(method, path_, body, headers)
        r = line.getresponse()
        return r.status, dict((k.lower(), v) for k, v in r.getheaders()), r.read()
    except (OSError, http.client.HTTPException) as e:
        raise Gone(e)
    finally:
        line.close()


# ---- The collector ----------------------------------------------------------------

_PRCTL = ctypes.CDLL(None).prctl


def _die_with_us():
    _PRCTL(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


# What a service manager does between fork and exec.
_HAND_OVER = """import os, sys
fds = [int(fd) for fd in sys.argv[1].split(",")]
for i, fd in enumerate(fds):
    os.dup2(fd, 3 + i)
os.closerange(3 + len(fds), 256)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(fds)))
os.execvp(sys.argv[2], sys.argv[2:])"""


class Collector:
    first = None  # keys of the first one

    def __init__(self, name="collector", tasks=TASKS, **config):
        """config: fields of hearsay.yaml besides what a test needs anyway."""
        self.dir = path(name)
        os.makedirs(self.dir)
        self.data, self.log = os.path.join(self.dir, "data"), os.path.join(self.dir, "stderr")
        self.process = self.public = self.admin = None
        self.version, self.token = 0, None
        self.sign_key("storage" in config)
        self.document(tasks)
        self.configure(**config)
        atexit.register(self.kill)

    def sign_key(self, shared):
        """A key of its own; nodes of a cluster share that of the first collector."""
        keys = [os.path.join(self.dir, "key" + end) for end in (".secret", ".public")]
        if shared and Collector.first:
            for to, key in zip(keys, Collector.first):
                shutil.copy2(key, to)
        else:
            must("tasks", "keygen", "-o", os.path.join(self.dir, "key"))
            Collector.first = Collector.first or keys

    def document(self, tasks, version=None, name="tasks", expires=DAY + 300):
        """Sign tasks as the next version; its file."""
        self.version = version or self.version + 1
        yaml, signed = (os.path.join(self.dir, name + end) for end in (".yaml", ".signed"))
        with open(yaml, "w") as f:
            f.write("version: %d\nissued: %s\nexpires: %s\ntasks:\n%s" % (self.version, date(DAY - 40), date(expires), tasks))
        if os.path.exists(signed):
            os.remove(signed)
        must("tasks", "compile", yaml, "--key", os.path.join(self.dir, "key.secret"), "-o", signed)
        self.task = {row["task"]: Task(row, signed) for row in json.loads(must("tasks", "show", signed, "--format", "json"))["tasks"]}
        return signed

    def configure(self, **config):
        """Write hearsay.yaml."""
        self.config = {"data": self.data, "document": os.path.join(self.dir, "tasks.signed"), "public_key": os.path.join(self.dir, "key.public"),
                       "listen": "127.0.0.1:0", "admin": "127.0.0.1:0", "admin_open": True, "grace_days": 3, "snapshot_seconds": 0, **config}
        self.yaml = os.path.join(self.dir, "hearsay.yaml")
        with open(self.yaml, "w") as f:
            for key, value in self.config.items():
                if value is not None:
                    f.write("%s: %s\n" % (key, json.dumps(value)))

    def launch(self, wrap=(), env=None, args=(), sockets=()):
        """Start it, and do not wait. wrap: words before the command; args: after;
        sockets: handed over as a service manager does."""
        high = [fcntl.fcntl(s, fcntl.F_DUPFD, 50) for s in sockets]
        if sockets:
            wrap = [sys.executable, "-c", _HAND_OVER, ",".join(map(str, high)), *wrap]
        self.err = open(self.log, "ab")
        self.mark = self.err.tell()
        self.process = subprocess.Popen([*wrap, HEARSAY, "serve", self.yaml, *args], stdin=subprocess.DEVNULL, stdout=self.err, stderr=self.err,
                                        env={**os.environ, **(env or {})}, preexec_fn=_die_with_us, pass_fds=high)
        for fd in high:
            os.close(fd)

    def said(self):
        """What it wrote since it was launched."""
        with open(self.log, "rb") as f:
            f.seek(self.mark)
            return f.read().decode("utf-8", "replace")

    def ready(self):
        """the collector's line with "ready" and its addresses"""
        for line in self.said().split("\n")[:-1]:  # a line that is written is not half of one
            at = dict(re.findall(r"\b(public|admin)\W{1,4}127\.0\.0\.1:(\d+)", line))
            if "ready" in line and at:
                self.public = ("127.0.0.1", int(at["public"]))
                self.admin = ("127.0.0.1", int(at["admin"])) if "admin" in at else None
                return True
        return False

    def start(self, **how):
        """Launch it and wait until it is ready; bail out if it ends instead. A node
        that cannot reach its database is launched again, as a service manager does."""
        end = time.monotonic() + DEADLINE
        while True:
            self.launch(**how)
            if self.until(self.ready):
                return self
            if UNREACHABLE not in self.said() or time.monotonic() > end:
                raise SystemExit("Bail out! the collector does not start: " + self.said())
            self.kill()

    def until(self, condition, alive=True):
        """until(), which also gives up when the process has ended."""
        return until(condition, lambda: not alive or self.process.poll() is None)

    def wait(self):
        """Wait for its end: the exit code, negative if by a signal."""
        try:
            return self.process.wait(DEADLINE)
        finally:
            self.kill()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.err.close()
            self.process = None

    # ---- Requests ----

    def upload(self, uploads, kind="application/octet-stream", **headers):
        """POST uploads (a list of bytes, or a body): (status, body as JSON or None)."""
        body = uploads if isinstance(uploads, (bytes, str)) else b"".join(uploads)
        status, _, answer = ask(self.public, "POST", "/v1/uploads", body, **{"Content-Type": kind, **headers})
        return status, json.loads(answer) if answer else None

    def forwarder(self):
        """The token of a forwarder, who may bring many reports in an upload.
        Made before start() it is known at once."""
        if self.token is None:
            self.token = must("serve", "token", "forwarder", "--count", 1, "--quota", 1 << 31, "--data", self.config["data"]).decode().strip()
        return self.token

    def bring(self, uploads, kind="application/octet-stream"):
        """POST uploads of many reports, as upload() does with those of one."""
        answers = []

        def once():  # the collector looks for new tokens now and then
            answers.append(self.upload(uploads, kind, Authorization="Bearer " + self.forwarder()))
            return answers[-1][0] != 403
        self.until(once)
        return answers[-1]

    def get(self, path_, token=None):
        """GET of the admin listener: (status, JSON if it is, else bytes)."""
        status, headers, body = ask(self.admin, "GET", path_, token=token)
        return status, json.loads(body) if "json" in headers.get("content-type", "") else body

    def settled(self, task_, reports, release=None, token=None):
        """Wait until a task has so many reports in its tally, the live one unless a reader's token is given; its cells."""
        where = "/v1/tasks/%s/%s" % (task_, "tally" if token else "live") + ("?release=%d" % release if release else "")
        got = {}

        def there():
            nonlocal got
            status, tally = self.get(where, token)
            got, n = cells_of(tally) if status == 200 and isinstance(tally, bytes) else ({}, 0)
            return n >= reports
        there.__doc__ = "%d reports at %s" % (reports, where)
        until(there)
        return got

    def cells(self, task_, token=None):
        """The cells of a task that are not 0, of every report acknowledged."""
        status, row = self.get("/v1/tasks/%s" % task_, token)
        return self.settled(task_, row.get("live", row)["reports"], token=token)

    def rss(self):
        """Its resident memory in bytes, now."""
        with open("/proc/%d/statm" % self.process.pid) as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
