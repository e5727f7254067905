#!/usr/bin/python3 -B
"""Devices that send through a relay: what leaves them, what they believe, and
that nothing leaves in clear whatever the relay does."""

import devices as d
import ohttp
from relays import *

TASKS = ["crash,crashes,yes-no,1000000000,1,0,0,1,1", "browser,web,values,500000000,1,0,0,1,1"]
secrets = [os.urandom(32) for _ in range(2)]
while ohttp.number(ohttp.x25519(secrets[0])) == ohttp.number(ohttp.x25519(secrets[1])):
    secrets[1] = os.urandom(32)
publics = [ohttp.x25519(s) for s in secrets]
NEXT = DAY + 1
FAST = ["--backoff", "1", "--attempts", "3"]


def document(name, *words, tasks=TASKS, version=1):
    return d.document(name, [*words, *tasks], version=version, issued=DAY, expires=DAY + 300, start=DAY, end=DAY + 200)


def key(i):
    return "@key=" + publics[i].hex()


def answered(name, doc):
    where = d.fresh(name, doc, day=DAY)
    d.good("answer", where, "crash", stdin="yes", day=DAY)
    d.good("answer", where, "browser", stdin="chrome", day=DAY)
    return where


def send(where, url, *options):
    return d.device("send", where, url, *options, day=NEXT)


def result(r):
    return dict(zip(*[line.split() for line in r.out.decode().splitlines()[:2]]))


def due(where):
    """What a device would send, looked at in a copy."""
    return sorted(u[2] for u in d.uploads(d.pack(d.copy(where, "looked-at"), NEXT)))


class Gate(Stub):
    """A relay and gateway in one, which keeps all it is sent."""

    def __init__(self, secret=secrets[0], status=204, fields=(), content=b""):
        super().__init__()
        self.secret, self.inside, self.lengths = secret, [], []
        self.status, self.fields, self.content = status, fields, content

    @property
    def otherwise(self):
        self.lengths.append(len(self.seen[-1][3]))
        try:
            opened = ohttp.Opened(self.secret, self.seen[-1][3])
        except ValueError:
            return {"status": 400, "headers": {"Content-Type": "application/problem+json"}, "body": b'{"type":"#ohttp-key"}'}
        self.inside.append(ohttp.parts(opened.message))
        return {"status": 200, "headers": {"Content-Type": "message/ohttp-res"},
                "body": opened.answer(ohttp.answer_message(self.status, self.fields, self.content))}

    @otherwise.setter
    def otherwise(self, _):
        pass


# ---- All is well: device, relay, collector -----------------------------------------------

write("gateway.secret", "x25519-secret %s\n" % secrets[0].hex())
os.chmod(path("gateway.secret"), 0o600)
doc = document("optional", key(0))
c = Collector("collector", gateway_keys=[path("gateway.secret")])
c.configure(**{**c.config, "document": doc, "public_key": doc + ".pub", "data": path("collector/other")})
c.start()
ok("gateway-keys-not-in-document" not in c.said(), "a collector whose key its document names says nothing of it", c.said())
collector = "http://127.0.0.1:%d" % c.public[1]
relay = Relay(collector)
keep = answered("keep", doc)
want = due(keep)
dev = d.copy(keep, "well")
r = send(dev, "https://nobody.invalid", "--relay", relay.url)
ok(r.code == 0 and result(r) == {"sent": str(len(want)), "refused": "0", "waiting": "0", "attempts": "1"} and due(dev) == [], "what is due goes through the relay", r)
ok(c.get("/v1/tasks/crash")[1]["live"]["reports"] == 1 and c.get("/v1/tasks/browser")[1]["live"]["reports"] == 1, "and is counted")
ok(relay.metrics()["hearsay_relay_answered_total"] == len(want), "one request an upload; the collector's own address is never asked")
dev = d.copy(keep, "twice")
r = send(dev, collector, "--relay", relay.url)
ok(r.code == 0 and result(r)["sent"] == str(len(want)) and c.get("/v1/tasks/crash")[1]["live"]["reports"] == 1, "sent again by a copy it is acknowledged and not counted", r)

# ---- What leaves the device ---------------------------------------------------------------

