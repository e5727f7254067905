#!/usr/bin/python3 -B
"""A collector behind a relay: uploads sealed by a client that was written apart
(ohttp.py), through `hearsay relay` and through nginx. Lengths tell nothing, what
is opened is counted once, and what is answered in clear was not opened."""

import hashlib

import ohttp
from relays import *


def key_file(name):
    write(name, "x25519-secret %s\n" % os.urandom(32).hex())
    os.chmod(path(name), 0o600)
    return path(name)


one, two, three = (key_file("key%d" % i) for i in range(3))
numbers = {}
for name in (one, two, three):  # two keys in force have different numbers
    while True:
        with open(name) as f:
            public = ohttp.x25519(bytes.fromhex(f.read().split()[1]))
        number = hashlib.blake2b(b"hearsay key 1" + public, digest_size=32).digest()[0]
        if number not in numbers:
            numbers[number] = public
            break
        key_file(os.path.basename(name))
ids = list(numbers)

c = Collector("gateway", gateway_keys=[one], enrolled=["crash"])
os.makedirs(c.data, 0o700)
token = must("serve", "token", "enrol", "crash", "--count", 1, "--quota", 10, "--data", c.data).decode().strip()
c.start()
gateway = "http://127.0.0.1:%d" % c.public[1]
relay = Relay(gateway)
cells = c.task["cells"]


def sealed(message, by=relay, number=None):
    """(status, body outside, what is inside or None)"""
    number = ids[0] if number is None else number
    q = ohttp.Sealed(number, numbers.get(number, numbers[ids[0]]), message)
    status, headers, body = by.post(q.bytes)
    inside = q.answer(body) if headers["content-type"] == "message/ohttp-res" else None
    return status, body, inside


def upload(content, **how):
    return ohttp.request(content, size=512, **how)


# ---- Keys ------------------------------------------------------------------------------

status, headers, listed = ask(c.public, "GET", "/.well-known/ohttp-gateway")
ok(status == 200 and headers["content-type"] == "application/ohttp-keys" and ohttp.keys(listed) == {ids[0]: numbers[ids[0]]},
   "the key is listed, its number follows from it", listed.hex())

# ---- What is inside ------------------------------------------------------------------------

first = cells.upload([7])
want = {7: 1}
answers = {}
big = b"HSYU" + bytes(400)
cases = {"counted": (upload(first), 204, None), "again": (upload(first), 204, None),
         "another content under its id": (upload(cells.upload([8], id=first[80:96])), 409, "conflict"),
         "no such task": (upload(cells.upload([1], task=b"nobody")), 404, "unknown-task"),
         "another scheme": (upload(cells.upload([1], digest=bytes(32))), 422, "other-scheme"),
         "a day to come": (upload(cells.upload([1], epoch=DAY + 9)), 422, "early"), "a day that is over": (upload(cells.upload([1], epoch=DAY - 9)), 410, "closed"),
         "no token": (upload(c.task["crash"].upload([1])), 403, "token"),
         "two uploads": (upload(cells.upload([1]) + cells.upload([2])), 400, "malformed"), "no upload": (upload(b""), 400, "malformed"),
         "half an upload": (upload(first[:100]), 400, "malformed"), "garbage": (upload(big), 400, "malformed"),
         "another path": (upload(first, path="/v1/tasks", method="GET"), 404, "no-upload"), "a document where none can be given": (upload(b"", path="/v1/document", method="GET"), 404, "no-document"), "the admin's": (upload(first, path="/metrics"), 404, "no-upload"),
         "another method": (upload(first, method="PUT"), 405, "no-upload"), "JSON": (upload(b"{}", kind="application/json"), 415, "no-upload"),
         "no HTTP": (b"\x07" * 512, 400, "malformed"), "an answer": (b"\x01\x40\xc8" + bytes(509), 400, "malformed")}
for what, (message, status, reason) in cases.items():
    for by in (relay,):
        got = sealed(message, by)
        answers[what] = got
        ok(got[0] == 200 and got[2] is not None and got[2][0] == status and (reason is None or json.loads(got[2][2]) == {"status": status, "reason": reason}),
           "%s: %d, inside" % (what, status), got)
