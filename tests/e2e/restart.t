#!/usr/bin/python3 -B
"""Restarts: at once on the same port, whoever is still connected; and with the
sockets of a service manager (systemd's LISTEN_FDS), under load: nobody is
refused, and what was sent before the end is answered."""

import threading

from collector import *

RESTARTS = 10
SENDERS = 4

# ---- At once, on the same port ------------------------------------------------------

c = Collector("again", listen="127.0.0.1:%d" % reserve_port())
c.start()
for how in ("SIGTERM", "SIGKILL"):
    idle = Line(c.public)
    ok(idle.post(c.task["crash"].upload([1]))[0] == 204, "%s: a connection is kept open" % how)
    c.process.send_signal(getattr(signal, how))
    c.wait()
    c.launch()
    ok(c.until(c.ready) and c.upload([c.task["crash"].upload([1])])[0] == 204, "%s: it starts at once on the same port" % how, c.said())
    idle.close()
ok(c.stop() == 0, "ends", c.said())

# ---- Sockets of a service manager ---------------------------------------------------


def manager_socket(address=("127.0.0.1", 0), family=socket.AF_INET):
    s = socket.socket(family)
    s.bind(address)
    s.listen(1024)
    return s


class Sender(threading.Thread):
    """Uploads one after another, each into a cell of its own, and notes what was
    not answered. It takes another connection when it is told to, and rather than
    use one that was silent for long."""

    def __init__(self, c, first):
        super().__init__(daemon=True)
        self.c, self.cell, self.done = c, first, False
        self.acknowledged, self.refused, self.unanswered, self.odd = [], [], [], []

    def run(self):
        line, used, wire = None, 0, None
        while not self.done:
            if line is None or time.monotonic() - used > 0.3:
                try:
                    line, used = Line(self.c.public), time.monotonic()
                except Gone as e:
                    self.refused.append(e)
                    return
            wire = wire or self.c.task["cells"].upload([self.cell])
            sent = time.monotonic()
            try:
                status, headers, body = line.post(wire)
            except Gone as e:
                # A machine that stands still for longer than idle connections have may send after the close: not the collector's fault.
                # The collector's time begins with its last answer, which came at some time after `used`.
                if time.monotonic() - used > 0.8:
                    line = None
                    continue
                self.unanswered.append((self.cell, e))
                return
            wire, used = None, sent
            self.acknowledged.append(self.cell) if status == 204 else self.odd.append((status, body))
            self.cell += 1
            if headers.get("connection") == "close":
                line = None
            time.sleep(0.004)


c = Collector("handed")
public, admin = manager_socket(), manager_socket()
c.start(sockets=(public, admin))
ok(c.public == public.getsockname() and c.admin == admin.getsockname(), "it serves the sockets that it was handed", c.said())
senders = [Sender(c, 10000 * i) for i in range(SENDERS)]
for s in senders:
    s.start()
codes = []
for _ in range(RESTARTS):
    time.sleep(0.2)
    codes.append(c.stop())
    c.start(sockets=(public, admin))
time.sleep(0.2)
for s in senders:
    s.done = True
for s in senders:
    s.join(DEADLINE)
counted = c.cells("cells")
sent = [cell for s in senders for cell in s.acknowledged]
print("# %d uploads over %d restarts" % (len(sent), RESTARTS))
ok(codes == [0] * RESTARTS, "it ends well each time", codes)
ok(not any(s.refused for s in senders), "%d restarts under load: nobody is refused" % RESTARTS, [s.refused for s in senders])
ok(not any(s.unanswered for s in senders), "nor is a request without an answer", [s.unanswered for s in senders])
ok(not any(s.odd for s in senders) and all(len(s.acknowledged) > RESTARTS for s in senders), "every sender got through all of them", [(len(s.acknowledged), s.odd[:3]) for s in senders])
ok(sorted(sent) == sorted(counted) and set(counted.values()) == {1}, "and what was acknowledged is counted once", len(counted))
c.kill()
late = socket.create_connection(public.getsockname())
late.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
c.start(sockets=(public, admin))
ok(late.recv(4096).startswith(b"HTTP/1.1 200 "), "who comes while none runs is served by the next")
ok(c.stop() == 0, "ends", c.said())

c = Collector("file", admin="unix:" + path("admin.sock"))
file = manager_socket(path("admin.sock"), socket.AF_UNIX)
c.start(sockets=(file,))
s = socket.socket(socket.AF_UNIX)
s.connect(path("admin.sock"))
s.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
ok(s.recv(4096).startswith(b"HTTP/1.1 200 "), "a socket file may be handed over, beside an address of its own")
ok(c.stop() == 0 and os.path.exists(path("admin.sock")), "which stays: it is the manager's")

c = Collector("wrong", listen="127.0.0.1:%d" % reserve_port(), admin=None, admin_open=False)
c.launch(sockets=(public,))
ok(c.wait() == 1 and "LISTEN_FDS: %s:%d: " % public.getsockname() in c.said() and "listen" in c.said(), "a socket of another address is an error that names it", c.said())
half = socket.socket()
half.bind(("127.0.0.1", 0))
c = Collector("deaf")
c.launch(sockets=(half,))
ok(c.wait() == 1 and "handed over" in c.said(), "as is one that does not listen", c.said())
done()