gate = Gate()
named = document("named", "@relay=" + gate.url + "/some/where", key(0))
dev = answered("named-device", named)
want = due(dev)
r = send(dev, "https://collector.example:8443/path", "--relay", gate.url + "/asked", *FAST)
ok(r.code == 0 and {s[1] for s in gate.seen} == {"/asked"}, "a relay that is asked for", r)
ok(set(gate.lengths) == {512 + 55} and all(set(s[2]) == {"Host", "Content-Type", "Content-Length"} for s in gate.seen), "one length, and nothing besides", gate.seen[0][2])
ok(len({s[4] for s in gate.seen}) == len(want), "each on a connection of its own")
ok(sorted(i[3] for i in gate.inside) == want and {i[:2] for i in gate.inside} == {("POST", "/v1/uploads")}, "inside are the very bytes that pack writes")
dev = answered("named-too", named)
gate.says()
r = send(dev, "https://collector.example")
ok(r.code == 0 and {s[1] for s in gate.seen} == {"/some/where"}, "the document's relay is used without being asked for", r)
write("token", "abc-123\n")
os.chmod(path("token"), 0o600)
dev = answered("token-device", named)
gate.says()
gate.inside.clear()
r = send(dev, "https://collector.example", "--token", path("token"))
ok({i[2].get("authorization") for i in gate.inside} == {"Bearer abc-123"} and not any("Authorization" in s[2] for s in gate.seen), "a token goes inside, and not outside", r)

server = Stub()
server.otherwise = {"status": 200, "body": open(named, "rb").read()}
r = send(answered("token-taker", named), server.url, "--take", "--token", path("token"))
ok(r.code == 0 and [s[1] for s in server.seen] == ["/v1/document"] and not any("Authorization" in s[2] for s in server.seen),
   "nor with the question for the document, which is asked without a relay", server.seen)

# ---- Retries and refusals -----------------------------------------------------------------

gate = Gate(status=503, fields={"retry-after": "0"})
dev = answered("busy", doc)
want = due(dev)
r = send(dev, collector, "--relay", gate.url, *FAST)
ok(r.code == 1 and result(r)["waiting"] == str(len(want)) and due(dev) == want and len(gate.seen) == 3 * len(want), "503 inside: tried again, then kept", r)
contents = [i[3] for i in gate.inside]
ok(len(set(contents)) == len(want) and len({s[3] for s in gate.seen}) == 3 * len(want) and set(gate.lengths) == {567},
   "a retry has the same upload inside, a new seal around it, the same length")
for status, reason, fate in ((409, "conflict", "refused"), (410, "closed", "refused"), (422, "malformed-report", "refused"), (422, "early", "waiting"), (403, "token", "waiting"),
                             (404, "unknown-task", "waiting"), (200, "x", "waiting")):
    gate = Gate(status=status, fields={"content-type": "application/problem+json"}, content=b'{"status":%d,"reason":"%s"}' % (status, reason.encode()))
    dev = answered("inside", doc)
    r = send(dev, collector, "--relay", gate.url, *FAST)
    ok(result(r)[fate] == str(len(want)) and result(r)["sent"] == "0", "%d %s inside: %s" % (status, reason, fate), r)

# ---- Relays that answer by themselves -------------------------------------------------------


def replayed(n):
    """An answer that was sealed for another request."""
    return http_answer(body=other_answer)


other = ohttp.Sealed(ohttp.number(publics[0]), publics[0], ohttp.request(b"x", size=512))
other_answer = ohttp.Opened(secrets[0], other.bytes).answer(ohttp.answer_message(204))
lies = {"acknowledges in clear": lambda n: b"HTTP/1.1 204 No Content\r\n\r\n", "says 200": lambda n: http_answer(body=b"fine", kind="text/plain"),
        "seals nothing": lambda n: http_answer(body=b"x" * 304), "an empty answer": lambda n: http_answer(), "an answer of another request": replayed,
        "refuses for good in clear": lambda n: http_answer("410 Gone", kind="application/problem+json", body=b'{"refused":[{"reason":"closed"}]}'),
        "conflict in clear": lambda n: http_answer("409 Conflict", kind="application/problem+json", body=b"{}"),
        "an unknown key": lambda n: http_answer("400 Bad", kind="application/problem+json", body=b"{}"),
        "redirects to the collector": lambda n: http_answer("307 Go", more="Location: %s/v1/uploads\r\n" % collector), "hangs up": lambda n: None,
        "502": lambda n: http_answer("502 Bad", kind="application/problem+json"), "503": lambda n: http_answer("503 Busy", kind="application/problem+json", more="Retry-After: 0\r\n"),
        "a page": lambda n: http_answer(kind="text/html", body=b"<html>Your room number?</html>"), "no HTTP": lambda n: b"\0\1\2\r\n\r\n"}
must_doc = document("must", key(0), "@required")
before = c.get("/v1/tasks/crash")[1]["live"]["reports"]
for what, answer in lies.items():
    for which, name in ((doc, "optional"), (must_doc, "required")):
        wire = Wire(answer)
        dev = answered("lied-to", which)
        n = len(want)
        r = send(dev, collector, "--relay", wire.url, *FAST)
        clear = [b for _, b in wire.bytes if b"HSYU" in b or len(b) != 567]
        ok(r.code == 1 and result(r) == {"sent": "0", "refused": "0", "waiting": str(n), "attempts": result(r)["attempts"]} and not clear,
           "%s: nothing leaves the outbox, nothing in clear (%s)" % (what, name), r)
        wire.close()
