"""ohttp.py - Oblivious HTTP in plain Python, written from RFC 9458, 9292, 9180,
7748 and 8439 apart from the C: X25519, HKDF-SHA256, ChaCha20-Poly1305."""

import hashlib
import hmac
import os
import struct

P = 2 ** 255 - 19


def x25519(secret, point=9):
    k = int.from_bytes(secret, "little") & ~7 & (1 << 255) - 1 | 1 << 254
    u = (int.from_bytes(point, "little") if isinstance(point, bytes) else point) & (1 << 255) - 1
    x2, z2, x3, z3, swap = 1, 0, u, 1, 0
    for t in range(254, -1, -1):
        bit = k >> t & 1
        if swap ^ bit:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swap = bit
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        aa, bb, da, cb = a * a % P, b * b % P, d * a % P, c * b % P
        e = aa - bb
        x3, z3 = (da + cb) ** 2 % P, u * (da - cb) ** 2 % P
        x2, z2 = aa * bb % P, e * (aa + 121665 * e) % P
    if swap:
        x2, z2 = x3, z3
    return (x2 * pow(z2, P - 2, P) % P).to_bytes(32, "little")


def extract(salt, ikm):
    return hmac.new(salt or bytes(32), ikm, hashlib.sha256).digest()


def expand(prk, info, length):
    out, block, i = b"", b"", 1
    while len(out) < length:
        block = hmac.new(prk, block + info + bytes([i]), hashlib.sha256).digest()
        out, i = out + block, i + 1
    return out[:length]


def _labels(suite):
    def label_extract(salt, label, ikm):
        return extract(salt, b"HPKE-v1" + suite + label + ikm)

    def label_expand(prk, label, info, length):
        return expand(prk, struct.pack(">H", length) + b"HPKE-v1" + suite + label + info, length)
    return label_extract, label_expand


def _quarter(s, a, b, c, d):
    for x, y, z, n in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        s[x] = s[x] + s[y] & 0xFFFFFFFF
        v = s[z] ^ s[x]
        s[z] = v << n & 0xFFFFFFFF | v >> 32 - n


def _block(key, counter, nonce):
    start = list(struct.unpack("<4I8II3I", b"expand 32-byte k" + key + struct.pack("<I", counter) + nonce))
    s = start[:]
    for _ in range(10):
        for q in ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15), (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)):
            _quarter(s, *q)
    return struct.pack("<16I", *((a + b) & 0xFFFFFFFF for a, b in zip(s, start)))


