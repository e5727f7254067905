#!/usr/bin/python3 -B
"""Strangers: slow ones by the hundred (H04), bodies without end (H05), absurd
heads (H06), and uploads hidden where two readers would disagree (H07). With
HSY_TEST_LONG=1 the slow ones are 2,000, stay a minute, and the times of honest
ones are held against their bound."""

import resource
import select

from proxies import *
import smuggle

LONG = bool(os.environ.get("HSY_TEST_LONG"))
SLOW = 2000 if LONG else 120 if SHORT else 300
SECONDS = 60 if LONG else 2


def until_closed(s):
    """What comes until the other side is done; a reset ends it as well."""
    got = b""
    while True:
        try:
            part = s.recv(65536)
        except ConnectionError:
            part = b""
        if not part:
            s.close()
            return got
        got += part


def answers(got):
    """The number of status lines; the text of an answer may name HTTP/1.1 too."""
    return len(re.findall(rb"HTTP/1\.1 \d", got))


def tell(at, text, half_close=True):
    """The answers to these bytes, after which nothing is sent; None if the collector does not close."""
    s = socket.create_connection(at, timeout=DEADLINE)
    try:
        s.sendall(text)
        half_close and s.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # it was closed before all was said
    try:
        return until_closed(s)
    except TimeoutError:
        return None


# ---- H04 --------------------------------------------------------------------------

soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
HEADS = [b"", b"POST /v1/uploads HTTP/1.1\r\nHost: x\r\nX: ", smuggle.HEAD + b"Content-Length: 4000\r\n\r\n"]
HELLO = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"  # the beginning of a handshake


class Herd:
    """Connections that say a byte now and then and never finish."""

    def __init__(self, at, heads):
        self.began = time.monotonic()
        self.open, self.closed = {}, []
        self.poll = select.poll()
        for i in range(SLOW):
            s = socket.create_connection(at, timeout=DEADLINE)
            s.setblocking(False)
            s.sendall(heads[i % len(heads)])
            self.open[s.fileno()] = s, bool(heads[i % len(heads)])
            self.poll.register(s, select.POLLIN)

    def look(self):
        """Note who was closed; the others say one byte more."""
        for fd, _ in self.poll.poll(0):
            self.poll.unregister(fd)
            s, _ = self.open.pop(fd)
            self.closed.append(time.monotonic() - self.began)
            s.close()
        for s, talks in self.open.values():
            try:
                talks and s.send(b"a")
            except OSError:
                pass  # closed just now


def honest(at, task_, context=None, seconds=DEADLINE):
    """One upload on a connection of its own: how long it took, and its status. None
    if it was not answered and took longer than the seconds that a connection has:
    a machine that stands still makes anybody slow."""
    began = time.monotonic()
    line = Line(at)
    try:
        if context:
            line.sock = context.wrap_socket(line.sock, server_hostname="127.0.0.1")
        status = line.post(task_.upload([1]))[0]
    except (Gone, OSError):
        if time.monotonic() - began < 0.9 * seconds:
            raise
        status = None
    line.close()
    return time.monotonic() - began, status


