#!/usr/bin/env python3
"""Write tests/vectors/special.txt: special functions to 30 digits.

Nothing but the standard library's decimal arithmetic, and other methods than
the C code's: log-gamma by Stirling's series with Bernoulli numbers, tails by
their positive power series summed to the end, quantiles by Newton's method on
those. A line holds a function, its arguments (each an exact double) and the
value.

    tools/gen_special.py           write the file, in about a minute
    tools/gen_special.py --check   compare it with the committed one: all
                                   functions and arguments, every 7th value

Run from the root of the repository.
"""

import functools
import pathlib
import sys
from decimal import Decimal as D, getcontext
from fractions import Fraction
from math import comb

FILE = pathlib.Path("tests/vectors/special.txt")
HEAD = "# function, arguments, value: tools/gen_special.py"
SAMPLE = 7  # few of the rows that take long

DIGITS = 60
getcontext().prec = DIGITS
getcontext().Emin, getcontext().Emax = -10**9, 10**9


def bernoulli(count):
    """B_2, B_4, ... B_2count."""
    b = [Fraction(1)]
    for m in range(1, 2 * count + 1):
        b.append(-sum(comb(m + 1, k) * b[k] for k in range(m)) / (m + 1))
    return b[2::2]


BERNOULLI = bernoulli(40)


@functools.cache
def pi():
    """Machin's formula."""
    def arctan_inverse(n):
        total, power, k = D(0), D(1) / n, 0
        while abs(power) > D(10) ** -(getcontext().prec + 5):
            total += power / (2 * k + 1)
            power /= -n * n
            k += 1
        return total
    return 16 * arctan_inverse(5) - 4 * arctan_inverse(239)


def log_gamma(a):
    shift = D(1)
    while a < 80:
        shift *= a
        a += 1
    total = (a - D("0.5")) * a.ln() - a + (2 * pi()).ln() / 2
    for i, b in enumerate(BERNOULLI):
        k = 2 * (i + 1)
        total += D(b.numerator) / b.denominator / (k * (k - 1)) / a ** (k - 1)
    return total - shift.ln()


def sum_ratios(ratio):
    """1 + r0 + r0 r1 + ..., ratios positive and eventually below 1."""
    tiny = D(10) ** -(getcontext().prec - 8)
    term, total, k = D(1), D(1), 0
    while True:
        r = ratio(k)
        term *= r
        total += term
        k += 1
        if r < 1 and term < tiny * total * (1 - r):
            return total


def beta_log_density(a, b, x):
    """ln of x^a (1-x)^b / B(a, b)."""
    return (a * x.ln() + b * (1 - x).ln() + log_gamma(a + b) - log_gamma(a)
            - log_gamma(b))


def beta_small(a, b, x):
    """I_x(a, b) for x up to the mean: x^a y^b 2F1(a+b, 1; a+1; x) / (a B),
    or for small integer b the sum of y^j Gamma(a+j) / j!, j below b."""
    if b == int(b) and b <= 1000:
        term = total = D(1)
        for j in range(int(b) - 1):
            term *= (1 - x) * (a + j) / (j + 1)
            total += term
        return (a * x.ln()).exp() * total
    n = a + b
    total = sum_ratios(lambda k: (n + k) * x / (a + 1 + k))
    return beta_log_density(a, b, x).exp() * total / a


def beta_inc(a, b, x):
    if x * (a + b) <= a:
        return beta_small(a, b, x)
    return 1 - beta_small(b, a, 1 - x)


def gamma_log_density(a, x):
    return a * x.ln() - x - log_gamma(a)


def gamma_lower(a, x):
    total = sum_ratios(lambda k: x / (a + 1 + k))
    return gamma_log_density(a, x).exp() * total / a


