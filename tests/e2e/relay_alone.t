#!/usr/bin/python3 -B
"""hearsay relay by itself: what it forwards, what it keeps back, and what it
does with a gateway that is slow, dead, lying or busy."""

import socketserver

from relays import *

PRIVATE = {"User-Agent": "somebody's phone", "Cookie": "id=7", "Accept-Language": "de-CH", "X-Forwarded-For": "192.0.2.7", "Forwarded": "for=192.0.2.7",
           "Via": "1.1 home", "Authorization": "Bearer mine", "Referer": "https://example.org/page"}

# ---- What a gateway sees ------------------------------------------------------------

wire = Wire(lambda n: http_answer(body=sealed_like(b"answer %d" % n)))
relay = Relay(wire.url)
status, headers, body = relay.post(b"sealed bytes", **PRIVATE)
ok(status == 200 and body == sealed_like(b"answer 0") and headers["content-type"] == "message/ohttp-res", "a sealed request is answered by the gateway's answer", (status, body))
head, got = wire.bytes[0]
port = wire.url.rsplit(":", 1)[1].encode()
ok(head == b"POST /v1/ohttp HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nContent-Type: message/ohttp-req\r\nContent-Length: 12" % port and got == b"sealed bytes",
   "the gateway sees Host, Content-Type and Content-Length, and the bytes", head)
ok(set(headers) <= {"content-type", "content-length", "connection", "date"}, "the client sees nothing else of the gateway's", headers)
for i in range(200):
    relay.post(b"x" * i or b"y", **PRIVATE)
ok(len(wire.bytes) == 201 and len({h.split(b"Content-Length")[0] for h, _ in wire.bytes}) == 1, "of 200 more clients nothing else either")
ok(wire.connections <= 4, "by connections that are kept, not one a client", wire.connections)
ok(relay.is_ready() and relay.metrics()["hearsay_relay_answered_total"] == 201, "it is ready, and counts")
said = relay.said()
ok(not any(word in said for word in ("192.0.2.7", "phone", "sealed", "cookie")) and len(said.splitlines()) <= 4,
   "its log has nothing about clients", said)
ok(not any(word in json.dumps(relay.metrics()) for word in ("192", "phone")), "nor have its metrics")

rules = open(os.path.join(PACKAGING, "prometheus", "hearsay-relay.rules.yml")).read()
known = set(k.split("{")[0] for k in relay.metrics())
used = set(re.findall(r"\bhearsay_relay_[a-z_]+", rules))
ok(len(used) == 4 and used <= known and all(('why="%s"' % w) in json.dumps(relay.metrics()).replace("\\", "") for w in ("broken", "strange", "slow", "busy", "length")),
   "every metric that an alert names is one of a relay", used - known)
page = open(os.path.join(ROOT, "docs", "relay.md")).read()
alerts = re.findall(r"alert: (\w+)", rules)
ok(len(alerts) == 4 and all("| `%s` |" % a in page for a in alerts), "and every alert is on the page", alerts)

# ---- What is not forwarded ----------------------------------------------------------

before = len(wire.bytes)
for what, answer in (("another type", relay.post(kind="application/octet-stream")), ("an upload in clear", relay.post(b"HSYU" * 40, kind="text/plain")),
                     ("nothing", relay.post(b"")), ("a body too long", relay.post(b"x" * 70000)),
                     ("another path", ask(relay.public, "POST", "/v1/uploads", b"x", **{"Content-Type": "message/ohttp-req"})),
                     ("a question", ask(relay.public, "GET", "/")), ("the admin's", ask(relay.public, "GET", "/metrics"))):
    ok(400 <= answer[0] < 500 and answer[1]["content-type"] == "application/problem+json" and len(wire.bytes) == before, "refused: " + what, answer)
ok(ask(relay.public, "GET", "/healthz")[2] == b"ok\n", "it says that it is there")

# ---- Gateways that lie ---------------------------------------------------------------

