#!/usr/bin/python3 -B
"""Small files in RAPPOR's own formats, of a population that is known.

usage: gen_rappor_fixture.py DIRECTORY

Written for tests/e2e/rappor.t from the definition of RAPPOR alone: hashes are
MD5's bytes as in its Python client, noise is Python's generator with a fixed
seed. decode_*: 60,000 reports of 12 strings, two of them not listed, among 28
bogus candidates. pair_*: 6,000 reports of a string and a boolean of the same
person, which depend on each other.
"""

import hashlib
import io
import os
import random
import sys

F, P, Q = 0.25, 0.25, 0.75


def bits(text, cohort, k, h):
    digest = hashlib.md5(cohort.to_bytes(4, "big") + text.encode()).digest()
    return [digest[i] % k for i in range(h)]


def report(rng, word, k):
    """Both steps on the set bits of a filter."""
    out = 0
    for b in range(k):
        bit = b in word
        if rng.random() < F:
            bit = rng.random() < 0.5
        out |= (rng.random() < (Q if bit else P)) << b
    return out


def params(path, k, h, m):
    with open(path, "w") as f:
        f.write("k,h,m,p,q,f\n%d,%d,%d,%s,%s,%s\n" % (k, h, m, P, Q, F))


def mapping(path, names, k, h, m):
    with open(path, "w") as f:
        for name in names:
            where = [c * k + b + 1 for c in range(m) for b in bits(name, c, k, h)]
            f.write(",".join([name] + [str(x) for x in where]) + "\n")


def decode(to):
    rng = random.Random(1)
    k, h, m, n = 32, 2, 16, 60000
    names = ["word%d" % i for i in range(12)]
    weights = [1 / (i + 1) for i in range(12)]
    totals, ones, truth = [0] * m, [[0] * k for _ in range(m)], dict.fromkeys(names, 0)
    for name in rng.choices(names, weights, k=n):
        cohort = rng.randrange(m)
        word = report(rng, bits(name, cohort, k, h), k)
        totals[cohort] += 1
        truth[name] += 1
        for b in range(k):
            ones[cohort][b] += word >> b & 1
    params(os.path.join(to, "decode_params.csv"), k, h, m)
    listed = [x for x in names if x not in ("word4", "word9")] + ["bogus%d" % i for i in range(28)]
    mapping(os.path.join(to, "decode_map.csv"), listed, k, h, m)
    with open(os.path.join(to, "decode_counts.csv"), "w") as f:
        for c in range(m):
            f.write(",".join(str(x) for x in [totals[c]] + ones[c]) + "\n")
    with open(os.path.join(to, "decode_truth.csv"), "w") as f:
        f.write("string,count\n" + "".join("%s,%d\n" % x for x in truth.items()))


def pair(to):
    rng = random.Random(2)
    k, h, m, n = 16, 2, 8, 6000
    names = ["cat", "dog", "eel", "fox", "gnu"]  # the last two are not listed
    share, yes = [0.4, 0.25, 0.15, 0.12, 0.08], [0.8, 0.3, 0.5, 0.6, 0.4]
    out = io.StringIO()
    out.write("client,cohort,pet,owner\n")
    for i in range(n):
        at = rng.choices(range(5), share)[0]
        cohort = rng.randrange(m)
        word = report(rng, bits(names[at], cohort, k, h), k)
        answer = report(rng, [0] if rng.random() < yes[at] else [], 1)
        out.write("%d,%d,%s,%d\n" % (i, cohort, format(word, "0%db" % k), answer))
    params(os.path.join(to, "pair_params.csv"), k, h, m)
    mapping(os.path.join(to, "pair_map.csv"), names[:3], k, h, m)
    with open(os.path.join(to, "pair_reports.csv"), "w") as f:
        f.write(out.getvalue())
    with open(os.path.join(to, "pair_truth.csv"), "w") as f:
        f.write("pet,owner,share\n")
        for name, s, y in zip(names, share, yes):
            f.write("%s,true,%.6g\n%s,false,%.6g\n" % (name, s * y, name, s * (1 - y)))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    decode(sys.argv[1])
    pair(sys.argv[1])
