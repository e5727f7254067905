#!/usr/bin/env python3
"""Vectors of RAPPOR's client dialects, by Python's own hashes.

usage: tools/gen_rappor_vectors.py DIRECTORY

Written from the description in docs/compat-rappor.md, independently of
src/host/format; columns as in RAPPOR's own encoder vectors.
"""
import csv
import hashlib
import hmac
import math
import os
import struct
import sys

VALUES = ["v1", "v2", "", "a", "comma,value", 'q"q', "\u00e9mile", "x" * 100]


def mac(key, message):
    return hmac.new(key, message, hashlib.sha256).digest()


def bloom_of(cohort, value, k, h, width):
    digest = hashlib.md5(struct.pack(">L", cohort) + value).digest()
    word = 0
    for i in range(h):
        word |= 1 << int.from_bytes(digest[i * width:(i + 1) * width], "little") % k
    return word


def replaced(word, coins, k, limit):
    """Bit i is coins[i] & 1 where coins[i] >> 1 is below the limit."""
    uniform = sum((coins[i] & 1) << i for i in range(k))
    mask = sum((coins[i] >> 1 < limit) << i for i in range(k))
    return uniform, mask, word & ~mask | uniform & mask


def drbg(secret, message, length):
    key, v, out = bytes(32), b"\1" * 32, b""
    for byte in (b"\0", b"\1"):
        key = mac(key, v + byte + secret + message)
        v = mac(key, v)
    while len(out) < length:
        v = mac(key, v)
        out += v
    return out[:length]


def python_rows():
    for n, (k, h, f) in enumerate([(16, 2, .5), (8, 1, .45), (32, 3, .25), (5, 2, .999), (32, 16, 0), (16, 2, 1)]):
        for value in VALUES:
            secret, cohort = "s%d" % n * (40 if n == 2 else 1), 37 * n
            word = bloom_of(cohort, value.encode(), k, h, 1)
            coins = mac(secret.encode(), struct.pack(">L", word))
            uniform, mask, prr = replaced(word, coins, k, f * 128)
            yield [secret, cohort, value, k, h, f] + ["{:0{}b}".format(x, k) for x in (word, uniform, mask, prr)]


def cpp_rows():
    for n, (k, h, m, f) in enumerate([(8, 2, 128, .5), (16, 2, 64, .45), (32, 4, 1, .25), (7, 1, 1024, .9)]):
        for value in VALUES:
            secret = ("c%d" % n) * (40 if n == 2 else 1)
            cohort = struct.unpack("<L", mac(secret.encode(), b"")[:4])[0] & m - 1
            word = bloom_of(cohort, value.encode(), k, h, 1)
            coins = mac(secret.encode(), b"\1" + b"metric" + struct.pack(">L", word))
            prr = replaced(word, coins, k, math.floor(f * 128))[2]
            yield [secret, "metric", value, k, h, m, f, cohort] + ["{:0{}b}".format(x, k) for x in (word, prr)]


def long_rows():
    for n, (k, h, m, f) in enumerate([(64, 2, 128, .5), (128, 4, 64, .45), (256, 2, 128, .25), (512, 8, 16, .5), (4096, 3, 2, .5)]):
        for value in VALUES:
            secret = "l%d" % n
            cohort = struct.unpack("<L", drbg(secret.encode(), b"", 4))[0] & m - 1
            width = -(-(k - 1).bit_length() // 8)
            word = bloom_of(cohort, value.encode(), k, h, width)
            coins = drbg(secret.encode(), b"\1" + b"metric" + word.to_bytes(k // 8, "big"), k)
            prr = replaced(word, coins, k, math.floor(f * 128))[2]
            yield [secret, "metric", value, k, h, m, f, cohort, "{:0{}x}".format(prr, k // 4)]


HEADS = {
    "python": (python_rows, "secret,cohort,value,k,h,f,bloom,uniform_mask,f_mask,prr"),
    "cpp": (cpp_rows, "secret,encoder_id,value,k,h,num_cohorts,f,cohort,bloom,prr"),
    "cpp_long": (long_rows, "secret,encoder_id,value,k,h,num_cohorts,f,cohort,prr_hex"),
}
for name, (rows, head) in HEADS.items():
    with open(os.path.join(sys.argv[1], "rappor_%s.csv" % name), "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(head.split(","))
        writer.writerows(rows())
