"""collector_stub.py - a web server for tests of sending, which answers as it is
told. It listens on a port of its own on loopback and ends with the test."""

import http.server
import queue
import socketserver
import ssl
import threading
import time


def problem(status, reason="x"):
    """An answer as a collector refuses."""
    body = b'{"title":"t","status":%d,"refused":[{"upload":1,"status":%d,"reason":"%s"}]}' % (status, status, reason.encode())
    return {"status": status, "body": body, "headers": {"Content-Type": "application/problem+json"}}


GOOD = {"status": 204}


class Stub(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """Answers: a dictionary (status, body, headers), bytes to be written as
    they are, None to close without an answer, or an event and what follows it.
    When the list is used up `otherwise` is the answer."""
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, tls=None, port=0):
        super().__init__(("127.0.0.1", port), Handler)
        if tls is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(tls)
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.scheme = "https" if tls is not None else "http"
        self.answers = queue.Queue()
        self.otherwise = GOOD
        self.seen = []  # (method, path, headers, body, peer's port, time)
        self.arrived = threading.Event()
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self):
        return "%s://127.0.0.1:%d" % (self.scheme, self.server_address[1])

    def handle_error(self, request, client_address):
        pass  # a client that hangs up is no news

    def says(self, *answers):
        """What it answers next; forget what it has seen."""
        self.seen.clear()
        self.arrived.clear()
        while not self.answers.empty():
            self.answers.get()
        for answer in answers:
            self.answers.put(answer)

    def bodies(self):
        return [s[3] for s in self.seen if s[0] == "POST"]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.seen.append((self.command, self.path, dict(self.headers), body, self.client_address[1], time.monotonic()))
        self.server.arrived.set()
        try:
            what = self.server.answers.get_nowait()
        except queue.Empty:
            what = self.server.otherwise
        if isinstance(what, tuple):
            what[0].wait()
            what = what[1]
        if what is None or isinstance(what, bytes):
            self.wfile.write(what or b"")
            self.close_connection = True
            return
        self.send_response_only(what["status"])
        for name, value in what.get("headers", {}).items():
            self.send_header(name, value)
        if what["status"] != 204:
            self.send_header("Content-Length", str(len(what.get("body", b""))))
        self.end_headers()
        self.wfile.write(what.get("body", b""))

    do_GET = do_POST = answer
