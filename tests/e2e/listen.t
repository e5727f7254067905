#!/usr/bin/python3 -B
"""The public listener: each route's answers, limits that say when to come back,
origins, socket files, ports that are taken, and TLS (H09)."""

from proxies import *

c = Collector("plain", cors=["https://page.example"], body_bytes=8192, ids_epoch=1000)
c.start()
cells, crash = c.task["cells"], c.task["crash"]


def post(body, kind="application/octet-stream", **headers):
    return ask(c.public, "POST", "/v1/uploads", body, **{"Content-Type": kind, **headers})


def problem(answer, status):
    got, headers, body = answer
    return got == status and headers["content-type"] == "application/problem+json" and json.loads(body)["status"] == status


# ---- Answers to uploads -----------------------------------------------------------

one, other = cells.upload([1]), cells.upload([2])
for answer in (post(one), post(one)):
    ok(answer[0] == 204 and set(answer[1]) <= {"date", "vary"} and not answer[2], "an upload is acknowledged with a bare 204, the second time too", answer)
mixed = json.loads(post(one + cells.upload([3], epoch=DAY - 20) + other + cells.upload([4], id=other[80:96]))[2])
ok((mixed["accepted"], [(r["upload"], r["status"], r["reason"]) for r in mixed["refused"]]) == (2, [(2, 410, "closed"), (4, 409, "conflict")]),
   "of several the refused are listed by their place", mixed)
answer = post(cells.upload([3], epoch=DAY - 20) + cells.upload([3], release=9))
ok(problem(answer, 410) and [r["status"] for r in json.loads(answer[2])["refused"]] == [410, 404], "if none is accepted the first refusal is the status", answer)
answer = post(cells.upload([5]) + b"rest")
ok(problem(answer, 400) and "upload 2" in json.loads(answer[2])["detail"], "a body that cannot be read as a whole is refused whole, and the place named", answer)
twin = {"task": "browser", "release": 1, "digest": c.task["browser"].digest.hex(), "epoch": date(DAY), "id": "ab" * 16, "reports": [1]}
ok(post(json.dumps({"uploads": [twin]}), "application/json; charset=utf-8")[0] == 204, "the JSON twin is counted")
for kind in ("text/plain", "application/octet", "multipart/form-data", ""):
    ok(problem(post(one, kind), 415), "content type '%s' is 415" % kind)
ok(c.cells("cells") == {1: 1, 2: 1}, "what was acknowledged is counted once, what was refused not at all")

# ---- Routes -----------------------------------------------------------------------

signed = open(os.path.join(c.dir, "tasks.signed"), "rb").read()
ok(ask(c.public, "GET", "/v1/document")[2] == signed, "the signed document is handed out as it is")
ok(ask(c.public, "HEAD", "/v1/document")[1]["content-length"] == str(len(signed)), "HEAD tells its length")
tag = ask(c.public, "GET", "/v1/document")[1]["etag"]
ok(ask(c.public, "GET", "/v1/document")[1]["cache-control"] == "public, max-age=300, no-transform", "a cache may keep it for five minutes")
for has, status in ((tag, 304), ("W/" + tag, 304), ('"x", ' + tag, 304), ("*", 304), ('"0123"', 200), ("", 200)):
    answer = ask(c.public, "GET", "/v1/document", **{"If-None-Match": has})
    ok((answer[0], answer[1]["etag"], answer[2]) == (status, tag, b"" if status == 304 else signed), "who has %s is answered %d" % (has, status), answer)
with open(os.path.join(c.dir, "tasks.signed"), "wb") as f:
    f.write(open(c.document(TASKS, name="next"), "rb").read())
c.process.send_signal(signal.SIGHUP)
ok(c.until(lambda: ask(c.public, "GET", "/v1/document", **{"If-None-Match": tag})[0] == 200), "another document has another tag")
ok(c.until(lambda: ask(c.admin, "GET", "/v1/tasks", **{"If-None-Match": ask(c.admin, "GET", "/v1/tasks")[1]["etag"]})[0] == 304), "a list of tasks that has not changed is not sent again")
ok(ask(c.admin, "GET", "/v1/tasks", **{"If-None-Match": tag})[0] == 200, "a request with another tag gets the list")
GUARDS = {"content-security-policy", "x-content-type-options", "referrer-policy", "x-frame-options"}
for at, method, where, status in ((c.public, "GET", "/nothing", 404), (c.public, "DELETE", "/v1/document", 405), (c.public, "POST", "/v1/uploads", 415), (c.admin, "GET", "/nothing", 404), (c.admin, "GET", "/v1/tasks/none", 404)):
    answer = ask(at, method, where)
    ok(answer[0] == status and GUARDS <= set(answer[1]) and answer[1]["cache-control"] == "no-store", "%s %s: a refusal tells a browser what it may do with it" % (method, where), answer)
