#!/usr/bin/python3 -B
"""Sending: the same bytes until they are acknowledged, each on a connection of
its own; answers lost, late, wrong, too long or somebody else's; nothing leaves
the outbox that did not arrive, and nothing is sent twice that did."""

from collector import reserve_port
from collector_stub import *
from devices import *

FAST = ["--backoff", "1", "--attempts", "3"]
doc = document("one")
stub = Stub()


def answered(name):
    """A device with answers, the day before DAY + 1."""
    where = fresh(name, doc)
    good("answer", where, "crash", stdin="yes")
    good("answer", where, "browser", stdin="Firefox")
    return where


def send(where, *options, url=None, day=DAY + 1, **how):
    """`device send`, all at once unless there are options for times."""
    now = [] if "--spread" in options or "--wait" in options else ["--spread", "0"]
    return device("send", where, url or stub.url, *now, *options, day=day, **how)


def result(r):
    return dict(zip(*[line.split() for line in r.out.decode().splitlines()[:2]]))


def due(where):
    return sorted(u[2] for u in uploads(pack(where, DAY + 1)))


def logged(where):
    return [e["what"] for e in json.loads(good("log", where, "--format", "json").out)["entries"]]


# ---- All is well ---------------------------------------------------------------

dev = answered("well")
want = due(dev)
keep = copy(dev, "keep")
ok(len(want) == 5 and send(dev, day=DAY).code == 0 and not stub.seen, "before the round's end nothing is sent")
r = send(dev)
ok(r.code == 0 and result(r) == {"sent": "5", "refused": "0", "waiting": "0", "attempts": "1"} and r.err == "", "what is due is sent", r)
ok(sorted(stub.bodies()) == want, "the very bytes that pack writes, one upload a request")
ok(len({s[4] for s in stub.seen}) == 5, "each on a connection of its own")
ok({s[1] for s in stub.seen} == {"/v1/uploads"} and all(set(s[2]) == {"Host", "Content-Type", "Content-Length"} for s in stub.seen),
   "and nothing besides: no agent, no cookie, no language", stub.seen[0][2])
ok(due(dev) == [] and logged(dev).count("sent") == 5, "it is marked as sent, and logged")
stub.says()
r = send(dev)
ok(r.code == 0 and result(r)["sent"] == "0" and not stub.seen and "nothing is due now" in r.err, "sent again, nothing leaves, and that is said", r)

dev = copy(keep, "single")
stub.says()
r = send(dev, "--one-connection", url=stub.url + "/", day=DAY + 1)
ok(r.code == 0 and len(stub.seen) == 5 and len({s[4] for s in stub.seen}) == 1, "over one connection if that is asked for", r)
dev = copy(keep, "path")
stub.says()
r = send(dev, url=stub.url + "/some/where//")
ok(r.code == 0 and {s[1] for s in stub.seen} == {"/some/where/v1/uploads"}, "an address may have a path", r)

dev = fresh("shy", doc, consent="collect")
stub.says()
r = send(dev)
ok(r.code == 0 and "consent" in r.err and "due" not in r.err and not stub.seen, "without consent nothing is sent, and that is said", r)

# ---- Answers that get lost, and come late ---------------------------------------

dev = copy(keep, "lost")
stub.says(None)
r = send(dev, *FAST)
ok(r.code == 0 and result(r)["sent"] == "5" and result(r)["attempts"] == "2", "an answer that is lost: it is tried again", r)
bodies = stub.bodies()
ok(sorted(set(bodies)) == want and bodies.count(bodies[0]) == 2 and len(bodies) == 6, "with the same bytes")

dev = copy(keep, "busy")
stub.says(GOOD, {"status": 503, "headers": {"Retry-After": "1"}}, {"status": 500}, {"status": 429})
r = send(dev, *FAST)
ok(r.code == 0 and result(r)["sent"] == "5" and len(stub.seen) == 8, "busy, failed, too many: those are tried again, and only those", r)
at = [s[5] for s in stub.seen if s[3] == stub.seen[1][3]]
ok(len(at) == 2 and at[1] - at[0] >= 1, "not before the collector said")
ok(sorted(set(stub.bodies())) == want, "with the same bytes")