good = http_answer(body=sealed_like(b"good"))
lies = {"no HTTP": b"hello\r\n\r\n", "chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "no length": b"HTTP/1.1 200 OK\r\n\r\nx",
        "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx", "an answer more": good + good,
        "a head without end": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 3000, "a page": http_answer(kind="text/html", body=b"<html>"),
        "a redirection": http_answer("302 Found", more="Location: http://example.org/\r\n"), "its own failure": http_answer("500 Oops", kind="application/problem+json", body=b"{}"),
        "an upload's answer": b"HTTP/1.1 204 No Content\r\n\r\n", "silence": None, "a sealed answer that is none": http_answer("201 Created", body=sealed_like(b"x"))}
for what, answer in lies.items():
    liar = Wire(lambda n: answer)
    r = Relay(liar.url, name="liar")
    status, headers, body = r.post()
    ok(status == 502 and headers["content-type"] == "application/problem+json" and b"<html" not in body and "location" not in headers, "502: " + what, (status, headers, body))
    r.kill()
    liar.close()


def filling(word):  # as long as the relay's first room for an answer, so that what follows it is not read with it
    word = sealed_like(word)
    spare = 4096 - len(http_answer(body=word, more="X: \r\n"))
    return http_answer(body=word, more="X: %s\r\n" % ("x" * spare))


twice = Wire(lambda n: filling(b"%d" % n) + filling(b"again %d" % n))
r = Relay(twice.url, name="twice")
got = [r.post()[2] for _ in range(6)]
ok(got == [sealed_like(b"%d" % n) for n in range(6)], "a second answer that nobody asked for is not the next client's", got)
marks = [(status, body) for status in ("400 Bad Request", "404 Not Found", "410 Gone", "415 X", "429 Y") for body in (b'{"type":"ohttp-key"}', b"{}", b" " * 1000, b" " * 60000)]
clear = Wire(lambda n: http_answer(marks[n][0], kind="application/problem+json", body=marks[n][1]))
r = Relay(clear.url)
got = [r.post() for _ in marks]
ok({a[::2] for a in got} == {(400, b'{"type":"about:blank","title":"the gateway refused the request","status":400}')} and len({tuple(sorted(set(a[1]) - {"date"})) for a in got}) == 1,
   "a gateway's refusals in clear, of any status and length, become one answer of the relay", got[0])
ok(r.metrics().get('hearsay_relay_failed_total{why="refused"}') == len(marks), "refusals of the gateway are counted")
lengths = (ANSWER, 305, 1000, 4096, 60000)
several = Wire(lambda n: http_answer(body=b"x" * lengths[n % len(lengths)]))
r = Relay(several.url)
got = [r.post() for _ in lengths]
ok([a[0] for a in got] == [200, 502, 502, 502, 502] and len(got[0][2]) == ANSWER and len({a[2] for a in got[1:]}) == 1,
   "of sealed answers of %s bytes only those of %d are forwarded" % (lengths, ANSWER), [(a[0], len(a[2])) for a in got])
ok(r.metrics().get('hearsay_relay_failed_total{why="length"}') == 4, "answers of another length are counted")
r = Relay(several.url, "--answer-bytes", "4096,%d" % ANSWER, name="two-lengths")
several.bytes.clear()
got = [r.post() for _ in lengths]
ok([(a[0], len(a[2])) for a in got if a[0] == 200] == [(200, ANSWER), (200, 4096)], "--answer-bytes with two lengths forwards both and no other", [(a[0], len(a[2])) for a in got])
busy = Wire(lambda n: http_answer("503 Busy", kind="application/problem+json", body=b"{}"))
r = Relay(busy.url)
status, headers, _ = r.post()
ok(status == 503 and headers["retry-after"] == "1", "that it is busy, too")

# ---- Gateways that come and go -------------------------------------------------------

closing = Wire(lambda n: http_answer(body=sealed_like(b"once"), more="Connection: close\r\n"))
r = Relay(closing.url)
ok(all(r.post()[2] == sealed_like(b"once") for _ in range(5)) and closing.connections >= 5, "who closes after each answer is connected to again")
dropped = threading.Event()


def drops(n):  # the second request of a connection finds it closed
    return None if n % 2 == 1 and not dropped.is_set() else http_answer(body=sealed_like(b"%d" % n))


