#!/usr/bin/env python3
"""Write tests/vectors/*.json: numbers the library must hit exactly.

The arithmetic here shares nothing with the library's: integers of any size,
with a lower and an upper bound carried side by side. A number is written only
if both bounds round to it.

    tools/gen_vectors.py           write the files
    tools/gen_vectors.py --check   compare them with the committed ones

Run from the root of the repository. The files have one record a line, so that
a C test can read them with sscanf; 64-bit numbers are strings, because JSON
readers may cut them to doubles.
"""

import hashlib
import json
import pathlib
import sys

PRECISION = 512  # bits behind the point
FOLDER = pathlib.Path("tests/vectors")
HALF = 2 * 10**9  # half nano-epsilon in 1
EPSILON_MAX = 32 * 10**9  # nano-epsilon


def exp_bounds(half_nano):
    """Integers low, high with low <= e^(half_nano/HALF) 2^PRECISION <= high."""
    low = high = term_low = term_high = 1 << PRECISION
    j = 0
    while j * HALF < 2 * half_nano or term_high > 1:
        j += 1
        term_low = term_low * half_nano // (HALF * j)
        term_high = -(-term_high * half_nano // (HALF * j))
        low += term_low
        high += term_high
    # From here on each term is at most half of the one before.
    return low, high + term_high


def agreed(low, high):
    assert low == high, "more PRECISION is needed"
    return low


def weight(half_nano, shift):
    """floor(e^x 2^shift)."""
    low, high = exp_bounds(half_nano)
    return agreed(low << shift >> PRECISION, high << shift >> PRECISION)


def flip(half_nano):
    """ceil(2^64 / (e^x + 1))."""
    one, top = 1 << PRECISION, 1 << (64 + PRECISION)
    low, high = exp_bounds(half_nano)
    return agreed(-(-top // (low + one)), -(-top // (high + one)))


def log_floor(n, unit):
    """The largest integer i with e^(unit i / HALF) <= n, by bisection."""
    low, high = 0, 88 * 10**9 // unit
    while low < high:
        middle = (low + high + 1) // 2
        bounds = exp_bounds(unit * middle)
        if agreed(*(b <= n << PRECISION for b in bounds)):
            low = middle
        else:
            high = middle - 1
    return low


def draw(name, i, below):
    """A reproducible number below the bound: the hash of its place."""
    digest = hashlib.sha256(f"{name} {i}".encode()).digest()
    return int.from_bytes(digest, "big") % below


def half_nanos():
    """Where e^x is asked: round values, hard places, and any."""
    nano = [10**3, 10**4, 10**6, 10**7, 10**8, 5 * 10**8]
    nano += [10**9 * i for i in (1, 2, 3, 4, 5, 8, 12, 16, 20, 24, 32)]
    places = {1, 2, 3, 88 * 10**9 - 1, 88 * 10**9}
    for n in nano:
        places |= {n, 2 * n}
    # Next to powers of two and small integers, on both sides.
    for n in [2**k for k in range(1, 64)] + [3, 5, 7, 10, 100, 1000, 10**9 + 7]:
        place = log_floor(n, 1)
        places |= {place, place + 1}
    places |= {draw("exp", i, 64 * 10**9) + 1 for i in range(300)}
    # As many with few digits: small epsilons are where slack is dearest.
    places |= {draw("small", i, 2 * 10 ** (4 + i % 6)) + 2000 for i in range(200)}
    return sorted(places)


def exp_records():
    for h in half_nanos():
        bits = weight(h, 0).bit_length()
        for shift in sorted({min(32, 64 - bits), 64 - bits}):
            yield {
                "half_nano": str(h),
                "bits": bits,
                "flip": str(flip(h)),
                "shift": shift,
                "weight": str(weight(h, shift)),
            }


def convergents(num, den):
    """The fractions of the continued fraction of num / den that fit 64 bits."""
    p, q, p_before, q_before = 1, 0, 0, 1
    while den:
        whole, rest = divmod(num, den)
        p, q, p_before, q_before = whole * p + p_before, whole * q + q_before, p, q
        if max(p, q) >= 1 << 64:
            return
        yield p, q
        num, den = den, rest


def covers_records():
    """Fractions as close to e^x as 64 bits allow: what no threshold can see.

    The closest above must not be covered; the closest below must be, if it is
    farther away than the 2^-115 that exp.c claims to lose at most.
    """
    one = 1 << PRECISION
    for h in half_nanos()[::3]:
        low, high = exp_bounds(h)
        below = above = None
        for p, q in convergents(low, one):
            if p * one > high * q:
                above = p, q
            elif (low * q - p * one) << 115 > low * q:
                below = p, q
        for covered, pair in ((1, below), (0, above)):
            if pair is not None:
                num, den = map(str, pair)
                yield {
                    "half_nano": str(h),
                    "num": num,
                    "den": den,
                    "covers": covered,
                }


def log_records():
    numbers = set(range(2, 41)) | {10**k for k in range(2, 14)}
    numbers |= {2**k for k in range(6, 47)}
    numbers |= {draw("log", i, 7 * 10**13) + 2 for i in range(40)}
    numbers |= {78962960182680, 78962960182681}  # e^32 lies between them
    for n in sorted(numbers):
        nano = log_floor(n, 2)  # nano are two half nano
        assert 0 < nano <= EPSILON_MAX
        yield {"text": f"ln{n}", "nano_epsilon": str(nano)}


# File name -> generator of its records.
FILES = {
    "exp.json": exp_records,
    "covers.json": covers_records,
    "log.json": log_records,
}


def text_of(records):
    lines = ",\n".join(json.dumps(record) for record in records)
    return f"[\n{lines}\n]\n"


def check():
    """Print the files that differ."""
    wrong = [name for name, records in FILES.items()
             if (FOLDER / name).read_text() != text_of(records())]
    for name in wrong:
        print(f"{FOLDER / name}: differs")
    return wrong != []


def write():
    for name, records in FILES.items():
        (FOLDER / name).write_text(text_of(records()))
    return 0


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    sys.exit(check() if sys.argv[1:] else write())