line = Line(c.public)
line.send(b"GET /v1/document HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n")
answer = line.answer()
ok(answer[0] == 400 and GUARDS <= set(answer[1]), "so does that of a head that cannot be read", answer)
for method, where, allow in (("GET", "/v1/uploads", "POST, OPTIONS"), ("DELETE", "/v1/document", "GET, HEAD, OPTIONS"), ("POST", "/healthz", "GET, HEAD, OPTIONS")):
    answer = ask(c.public, method, where)
    ok(problem(answer, 405) and answer[1]["allow"] == allow, "%s %s is 405 and says what is allowed" % (method, where), answer)
answer = ask(c.public, "GET", "/healthz", **{"User-Agent": "x"})
ok(not {"server", "etag", "set-cookie", "last-modified"} & set(answer[1]), "no answer names the server, a tag or a cookie", answer)
for origin, allowed in (("https://page.example", True), ("https://page.example.org", False), ("null", False)):
    answer = ask(c.public, "OPTIONS", "/v1/uploads", Origin=origin, **{"Access-Control-Request-Method": "POST"})
    ok(answer[0] == 204 and (answer[1].get("access-control-allow-origin") == origin) == allowed, "a page of %s may%s upload" % (origin, "" if allowed else " not"), answer)

# ---- Full -------------------------------------------------------------------------

ok(problem(post(bytes(8193)), 413), "a body over the limit is 413")
for first in range(0, 1100, 50):
    answer = post(b"".join(crash.upload([1]) for _ in range(50)))
    if answer[0] != 204:
        break
answer = post(crash.upload([1]))
ok(problem(answer, 503) and int(answer[1]["retry-after"]) > 0, "when the epoch has no room for ids: 503 with Retry-After", answer)

# ---- Addresses --------------------------------------------------------------------

second = Collector("second", listen="127.0.0.1:%d" % c.public[1])
second.launch()
ok(second.wait() == 1 and "127.0.0.1:%d: listen: the address is in use by another process" % c.public[1] in second.said(), "serve names the address that is in use by another process, in the words of relay", second.said())
ok(c.stop() == 0, "it drains and ends")

file = Collector("file", admin="unix:" + path("admin.sock"))
file.launch()
ok(file.until(lambda: "ready" in file.said()), "an admin listener may be a socket file", file.said())
s = socket.socket(socket.AF_UNIX)
s.connect(path("admin.sock"))
s.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
ok(s.recv(4096).startswith(b"HTTP/1.1 200 ") and os.stat(path("admin.sock")).st_mode & 0o777 == 0o600, "which serves, its owner alone")
s.close()
ok(file.stop() == 0 and not os.path.exists(path("admin.sock")), "and is removed at the end")

# ---- TLS (H09) --------------------------------------------------------------------

cert = Certificate()
V = ssl.TLSVersion


def shake(at, context, session=None):
    """A TLS connection, or the reason why there is none."""
    s = socket.create_connection(at, timeout=DEADLINE)
    try:
        return context.wrap_socket(s, server_hostname="127.0.0.1", session=session)
    except (ssl.SSLError, ConnectionError) as e:
        s.close()
        return e


def healthy(s):
    s.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    got = b""
    while True:
        try:
            part = s.recv(4096)
        except ssl.SSLError:
            part = b""
        if not part:
            s.close()
            return got.startswith(b"HTTP/1.1 200 ") and got.endswith(b"ok\n")
        got += part


def context(low, high, ciphers=None):
    made = cert.context(minimum_version=low, maximum_version=high)
    made.set_ciphers((ciphers or "ALL") + ":@SECLEVEL=0")
    return made


def refused(at, low, high, ciphers=None):
    return isinstance(shake(at, context(low, high, ciphers)), Exception)