dev = copy(keep, "late")
stub.says({"status": 503, "headers": {"Retry-After": "86400"}})
r = send(dev, *FAST)
ok(r.code == 1 and result(r)["waiting"] == "1" and "takes no more" in r.err and "outbox" in r.err and len(stub.seen) == 5,
   "a day is too long to wait: it stays in the outbox", r)
stub.says({**problem(429, "quota"), "headers": {**problem(429)["headers"], "Retry-After": "3600"}})
r = send(dev, *FAST, "--token", write("mine.txt", "aB3-_x\n"))
ok(r.code == 1 and "the enrolment token has brought as many reports of this day as its quota allows" in r.err and
   "another day has a quota of its own: that of --token %s;" % path("mine.txt") in r.err and "aB3" not in r.err,
   "a quota that is used up: whose it is, not the token", r)
stub.says()
r = send(dev)
ok(r.code == 0 and len(stub.seen) == 1 and stub.bodies()[0] in want, "and goes another time", r)

dev = copy(keep, "never")
stub.says()
stub.otherwise = None
r = send(dev, *FAST)
ok(r.code == 1 and result(r)["attempts"] == "3" and result(r)["waiting"] == "5" and sorted(stub.bodies()) == sorted(3 * want) and due(dev) == want,
   "one attempt after another fails: every upload is tried, and nothing is lost", r)
stub.otherwise = GOOD
r = send(dev, *FAST, url="http://127.0.0.1:%d" % reserve_port())
ok(r.code == 1 and "cannot connect" in r.err and due(dev) == want, "nobody there", r)

# ---- Times ------------------------------------------------------------------------

NOON = (DAY + 1) * 86400 + 43200
dev = copy(keep, "times")
stub.says()
r = device("send", dev, stub.url, clock=NOON)
ok(r.code == 0 and result(r) == {"sent": "0", "refused": "0", "waiting": "5", "attempts": "0"} and "5 wait for a random time within 3600 s" in r.err and
   not stub.seen, "each upload gets a random time, and waiting for it is no failure", r)
times = open(os.path.join(dev, "times"), "rb").read()
leaves = sorted(int.from_bytes(times[i + 24:i + 32], "little") - NOON * 1000 for i in range(0, len(times), 40))
ok(len(set(leaves)) == 5 and 0 <= leaves[0] and leaves[4] < 3600000 and os.stat(os.path.join(dev, "times")).st_mode & 0o777 == 0o600,
   "its own, within the hour", leaves)
r = device("send", dev, stub.url, clock=NOON)
ok(r.code == 0 and not stub.seen and open(os.path.join(dev, "times"), "rb").read() == times, "another run draws no other times", r)
sent = []
for hour in range(1, 6):
    r = device("send", dev, stub.url, clock=NOON + 3600 * hour)
    sent.append(result(r)["sent"])
ok(sent == ["1"] * 5 and r.err == "" and sorted(stub.bodies()) == want, "a later run sends one whose time has come, and not the others with it", r)

for name, spoil in (("cut", lambda b: b[:77]), ("garbage", lambda b: os.urandom(40)), ("far off", lambda b: b"".join(b[i:i + 24] + b"\xff" * 8 + b[i + 32:i + 40] for i in range(0, len(b), 40))),
                    ("too long", lambda b: bytes(100000)), ("empty", lambda b: b"")):
    dev = copy(keep, "spoilt")
    with open(os.path.join(dev, "times"), "wb") as f:
        f.write(spoil(times))
    os.chmod(os.path.join(dev, "times"), 0o600)
    stub.says()
    for hour in range(6):
        r = device("send", dev, stub.url, clock=NOON + 3600 * hour)
    ok(r.code == 0 and result(r)["waiting"] == "0" and sorted(stub.bodies()) == want, "a file of times that is %s delays nothing for long" % name, r)
dev = copy(keep, "blocked")
os.mkdir(os.path.join(dev, "times"))
stub.says()
r = device("send", dev, stub.url, clock=NOON)
ok(r.code == 1 and "'times' cannot be written" in r.err and not stub.seen and due(dev) == want, "where times cannot be stored nothing is sent", r)

dev = copy(keep, "apart")
stub.says({"status": 503, "headers": {"Retry-After": "7000"}}, {"status": 503, "headers": {"Retry-After": "7000"}})
for hour in range(3):
    r = device("send", dev, stub.url, clock=NOON + 3600 * hour)