stale = Wire(drops)
r = Relay(stale.url)
r.post()
ok(r.post()[0] == 200 and stale.bytes[1] == stale.bytes[2], "a kept connection that breaks: the same bytes go by another")
place = reserve_port()
stub = Stub(port=place)
stub.otherwise = SEALED
r = Relay(stub.url, "--answer-seconds", "1", name="away")
ok(r.until(lambda: r.post()[0] == 200), "a gateway is there")  # within a second, but for a machine that stands still
wait = threading.Event()
stub.says((wait, SEALED))
started = time.monotonic()
ok(r.post()[0] == 504 and time.monotonic() - started < 30, "it is slow: 504 when its time is up")
wait.set()
stub.shutdown()
stub.server_close()
ok(r.until(lambda: r.post()[0] == 502) and r.until(lambda: not r.is_ready()), "it is gone: 502, and the relay is not ready")
back = socket.create_server(("127.0.0.1", place))
ok(r.until(r.is_ready), "it is back: the relay is ready before anybody asks")
ok("gateway-lost" in r.said() or r.until(lambda: "gateway-lost" in r.said()), "and has logged it", r.said())
back.close()

# ---- Many at once, and the end -------------------------------------------------------

hold = threading.Event()
crowd = Stub()
crowd.otherwise = (hold, SEALED)
r = Relay(crowd.url, "--gateway-connections", 2, "--waiting", 3, name="crowd")
answers = []
clients = [threading.Thread(target=lambda: answers.append(r.post()[0])) for _ in range(20)]
for c in clients:
    c.start()
ok(r.until(lambda: len(answers) >= 15) and set(answers) == {503}, "more than there is room for are told to come back", answers)
ok(r.metrics()["hearsay_relay_gateway_connections"] == 2, "the gateway has no more connections than was said")
r.process.send_signal(signal.SIGTERM)
time.sleep(0.05)
hold.set()
for c in clients:
    c.join()
ok(answers.count(200) == 5, "what had begun is finished when it is told to stop", answers)
ok(r.process.wait(DEADLINE) == 0, "and then it ends")

# ---- TLS -------------------------------------------------------------------------------

tls = Certificate()
gate = Stub(tls=tls.both)
gate.otherwise = SEALED
r = Relay(gate.url, "--ca", tls.cert, name="tls")
ok([r.post()[0] for _ in range(3)] == [200] * 3 and len({s[4] for s in gate.seen}) == 1, "a gateway with TLS, by one connection")
r = Relay(gate.url.replace("127.0.0.1", "localhost"), "--ca", tls.cert, name="tls-name")
ok(r.post()[0] == 200, "by name, too")
stranger = Certificate("stranger")
r = Relay(gate.url, "--ca", stranger.cert, name="tls-stranger")
seen = len(gate.seen)
ok(r.post()[0] == 502 and len(gate.seen) == seen, "one whose certificate is not to be trusted is sent nothing")


def lost(r, *words):
    """The relay has logged once, and its /readyz says, why it has no gateway."""
    def logged():
        return [line for line in r.said().splitlines() if "gateway-lost" in line and all(word in line for word in words)]

    def reason():
        status, _, body = ask(r.admin, "GET", "/readyz")
        return status == 503 and all(word in json.loads(body)["detail"] for word in words)

    return r.until(logged) and r.until(reason) and all(r.post()[0] == 502 for _ in range(20)) and len(logged()) == 1


