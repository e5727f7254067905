#!/usr/bin/python3 -B
"""Every line reaches its report: at epsilon 32, and with this seed always, a
report is the truth itself, so that the reading of lines can be seen."""

import random
import time

from e2e import *

rng = random.Random(11)
HOW = ["--epsilon", "32", "--mechanism", "grr", "--json", "--simulate", "--seed", "1"]


def reports(kind, data, chunk=None):
    """The reports for these lines, fed whole or in pieces."""
    if chunk is None:
        out = must("randomize", *kind, *HOW, stdin=data)
    else:
        f = write("lines", data)
        feed = subprocess.Popen(["dd", "if=" + f, "bs=%d" % chunk, "status=none"], stdout=subprocess.PIPE)
        out = subprocess.run([HEARSAY, "randomize", *kind, *HOW], stdin=feed.stdout, stdout=subprocess.PIPE).stdout
        feed.wait()
    return [json.loads(l)["report"] for l in out.decode().splitlines()[1:-1]]


def check(values, n, sentence, ends=("\n",), chunk=None):
    kind = ["--values-file", write("values", lines(values))]
    places = [rng.randrange(len(values)) for _ in range(n)]
    data = "".join(values[p] + rng.choice(ends) for p in places).encode()
    ok(reports(kind, data, chunk) == places, sentence)
    ok(reports(kind, data.rstrip(b"\r\n"), chunk) == places, "the same without the last line's end")


check(["v%d" % i for i in range(1000)], 50000, "short values")
check(["x" * n for n in range(1, 301)], 20000, "values of every length from 1 to 300")
check(["x" * n + str(n % 7) for n in range(1, 41)], 20000, "values around 8 and 16 bytes, in pieces of 1000", chunk=1000)
check(["first by%04dlast byt" % i for i in range(3000)], 50000, "values that differ only in their middle")
check(["first by" + c + "z" * 24 + "last byt" for c in "abcdefghijklmnopqrstuvwxyz"] +
      ["first by" + "z" * 24 + c + "last byt" for c in "abcdefghijklmnopqrstuvwxy"], 5000, "the same, longer")
check(["a", "b\u00fc", "c d", "\u65e5\u672c\u8a9e", "-", "--", "#", '"q"', "0"], 20000, "odd values, LF and CR LF mixed", ("\n", "\r\n"))
check([c * 4096 for c in "abc"], 300, "values of 4096 bytes, in pieces of 4097", chunk=4097)
check([str(i) for i in range(100)], 2000, "in pieces of 7 bytes", chunk=7)

n = 5000
numbers = [rng.randrange(n) for _ in range(30000)]
ok(reports(["--domain", n], lines(numbers)) == numbers, "integers of a domain")
ok(reports(["--domain", n], lines("%06d" % x for x in numbers)) == numbers, "with leading zeros")
bins = ["--range", "-1:1", "--bins", "200"]
steps = [rng.randrange(-1000000, 1000001) for _ in range(20000)]
texts = ["%s%d.%06d" % ("-" if s < 0 else "", abs(s) // 1000000, abs(s) % 1000000) for s in steps]
want = [min((s + 1000000) // 10000, 199) for s in steps]
ok(reports(bins, lines(texts)) == want, "numbers fall into their bins")

# A shell may leave standard input non-blocking: nothing there yet is no end.
ours, theirs = os.pipe()
os.set_blocking(ours, False)
child = subprocess.Popen([HEARSAY, "randomize", "--domain", "10", *HOW], stdin=ours, stdout=subprocess.PIPE)
os.close(ours)
time.sleep(.2)
for part in (b"1\n2\n", b"3\n4"):
    os.write(theirs, part)
    time.sleep(.1)
os.close(theirs)
out = child.communicate()[0].decode().splitlines()
ok(child.returncode == 0 and [json.loads(l).get("report") for l in out[1:-1]] == [1, 2, 3, 4], "a non-blocking input is waited for", out)

done()