def _stream(key, nonce, text):
    pad = b"".join(_block(key, 1 + i, nonce) for i in range((len(text) + 63) // 64))
    return bytes(a ^ b for a, b in zip(text, pad))


def _tag(key, nonce, aad, sealed):
    one = _block(key, 0, nonce)
    r, s = int.from_bytes(one[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF, int.from_bytes(one[16:32], "little")
    data = aad + bytes(-len(aad) % 16) + sealed + bytes(-len(sealed) % 16) + struct.pack("<QQ", len(aad), len(sealed))
    acc = 0
    for i in range(0, len(data), 16):
        acc = (acc + int.from_bytes(data[i:i + 16] + b"\1", "little")) * r % ((1 << 130) - 5)
    return (acc + s & (1 << 128) - 1).to_bytes(16, "little")


def seal(key, nonce, aad, text):
    sealed = _stream(key, nonce, text)
    return sealed + _tag(key, nonce, aad, sealed)


def unseal(key, nonce, aad, sealed):
    if _tag(key, nonce, aad, sealed[:-16]) != sealed[-16:]:
        raise ValueError("does not open")
    return _stream(key, nonce, sealed[:-16])


def varint(n):
    return bytes([n]) if n < 64 else struct.pack(">H", n | 0x4000) if n < 16384 else struct.pack(">I", n | 0x80000000)


def _read_varint(data, at):
    size = 1 << (data[at] >> 6)
    return int.from_bytes(data[at:at + size], "big") & (1 << 8 * size - 2) - 1, at + size


def request(content, method="POST", path="/v1/uploads", kind="application/octet-stream", size=0, authority="collector.example", **fields):
    """Binary HTTP, padded to size."""
    def text(t):
        t = t if isinstance(t, bytes) else t.encode()
        return varint(len(t)) + t
    head = b"".join(text(k.lower().replace("_", "-")) + text(v) for k, v in {"content-type": kind, **fields}.items())
    out = b"\0" + text(method) + text("https") + text(authority) + text(path) + varint(len(head)) + head + text(content)
    return out + bytes(max(1, size - len(out)))


def response(message):
    """(status, fields, content) of binary HTTP; what follows must be zeros."""
    kind, at = _read_varint(message, 0)
    status, at = _read_varint(message, at)
    assert kind == 1
    length, at = _read_varint(message, at)
    end, fields = at + length, {}
    while at < end:
        parts = []
        for _ in range(2):
            n, at = _read_varint(message, at)
            parts.append(message[at:at + n].decode())
            at += n
        fields[parts[0]] = parts[1]
    length, at = _read_varint(message, at) if at < len(message) else (0, at)
    assert not any(message[at + length:])
    return status, fields, message[at:at + length]


SUITE = struct.pack(">HHH", 0x20, 1, 3)


def keys(listed):
    """{id: public key} of application/ohttp-keys."""
    found = {}
    while listed:
        n, = struct.unpack_from(">H", listed)
        one, listed = listed[2:2 + n], listed[2 + n:]
        assert one[1:3] == b"\0\x20"
        found[one[0]] = one[3:35]
    return found


def parts(message):
    """(method, path, fields, content) of a request in binary HTTP; what follows
    must be zeros."""
    assert message[0] == 0
    at, words = 1, []
    for _ in range(4):
        n, at = _read_varint(message, at)
        words.append(message[at:at + n].decode())
        at += n
    length, at = _read_varint(message, at)
    end, fields = at + length, {}
    while at < end:
        pair = []
        for _ in range(2):
            n, at = _read_varint(message, at)
            pair.append(message[at:at + n].decode())
            at += n
        fields[pair[0]] = pair[1]
    length, at = _read_varint(message, at)
    assert not any(message[at + length:])
    return words[0], words[3], fields, message[at:at + length]


def number(pub):
    """What a key of hearsay's is called by."""
    return hashlib.blake2b(b"hearsay key 1" + pub, digest_size=32).digest()[0]


def answer_message(status, fields=(), content=b"", size=256):
    def text(t):
        t = t if isinstance(t, bytes) else t.encode()
        return varint(len(t)) + t
    head = b"".join(text(k) + text(v) for k, v in dict(fields).items())
    out = b"\1" + varint(status) + varint(len(head)) + head + text(content)
    return out + bytes(size - len(out))


class Opened:
    """A sealed request as its gateway sees it; ValueError if it is for another
    key or does not open."""

    def __init__(self, secret, sealed):
        pub, head = x25519(secret), sealed[:7]
        if head != bytes([number(pub)]) + SUITE:
            raise ValueError("another key")
        self.enc = sealed[7:39]
        kem_extract, kem_expand = _labels(b"KEM\0\x20")
        label_extract, label_expand = _labels(b"HPKE" + SUITE)
        shared = kem_expand(kem_extract(b"", b"eae_prk", x25519(secret, self.enc)), b"shared_secret", self.enc + pub, 32)
        context = b"\0" + label_extract(b"", b"psk_id_hash", b"") + label_extract(b"", b"info_hash", b"message/bhttp request\0" + head)
        prk = label_extract(shared, b"secret", b"")
        key, nonce = label_expand(prk, b"key", context, 32), label_expand(prk, b"base_nonce", context, 12)
        self.secret = label_expand(label_expand(prk, b"exp", context, 32), b"sec", b"message/bhttp response", 32)
        self.message = unseal(key, nonce, b"", sealed[39:])

    def answer(self, message):
        nonce = os.urandom(32)
        prk = extract(self.enc + nonce, self.secret)
        return nonce + seal(expand(prk, b"key", 32), expand(prk, b"nonce", 12), b"", message)


class Sealed:
    """A request for a gateway's key; answer() opens what comes back."""

    def __init__(self, key_id, pub, message):
        secret = os.urandom(32)
        head = bytes([key_id]) + SUITE
        self.enc = x25519(secret)
        kem_extract, kem_expand = _labels(b"KEM\0\x20")
        label_extract, label_expand = _labels(b"HPKE" + SUITE)
        shared = kem_expand(kem_extract(b"", b"eae_prk", x25519(secret, pub)), b"shared_secret", self.enc + pub, 32)
        context = b"\0" + label_extract(b"", b"psk_id_hash", b"") + label_extract(b"", b"info_hash", b"message/bhttp request\0" + head)
        prk = label_extract(shared, b"secret", b"")
        key, nonce = label_expand(prk, b"key", context, 32), label_expand(prk, b"base_nonce", context, 12)
        self.secret = label_expand(label_expand(prk, b"exp", context, 32), b"sec", b"message/bhttp response", 32)
        self.bytes = head + self.enc + seal(key, nonce, b"", message)

    def answer(self, sealed):
        nonce, body = sealed[:32], sealed[32:]
        prk = extract(self.enc + nonce, self.secret)
        return response(unseal(expand(prk, b"key", 32), expand(prk, b"nonce", 12), b"", body))