def half_closed(at, body):
    """The answer to an upload after which nothing more is sent, by TLS."""
    s = shake(at, cert.context())
    s.sendall(b"POST /v1/uploads HTTP/1.1\r\nHost: x\r\nContent-Type: application/octet-stream\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    socket.socket.shutdown(s, socket.SHUT_WR)  # not ssl's, which would not read any more either
    got = s.recv(4096)
    s.close()
    return got[:13]


def closed(at, text):
    """Whether a connection that begins with these bytes is closed."""
    with socket.create_connection(at, timeout=DEADLINE) as plain:
        try:
            plain.sendall(text)
            while plain.recv(4096):
                pass
        except ConnectionError:
            pass
        except TimeoutError:
            return False
    return True


HEAD = b"POST /v1/uploads HTTP/1.1\r\nHost: x\r\nContent-Type: application/octet-stream\r\nContent-Length: %d\r\n\r\n"


def pieces(text, size):
    return [text[i:i + size] for i in range(0, len(text), size)]


def records(message, size):
    """A TLS handshake message, split over records of `size` bytes."""
    return b"".join(b"\x16\x03\x01" + struct.pack(">H", len(part)) + part for part in pieces(message, size))


def in_pieces(at):
    """Whether a ClientHello in many records, sent at once, is answered."""
    theirs, ours = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        cert.context().wrap_bio(theirs, ours, server_hostname="127.0.0.1").do_handshake()
    except ssl.SSLWantReadError:
        pass
    with socket.create_connection(at, timeout=DEADLINE) as plain:
        plain.sendall(records(ours.read()[5:], 50))
        return plain.recv(1) == b"\x16"


def count(c, name):
    """What a metric of the public listener is."""
    return int(re.search(rb'^hearsay_%s{listener="public"} (\d+)' % name, ask(c.admin, "GET", "/metrics")[2], re.M)[1])


def statuses(s, n):
    """Those of n answers without bodies."""
    got = b""
    while got.count(b"\r\n\r\n") < n:
        part = s.recv(4096)
        if not part:
            break
        got += part
    return re.findall(rb"HTTP/1\.1 (\d+)", got)


for tls12 in (False, True):
    c = Collector("tls%d" % tls12, tls_cert=cert.cert, tls_key=cert.key, tls12=tls12)
    c.start()
    s = shake(c.public, cert.context())
    ok(s.version() == "TLSv1.3" and s.cipher()[0] in ("TLS_AES_256_GCM_SHA384", "TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256"), "TLS 1.3 is spoken", s)
    ok(healthy(s) and (s.session is None or not s.session.has_ticket), "no ticket is given", s.session)
    ok({half_closed(c.public, c.task["cells"].upload([i])) for i in range(10)} == {b"HTTP/1.1 204 "}, "who sends no more gets the answer")
    ok(refused(c.public, V.TLSv1, V.TLSv1_1), "TLS 1.0 and 1.1 are not")
    if not tls12:
        ok(refused(c.public, V.TLSv1_2, V.TLSv1_2), "nor 1.2, unless it is asked for")
    else:
        old = context(V.TLSv1_2, V.TLSv1_2)
        s = shake(c.public, old)
        ok(s.version() == "TLSv1.2" and "GCM" in s.cipher()[0], "TLS 1.2 is, when it is asked for", s)
        session = s.session
        ok(healthy(s) and not session.has_ticket, "without a ticket")
        s = shake(c.public, old, session)
        ok(not s.session_reused and healthy(s), "and no session is taken up again")
        for ciphers in ("ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA384", "AES128-GCM-SHA256", "AES256-SHA", "NULL", "ADH"):
            ok(refused(c.public, V.TLSv1_2, V.TLSv1_2, ciphers), "but not with " + ciphers)
    said = subprocess.run(["openssl", "s_client", "-connect", "127.0.0.1:%d" % c.public[1], "-CAfile", cert.cert, *(["-tls1_2"] if tls12 else [])], input=b"R\n", capture_output=True,
                          timeout=DEADLINE).stdout.decode("latin-1")
    ok("Verify return code: 0 (ok)" in said and "Early data was accepted" not in said and "Max Early Data: " not in said.replace("Max Early Data: 0", ""), "no early data", said)
    ok(healthy(shake(c.public, cert.context())), "who wishes to negotiate again holds nobody up")
    ok([closed(c.public, text) for text in (os.urandom(400), b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01\x40\x00" + bytes(16384), b"\x15\x03\x03\x00\x02\x01\x00" * 100)] == [True] * 4
       and healthy(shake(c.public, cert.context())), "closes a connection whose bytes are not TLS, and serves others")
    before = [count(c, name) for name in (b"refused_total", b"timeouts_total")]
    ok(closed(c.public, records(b"\1\xff\xff\xff" + bytes(1 << 20), 1 << 14)) and [count(c, name) for name in (b"refused_total", b"timeouts_total")] == [before[0] + 1, before[1]],
       "holds no message of a handshake that never ends, and counts who sent it", before)
    ok(in_pieces(c.public), "reads a ClientHello of many records that come at once")
    many = b"".join(c.task["cells"].upload([i]) for i in range(100, 400))
    one = c.task["cells"].upload([400])
    s = shake(c.public, cert.context())
    for part in pieces(b"".join(HEAD % len(body) + body for body in (many, one, many)), 1000):
        s.sendall(part)
    ok(statuses(s, 3) == [b"204"] * 3, "reads bodies of several records, and requests that share one")
    s.close()
    ok(c.stop() == 0, "ends")

wrong = Collector("wrong", tls_cert=cert.key, tls_key=cert.cert)
wrong.launch()
ok(wrong.wait() == 1 and "certificate" in wrong.said(), "a certificate that is none is an error", wrong.said())
done()
