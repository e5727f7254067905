#!/usr/bin/python3 -B
"""A chain whose links and disks fail: requests, answers and receipts are lost or
torn between hops; the next hop is down, slow, busy, or something else answers
in its place; each party's disk is full for a while. Everything that was
acknowledged arrives in the end, once."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from machine import *
from chain import *
from records import records
from relays import Wire, http_answer

BEGIN, PIECE, END = 1, 2, 3
NAMES_ = {BEGIN: "a head", PIECE: "a piece", END: "an end"}


class Hop(Wire):
    """Where a next hop should be: who answers has each request whole."""

    def __init__(self):
        super().__init__(None)

    def serve(self, peer):
        rest, over = b"", False
        with peer:
            while not over:
                while b"\r\n\r\n" not in rest:
                    got = peer.recv(65536)
                    if not got:
                        return
                    rest += got
                head, rest = rest.split(b"\r\n\r\n", 1)
                length = int(re.search(rb"(?i)content-length: (\d+)", head).group(1))
                while len(rest) < length:
                    got = peer.recv(65536)
                    if not got:
                        return
                    rest += got
                body, rest = rest[:length], rest[length:]
                answer, over = self.answer_to(head, body)
                peer.sendall(answer)


class Between(Hop):
    """On the way to a next hop: what befalls a request is said by a list of
    (kind, what); others pass."""

    def __init__(self, to):
        self.to, self.plan, self.delay = to, [], 0
        super().__init__()

    def fate(self, body):
        kind = struct.unpack_from("<I", body, 4)[0] >> 16
        for i, (of, what) in enumerate(self.plan):
            if of == kind:
                del self.plan[i]
                return what
        return "passes"

    def pass_on(self, head, body, whole=True):
        """To the next hop on a connection of its own; its answer."""
        with socket.create_connection(self.to, timeout=DEADLINE) as s:
            request = head.replace(b"keep-alive", b"close") + b"\r\n\r\n" + body
            s.sendall(request if whole else request[:len(request) - len(body) // 2])
            if not whole:
                return None
            got = b""
            while b"\r\n\r\n" not in got or len(got) < got.index(b"\r\n\r\n") + 4 + int(re.search(rb"(?i)content-length: (\d+)", got).group(1)):
                more = s.recv(65536)
                if not more:
                    raise ConnectionError
                got += more
            return got

    def answer_to(self, head, body):
        """The bytes of an answer, and whether the connection is closed after them."""
        what = self.fate(body)
        time.sleep(self.delay)
        if what == "is lost":
            return b"", True
        if what == "is torn":
            self.pass_on(head, body, whole=False)
            return b"", True
        if what.startswith("is answered by "):
            return http_answer(what[-3:] + " No", b"no", "text/plain"), False
        answer = self.pass_on(head, body)
        if what == "is done, and its answer lost":
            return b"", True
        return (answer[:-40], True) if what == "is done, and its answer torn" else (answer, False)


c = Chain(shufflers=2, min_batch=5, start=False, sandbox="off")
first, second = c.shufflers
links = {first: Between(c.address(second)), second: Between(c.address(c.collector))}
for party in c.parties:
    party.machine = Machine("machine-" + os.path.basename(party.dir))
    if party in links:
        party.more["next"] = links[party].url
        party.configure()
    party.start(env=party.machine.env)
sent = 0


def come(n=6):
    """So many are acknowledged."""
    global sent
    status, body = c.send(c.uploads(range(sent, sent + n)))
    sent += n
    return status == 204


def all_there():
    return c.collector.settled("veiled", sent) == {i: 1 for i in range(sent)}


def next_day():
    c.at(c.now[0] + 1, 7)


# ---- Links ---------------------------------------------------------------------------

FATES = ("is lost", "is torn", "is done, and its answer lost", "is done, and its answer torn", "is answered by 500", "is answered by 503")
plans = [(kind, what) for what in FATES for kind in (BEGIN, PIECE, END)]
while plans:
    now = plans[:2]
    plans = plans[2:]
    for link in links.values():
        link.plan = list(now)
    come()
    next_day()
    said = "; ".join("%s %s" % (NAMES_[kind], what) for kind, what in now)
    ok(all_there() and not any(link.plan for link in links.values()), "on both links %s: all arrives, once" % said, [[link.plan for link in links.values()], second.said()[-800:]])
for link in links.values():
    link.delay = 0.4
come()
next_day()
ok(all_there(), "by slow links too")
for link in links.values():
    link.delay = 0

# ---- A next hop that is down, or somebody else's -----------------------------------------

for party, before in ((second, first), (c.collector, second)):
    party.kill()
    come()
    next_day()
    ok(before.until(lambda: "next-lost" in before.said()), "a next hop that is down is noticed")
    party.start(env=party.machine.env)
    ok(all_there() and before.until(lambda: "next-reached" in before.said()), "and reached once it is there", before.said()[-500:])


def answers(text):
    return Wire(lambda n: text)


garbage = {"a page": http_answer(body=b"<html>Welcome</html>", kind="text/html"), "nothing": http_answer(), "an answer of zeros": http_answer(body=bytes(96)),
           "no HTTP": b"220 mail.example ESMTP\r\n\r\n"}
for what, text in garbage.items():
    link, stub = first.more["next"], answers(text)
    first.stop()
    first.configure(next=stub.url)
    first.start(env=first.machine.env)
    come()
    next_day()
    ok(first.until(lambda: "batch-refused" in first.said() or "next-lost" in first.said()), "something else answers with %s: it is noticed" % what, first.said())
    ok(first.batches()[(date(c.now[0] - 1), 0)] == ("mixed", 6), "and nothing is erased", first.batches())
    first.stop()
    first.configure(next=link)
    first.start(env=first.machine.env)
    ok(all_there(), "and all arrives where it should")
    stub.close()


class Liar(Hop):
    """A next hop that says that it has all, and has no receipt for it: or wants
    bytes that there are not."""

    def __init__(self, at, done_):
        self.at, self.done, self.asked = at, done_, 0
        super().__init__()

    def answer_to(self, head, body):
        self.asked += 1
        kind = struct.unpack_from("<I", body, 4)[0] >> 16
        id_ = body[8 + 16:8 + 32] if kind == BEGIN else body[8:24]
        came = struct.unpack_from("<Q", body, 24)[0] + len(body) - 32 - 64 if kind == PIECE else self.at if kind == END else 0
        receipt = self.done and kind == END
        return http_answer(kind="application/vnd.hearsay.parcel", body=b"HSYA" + struct.pack("<I", 1 | (2 if receipt else 1) << 16) + id_ +
                           struct.pack("<Q", 0 if receipt else came) + (os.urandom(64) if receipt else bytes(64))), False


for at, done_, what in ((0, False, "wants all of it again at the end"), (1 << 40, False, "wants bytes that there are not"), (0, True, "gives a receipt that nobody signed")):
    link, liar = first.more["next"], Liar(at, done_)
    first.stop()
    first.configure(next=liar.url)
    first.start(env=first.machine.env)
    come()
    next_day()
    ok(first.until(lambda: "batch-refused" in first.said()) and liar.asked == 3, "a next hop that %s is not believed, and not asked on and on" % what, [liar.asked, first.said()])
    ok(first.batches()[(date(c.now[0] - 1), 0)] == ("mixed", 6), "and nothing is erased", first.batches())
    first.stop()
    first.configure(next=link)
    first.start(env=first.machine.env)
    ok(all_there(), "and all arrives where it should", first.said())
    liar.close()

# ---- Disks ---------------------------------------------------------------------------

first.machine.strike(errno.ENOSPC, 0, WRITES, on=True)
wire = c.uploads(range(sent, sent + 6))
status, body = c.send(wire)
ok(status == 503, "a first shuffler whose disk is full acknowledges nothing", [status, body])
first.machine.well()
ok(first.until(lambda: c.send(wire)[0] == 204), "and takes them once there is room", first.said())
sent += 6
next_day()
ok(all_there(), "they arrive")
for party, name in ((first, "first shuffler"), (second, "second shuffler"), (c.collector, "collector")):
    for which, where in ((WRITES, "writes"), (NAMES, "new files")):
        come()
        party.machine.strike(errno.ENOSPC, 0, which, on=True)
        next_day()
        ok(party.until(lambda: party.machine.struck >= 2) and party.process.poll() is None, "the disk of the %s is full for %s: it lives" % (name, where), party.said())
        party.machine.well()
        ok(all_there(), "and all arrives once there is room, once", [party.said()[-600:], first.batches(), second.batches()])
ok(all(s.until(lambda: records(s, "SELECT count(*) FROM batches WHERE type = 3") == [(0,)]) for s in c.shufflers), "no envelope is left")
ok(all(p.stop() == 0 for p in c.parties), "all end well", [p.said()[-500:] for p in c.parties])
done()