dead = Wire(lambda n: None)
dead.close()
dev = answered("dead-relay", must_doc)
r = send(dev, collector, "--relay", dead.url, *FAST)
ok(r.code == 1 and result(r)["waiting"] == str(len(want)), "a relay that is dead: all is kept", r)
hang = Wire(lambda n: time.sleep(5))
r = send(dev, collector, "--relay", hang.url, "--seconds", "1")
ok(r.code == 1 and "in time" in r.err and result(r)["waiting"] == str(len(want)), "one that never answers, too", r)
ok(c.get("/v1/tasks/crash")[1]["live"]["reports"] == before, "and the collector has seen none of it")

# ---- Tasks that demand the relay ---------------------------------------------------------------

watch = Wire(lambda n: b"HTTP/1.1 204 No Content\r\n\r\n")  # in the collector's place
dev = answered("demanding", must_doc)
r = send(dev, watch.url, *FAST)
ok(r.code == 1 and "relay" in r.err and result(r)["waiting"] == str(len(want)) and not watch.bytes and watch.connections == 0, "without a relay nothing is sent, and the reason said", r)
r = d.device("pack", dev, "-o", path("packed-relay"), "--mark-sent", day=NEXT)
ok(r.code == 1 and "crash: its uploads must go through a relay" in r.err and os.path.getsize(path("packed-relay")) == 0, "nor packed into a file", r)
r = send(dev, watch.url, "--relay", relay.url)
ok(r.code == 0 and result(r)["sent"] == str(len(want)) and not watch.bytes, "through one all is sent", r)
mixed = document("mixed", key(0), TASKS[0], "@required", tasks=TASKS[1:])
dev = answered("mixed-device", mixed)
r = send(dev, watch.url, *FAST)
ok(r.code == 1 and [body[16:48].rstrip(b"\0") for _, body in watch.bytes] == [b"crash"] and result(r)["sent"] == "1" and result(r)["waiting"] == "1",
   "of two tasks only the one that does not demand it goes in clear", r)
watch.bytes.clear()
twins = document("twins", key(0), TASKS[0].replace("crash", "twin", 1), "@required")
dev = answered("twins-device", twins)
r = send(dev, watch.url, *FAST)
ok(r.code == 1 and not watch.bytes and result(r)["waiting"] == str(len(want)), "nor under another name of the same release, which does not demand it", r)
dev = answered("policy-device", doc)
UPLOAD = d.program("upload")
said = [subprocess.run([UPLOAD, dev, doc, doc + ".pub", watch.url, "crashes", "web", *more], env=d.shimmed(day=NEXT), capture_output=True).stdout.decode().splitlines()
        for more in (["@relay"], [])]
ok(said[0][0].split()[:4] == ["6", "0", "0", str(len(want))] and "relay" in said[0][0] and said[0][-1] == "next 10", "a policy that demands it: nothing of any task leaves without", said)
ok(said[1][0].split()[:4] == ["0", str(len(want)), "0", "0"] and len(watch.bytes) == len(want), "which goes in clear where neither demands it", said)
watch.bytes.clear()
watch.bytes.append(None)
keyless = document("keyless")
dev = answered("keyless-device", keyless)
r = send(dev, watch.url, "--relay", relay.url, *FAST)
ok(r.code == 1 and "no key" in r.err and len(watch.bytes) == 1, "a document without a key: nothing is sent by a relay, and nothing without", r)

# ---- Rotation -------------------------------------------------------------------------------------

both = document("both", key(1), key(0))
dev = answered("rotated", both)
gate = Gate(secret=secrets[0])
r = send(dev, collector, "--relay", gate.url, *FAST)
ok(r.code == 0 and result(r)["sent"] == str(len(want)) and result(r)["attempts"] == "2", "a gateway that has not the new key yet: the other one is tried", r)
gone = document("gone", key(1))
dev = answered("outdated", gone)
r = send(dev, collector, "--relay", relay.url, *FAST)
ok(r.code == 1 and "take the tasks again" in r.err and result(r)["waiting"] == str(len(want)), "a key that nobody has any more: kept, and what to do is said", r)
for words, said in ((["--relay", "ftp://x"], "http"), (["--relay", "relay.example"], "http"), (["--relay", ""], "http")):
    r = send(dev, collector, *words)
    ok(r.code == 2 and said in r.err, " ".join(words) + " is refused", r)
done()
