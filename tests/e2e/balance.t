#!/usr/bin/python3 -B
"""HAProxy before two collectors, as packaging/ has it: both are used, one that
stops or is drained gets nothing more and costs no upload, and comes back by
itself. (Each counts for itself here; what they share is another test's.)"""

import threading

from proxies import *


class Node(Collector):
    """On ports that stay: of an address that nobody else has."""

    def __init__(self, name):
        self.host = "127.%d.%d.%d" % (*os.urandom(2), 1 + os.urandom(1)[0] % 254)
        super().__init__(name, listen=self.host + ":8080", admin=self.host + ":8081")

    def ready(self):
        self.public, self.admin = (self.host, 8080), (self.host, 8081)
        return "ready public=" in self.said()


cert = Certificate()
nodes = {"node1": Node("one"), "node2": Node("two")}
for node in nodes.values():
    node.start()
front = balancer([node.host for node in nodes.values()], cert)
task = nodes["node1"].task["cells"]
fresh, lock, acknowledged, strange = iter(range(65536)), threading.Lock(), set(), []


def tell(words):
    """Say something to HAProxy; its answer."""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(front.stats)
        s.sendall(words.encode() + b"\n")
        return b"".join(iter(lambda: s.recv(65536), b"")).decode()


def state(name):
    rows = csv.DictReader(io.StringIO(tell("show stat").lstrip("# ")))
    return next(row["status"].split()[0] for row in rows if row["svname"] == name)


def send():
    with lock:
        cell = next(fresh)
    status, _, body = front.upload(task.upload([cell]))
    if status == 204:
        acknowledged.add(cell)
    elif status != 503:  # nobody was there to take it, says HAProxy: nothing is promised
        strange.append((status, body))


def counted(name):
    return set(nodes[name].cells("cells"))


def sent(n):
    for _ in range(n):
        send()


until(lambda: state("node1") == state("node2") == "UP")
ok(front.ask("GET", "/healthz")[::2] == (200, b"ok\n") and front.ask("GET", "/readyz")[0] == front.ask("GET", "/metrics")[0] == 404,
   "what is public is passed on, and nothing else")
sent(20)
ok(counted("node1") and counted("node2"), "both collectors get uploads")
tell("set server hearsay_collectors/node1 state drain")
before = counted("node1")
sent(20)
ok(counted("node1") == before and state("node1") == "DRAIN", "one that is drained gets no more")
tell("set server hearsay_collectors/node1 state ready")
over = False


def sender():
    while not over:
        send()


threads = [threading.Thread(target=sender, daemon=True) for _ in range(4)]
for t in threads:
    t.start()
goal = len(acknowledged) + 100
until(lambda: len(acknowledged) >= goal)
code = nodes["node1"].stop()
goal = len(acknowledged) + 100
ok(code == 0 and until(lambda: len(acknowledged) >= goal) and until(lambda: state("node1") == "DOWN"), "one is stopped under load: the other goes on", state("node1"))
nodes["node1"].start()
ok(until(lambda: state("node1") == "UP"), "and is used again when it is back", state("node1"))
over = True
for t in threads:
    t.join(DEADLINE)
ok(not strange, "no upload fails for it", strange[:3])
one, two = counted("node1"), counted("node2")
ok(one | two >= acknowledged and not one & two, "each that was acknowledged is counted, by one of them", (len(one), len(two), len(acknowledged)))
front.stop()
done()
