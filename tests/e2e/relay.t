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


def answered(name, doc, pin="none"):
    where = d.fresh(name, doc, "--pin", pin, day=DAY)
    d.good("answer", where, "crash", stdin="yes", day=DAY)
    d.good("answer", where, "browser", stdin="chrome", day=DAY)
    return where


def send(where, url, *options):
    return d.device("send", where, url, *([] if "--spread" in options else ["--spread", "0"]), *options, day=NEXT)


def result(r):
    return dict(zip(*[line.split() for line in r.out.decode().splitlines()[:2]]))


def due(where):
    """What a device would send, looked at in a copy."""
    return sorted(u[2] for u in d.uploads(d.pack(d.copy(where, "looked-at"), NEXT)))


class Gate(Stub):
    """A relay and gateway in one, which keeps all it is sent."""

    def __init__(self, secret=secrets[0], status=204, fields=(), content=b"", size=256):
        super().__init__()
        self.size = size
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
                "body": opened.answer(ohttp.answer_message(self.status, self.fields, self.content, self.size))}

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

tagged = document("tagged", key(0), "@request=1024")
dev = answered("tagged-device", tagged)
before = c.get("/v1/tasks/crash")[1]["live"]["reports"]
r = send(dev, collector, "--relay", relay.url, *FAST)
ok(r.code == 1 and "another key or length" in r.err and result(r)["waiting"] == str(len(want)) and c.get("/v1/tasks/crash")[1]["live"]["reports"] == before,
   "a device whose document alone has longer requests is not marked: the gateway opens none of them, and the device keeps its uploads", r)

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
plain = document("plain")
server.otherwise = {"status": 200, "body": open(plain, "rb").read()}
r = d.device("take", answered("token-taker", plain), server.url, "--token", path("token"), day=NEXT)
ok(r.code == 0 and [s[1] for s in server.seen] == ["/v1/document"] and not any("Authorization" in s[2] for s in server.seen),
   "nor with the question for the document, where there is no relay (documents.t)", server.seen)

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

for length in (304, 305, 1000, 4096, 60000):
    gate = Gate(size=length - 48)
    dev = answered("length", doc)
    r = send(dev, collector, "--relay", gate.url, *FAST)
    ok(result(r)["sent" if length == 304 else "waiting"] == str(len(want)) and (length == 304) == (r.code == 0) and ("another length" in r.err) == (length != 304),
       "a sealed answer of %d bytes: %s" % (length, "sent" if length == 304 else "not sent, and kept"), r)

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
dev = answered("dead-relay", must_doc)
r = send(dev, collector, "--relay", "http://127.0.0.1:%d" % reserve_port(), *FAST)
ok(r.code == 1 and result(r)["waiting"] == str(len(want)), "a relay that is dead: all is kept", r)
ok("cannot connect to the relay" in r.err and "collector is running" not in r.err, "the reason names the relay, to which no connection was made, and not the collector", r)
hang = Wire(lambda n: threading.Event().wait())
r = send(dev, collector, "--relay", hang.url, "--seconds", "1")
ok(r.code == 1 and "in time" in r.err and result(r)["waiting"] == str(len(want)), "one that never answers, too", r)
ok(c.get("/v1/tasks/crash")[1]["live"]["reports"] == before, "and the collector has seen none of it")

# ---- Tasks that demand the relay ---------------------------------------------------------------

watch = Wire(lambda n: b"HTTP/1.1 204 No Content\r\n\r\n")  # in the collector's place
dev = answered("demanding", must_doc)
for how in [], ["--wait", "--spread", "1"]:
    r = send(dev, watch.url, *FAST, *how)
    ok(r.code == 1 and "relay" in r.err and result(r)["waiting"] == str(len(want)) and not watch.bytes and watch.connections == 0,
       "without a relay nothing is sent, and the reason said %s" % how, r)
r = send(dev, watch.url, "--relay", "http://127.0.0.1:%d" % reserve_port(), "--wait", "--spread", "1", "--seconds", "4", *FAST)
ok(r.code == 1 and result(r)["waiting"] == str(len(want)) and watch.connections == 0, "nor by a relay that is dead, each at its time", r)
r = d.device("pack", dev, "-o", path("packed-relay"), "--mark-sent", day=NEXT)
ok(r.code == 1 and "crash: its uploads must go through a relay" in r.err and os.path.getsize(path("packed-relay")) == 0, "nor packed into a file", r)
r = send(dev, watch.url, "--relay", relay.url, "--wait", "--spread", "1")
ok(r.code == 0 and result(r)["sent"] == str(len(want)) and not watch.bytes, "through one all is sent, each at its time", r)
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

# ---- Which relay counts ---------------------------------------------------------------------------


def policy(where, *lines):
    file = os.path.join(where, "policy.yaml")
    text = open(file).read()
    with open(file, "w") as f:
        f.write("\n".join([*lines, text]))


n = str(len(want))
itself = document("itself", key(0), "@relay=" + collector + "/v1/ohttp")
before = c.get("/v1/tasks/crash")[1]["live"]["reports"]
dev = answered("self-relay", itself)
policy(dev, "relay: required")
for how in [], ["--wait", "--spread", "1"]:
    r = send(dev, collector, *FAST, *how)
    ok(r.code == 1 and "the document alone names one" in r.err and "relays" in r.err and result(r)["waiting"] == n and c.get("/v1/tasks/crash")[1]["live"]["reports"] == before,
       "a collector that names itself as the relay gets nothing from a policy that demands one %s" % how, r)