unknown = ("certificate is not trusted", "unknown authority", "--ca FILE")
ok(lost(r, *unknown), "an untrusted certificate is logged once and is the reason of /readyz, with the option that helps", r.said())
r = Relay(gate.url.replace("127.0.0.1", "localhost"), name="tls-system")
ok(lost(r, *unknown), "so is one that the system's authorities do not know, under a name of several addresses", r.said())
ok("started version=" in r.said() and "devices-tls=no gateway-tls=yes" in r.said(), "the first line says on which side there is TLS", r.said())
elsewhere = Certificate("elsewhere", names="DNS:elsewhere.example")
named = Stub(tls=elsewhere.both)
r = Relay(named.url, "--ca", elsewhere.cert, name="tls-elsewhere")
ok(lost(r, "certificate is not trusted", "another name"), "a certificate for another name is logged once and is the reason of /readyz", r.said())
mute = socketserver.ThreadingTCPServer(("127.0.0.1", 0), socketserver.BaseRequestHandler)  # closes what it accepts
threading.Thread(target=mute.serve_forever, daemon=True).start()
r = Relay("https://127.0.0.1:%d" % mute.server_address[1], "--ca", tls.cert, name="tls-none")
ok(lost(r, "TLS handshake fails"), "a gateway without TLS is logged once and is the reason of /readyz", r.said())
r = Relay("http://127.0.0.1:%d" % reserve_port(), name="nobody")
ok(lost(r, "cannot connect"), "a gateway that was never there is logged once and is the reason of /readyz", r.said())
bad = run("relay", "--gateway", gate.url, "--ca", write("no.pem", "nothing"))
ok(bad.code == 1 and "certificates" in bad.err, "no certificates, no relay", bad)
r = Relay(wire.url, "--tls-cert", tls.cert, "--tls-key", tls.key, name="served")
line = http.client.HTTPSConnection(*r.public, context=tls.context())
line.request("POST", "/", b"x", {"Content-Type": "message/ohttp-req"})
ok(line.getresponse().status == 200 and "devices-tls=yes gateway-tls=no" in r.said(), "devices can be served by TLS")
line.close()

# ---- nginx instead ----------------------------------------------------------------------

shipped = open(os.path.join(PACKAGING, "nginx", "relay.conf")).read()
ok(re.search(r"```nginx\n(.*?)```", page, re.S).group(1) in shipped, "the page has the configuration that is shipped")
if shutil.which("nginx"):
    gate = Stub(tls=tls.both)
    gate.otherwise = SEALED
    other = Nginx(gate.url, tls)
    answers = [other.post(b"sealed bytes", **PRIVATE) for _ in range(20)]
    ok({a[0] for a in answers} == {200} and answers[0][2] == SEALED["body"], "nginx forwards", answers[0])
    ok(all(set(s[2]) == {"Host", "Content-Type", "Content-Length"} and s[2]["Host"] == "collector.example" and s[1] == "/v1/ohttp" and s[3] == b"sealed bytes"
           for s in gate.seen), "the gateway sees the same of its clients as of ours", gate.seen[0])
    ok(len({s[4] for s in gate.seen}) == 1, "by one connection")
    ok(other.proxy.ask("GET", "/")[0] == 403 and other.post(b"x" * 70000)[0] == 413 and other.proxy.ask("POST", "/v1/uploads", b"x")[0] == 404, "nothing else is forwarded")
    refused = Nginx(gate.url, tls, trust=stranger, name="nginx-stranger")
    seen = len(gate.seen)
    ok(refused.post()[0] == 502 and len(gate.seen) == seen, "a gateway of another certificate is sent nothing")
    with open(other.proxy.log) as f:
        ok(not re.search("192.0.2.7|phone|sealed", f.read()) and os.listdir(other.proxy.dir) and not any(os.listdir(os.path.join(other.proxy.dir, d)) for d in ("client_body", "proxy")),
           "nothing about clients is logged or kept")

# ---- Mistakes ---------------------------------------------------------------------------

for words, said in ((["relay"], "--gateway"), (["relay", "--gateway", "ftp://x"], "http"), (["relay", "--gateway", "http://127.0.0.1:0"], "http"),
                    (["relay", "--gateway", "http://user@x/"], "http"), (["relay", "--gateway", wire.url, "--tls-cert", "x"], "needs --tls-key"),
                    (["relay", "--gateway", wire.url, "--admin", "0.0.0.0:0"], "127.0.0.1"), (["relay", "--gateway", wire.url, "--proxy", "x"], "network"),
                    (["relay", "--gateway", wire.url, "--answer-bytes", "304,"], "empty"), (["relay", "--gateway", wire.url, "--answer-bytes", "0"], "from 1 to"),
                    (["relay", "--gateway", "http://nobody.invalid/"], "does not resolve"), (["relay", wire.url], "unexpected argument"),
                    (["relay", "--gateway", wire.url, "--gateway-ca", "x"], "unknown option --gateway-ca; did you mean --ca?"),
                    (["relay", "--gateway", wire.url, "--listen", "127.0.0.1:%d" % relay.public[1]], "in use")):
    r = run(*words)
    ok(r.code != 0 and said in r.err, " ".join(words)[:60] + " is refused", r)
done()