ok(r.code == 1 and "takes no more" in r.err and len(set(stub.bodies())) == 2, "one that was told to wait lets another leave in the next run", r)

# Nobody is answered before all have left; one after the other would take 30 s each.
dev = copy(keep, "held")
wait = threading.Event()
stub.says((wait, {"status": 503, "headers": {"Retry-After": "1"}}), *[(wait, GOOD)] * 4)
results = []
sender = threading.Thread(target=lambda: results.append(send(dev, "--wait", "--spread", "2", *FAST)))
sender.start()
until(lambda: len(stub.bodies()) >= 5)
ok(sorted(stub.bodies()) == want, "--wait: while uploads are not answered the others leave at their times", len(stub.bodies()))
wait.set()
sender.join()
ok(results[0].code == 0 and result(results[0]) == {"sent": "5", "refused": "0", "waiting": "0", "attempts": "2"} and len(stub.seen) == 6 and
   stub.bodies()[0] == stub.bodies()[5] and due(dev) == [], "and that one again until it is counted", results[0])
ok(len({s[4] for s in stub.seen}) == 6, "each on a connection of its own")
dev = copy(keep, "again")
stub.says(problem(404), problem(401), {"status": 302, "headers": {"Location": stub.url}}, b"garbage\r\n\r\n", None)
r = send(dev, "--wait", "--spread", "1", "--attempts", "1", "--backoff", "1")
ok(r.code == 0 and result(r)["sent"] == "5" and len(stub.seen) == 10 and due(dev) == [],
   "--wait: uploads that failed in whatever way leave again in the same run, whatever --attempts says", r)
dev = copy(keep, "refusing")
stub.says(*[problem(404)] * 1000)
r = send(dev, "--wait", "--spread", "1", "--seconds", "5", "--backoff", "1")
ok(r.code == 1 and "no such task there" in r.err and result(r)["waiting"] == "5" and 1 < int(result(r)["attempts"]) < 60 and due(dev) == want,
   "--wait: a collector that answers 404 to all is tried until --seconds are over, and the reason said", r)
dev = copy(keep, "limit")
r = send(dev, "--wait", "--seconds", "1", "--spread", "86400", url="http://127.0.0.1:%d" % reserve_port())
ok(r.code == 1 and result(r)["waiting"] == "5" and due(dev) == want, "--wait ends after --seconds, and says what is left", r)

# ---- Answers that are none -------------------------------------------------------

for name, answer, words in (
        ("redirects", {"status": 302, "headers": {"Location": stub.url + "/elsewhere"}}, "not followed"),
        ("hotel", {"status": 200, "body": b"<html>Welcome! Your room number?</html>"}, "no collector"),
        ("webserver", {"status": 410, "body": b"<html>Gone</html>", "headers": {"Content-Type": "text/html"}}, "no collector"),
        ("garbage", b"\x00\x01\x02 what?\r\n\r\n", "no web server"),
        ("too-long", {"status": 503, "body": b"x" * 200000}, "longer"),
        ("headers", b"HTTP/1.1 503 No\r\n" + b"X-Filler: %s\r\n" % (b"y" * 60000) * 20 + b"\r\n", "")):
    dev = copy(keep, name)
    stub.says(*[answer] * 5)
    r = send(dev, "--attempts", "1")
    ok(r.code == 1 and words in r.err and result(r)["sent"] == "0" and due(dev) == want and
       {s[1] for s in stub.seen} == {"/v1/uploads"}, "%s: nothing leaves the outbox" % name, r)

# ---- Refusals ---------------------------------------------------------------------

dev = copy(keep, "refused")
stub.says(problem(409), problem(410, "closed"), problem(422, "malformed-report"), GOOD, GOOD)
r = send(dev, *FAST)
ok(r.code == 0 and result(r) == {"sent": "2", "refused": "3", "waiting": "0", "attempts": "1"} and "3 permanently refused" in r.err,
   "what can never be accepted is given up, and that is said", r)
ok(due(dev) == [] and logged(dev).count("refused") == 3 and logged(dev).count("sent") == 2, "the log tells it from what arrived", logged(dev))
table = good("log", dev).out.decode()
ok(all("status %d" % s in table for s in (409, 410, 422)), "with the reason", table)

