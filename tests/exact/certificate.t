#!/usr/bin/env python3
"""X1 by a second route: integers only, from Python's own arithmetic.

Reads schemes from test_certificate --dump and brackets e^epsilon by squaring:
e^x = (e^(x / 2^100))^(2^100), the inner one between 1 + y + y^2/2 and
1 + y + y^2/2 + y^3, which shares no step with the series of the C test.
"""

import math
import os
import subprocess
from fractions import Fraction

SAMPLE = "200"
BITS = 700
HALVINGS = 100
ONE = 1 << BITS


def bracket(nano):
    """e^(nano / 1e9) in units of 2^-BITS, from below and from above."""
    y = Fraction(nano, 10**9 << HALVINGS)
    low = math.floor((1 + y + y * y / 2) * ONE)
    high = math.ceil((1 + y + y * y / 2 + y**3) * ONE)
    for _ in range(HALVINGS):
        low = low * low >> BITS
        high = -(-(high * high) >> BITS)
    return low, high


def ratio(fields):
    num = den = 1
    for field in fields:
        a, b = (int(x) or 1 << 64 for x in field.split("/"))
        num, den = num * a, den * b
    return num, den


def digits(name, nano):
    """Claimed minus real epsilon is below 2^-digits, as test_certificate says."""
    if name == "laplace":  # few digits where epsilon is large
        return min(34, 51 - 3 * (nano // (2 * 10**9)))
    table = {"sue": 28, "oue": 28, "cms": 28, "sfp": 27, "rappor": 28, "pgr": 36, "hpg": 36}
    return table.get(name, 40)


def main():
    program = os.environ.get("B", "build") + "/tests/exact/test_certificate"
    out = subprocess.run(
        [program, "--dump", SAMPLE], capture_output=True, text=True, check=True
    ).stdout
    counts, above, noisy, wrong = {}, {}, {}, {}
    for line in out.splitlines():
        name, nano, exact, *factors = line.split()
        nano = int(nano)
        num, den = ratio(factors)
        low, high = bracket(nano)
        slack = digits(name, nano)
        counts[name] = counts.get(name, 0) + 1
        if num * ONE > low * den:
            above[name] = above.get(name, 0) + 1
        if num * ONE * ((1 << slack) + 1) < high * den << slack:
            noisy[name] = noisy.get(name, 0) + 1
        # ln(num / den) by the float logarithm of a number near 1 or far off.
        real = math.log1p(float(Fraction(num - den, den)))
        close = abs(float(exact) - real) <= 4e-15 * real
        if not close or float(exact) > nano / 1e9:
            wrong[name] = wrong.get(name, 0) + 1
    test = 0
    for name, count in counts.items():
        for bad, what in (
            (above, "no worst ratio is above e^epsilon"),
            (noisy, "none is needlessly noisy"),
            (wrong, "epsilon_exact is the logarithm of the ratio"),
        ):
            test += 1
            verdict = "not ok" if bad.get(name) else "ok"
            print(f"{verdict} {test} - {name}: {what} ({count} schemes)")
    test += 1
    verdict = "ok" if len(counts) >= 7 else "not ok"
    print(f"{verdict} {test} - every mechanism was dumped")
    print(f"1..{test}")


main()
