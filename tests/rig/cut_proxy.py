"""cut_proxy.py - stands before PostgreSQL and cuts connections at chosen moments.

    proxy = CutProxy(server.address, seed=7, moments={BEFORE: 1, AFTER: 1}, commits=20)
    ... clients connect to proxy.address ...
    proxy.cuts                        # Counter({'before': 3, 'after': 2})
    proxy.rest()                      # from now on everything passes
    proxy.freeze(); proxy.thaw()      # nothing passes, nothing is refused

Every connection is cut once, when its turn comes: at the commit whose number the
seed gives for the number of the connection, at most the `commits`th, BEFORE it
reaches the server, AFTER the server has answered it, or once it is SENT, when
nobody knows; or after some BYTES or MESSAGES of the client. Half of the cuts are
in good order (FIN), half not (RST), for the client. A commit is known by its
text, in a query or in a statement that was prepared, whatever its name.
"""

import collections
import random
import re
import select
import socket
import struct
import threading

BEFORE, AFTER, SENT, BYTES, MESSAGES = "before", "after", "sent", "bytes", "messages"
_SSL, _GSS = 80877103, 80877104
_COMMIT = re.compile(r"^\s*(commit|end)(\s+(work|transaction))?\s*$", re.I)


class _Cut(Exception):
    """The moment has come."""


def commits(text):
    """Whether one of the statements of a text is a commit."""
    return any(_COMMIT.match(statement) for statement in text.decode("utf-8", "replace").split(";"))


def messages(buffer, first=False):
    """Take the whole messages out of a bytearray: (type, all of its bytes)."""
    while len(buffer) >= (4 if first else 5):
        head = 0 if first else 1
        length = head + struct.unpack_from(">I", buffer, head)[0]
        if len(buffer) < length:
            return
        whole = bytes(buffer[:length])
        del buffer[:length]
        yield (None if first else whole[:1]), whole
        if first:
            return


