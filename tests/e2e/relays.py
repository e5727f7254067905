"""relays.py - relays for tests: ours and nginx, each on a port or a socket file
of its own, and a gateway that answers as it is told (collector_stub.py)."""

import threading

from collector import *
from collector import _die_with_us
from collector_stub import Stub
from proxies import PACKAGING, Certificate, Proxy

ANSWER = 256 + 48  # bytes of a sealed answer


def sealed_like(text):
    """As long as a sealed answer."""
    return text.ljust(ANSWER, b".")


SEALED = {"status": 200, "headers": {"Content-Type": "message/ohttp-res"}, "body": sealed_like(b"sealed answer")}


class Relay:
    """hearsay relay in front of a gateway's URL."""

    def __init__(self, gateway, *options, name="relay", **env):
        self.log = path(name + ".log")
        self.err = open(self.log, "wb")
        self.process = subprocess.Popen([HEARSAY, "relay", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--gateway", gateway, *map(str, options)],
                                        stdin=subprocess.DEVNULL, stdout=self.err, stderr=self.err, env={**os.environ, **env}, preexec_fn=_die_with_us)
        atexit.register(self.kill)
        if not self.until(self.ready):
            raise SystemExit("Bail out! the relay does not start: " + self.said())

    def said(self):
        with open(self.log) as f:
            return f.read()

    def ready(self):
        """the relay's line with its addresses"""
        at = re.search(r"\bpublic=127\.0\.0\.1:(\d+) admin=127\.0\.0\.1:(\d+)\n", self.said())
        if at:
            self.public, self.admin = (("127.0.0.1", int(port)) for port in at.groups())
        return at is not None

    def until(self, condition):
        return until(condition, lambda: self.process.poll() is None)

    @property
    def url(self):
        return "http://127.0.0.1:%d" % self.public[1]

    def post(self, body=b"a sealed request", kind="message/ohttp-req", **headers):
        return ask(self.public, "POST", "/", body, **{"Content-Type": kind, **headers})

    def metrics(self):
        text = ask(self.admin, "GET", "/metrics")[2].decode()
        return {k: float(v) for k, v in (line.rsplit(" ", 1) for line in text.splitlines() if line[0] != "#")}

    def is_ready(self):
        return ask(self.admin, "GET", "/readyz")[0] == 200

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(DEADLINE)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.err.close()


class Wire(threading.Thread):
    """A gateway that keeps every byte it is sent, and answers by itself: each
    request with what `answer` gives for its number."""

    def __init__(self, answer):
        super().__init__(daemon=True)
        self.answer, self.bytes, self.connections, self.one = answer, [], 0, threading.Lock()
        self.sock = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d" % self.sock.getsockname()[1]
        self.start()

    def run(self):
        while True:
            try:
                peer, _ = self.sock.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.serve_until_gone, args=(peer,), daemon=True).start()

    def serve_until_gone(self, peer):
        try:
            self.serve(peer)
        except ConnectionError:
            pass

    def serve(self, peer):
        rest = b""
        while True:
            while b"\r\n\r\n" not in rest:
                got = peer.recv(65536)
                if not got:
                    return peer.close()
                rest += got
            head, rest = rest.split(b"\r\n\r\n", 1)
            length = int(re.search(rb"(?i)content-length: (\d+)", head).group(1))
            while len(rest) < length:
                rest += peer.recv(65536)
            body, rest = rest[:length], rest[length:]
            with self.one:
                n = len(self.bytes)
                self.bytes.append((head, body))
            what = self.answer(n)
            if what is None:
                return peer.close()
            peer.sendall(what)

    def close(self):
        self.sock.close()


def http_answer(status="200 OK", body=b"", kind="message/ohttp-res", more=""):
    return ("HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n%s\r\n" % (status, kind, len(body), more)).encode() + body


class Nginx:
    """nginx as docs/relay.md and packaging/nginx/relay.conf have it, but for
    names, addresses and certificates; it listens on a socket file."""

    def __init__(self, gateway, certificate, trust=None, name="nginx-relay"):
        self.proxy = Proxy(name, certificate)
        where = self.proxy.dir
        with open(os.path.join(PACKAGING, "nginx", "relay.conf")) as f:
            site = f.read()
        host = gateway.split("://")[1]
        for old, new in (("server collector.example:443;", "server %s;" % host), ("listen 443 ssl;", "listen unix:%s ssl;" % self.proxy.socket),
                         ("/etc/hearsay/cert.pem", certificate.cert), ("/etc/hearsay/key.pem", certificate.key),
                         ("/etc/ssl/certs/ca-certificates.crt", (trust or certificate).cert), ("proxy_ssl_name collector.example", "proxy_ssl_name localhost"),
                         ("https://gateway", gateway.split("://")[0] + "://gateway")):
            assert old in site, old
            site = site.replace(old, new)
        with open(os.path.join(where, "site"), "w") as f:
            f.write(site)
        temps = "".join("%s_temp_path %s/%s; " % (kind, where, kind) for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        user = "user root;" if os.getuid() == 0 else ""
        with open(self.proxy.conf, "w") as f:
            f.write("daemon off; %s pid %s/pid; error_log stderr; worker_processes 1; events { worker_connections 512; }\nhttp { %s include %s/site; }\n"
                    % (user, where, temps, where))
        self.proxy.run("nginx", "-p", where, "-e", "stderr", "-c", self.proxy.conf)

    def post(self, body=b"a sealed request", kind="message/ohttp-req", **headers):
        return self.proxy.ask("POST", "/", body, "Content-Type: " + kind, *("%s: %s" % h for h in headers.items()))