dev = copy(keep, "kept")
stub.says(problem(404), problem(403), problem(400), problem(422, "early"), GOOD)
r = send(dev, *FAST)
ok(r.code == 1 and result(r)["waiting"] == "4" and result(r)["attempts"] == "1" and len(stub.seen) == 5,
   "what another day or a token may mend is kept, and not tried again at once", r)

# ---- Meanwhile ----------------------------------------------------------------------

dev = copy(keep, "meanwhile")
wait = threading.Event()
stub.says((wait, GOOD))
sender = threading.Thread(target=lambda: results.append(send(dev, *FAST)))
results = []
sender.start()
ok(stub.arrived.wait(DEADLINE) and good("answer", dev, "crash", stdin="no", day=DAY + 1, clock=None).out == b"answered\n",
   "while it waits for an answer the device can be used")
wait.set()
sender.join()
ok(results[0].code == 0 and due(dev) == [], "and what arrived is marked", results[0])

dev = copy(keep, "slow")
wait.clear()
stub.says((wait, GOOD))
r = send(dev, "--seconds", "1")
ok(r.code == 1 and "in time" in r.err and due(dev) == want, "an answer that never comes is not waited for longer than was said", r)
wait.set()

dev = copy(keep, "changed")
wait.clear()
stub.says((wait, None), None, None, None, None)
results = []
sender = threading.Thread(target=lambda: results.append(send(dev, *FAST)))
sender.start()
stub.arrived.wait(DEADLINE)
good("consent", dev, "none", day=DAY + 1)
wait.set()
sender.join()
ok(results[0].code == 0 and result(results[0])["sent"] == "0" and sorted(stub.bodies()) == want, "who takes consent back in between: nothing is tried again", results[0])

# ---- Tokens, tasks ---------------------------------------------------------------------

dev = copy(keep, "token")
stub.says()
r = send(dev, "--token", write("token.txt", "aB3-_x\n"))
ok(r.code == 0 and all(s[2].get("Authorization") == "Bearer aB3-_x" for s in stub.seen), "a token is shown", r)
for text, words in ((b"", "token"), (b"two\nlines\n", "token"), (b"a b", "token"), (b"\xff", "token"), (b"x" * 2000, "token")):
    r = send(dev, "--token", write("token.txt", text))
    ok(r.code == 1 and words in r.err and "Traceback" not in r.err, "not a token: %r" % text[:8], r)

dev = fresh("tasks", doc)
later = open(document("two", version=2), "rb").read()
stub.says({"status": 200, "body": later})
r = device("take", dev, stub.url)
ok(r.code == 0 and stub.seen[0][:2] == ("GET", "/v1/document") and open(os.path.join(dev, "document"), "rb").read() == later,
   "the tasks may come from the collector", r)
for name, body, words in (("an older document", open(doc, "rb").read(), "version"), ("nothing", b"", "empty"),
                          ("one of another key", open(document("theirs", version=3, seed=2), "rb").read(), "sign"),
                          ("one byte changed", later[:300] + bytes([later[300] ^ 1]) + later[301:], ""), ("a page", b"<html></html>", "document")):
    stub.says({"status": 200, "body": body})
    r = device("take", dev, stub.url)
    ok(r.code == 1 and words in r.err and stub.url in r.err and open(os.path.join(dev, "document"), "rb").read() == later,
       "%s is refused, and the tasks stay" % name, r)
stub.says({"status": 503}, {"status": 404})
r = device("take", dev, stub.url, "--backoff", "1")
ok(r.code == 1 and len(stub.seen) == 2, "nor a refusal", r)
dev = copy(keep, "both")
stub.says({"status": 200, "body": later})
r = send(dev, "--take")
ok(r.code == 0 and result(r)["sent"] == "5" and open(os.path.join(dev, "document"), "rb").read() == later, "send --take does both", r)

# ---- A document in between -----------------------------------------------------------------

