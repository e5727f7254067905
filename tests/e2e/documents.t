#!/usr/bin/python3 -B
"""Documents through a relay: everybody asks alike, at a random time and never
in a run that sends, and gets the document that the gateway's own server has."""

import devices as d
import ohttp
from relays import *

TASKS = ["crash,crashes,yes-no,1000000000,1,0,0,1,1"]
NEXT = DAY + 1
SMALL, LARGE = 1 << 16, 1 << 17
NOW = ["--spread", "0", "--backoff", "1", "--attempts", "2"]
secret = os.urandom(32)
KEY = "@key=" + ohttp.x25519(secret).hex()


def document(name, *words, version=1, size=SMALL, **how):
    return d.document(name, [KEY, "@documents=%d" % size, *words, *TASKS], version=version, issued=DAY, expires=DAY + 300, start=DAY, end=DAY + 200, **how)


def held(where):
    with open(os.path.join(where, "document"), "rb") as f:
        return f.read()


def bytes_of(name):
    with open(name, "rb") as f:
        return f.read()


def take(where, url, *options, **how):
    return d.device("take", where, url, *options, **{"day": NEXT, **how})


class Gate(Stub):
    """A relay and gateway in one, which gives what it is told in answers of `size` bytes before they are sealed."""

    def __init__(self, content=b"", status=200, size=SMALL, fields=()):
        super().__init__()
        self.content, self.status, self.size, self.fields, self.inside = content, status, size, fields, []

    @property
    def otherwise(self):
        opened = ohttp.Opened(secret, self.seen[-1][3])
        self.inside.append(opened.message)
        return {"status": 200, "headers": {"Content-Type": "message/ohttp-res"},
                "body": opened.answer(ohttp.answer_message(self.status, self.fields, self.content, self.size))}

    @otherwise.setter
    def otherwise(self, _):
        pass


# ---- Device, relay, collector ---------------------------------------------------------------

write("gateway.secret", "x25519-secret %s\n" % secret.hex())
os.chmod(path("gateway.secret"), 0o600)
watch = Wire(lambda n: None)  # in the collector's place: nobody may connect to it
c = Collector("collector", gateway_keys=[path("gateway.secret")])
relay = None
first = document("first")
c.configure(**{**c.config, "document": first, "public_key": first + ".pub", "data": path("collector/other")})
c.start()
relay = Relay("http://127.0.0.1:%d" % c.public[1])
one = document("one", "@relay=" + relay.url)
two = document("two", "@relay=" + relay.url, version=2)
with open(two, "rb") as f:
    ok(ask(c.admin, "PUT", "/v1/document", f.read())[0] == 200, "the collector loads a second document")
dev = d.fresh("device", one, day=DAY)
d.good("answer", dev, "crash", stdin="yes", day=DAY)
r = take(dev, watch.url, *NOW)
ok(r.code == 0 and held(dev) == bytes_of(two) and watch.connections == 0, "the next document comes through the relay, without a connection to the collector", r)
r = take(dev, watch.url, *NOW)
ok(r.code == 0 and held(dev) == bytes_of(two), "the same document again changes nothing", r)
r = d.device("send", dev, watch.url, "--spread", "0", day=NEXT)
ok(r.code == 0 and c.get("/v1/tasks/crash")[1]["live"]["reports"] == 1 and watch.connections == 0, "a device with a fetched document sends its answer", r)
r = take(dev, watch.url, "--relay", relay.url, *NOW)
ok(r.code == 0 and watch.connections == 0, "the relay may be named by an option", r)


def ask_sealed(message, by=relay):
    q = ohttp.Sealed(ohttp.number(ohttp.x25519(secret)), ohttp.x25519(secret), message)
    status, headers, body = by.post(q.bytes)
    return status, len(body), q.answer(body) if headers["content-type"] == "message/ohttp-res" else None


GET = ohttp.request(b"", method="GET", path="/v1/document", size=512)
got = [ask_sealed(m) for m in (GET, ohttp.request(b"", method="GET", path="/v1/document", size=512, if_none_match="*"), ohttp.request(b"x", size=512), GET)]
ok({g[1] for g in got} == {SMALL + 48, 304} and got[0][2] == got[1][2] == (200, {"content-type": "application/octet-stream"}, bytes_of(two)),
   "answers have two lengths, and no field of a request for the document is read", [g[:2] for g in got])
ok(ask_sealed(ohttp.request(b"", method="GET", path="/v1/document", size=1024))[0] == 400, "a request for the document of another length is refused")