class _Line:
    """One connection, and the moment at which it is to be cut. A thread of its own
    moves the bytes of both directions, so that they are seen in one order."""

    def __init__(self, proxy, client, number):
        self.proxy, self.client, self.server = proxy, client, None
        chance = random.Random("%s:%d" % (proxy.seed, number))
        kinds = sorted(proxy.moments)
        self.moment = chance.choices(kinds, [proxy.moments[k] for k in kinds])[0] if kinds else None
        self.left = chance.randint(1, {BYTES: proxy.bytes, MESSAGES: proxy.messages}.get(self.moment, proxy.commits))
        self.abrupt = chance.random() < 0.5
        self.started = False  # the client has said who it is
        self.named = set()  # prepared statements that commit
        self.asked, self.answered = 0, -1  # syncs and queries; the server is ready once before the first
        self.pending = collections.deque()  # of each commit under way: which answer it is part of, whether it is the one
        self.bell, self.rung = socket.socketpair()

    def run(self):
        try:
            self.server = socket.create_connection(self.proxy.to, timeout=120)
            for sock in (self.client, self.server):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                sock.setblocking(False)
            self.move()
        except _Cut:
            self.proxy.count(self.moment)
        except OSError:
            pass
        self.close()

    def move(self):
        """Pass on what comes until an end comes."""
        others = {self.client: self.server, self.server: self.client}
        come, go = ({sock: bytearray() for sock in others} for _ in range(2))
        try:
            while True:
                frozen = self.proxy.frozen
                readable, writable, _ = select.select([self.rung] if frozen else [self.rung, *others], [] if frozen else [s for s in others if go[s]], [])
                if self.rung in readable and b"!" in self.rung.recv(64):
                    return
                with self.proxy.gate:
                    if not self.proxy.frozen and not self.step([s for s in readable if s in others], writable, come, go, others):
                        return
        finally:  # what came before the end arrives
            for sock in others if not self.proxy.frozen else ():
                sock.settimeout(120)
                try:
                    sock.sendall(go[sock])
                except OSError:
                    pass

    def step(self, readable, writable, come, go, others):
        """Move what can be moved at once; false at an end."""
        for sock in writable:
            del go[sock][:sock.send(go[sock])]
        for sock in readable:
            data = sock.recv(65536)
            if not data:
                return False
            come[sock] += data
            for part in (self.from_client if sock is self.client else self.from_server)(come[sock]):
                go[others[sock]] += part
        return True

    def ring(self, text):
        """Wake its thread: it looks whether it is frozen, and ends if told (!)."""
        try:
            self.bell.send(text)
        except OSError:
            pass

    def close(self):
        if self.abrupt:
            self.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        for sock in filter(None, (self.server, self.client, self.bell, self.rung)):
            sock.close()
        self.proxy.forget(self)

    # ---- What passes, and when it no longer does ----

    def from_client(self, buffer):
        while not self.started:
            found = list(messages(buffer, first=True))
            if not found:
                return
            whole = found[0][1]
            if struct.unpack_from(">I", whole, 4)[0] in (_SSL, _GSS):
                self.client.send(b"N")  # what is encrypted cannot be read
                continue
            self.started = True
            yield whole
        for kind, whole in messages(buffer):
            yield from self.passing(kind, whole, self.is_commit(kind, whole))

    def passing(self, kind, whole, commit):
        """The message, or the part of it that comes before the cut."""
        cutting, size = self.proxy.cutting, {BYTES: len(whole), MESSAGES: 1}.get(self.moment, commit)
        self.left -= size if cutting else 0
        now = cutting and self.left <= 0
        if now and self.moment == BYTES:
            yield whole[:len(whole) + self.left]
            raise _Cut
        if now and commit and self.moment == BEFORE:
            raise _Cut
        if commit:
            self.pending.append((self.asked, now))
        self.asked += kind in (b"Q", b"S")
        yield whole
        if now and (self.moment == MESSAGES or self.moment == SENT and kind in (b"Q", b"S")):
            raise _Cut  # of what is sent: all of it, with the sync that follows

    def is_commit(self, kind, whole):
        if kind == b"Q":
            return commits(whole[5:-1])
        if kind == b"P":
            name, text = whole[5:].split(b"\0")[:2]
            (self.named.add if commits(text) else self.named.discard)(name)
        elif kind == b"B":
            return whole[5:].split(b"\0")[1] in self.named
        return False

    def from_server(self, buffer):
        for kind, whole in messages(buffer):
            due = self.pending and self.pending[0][0] == self.answered
            if due and kind == b"C" and whole[5:-1] in (b"COMMIT", b"ROLLBACK"):
                if self.pending.popleft()[1] and self.moment == AFTER:
                    raise _Cut
            elif kind == b"Z":
                if due:  # an error came before it, and it was passed over: the next one is meant
                    self.pending.popleft()
                    self.left = max(self.left, 1)
                self.answered += 1
            yield whole


class CutProxy:
    def __init__(self, to, seed=1, moments=None, commits=10, bytes=20000, messages=100):
        """to: the address of the server. moments: kinds of cuts and their weights,
        {} to cut none. commits, bytes, messages: the most that pass before a cut."""
        self.to, self.seed = to, seed
        self.moments = {BEFORE: 1, AFTER: 1} if moments is None else moments
        self.commits, self.bytes, self.messages = commits, bytes, messages
        self.cuts, self.connections = collections.Counter(), 0
        self.cutting = bool(self.moments)
        self.frozen, self.gate = False, threading.Lock()
        self.lock, self.lines = threading.Lock(), set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = self.listener.getsockname()
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, user="hearsay", database="hearsay"):
        return "postgresql://%s@%s:%d/%s" % (user, *self.address, database)

    def _accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            with self.lock:
                line = _Line(self, client, self.connections)
                self.connections += 1
                self.lines.add(line)
            threading.Thread(target=line.run, daemon=True).start()

    def count(self, moment):
        with self.lock:
            self.cuts[moment] += 1

    def forget(self, line):
        with self.lock:
            self.lines.discard(line)

    def rest(self):
        """Cut no more; connections that are there stay."""
        self.cutting = False

    def _ring(self, text):
        with self.lock:
            lines = list(self.lines)
        for line in lines:
            line.ring(text)
        return lines

    def freeze(self):
        """From now on nothing passes; connections are taken, and hang."""
        with self.gate:
            self.frozen = True
        self._ring(b".")

    def thaw(self):
        self.frozen = False
        self._ring(b".")

    def cut_all(self):
        """Every connection, now."""
        self._ring(b"!")

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.cut_all()