ONCE = ["crash,crashes,yes-no,1000000000,0,0,0,1,1", "browser,web,values,500000000,0,0,0,1,1"]
dev = fresh("moving", document("once", ["@delay=500000", *ONCE], end=DAY + 14))
moved = open(document("moved", ONCE, version=2, end=DAY + 10), "rb").read()
good("answer", dev, "crash", stdin="yes")
good("answer", dev, "browser", stdin="Firefox")
unseen = copy(dev, "unseen")
stub.says()
stub.otherwise = None
r = send(dev, "--attempts", "1", day=DAY + 21)
ok(r.code == 1 and result(r)["waiting"] == "2" and len(stub.seen) == 2, "the answers to two are lost", r)
lost = stub.bodies()
stub.otherwise = GOOD
stub.says({"status": 200, "body": moved})
r = send(dev, "--take", day=DAY + 21)
ok(r.code == 0 and result(r)["sent"] == "2" and sorted(lost) == sorted(stub.bodies()), "a document moves end and delay: what was shown comes again byte for byte", r)
stub.says({"status": 200, "body": moved})
r = send(unseen, "--take", day=DAY + 21)
ok(r.code == 0 and result(r)["sent"] == "2" and not set(lost) & set(stub.bodies()), "what nobody has seen follows the document", r)

# ---- In a program ------------------------------------------------------------------------

UPLOAD = program("upload")


def upload(where, url):
    return subprocess.run([UPLOAD, where, doc, doc + ".pub", url, "crashes", "web", "usage"], env=shimmed(day=DAY + 1), capture_output=True).stdout.decode()


dev = copy(keep, "program")
stub.says(None, GOOD, problem(410), GOOD, GOOD, problem(403))
said = upload(dev, stub.url)
ok(said.split()[:6] == ["6", "3", "1", "1", "2", "403"] and "token" in said and len(due(dev)) == 1, "hsy_device_upload tells what became of each", said)
ok(len({s[4] for s in stub.seen}) == 2, "over one connection, as it was told, and another after it broke")
stub.says()
said = upload(dev, stub.url)
ok(said.split()[:4] == ["0", "1", "0", "0"] and due(dev) == [], "and then the rest", said)
said = upload(dev, "ftp://x")
ok(said.split()[0] == "1" and "http" in said, "an address that makes no sense is refused", said)

# ---- Addresses, options --------------------------------------------------------------------

for url in ("ftp://127.0.0.1", "file:///etc/passwd", "127.0.0.1:80", "http://", "http:///path", "https://a@b", "http://a?b", "http://a#b", "http://a b",
            "http://" + "a" * 3000):
    r = device("send", keep, url)
    ok(r.code == 2 and ("http" in r.err or "too long" in r.err), "not an address: " + url[:20], r)
for args in (["send", keep], ["send", keep, stub.url, "--spread", "-1"], ["send", keep, stub.url, "--spread", "86401"], ["budget", keep, "--wait"],
             ["send", keep, stub.url, "--wait=9"], ["send", keep, stub.url, "more"], ["send", keep, stub.url, "--attempts", "0"], ["send", keep, stub.url, "--mark-sent"],
             ["budget", keep, "--token", "x"], ["send", keep, stub.url, "--seconds", "x"]):
    r = device(*args)
    ok(r.code == 2 and r.err, "refused: device " + " ".join(args[2:] or args[:1]), r)
ok(due(keep) == want, "none of this touched the outbox")

# ---- TLS -----------------------------------------------------------------------------------

pem = path("server.pem")
made = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "9000", "-subj",
                       "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", pem, "-out", path("cert")], capture_output=True)
if made.returncode != 0:
    raise SystemExit("Bail out! openssl: " + made.stderr.decode())
with open(pem, "ab") as f:
    f.write(open(path("cert"), "rb").read())
safe = Stub(tls=pem)
dev = copy(keep, "tls")
r = send(dev, "--attempts", "1", url=safe.url, day=DAY + 1)
ok(r.code == 1 and "certificate" in r.err and not safe.seen and due(dev) == want, "refuses a certificate of an unknown authority, and any where the system has no CA certificates", r)
r = send(dev, "--attempts", "1", "--ca", path("cert"), url=safe.url.replace("127.0.0.1", "localhost"))
ok(r.code == 1 and "certificate" in r.err and not safe.seen, "one for another name, too", r)
r = send(dev, "--attempts", "1", "--ca", path("none"), url=safe.url)
ok(r.code == 1 and "CA certificates cannot be read" in r.err and not safe.seen, "refuses to send if the CA file cannot be read", r)
r = send(dev, "--attempts", "1", "--ca", path("cert"), url=safe.url)
ok(r.code == 0 and sorted(safe.bodies()) == want, "with its CA it is trusted", r)
done()