def gamma_upper(a, x):
    """Legendre's continued fraction above the mean, else 1 - lower."""
    if x <= a + 1:
        return 1 - gamma_lower(a, x)
    b = x + 1 - a
    c, d, f = b, D(0), b
    for i in range(1, 10**7):
        b += 2
        d = 1 / (b - i * (i - a) * d)
        c = b - i * (i - a) / c
        f *= c * d
        if abs(c * d - 1) < D(10) ** -(DIGITS - 8):
            return gamma_log_density(a, x).exp() / f
    raise ArithmeticError("no convergence")


def normal_cdf(z):
    """Half of the chi-square tail with one degree of freedom."""
    half = D("0.5")
    if z <= 0:
        return half * gamma_upper(half, z * z / 2)
    return half + half * gamma_lower(half, z * z / 2)


def binomial_cdf(k, n, p):
    if p * (n + 1) >= k + 1:
        return beta_small(n - k, k + 1, 1 - p)
    return 1 - beta_small(k + 1, n - k, p)


def newton(function, slope, target, start, limit):
    """Root of ln function = ln target below limit; slope is by ln x."""
    x, goal = start, target.ln()
    for _ in range(100):
        value = function(x)
        step = (value.ln() - goal) * value / slope(x)
        x = min(x * (-step).exp(), (x + limit) / 2)
        if abs(step) < D(10) ** -35:
            return x
    raise ArithmeticError("no convergence")


def beta_inv(p, a, b):
    return newton(lambda x: beta_inc(a, b, x),
                  lambda x: beta_log_density(a, b, x).exp() / (1 - x), p,
                  a / (a + b), D(1))


def chi2_cdf(x, k):
    return gamma_lower(k / 2, x / 2)


def chi2_upper(x, k):
    return gamma_upper(k / 2, x / 2)


def chi2_quantile(p, k):
    return 2 * newton(lambda x: gamma_lower(k / 2, x),
                      lambda x: gamma_log_density(k / 2, x).exp(), p, k / 2,
                      D("Infinity"))


def normal_quantile(p):
    """Newton on ln cdf: concave, so it converges from the left."""
    z = D(-40) if p < D("1e-9") else D(-7)
    root = (2 * pi()).sqrt()
    for _ in range(200):
        value = normal_cdf(z)
        density = (-z * z / 2).exp() / root
        step = (value.ln() - p.ln()) * value / density
        z -= step
        if abs(step) < D(10) ** -35 * abs(z):
            return z
    raise ArithmeticError("no convergence")


def doubles(*values):
    """Each value as the exact decimal of its nearest double."""
    return [D(float(v)) for v in values]


# Each generator below yields rows: a function's name, its arguments, and a
# call that gives its value. The call is made when the value is wanted.

BETA_SHAPES = [(0.01, 0.02), (0.1, 3), (0.5, 0.5), (1, 1), (1, 50), (2, 3),
               (30, 1), (5, 700), (39.5, 39.5), (40, 40), (39.9, 4e4),
               (100.5, 60), (401, 600), (2500, 1e6), (1e5, 3), (1e5, 1e5),
               (7, 1e9), (3e8, 50), (1e6, 1e9), (1e9, 1e9)]
SIGMAS = [-36, -20, -8, -3, -1, -0.1, 0, 0.3, 2, 6]


def beta_vectors():
    for shape in BETA_SHAPES:
        a, b = doubles(*shape)
        mean = a / (a + b)
        sd = (mean * (1 - mean) / (a + b + 1)).sqrt()
        places = [mean + D(s) * sd for s in SIGMAS]
        places += [mean * D(t) for t in ("0.001", "0.2", "0.6", "0.95")]
        for x in sorted(places):
            x = D(float(x))
            if not 0 < x < 1:
                continue
            if beta_log_density(a, b, x) > -680:
                yield "beta_inc", (a, b, x), beta_inc