longer = document("longer", "@request=1024", version=3, size=LARGE)
with open(longer, "rb") as f:
    ok(ask(c.admin, "PUT", "/v1/document", f.read())[0] == 200, "a document with longer requests and answers is loaded")
r = take(dev, watch.url, *NOW)
ok(r.code == 1 and held(dev) == bytes_of(two), "a relay that does not know the new length keeps the document back, and the device keeps its own", r)
ok(relay.metrics()['hearsay_relay_failed_total{why="length"}'] >= 1, "the relay counts answers of an unknown length")
knows = Relay("http://127.0.0.1:%d" % c.public[1], "--answer-bytes", "304,%d,%d" % (SMALL + 48, LARGE + 48), name="knows")
r = take(dev, watch.url, "--relay", knows.url, *NOW)
ok(r.code == 0 and held(dev) == bytes_of(longer), "a device whose document states other lengths still gets the next one", r)
got = ask_sealed(ohttp.request(b"x", size=512), by=knows)
ok(got[0] == 400 and got[2] is None, "an upload of the shorter length is refused as before", got)

# ---- What leaves, and when --------------------------------------------------------------------

gate = Gate(bytes_of(two))
by_option = document("by-option")
devices = [d.fresh("same%d" % i, doc, day=DAY) for i, doc in enumerate((by_option, document("another", "@request=2048", version=2)))]
for where in devices:
    take(where, "https://collector.example", "--relay", gate.url, *NOW)
ok(len(set(gate.inside)) == 1 and {len(s[3]) for s in gate.seen} == {567} and all(set(s[2]) == {"Host", "Content-Type", "Content-Length"} for s in gate.seen) and
   ohttp.parts(gate.inside[0]) == ("GET", "/v1/document", {}, b""), "devices with different documents send the same request", gate.inside[:1])
r = take(devices[0], watch.url, "--token", write("token", "abc\n") or path("token"), "--relay", gate.url, *NOW)
ok(len(set(gate.inside)) == 2 and b"abc" not in gate.inside[-1], "no token goes along", r)
gate.says()
dev = d.fresh("timed", by_option, day=DAY)
r = take(dev, watch.url, "--relay", gate.url)
ok(r.code == 0 and not gate.seen and "random time within 3600 s" in r.err, "the first run only draws a time", r)
when = open(os.path.join(dev, "times"), "rb").read()
ok(len(when) == 40 and when[:16] == bytes(16) and 0 <= int.from_bytes(when[24:32], "little") - int.from_bytes(when[16:24], "little") < 3600000, "the time is stored", when.hex())
d.good("answer", dev, "crash", stdin="yes", day=DAY)
d.device("send", dev, watch.url, "--relay", gate.url, clock=NEXT * 86400)
both = open(os.path.join(dev, "times"), "rb").read()
ok(len(both) == 80 and both[:40] == when and not gate.seen, "a run that sends leaves the time of the fetch as it is", both.hex())
r = take(dev, watch.url, "--relay", gate.url, clock=NEXT * 86400 + 43200 + 3601)
ok(r.code == 0 and len(gate.seen) == 1 and held(dev) == bytes_of(two), "a run after that time fetches", r)
after = open(os.path.join(dev, "times"), "rb").read()
ok(after == both[40:], "the time is used once, and those of uploads stay", after.hex())
r = take(d.fresh("waits", by_option, day=DAY), watch.url, "--relay", gate.url, "--wait", "--spread", "1")
ok(r.code == 0 and len(gate.seen) == 2, "--wait waits for the time", r)
r = d.device("send", d.fresh("sends", by_option, day=DAY), watch.url, "--take", "--relay", gate.url, "--spread", "0", day=NEXT)
ok(r.code == 1 and "does not fetch" in r.err and len(gate.seen) == 2 and watch.connections == 0, "a run that sends does not fetch through a relay", r)

# ---- What is refused ---------------------------------------------------------------------------