ok({len(a[1]) for a in answers.values()} == {256 + 48}, "all sealed answers have one length", {len(a[1]) for a in answers.values()})
got = sealed(upload(c.task["crash"].upload([1]), authorization="Bearer " + token))
ok(got[2][0] == 204, "a token goes inside", got)
quota = [sealed(upload(c.task["crash"].upload([1]), authorization="Bearer " + token))[2] for _ in range(10)]
ok(quota[-1][0] == 429 and quota[-1][1]["retry-after"] == "3600", "and so does when to come back", quota[-1])
ok(c.cells("cells") == want, "what was acknowledged is counted, once", c.cells("cells"))

# ---- What is answered in clear -------------------------------------------------------------------

good = ohttp.Sealed(ids[0], numbers[ids[0]], upload(cells.upload([9]))).bytes
flipped = [good[:i] + bytes([good[i] ^ 1]) + good[i + 1:] for i in (8, 38, 39, 200, len(good) - 1)]
cut = [good[:n] for n in (1, 6, 7, 38, 39, 54, 55, 100, len(good) - 1)] + [good + b"x"]
clear = [relay.post(b) for b in flipped + cut]
ok({a[0] for a in clear} == {400} and len({a[2] for a in clear}) == 1 and clear[0][1]["content-type"] == "application/problem+json",
   "whatever does not open has one answer in clear", {(a[0], a[2]) for a in clear})


def straight(body):
    """To the gateway without a relay, which would use words of its own."""
    return ask(c.public, "POST", "/v1/ohttp", body, **{"Content-Type": "message/ohttp-req"})


strange = [straight(bytes([number]) + good[1:]) for number in range(256) if number != ids[0]][:40] + [straight(good[:1] + bytes([0, 0x21]) + good[3:]),
                                                                                                    straight(good[:5] + b"\0\2" + good[7:])]
ok({a[0] for a in strange} == {400} and len({a[2] for a in strange}) == 1 and json.loads(strange[0][2])["type"].endswith("#ohttp-key"),
   "an unknown key or suite has one answer in clear", {(a[0], a[2]) for a in strange})
zero = straight(good[:7] + bytes(32) + good[39:])
ok(zero[2] == straight(flipped[0])[2] != strange[0][2], "a zero shared secret is refused as what does not open", zero)
ok(relay.post(bytes([ids[0] ^ 1]) + good[1:])[2] == clear[0][2], "through the relay both are the same", clear[0])
direct = ask(c.public, "POST", "/v1/ohttp", good, **{"Content-Type": "application/octet-stream"})
ok(direct[0] == 415, "what is no sealed request is told so", direct)
ok(c.cells("cells") == want, "none of it is counted", c.cells("cells"))
replayed = [relay.post(good) for _ in range(5)]
want[9] = 1
ok({a[0] for a in replayed} == {200} and len({len(a[2]) for a in replayed}) == 1 and len({a[2] for a in replayed}) == 5 and c.cells("cells") == want,
   "a request that is replayed is answered alike, sealed anew, and counted once", c.cells("cells"))

# ---- Rotation --------------------------------------------------------------------------------------


def reload(**config):
    before = c.said().count("reloaded")
    c.configure(**{**c.config, **config})
    c.process.send_signal(signal.SIGHUP)
    return c.until(lambda: c.said().count("reloaded") > before)


ok(sealed(upload(cells.upload([20])), number=ids[1])[2] is None, "a key to come is not known")
ok(reload(gateway_keys=[two, one]) and len(ohttp.keys(ask(c.public, "GET", "/.well-known/ohttp-gateway")[2])) == 2, "both keys are in force after a reload")
ok([sealed(upload(cells.upload([20 + i])), number=ids[i])[2][0] for i in (0, 1)] == [204, 204], "requests for either are opened")
ok(reload(gateway_keys=[two]) and sealed(upload(cells.upload([30])))[2] is None and sealed(upload(cells.upload([22])), number=ids[1])[2][0] == 204,
   "the old one is taken out, the new one stays")
os.chmod(three, 0o644)
c.configure(**{**c.config, "gateway_keys": [three]})
c.process.send_signal(signal.SIGHUP)
ok(c.until(lambda: "gateway-keys-kept" in c.said()) and sealed(upload(cells.upload([23])), number=ids[1])[2][0] == 204,
   "a key that others can read is not taken, and the old one stands", c.said())
