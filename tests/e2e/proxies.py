"""proxies.py - the shipped configurations of nginx and HAProxy, run as they are
but for addresses and certificate: they listen on a socket file in the test's
directory, so that no port can be taken.
"""

import ssl

from collector import *
from collector import _die_with_us

PACKAGING = os.path.join(ROOT, "packaging")


class Certificate:
    """Signed by itself, for 127.0.0.1 and localhost unless told otherwise."""

    def __init__(self, name="tls", names="IP:127.0.0.1,DNS:localhost"):
        self.dir = path(name)
        os.mkdir(self.dir)
        self.cert, self.key, self.both = (os.path.join(self.dir, f) for f in ("cert.pem", "key.pem", "both.pem"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "3", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=" + names, "-keyout", self.key, "-out", self.cert], check=True, stderr=subprocess.DEVNULL)
        with open(self.both, "w") as to:
            for part in (self.cert, self.key):
                with open(part) as f:
                    to.write(f.read())

    def context(self, **more):
        context = ssl.create_default_context(cafile=self.cert)
        for key, value in more.items():
            setattr(context, key, value)
        return context


def _replace(text, **parts):
    """Every part must be there to be replaced."""
    for old, new in parts.values():
        assert old in text, old
        text = text.replace(old, new)
    return text


class Proxy:
    """A running proxy; dial() is a TLS connection to it."""

    def __init__(self, name, certificate):
        self.certificate = certificate
        self.dir = path(name)
        os.mkdir(self.dir)
        os.chmod(self.dir, 0o755)
        self.socket, self.conf, self.log = (os.path.join(self.dir, f) for f in ("s", "conf", "log"))

    def run(self, *command):
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=_die_with_us)
        atexit.register(self.stop)
        if not until(self.answers, lambda: self.process.poll() is None):
            with open(self.log) as f:
                raise SystemExit("Bail out! %s does not start: %s" % (command[0], f.read()))

    def answers(self):
        """a proxy that takes connections"""
        try:
            self.dial().close()
        except OSError:
            return False
        return True

    def dial(self, context=None):
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(DEADLINE)
        try:
            s.connect(self.socket)
            return (context or self.certificate.context()).wrap_socket(s, server_hostname="localhost")
        except OSError:
            s.close()
            raise

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()

    def ask(self, method, path_, body=b"", *fields):
        """(status, headers, body) on a connection of its own."""
        line = Line.__new__(Line)
        line.sock, line.rest = self.dial(), b""
        try:
            head = "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n" % (method, path_, len(body))
            line.send((head + "".join(f + "\r\n" for f in fields) + "\r\n").encode() + body)
            return line.answer()
        finally:
            line.close()

    def upload(self, body, *fields):
        return self.ask("POST", "/v1/uploads", body, "Content-Type: application/octet-stream", *fields)


def nginx(collector, certificate, name="nginx"):
    p = Proxy(name, certificate)
    with open(os.path.join(PACKAGING, "nginx", "hearsay.conf")) as f:
        site = _replace(f.read(), to=("127.0.0.1:8080", "127.0.0.1:%d" % collector.public[1]),
                        listen=("listen 443 ssl", "listen unix:%s ssl" % p.socket), listen6=("listen [::]:443 ssl http2;", ""),
                        cert=("/etc/hearsay/cert.pem", certificate.cert), key=("/etc/hearsay/key.pem", certificate.key))
    with open(os.path.join(p.dir, "site"), "w") as f:
        f.write(site)
    temps = "".join("%s_temp_path %s/%s; " % (kind, p.dir, kind) for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    user = "user root;" if os.getuid() == 0 else ""  # who may use the socket file and the certificate
    with open(p.conf, "w") as f:
        f.write("daemon off; %s pid %s/pid; error_log stderr; worker_processes 1; events { worker_connections 512; }\nhttp { %s include %s/site; }\n"
                % (user, p.dir, temps, p.dir))
    p.run("nginx", "-p", p.dir, "-e", "stderr", "-c", p.conf)
    return p


def haproxy(collector, certificate, name="haproxy"):
    p = Proxy(name, certificate)
    with open(os.path.join(PACKAGING, "haproxy", "hearsay.cfg")) as f:
        conf = _replace(f.read(), to=("127.0.0.1:8080", "127.0.0.1:%d" % collector.public[1]),
                        bind=("bind :443 ", "bind unix@%s " % p.socket), crt=("/etc/hearsay/both.pem", certificate.both), most=("maxconn 8000", "maxconn 200"))
    with open(p.conf, "w") as f:
        f.write(conf)
    p.run("haproxy", "-db", "-f", p.conf)
    return p


def balancer(hosts, certificate, name="balancer"):
    """HAProxy before two collectors, each on ports 8080 and 8081 of its host."""
    p = Proxy(name, certificate)
    p.stats = os.path.join(p.dir, "stats")
    with open(os.path.join(PACKAGING, "haproxy", "hearsay-cluster.cfg")) as f:
        conf = _replace(f.read(), one=("10.77.0.21:", hosts[0] + ":"), two=("10.77.0.22:", hosts[1] + ":"), stats=("/run/haproxy/hearsay.sock", p.stats),
                        bind=("bind :443 ", "bind unix@%s " % p.socket), crt=("/etc/hearsay/both.pem", certificate.both), most=("maxconn 8000", "maxconn 200"))
    with open(p.conf, "w") as f:
        f.write(conf)
    p.run("haproxy", "-db", "-f", p.conf)
    return p