def outlast(c, heads, context=None):
    herd = Herd(c.public, heads)
    times, statuses, most, end = [], set(), 0, time.monotonic() + SECONDS + DEADLINE
    while herd.open and time.monotonic() < end:
        for _ in range(20):
            took, status = honest(c.public, c.task["crash"], context, SECONDS)
            if status is not None:
                times.append(took)
                statuses.add(status)
        most = max(most, c.rss())
        herd.look()
    times.sort()
    p99 = times[len(times) * 99 // 100] * 1000
    print("# %d slow connections, %d honest uploads, p99 %.1f ms, memory %d MB" % (SLOW, len(times), p99, most >> 20))
    return herd, statuses, p99, most


def spent(c):
    """Seconds of processor that it has used."""
    with open("/proc/%d/stat" % c.process.pid) as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


cert = Certificate()
c = Collector("stalled", tls_cert=cert.cert, tls_key=cert.key)
c.start()
s = socket.create_connection(c.public)
s.sendall(HELLO)
honest(c.public, c.task["crash"], cert.context())
before = spent(c)
time.sleep(1)
ok(spent(c) - before < 0.5, "a handshake that stops in the middle costs no processor", spent(c) - before)
s.close()
c.kill()
for name, heads, config, context in (("plain", HEADS, {}, None), ("tls", [b"", HELLO], {"tls_cert": cert.cert, "tls_key": cert.key}, cert.context())):
    c = Collector("slow" + name, timeout=SECONDS, **config)
    c.start()
    herd, statuses, p99, most = outlast(c, heads, context)
    ok(not herd.open and min(herd.closed) > SECONDS * 0.9, "%s: %d slow connections are dropped at their deadline, not before" % (name, SLOW), sorted(herd.closed)[:3])
    ok(statuses == {204}, "%s: meanwhile honest uploads are counted" % name, statuses)
    ok(most <= 64 << 20 or SHORT, "%s: memory stays below 64 MB" % name, most >> 20)
    if LONG:
        ok(p99 <= 50, "%s: p99 of honest uploads is below 50 ms" % name, p99)
    ok(c.stop() == 0, "%s: ends" % name, c.said())

# ---- Peers that leave before their answer is there ------------------------------

c = Collector("left")
c.start(env={"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "65536"})  # what is freed is given back at once
refused = c.task["cells"].upload([3], epoch=DAY - 20) * 2400  # 312 KB, and the answer names each of them


def metric(c, name):
    return float(re.search(r"^%s (\S+)$" % re.escape(name), c.get("/metrics")[1].decode(), re.M).group(1))


def leave(n):
    for _ in range(n):
        line = Line(c.public)
        line.send(smuggle.HEAD + b"Content-Length: %d\r\n\r\n" % len(refused) + refused)
        line.close()
    c.until(lambda: metric(c, 'hearsay_connections{listener="public"}') == 0)


def grown():
    """By how many bytes the memory grows if 120 peers more leave."""
    before = c.rss()
    leave(120)
    return c.rss() - before


leave(120)
grew = []
while len(grew) < 5 and (not grew or grew[-1] >= 16 << 20):  # how many are there at once differs, but what is never freed grows each time
    grew.append(grown())
ok(grew[-1] < 16 << 20 or SHORT, "the answers of peers that have gone leave no memory behind", [n >> 20 for n in grew])
lines = [Line(c.public) for _ in range(30)]
for i, line in enumerate(lines):
    some = c.task["cells"].upload([i])
    line.send(smuggle.HEAD + b"Content-Length: %d\r\n\r\n" % len(some) + some)
    line.sock.shutdown(socket.SHUT_WR)
got = [until_closed(line.sock)[:13] for line in lines]
ok(set(got) == {b"HTTP/1.1 204 "}, "who sends an upload and then no more is answered", got)
ok(c.stop() == 0, "ends", c.said())

# ---- Large bodies that stop in the middle ---------------------------------------

c = Collector("stuck", memory=48 << 20)
c.start()
stuck = []
for _ in range(40):
    s = socket.create_connection(c.public, timeout=DEADLINE)
    s.sendall(smuggle.HEAD + b"Content-Length: %d\r\n\r\n" % (4 << 20))
    s.setblocking(False)
    try:
        for _ in range(16):
            s.send(bytes(32768))
    except OSError:
        pass  # it is not read as fast as that
    stuck.append(s)
c.until(lambda: metric(c, 'hearsay_inflight_bytes{listener="public"}') > 3 << 20)
statuses = {honest(c.public, c.task["crash"])[1] for _ in range(50)}
ok(statuses == {204}, "while 40 large bodies have taken all room, small uploads are counted", statuses)
for s in stuck:
    s.close()
ok(c.stop() == 0, "ends", c.said())

# ---- Many connections of one address --------------------------------------------

CROWD, MOST = (6000, 256) if LONG else (100, 16)
c = Collector("crowd", connections=16 * MOST, proxies=["192.0.2.1"], timeout=2 * DEADLINE)
c.start()
slow = []
for i in range(CROWD):
    s = socket.create_connection(c.public, timeout=DEADLINE)
    try:
        s.sendall(HEADS[i % 2])
    except OSError:
        pass  # it was one too many
    slow.append(s)
c.until(lambda: metric(c, 'hearsay_refused_total{listener="public"}') >= CROWD - MOST)
statuses = set()
for i in range(40):  # who is delayed by the slow ones waits longer than a Line does
    line = Line(c.public, ("127.0.0.%d" % (2 + i % 20), 0))
    statuses.add(line.post(c.task["crash"].upload([1]))[0])
    line.close()
ok(statuses == {204}, "%d slow connections of one address, %d of them at once, delay nobody else" % (CROWD, MOST), statuses)
ok(c.until(lambda: metric(c, 'hearsay_connections{listener="public"}') <= MOST), "the rest was closed at once")
for s in slow:
    s.close()
ok(c.stop() == 0, "ends", c.said())

# ---- H05 --------------------------------------------------------------------------

c = Collector("strangers", body_bytes=65536)
c.start()
cells = c.task["cells"]


def pour(head, most=1 << 28):
    """Send a head and bytes without end: the answer, and how many were sent."""
    s = socket.create_connection(c.public, timeout=DEADLINE)
    s.sendall(head)
    sent, block = 0, bytes(65536)
    try:
        while sent < most:
            sent += s.send(block)
    except OSError:
        pass
    return until_closed(s), sent


for name, length in (("declared", b"Content-Length: %d" % (1 << 40)), ("chunked", b"Transfer-Encoding: chunked")):
    _, sent = pour(smuggle.HEAD + length + b"\r\n\r\n")
    ok(sent < 32 << 20, "a %s body without end is cut off" % name, sent)
    got = tell(c.public, smuggle.HEAD + length + b"\r\n\r\n" + bytes(40000))
    ok(got.startswith(b"HTTP/1.1 41") and answers(got) == 1, "whose sender can read why", got)
got = tell(c.public, smuggle.HEAD + b"Content-Length: 1000\r\n\r\n" + bytes(999))
ok(got == b"", "a body that ends too early has no answer", got)

# ---- H06 --------------------------------------------------------------------------

GET = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
ABSURD = [("Content-Encoding", smuggle.HEAD + b"Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc"), ("Content-Encoding identity", smuggle.HEAD + b"Content-Encoding: identity\r\nContent-Length: 3\r\n\r\nabc"),
          ("Expect", GET + b"Expect: the unexpected\r\n\r\n"), ("Upgrade", GET + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"), ("h2c", GET + b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n"),
          ("a head of 64 KiB", GET + b"X: " + b"y" * 65536 + b"\r\n\r\n"), ("10,000 headers", GET + b"X: y\r\n" * 10000 + b"\r\n"), ("a name of 64 KiB", GET + b"x" * 65536 + b": y\r\n\r\n"),
          ("a path of 64 KiB", b"GET /" + b"a" * 65536 + b" HTTP/1.1\r\nHost: x\r\n\r\n"), ("10,000 parameters", b"GET /healthz?" + b"a=b&" * 10000 + b" HTTP/1.1\r\nHost: x\r\n\r\n"),
          ("no Host", b"GET /healthz HTTP/1.1\r\n\r\n"), ("two Hosts", GET + b"Host: y\r\n\r\n"), ("a header without a name", GET + b": y\r\n\r\n"), ("a header without a colon", GET + b"xyz\r\n\r\n"),
          ("control bytes", GET + b"X: \x01\x02\r\n\r\n"), ("an unknown method", b"BREW /healthz HTTP/1.1\r\nHost: x\r\n\r\n")]
for name, text in ABSURD:
    got = tell(c.public, text)
    # What is too large may be cut off while it is being sent: then its answer can be lost with it.
    ok(got.startswith(b"HTTP/1.1 4") and answers(got) == 1 or (len(text) > 8192 and got == b""), name + " is refused", got[:300])
# Nothing of the request may be in an answer.
MARK = b"<script>mark</script>"
LARGE = MARK * 500
for name, status, text in (("a large path", b"414", b"GET /" + LARGE + b" HTTP/1.1\r\nHost: x\r\n\r\n"), ("a large header", b"431", GET + b"X: " + LARGE + b"\r\n\r\n"),
                           ("a space in the path", b"400", b"GET /" + MARK + b" x HTTP/1.1\r\nHost: x\r\n\r\n"), ("a folded line", b"400", GET + b"X: y\r\n " + MARK + b"\r\n\r\n")):
    got = tell(c.public, text)
    ok((got == b"" and LARGE in text) or (got.startswith(b"HTTP/1.1 " + status) and b"mark" not in got and b"script" not in got and b"\r\nConnection: close\r\n" in got), "the answer to %s, %s, repeats nothing of it and closes" % (name, status.decode()), got[:300])
symbols = subprocess.run(["nm", "-D", "--undefined-only", HEARSAY], capture_output=True).stdout.decode()
ok("gnutls_handshake" in symbols and not re.search(r"\binflate|\buncompress|BrotliDecoder|ZSTD_", symbols), "nothing that unpacks is linked")

# ---- H07 --------------------------------------------------------------------------

cases = smuggle.cases(lambda i: cells.upload([i + 1]))
odd = [(name, got) for name, text in cases for got in [tell(c.public, text + GET + b"\r\n", half_close=False)] if got is None or answers(got) > 1 or got.startswith(b"HTTP/1.1 2")]
ok(len(cases) >= 200 and not odd, "each of %d ambiguous requests has one answer at most, a refusal, and its connection is closed" % len(cases), odd[:3])
ok(c.upload([cells.upload([0])])[0] == 204 and c.cells("cells") == {0: 1}, "and no upload hidden in them is counted", c.cells("cells"))
ok(c.stop() == 0, "ends", c.said())
done()