dev = d.fresh("careful", by_option, day=DAY)
mine = held(dev)
signed = bytes_of(two)
cases = {"an answer one byte longer": (Gate(signed, size=SMALL + 1), "another length"), "an answer of half the length": (Gate(signed, size=SMALL // 2), "another length"),
         "twice the length that the document states": (Gate(signed, size=LARGE), "another length"), "a document in a short answer": (Gate(signed[:100], size=256), "another length"),
         "a refusal as long as a document": (Gate(b"{}", status=404), "another length"), "no document": (Gate(b""), "empty"), "noise": (Gate(b"noise" * 50), "document"),
         "a document that nobody signed": (Gate(signed[:-1] + bytes([signed[-1] ^ 1])), "sign"),
         "one of another signer": (Gate(bytes_of(document("theirs", version=3, seed=2))), "sign"),
         "another document of the same version": (Gate(bytes_of(document("split", "@delay=7"))), "same version"),
         "a gateway without documents": (Gate(status=404, size=256), "gives no documents"), "a gateway that is busy": (Gate(status=503, size=256, fields={"retry-after": "0"}), "no more at present"),
         "a document of a later format": (Gate(signed[:4] + b"\4" + signed[5:]), "format")}
for what, (by, words) in cases.items():
    r = take(dev, watch.url, "--relay", by.url, *NOW)
    ok(r.code == 1 and words in r.err and held(dev) == mine, "refused, and the document stays: " + what, r)
up = d.fresh("newer", document("fifth", version=5), day=DAY)
r = take(up, watch.url, "--relay", Gate(signed).url, *NOW)
ok(r.code == 1 and "newer document" in r.err and held(up) == bytes_of(path("fifth")), "refused, and the document stays: an older version", r)
for what, answer in {"a document in clear": http_answer(kind="application/octet-stream", body=signed), "noise of the right length": http_answer(body=b"x" * (SMALL + 48)),
                     "a page": http_answer(kind="text/html", body=b"<html>"), "1 MiB and more": http_answer(body=b"x" * (1 << 21))}.items():
    wire = Wire(lambda n: answer)
    r = take(dev, watch.url, "--relay", wire.url, *NOW)
    ok(r.code == 1 and held(dev) == mine, "refused, and the document stays: " + what, r)
old = d.fresh("old", d.document("old-document", [KEY, *TASKS], issued=DAY, expires=DAY + 300, start=DAY, end=DAY + 200), day=DAY)
r = take(old, watch.url, "--relay", gate.url, *NOW)
ok(r.code == 1 and "from a file" in r.err, "a device whose document has no document_bytes says what to do", r)
r = take(old, two, day=NEXT)
ok(r.code == 0 and held(old) == signed, "that device takes the next document from a file", r)
pins = d.fresh("pins", by_option, day=DAY)
gate.says()
for what, keys, fetches in (("another key than the document's", [os.urandom(32)], False), ("the document's key and another", [os.urandom(32), ohttp.x25519(secret)], True)):
    with open(os.path.join(pins, "policy.yaml"), "r") as f:
        lines = [line for line in f if not line.startswith("gateway_keys")]
    with open(os.path.join(pins, "policy.yaml"), "w") as f:
        f.write("gateway_keys: [%s]\n" % ", ".join(k.hex() for k in keys) + "".join(lines))
    r = take(pins, watch.url, "--relay", gate.url, *NOW)
    if fetches:
        ok(r.code == 0 and len(gate.seen) == 1 and held(pins) == signed, "a device whose policy pins %s fetches through the relay" % what, r)
    else:
        ok(r.code == 1 and "the document's gateway keys are not those of the policy" in r.err and "from a file, or list the keys in gateway_keys" in r.err and not gate.seen and held(pins) == mine,
           "a device whose policy pins %s seals no fetch for it" % what, r)
        timed = take(pins, watch.url, "--relay", gate.url)
        ok(timed.code == 1 and timed.err == r.err and not os.path.exists(os.path.join(pins, "times")), "that device draws no time for a fetch either", timed)
must = d.fresh("must", document("must-document", "@required"), day=DAY)
r = take(must, watch.url, *NOW)
ok(r.code == 1 and "relay" in r.err, "a device of a task that demands a relay does not fetch without one", r)
ok(watch.connections == 0, "nobody has connected to the collector", watch.connections)

# ---- Many at once -------------------------------------------------------------------------------

body = b"x" * (SMALL + 48)
long = Wire(lambda n: http_answer(body=body))
slow = Relay(long.url, "--gateway-connections", "8", name="slow-readers")
readers = []
for _ in range(80):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.connect(slow.public)
    s.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Type: message/ohttp-req\r\nContent-Length: 1\r\n\r\nx")
    readers.append(s)
busy = 'hearsay_relay_failed_total{why="busy"}'
ok(slow.until(lambda: slow.metrics()["hearsay_relay_answered_total"] + slow.metrics()[busy] == 80) and slow.metrics()[busy] >= 80 - 64,
   "a relay holds 64 documents for clients that do not read, and answers 503 to others", slow.metrics())
for s in readers:
    s.close()
ok(slow.until(lambda: slow.post()[0] == 200), "when they are gone there is room again")
done()