write("gateway/two.public", "x25519-public %s\n" % numbers[ids[1]].hex())
unnamed = "gateway-keys-not-in-document document=%d"
ok(c.until(lambda: c.said().count(unnamed % 1) == 4), "that the document names no key of the gateway is said at the start and at every reload", c.said())
with open(c.document(TASKS, name="unnamed"), "rb") as f:
    ok(ask(c.admin, "PUT", "/v1/document", f.read())[0] == 200 and unnamed % 2 in c.said(), "and when a document comes", c.said())
with open(c.document(TASKS + "gateway_keys: [two.public]\n"), "rb") as f:
    ok(ask(c.admin, "PUT", "/v1/document", f.read())[0] == 200, "a document that names the key is taken")
ok(reload(gateway_keys=[two]) and unnamed % 3 not in c.said(), "then nothing is said", c.said())

# ---- One length ------------------------------------------------------------------------------------


def fate(name):
    return [int(line.rsplit(" ", 1)[1]) for line in ask(c.admin, "GET", "/metrics")[2].decode().splitlines() if line.startswith('hearsay_sealed_total{fate="%s"}' % name)]


opened, refused = fate("opened"), []
for size in (304, 305, 511, 513, 1000, 1024, 4096, 60000):
    refused.append(straight(ohttp.Sealed(ids[1], numbers[ids[1]], ohttp.request(cells.upload([60]), size=size)).bytes))
ok({a[0] for a in refused} == {400} and len({a[2] for a in refused}) == 1 and b"length" in refused[0][2] and fate("opened") == opened and fate("wrong-length") == [len(refused)],
   "a sealed request of another length than the document's is refused unopened, with one body, and counted", {a[::2] for a in refused})
got = sealed(upload(cells.upload([24])), number=ids[1])
ok(got[2][0] == 204, "one of the document's length is opened", got)
for what, files in (("three keys", [one, two, two]), ("one key twice", [one, one]), ("no key", [write("empty", "")]), ("no file", [path("nowhere")])):
    for f in files:
        if os.path.exists(f):
            os.chmod(f, 0o600)
    bad = Collector("bad-" + what.replace(" ", "-"), gateway_keys=files)
    bad.launch()
    ok(bad.wait() == 1, what + ": it does not start", bad.said() if bad.process else "")
want.update({20: 1, 21: 1, 22: 1, 23: 1, 24: 1})
ok(c.cells("cells") == want, "nothing is lost or doubled by it", c.cells("cells"))

# ---- Full, and through nginx -----------------------------------------------------------------------

if shutil.which("nginx"):
    tls = Certificate()
    other = Nginx(gateway, tls)
    by_nginx = [sealed(upload(cells.upload([40 + i])), by=other, number=ids[1]) for i in range(5)]
    want.update({40 + i: 1 for i in range(5)})
    ok({a[2][0] for a in by_nginx} == {204} and {len(a[1]) for a in by_nginx} == {304} and c.cells("cells") == want, "the same through nginx", by_nginx[0])
    ok(other.post(good[:100])[2] == refused[0][2], "nginx forwards a refusal in clear as it is")
full = Collector("full", gateway_keys=[one], ids_epoch=1000).start()
full.upload([full.task["cells"].upload([i]) for i in range(4000)])
by = Relay("http://127.0.0.1:%d" % full.public[1], name="full-relay")
got = sealed(upload(full.task["cells"].upload([5])), by=by)
ok(got[0] == 200 and got[2][0] == 503 and got[2][1]["retry-after"] == "60" and len(got[1]) == 304, "that there is no room is said inside, at the same length", got)
figures = dict(line.rsplit(" ", 1) for line in ask(c.admin, "GET", "/metrics")[2].decode().splitlines() if line.startswith("hearsay_sealed"))
ok(int(figures['hearsay_sealed_total{fate="unknown-key"}']) > 40 and int(figures['hearsay_sealed_total{fate="unreadable"}']) >= 16 and
   int(figures['hearsay_sealed_answers_total{status="2xx"}']) >= 10, "all of it is counted in metrics", figures)
done()