relayed = d.copy(dev, "self-relay-listed")
policy(relayed, "relays: [%s]" % relay.url)
forwarded = relay.metrics()["hearsay_relay_answered_total"]
r = send(relayed, collector, *FAST)
ok(r.code == 0 and result(r)["sent"] == n and relay.metrics()["hearsay_relay_answered_total"] == forwarded + len(want), "nothing is lost: through a relay that the policy lists all is sent", r)
r = send(d.copy(dev, "self-relay-asked"), collector, "--relay", relay.url, *FAST)
ok(r.code == 0 and result(r)["sent"] == n, "--relay counts as well", r)
r = send(relayed, "https://%s.invalid" % "relay", "--relay", "http://RELAY.invalid:9/", *FAST)
ok(r.code == 1 and "on the collector's host" in r.err, "--relay on the collector's host is refused", r)
policy(dev, "relays: ['https://other.invalid', 'https://Collector.invalid:8443/relay']")
r = send(dev, "https://collector.invalid/", *FAST)
ok(r.code == 1 and "policy.yaml:1" in r.err and "relays" in r.err and "on the collector's host" in r.err, "a listed relay on the collector's host is refused with its line", r)
dev = answered("same-host", document("same-host-doc", key(0), "@relay=https://collector.invalid/v1/ohttp"))
r = send(dev, "https://collector.invalid", *FAST)
ok(r.code == 1 and "on the collector's host" in r.err and len(due(dev)) == len(want), "a document's relay on the collector's host is refused, whether the policy demands one or not", r)

first, second = Gate(), Gate()
r = d.good("init", path("pinned"), "--document", document("first", key(0), "@relay=" + first.url), "--public-key", path("first.pub"), day=DAY)
ok("%s, the relay named by the collector" % first.url in r.out.decode(), "init says that it pins the document's relay", r)
dev = answered("pinned", path("first"), "document")
ok("relay named by the collector" in " ".join(d.good("tasks", dev, day=DAY).out.decode().split()), "labels say that the collector named the relay")
shown = json.loads(d.good("policy", dev, "--format", "json", day=DAY).out)
ok((shown["relay"], shown["relay_url"], shown["relay_named_by"]) == ("required", first.url, "collector"), "so does 'device policy'", shown)
ok("%s, the relay named by the collector" % first.url in d.good("policy", dev, day=DAY).out.decode(), "so does its table")
r = d.device("pack", dev, "-o", path("packed-pinned"), day=NEXT)
ok(r.code == 1 and os.path.getsize(path("packed-pinned")) == 0, "what was promised through a relay is not packed in clear", r)
ok("wrote 0 due uploads" in r.err and "'hearsay device send %s URL' sends them" % dev in r.err, "pack says how many uploads it wrote, and what sends the others through the pinned relay", r)
d.good("take", dev, document("second", key(0), "@relay=" + second.url, version=2), day=DAY)
r = send(dev, collector, *FAST)
ok(r.code == 0 and len(first.seen) == len(want) and not second.seen, "a later document does not move the relay that was pinned", r)
ok("relay" not in open(os.path.join(d.fresh("unpinned", path("first"), "--pin", "none", day=DAY), "policy.yaml")).read(), "--pin none pins nothing")

dev = answered("gateway-pinned", doc)
pinned = d.copy(dev, "gateway-other")
policy(dev, "gateway_keys: [%s]" % publics[0].hex())
policy(pinned, "gateway_keys: [%s]" % publics[1].hex())
r = send(dev, collector, "--relay", relay.url, *FAST)
ok(r.code == 0 and result(r)["sent"] == n, "gateway keys of the policy are sealed for", r)
r = d.device("tasks", pinned, day=NEXT)
ok("crash is refused: gateway_keys: the document's gateway keys are not those of the policy" in r.out.decode(), "a document with another gateway key is refused, task by task", r)

# ---- Rotation -------------------------------------------------------------------------------------

both = document("both", key(1), key(0))
dev = answered("rotated", both)
gate = Gate(secret=secrets[0])
r = send(dev, collector, "--relay", gate.url, *FAST)
ok(r.code == 0 and result(r)["sent"] == str(len(want)) and result(r)["attempts"] == "2", "a gateway that has not the new key yet: the other one is tried", r)
dev = answered("rotated-hourly", both)
gate = Gate(secret=secrets[0])
for hour in range(2 * len(want) + 1):
    r = d.device("send", dev, collector, "--relay", gate.url, clock=NEXT * 86400 + 3600 * hour)
ok(r.code == 0 and result(r)["waiting"] == "0" and len(gate.inside) == len(want) and len(gate.lengths) == 2 * len(want),
   "so it is by a later run, which sends one upload", r)
gone = document("gone", key(1))
dev = answered("outdated", gone)
r = send(dev, collector, "--relay", relay.url, *FAST)
ok(r.code == 1 and "take the tasks again" in r.err and result(r)["waiting"] == str(len(want)), "a key that nobody has any more: kept, and what to do is said", r)
for words, said in ((["--relay", "ftp://x"], "http"), (["--relay", "relay.example"], "http"), (["--relay", ""], "http")):
    r = send(dev, collector, *words)
    ok(r.code == 2 and said in r.err, " ".join(words) + " is refused", r)
done()