def beta_inv_vectors():
    shapes = [(0.5, 0.5), (1, 1), (1, 1000), (400, 601), (401, 600), (250, 751),
              (39, 3), (60, 70), (7311, 2690), (2690, 7311), (12, 1e6),
              (5e5, 5e5)]
    tails = [1e-300, 1e-30, 1e-8, 0.005, 0.025, 0.5, 0.975, 0.995, 0.999999]
    for shape in shapes:
        for tail in tails:
            a, b, p = doubles(*shape, tail)
            if p ** (1 / a) > D("1e-290"):  # about the value, where small
                yield "beta_inv", (p, a, b), beta_inv


def chi2_vectors():
    for k in (0.001, 0.3, 1, 2, 5, 30, 79, 80, 81, 300, 1e4, 1e6):
        for s in [-30] + SIGMAS + [12, 25]:
            x, kk = doubles(k + s * (2 * k) ** 0.5, k)
            if x <= 0:
                continue
            if gamma_log_density(kk / 2, x / 2) > -680:
                yield "chi2_cdf", (x, kk), chi2_cdf
                yield "chi2_upper", (x, kk), chi2_upper
        for x in doubles(k * 1e-6, k * 0.01, k * 0.3):
            if gamma_log_density(kk / 2, x / 2) > -680:
                yield "chi2_cdf", (x, kk), chi2_cdf


def chi2_quantile_vectors():
    for k in (0.3, 1, 2, 7, 79.5, 80.5, 1000, 1e5):
        for p in (1e-12, 0.001, 0.05, 0.5, 0.95, 0.99, 0.999999):
            yield "chi2_quantile", doubles(p, k), chi2_quantile


def normal_vectors():
    for z in (-37.5, -30.1, -20, -8.3, -5, -3, -1.96, -1, -0.5, -1e-3, -1e-9,
              1e-6, 0.3, 1, 1.959963984540054, 2.7, 5):
        yield "normal_cdf", doubles(z), normal_cdf
    for p in (1e-300, 1e-100, 1e-20, 1e-12, 1e-6, 0.001, 0.02425, 0.025, 0.07,
              0.08, 0.3, 0.499, 0.499999999):
        yield "normal_quantile", doubles(p), normal_quantile


def binomial_vectors():
    cases = [(0, 1, 0.3), (0, 50, 0.26), (3, 50, 0.26), (49, 50, 0.73),
             (400, 1000, 0.2689414213699951), (250, 1000, 0.2689414213699951),
             (100, 1000, 0.2689414213699951), (0, 10**6, 1e-6),
             (268000, 10**6, 0.2689414213699951),
             (499900000, 10**9, 0.5), (268941421, 10**9, 0.2689414213699951),
             (268500000, 10**9, 0.2689414213699951), (12, 10**9, 1e-8)]
    for case in cases:
        yield "binomial_cdf", doubles(*case), binomial_cdf


def rows():
    yield from normal_vectors()
    yield from chi2_vectors()
    yield from chi2_quantile_vectors()
    yield from beta_vectors()
    yield from beta_inv_vectors()
    yield from binomial_vectors()


def question(name, arguments):
    return " ".join([name, *(repr(float(a)) for a in arguments)])


def answer(arguments, function):
    return format(function(*arguments), ".30e")


def write():
    lines = [f"{question(name, arguments)} {answer(arguments, function)}"
             for name, arguments, function in rows()]
    FILE.write_text("\n".join([HEAD, *lines, ""]))
    return 0


def check():
    """Print what differs."""
    head, *lines = FILE.read_text().splitlines()
    stored = [tuple(line.rsplit(" ", 1)) for line in lines]
    wanted = list(rows())
    wrong = [] if head == HEAD else ["the first line"]
    if [q for q, _ in stored] != [question(n, a) for n, a, _ in wanted]:
        wrong.append("functions and arguments are others")
    else:
        wrong += [f"{q}: the value is another"
                  for (q, value), (_, arguments, function)
                  in list(zip(stored, wanted))[::SAMPLE]
                  if value != answer(arguments, function)]
    for line in wrong:
        print(f"{FILE}: {line}")
    return wrong != []


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    sys.exit(check() if sys.argv[1:] else write())
