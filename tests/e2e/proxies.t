#!/usr/bin/python3 -B
"""nginx and HAProxy in front, as packaging/ has them: uploads arrive, nothing
else does, no address or agent is written; and what hides an upload from one
reader hides it from both (H07)."""

from proxies import *
import smuggle

AGENT = "User-Agent: canary-4711"
cert = Certificate()
c = Collector("behind")
c.start()
cells = c.task["cells"]
signed = open(os.path.join(c.dir, "tasks.signed"), "rb").read()


def written(under):
    for folder, _, files in os.walk(under):
        for name in (os.path.join(folder, f) for f in files):
            if os.path.isfile(name):
                with open(name, "rb") as f:
                    yield f.read()


def alike(p, name):
    """What both proxies are for."""
    ok(p.ask("GET", "/healthz")[::2] == (200, b"ok\n") and p.ask("GET", "/v1/document")[::2] == (200, signed), name + ": health and tasks are passed on")
    hit = 60001 if name == "nginx" else 60002
    one = cells.upload([hit])
    ok(p.upload(one, AGENT)[0] == 204 and p.upload(one, AGENT)[0] == 204, name + ": uploads are, and acknowledged")
    got = p.upload(cells.upload([hit], epoch=DAY - 20))
    ok(got[0] == 410 and json.loads(got[2])["refused"][0]["reason"] == "closed", name + ": refusals come back as they are", got)
    ok(p.upload(cells.upload([hit]), "Content-Encoding: gzip")[0] == 415, name + ": what is packed is refused")
    ok({p.ask("GET", where)[0] for where in ("/", "/metrics", "/readyz", "/v1/status", "/v1/tasks/cells", "/v1/tasks/cells/tally", "/v1/uploads/x", "/v1/events")} == {404},
       name + ": nothing else is there")
    line = Line.__new__(Line)
    line.sock, line.rest = p.dial(), b""
    line.send(smuggle.HEAD + b"Content-Length: 5000000\r\n\r\n")
    ok(line.answer()[0] == 413, name + ": a body too large is refused")
    line.close()
    s = p.dial()
    ok(s.version() == "TLSv1.3" and (s.session is None or not s.session.has_ticket), name + ": TLS 1.3 without tickets", s.version())
    s.close()
    try:
        p.dial(cert.context(maximum_version=ssl.TLSVersion.TLSv1_2)).close()
        ok(False, name + ": TLS 1.2 is refused")
    except OSError:
        ok(True, name + ": TLS 1.2 is refused")
    two = subprocess.run(["curl", "-sS", "--http2", "--cacert", cert.cert, "--unix-socket", p.socket, "-w", " %{http_version}", "https://localhost/healthz"], capture_output=True)
    ok(two.stdout == b"ok\n 2", name + ": HTTP/2 is spoken", two)


def hidden(p):
    """H07: the readers are nginx and the collector behind it, whose connections
    are kept and shared: if they disagree, somebody gets another's answer."""
    context = cert.context()
    cases = smuggle.cases(lambda i: cells.upload([i + 1]))
    wrong = []
    for name, text in cases:
        s = p.dial(context)
        try:
            s.sendall(text)
            s.settimeout(0.01 if b"18446744073709551615" in text or b"80000000" in text else DEADLINE)  # it waits for more
            s.recv(65536)
        except OSError:
            pass
        s.close()
        if p.ask("GET", "/healthz")[::2] != (200, b"ok\n") or p.ask("GET", "/v1/document")[::2] != (200, signed):
            wrong.append(name)
    ok(len(cases) >= 200 and not wrong, "%d requests of two readings leave the answers of others alone" % len(cases), wrong[:5])


front = nginx(c, cert)
alike(front, "nginx")
hidden(front)
back = haproxy(c, cert)
alike(back, "HAProxy")
ok(c.cells("cells") == {60001: 1, 60002: 1}, "each upload is counted once, none that was hidden", c.cells("cells"))
front.stop()
back.stop()
ok(c.stop() == 0, "ends", c.said())
for what, under in (("nginx", front.dir), ("HAProxy", back.dir), ("the collector", c.dir)):
    ok(not any(b"canary-4711" in data for data in written(under)), what + " writes no agent")
ok(not any(b"127.0.0.1" in data for data in written(c.data)), "and no address is among the data")
done()
