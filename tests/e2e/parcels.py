"""parcels.py - batches of shufflers made and delivered by hand (docs/formats.md,
9 and 10), with the keys of a chain's parties: what an honest one never sends.

    b = Batch.of(chain.shufflers[1])      # what it has mixed and not delivered
    b.n -= 1                              # a lie
    b.sign(chain, 2)
    status, answer = deliver(chain.collector, b)
"""

import ctypes
import ctypes.util
import hashlib

from chain import *
from records import records

TYPE = "application/vnd.hearsay.parcel"
HEAD, PIECE = 256, 1 << 20
_SODIUM = ctypes.CDLL(ctypes.util.find_library("sodium"))
_SODIUM.sodium_init()


def secret(chain, own):
    """A party's key that signs: 1 and 2 are shufflers."""
    with open(chain.name("%s-sign.secret" % (own if isinstance(own, str) else "s%d" % own))) as f:
        return bytes.fromhex(f.read())


def signature(key, text):
    out = ctypes.create_string_buffer(64)
    _SODIUM.crypto_sign_detached(out, None, text, ctypes.c_ulonglong(len(text)), key)
    return out.raw


def is_signed(public, sig, text):
    return _SODIUM.crypto_sign_verify_detached(sig, text, ctypes.c_ulonglong(len(text)), public) == 0


class Batch:
    """A head's fields by name, the heads before, and envelopes."""

    FIELDS = (("place", 8, "<I"), ("of", 12, "<I"), ("id", 16, "16s"), ("task", 32, "32s"), ("release", 64, "<I"), ("scheme", 68, "32s"),
              ("epoch", 100, "<I"), ("part", 104, "<I"), ("n", 108, "<Q"), ("taken_in", 116, "<Q"), ("unopened", 124, "<Q"), ("length", 132, "<I"),
              ("digest", 136, "32s"))

    def __init__(self, wire):
        self.head = bytearray(wire[:HEAD])
        for name, at, kind in self.FIELDS:
            setattr(self, name, struct.unpack_from(kind, wire, at)[0])
        self.before = wire[HEAD:HEAD * self.place]
        self.envelopes = [wire[i:i + self.length] for i in range(HEAD * self.place, len(wire), self.length)]

    @classmethod
    def of(cls, shuffler, epoch=None):
        """The one that it has mixed, of an epoch: as its record says, for a file may be there before that."""
        where = os.path.join(shuffler.data, "mixed")
        found = []

        def one():
            found[:] = [row[0].hex() for row in records(shuffler, "SELECT id FROM mixes WHERE state = 3 AND epoch = %s" % (epoch or "epoch"))]
            return len(found) == 1
        if not shuffler.until(one):
            raise SystemExit("Bail out! it has mixed nothing: " + shuffler.said()[-2000:])
        with open(os.path.join(where, found[0]), "rb") as f:
            return cls(f.read())

    def copy(self, **other):
        b = Batch(self.wire())
        for name, value in other.items():
            setattr(b, name, value)
        return b

    def wire(self):
        return bytes(self.head) + self.before + b"".join(self.envelopes)

    def named(self, chain, own):
        """Give it the id that a party's batch of this task, epoch and part has."""
        self.id = hashlib.blake2b(b"hearsay batch id 1" + secret(chain, own)[32:] + self.task + struct.pack("<III", self.release, self.epoch, self.part),
                                  digest_size=16).digest()
        return self

    def sign(self, chain, own, digest=True):
        """The head as its fields say, signed by a party."""
        if digest:
            self.digest = hashlib.blake2b(self.before + b"".join(self.envelopes), digest_size=32).digest()
        for name, at, kind in self.FIELDS:
            struct.pack_into(kind, self.head, at, getattr(self, name))
        self.head[192:] = signature(secret(chain, own), bytes(self.head[:192]))
        return self

    def receipt_holds(self, receipt, public):
        return is_signed(public, receipt, b"hearsay receipt 1" + self.id + self.digest + struct.pack("<Q", self.n))


def post(party, body, kind=TYPE):
    """(status, answer's 96 bytes, or what a problem says)."""
    status, _, answer = ask(party.public, "POST", "/v1/batches", body, **{"Content-Type": kind})
    return status, answer if status == 200 else json.loads(answer).get("detail", "")


def part(kind, rest):
    return b"HSYD" + struct.pack("<I", 1 | kind << 16) + rest


def begin(party, b):
    return post(party, part(1, bytes(b.head) + b.before))


def piece(party, b, key, at=0, data=None):
    body = part(2, b.id + struct.pack("<Q", at) + (b"".join(b.envelopes) if data is None else data))
    return post(party, body + signature(key, body))


def end(party, b, key):
    body = part(3, b.id)
    return post(party, body + signature(key, body))


def deliver(party, b, key):
    """All that it lacks: the first answer that is no 200, or the last."""
    status, answer = begin(party, b)
    if status == 200 and answer[6] != 2:
        at, = struct.unpack("<Q", answer[24:32])  # it may have them all, after a 503 at the end
        rest = b"".join(b.envelopes)[at:]
        if rest:
            status, answer = piece(party, b, key, at, rest)
        if status == 200:
            status, answer = end(party, b, key)
    return status, answer


def receipt_of(answer):
    """The receipt in an answer; None: there is none."""
    return answer[32:] if answer[:4] == b"HSYA" and answer[6] == 2 else None
