#!/usr/bin/python3 -B
"""Bad input: the right exit code, a message that says where and what to do,
no output, and never the private value."""

import hashlib

from e2e import *

CANARY = "canary7351"  # a truth that must not turn up anywhere
NUMBER = "735.1931"
UNIT = ["--epsilon", "1"]
LIST = ["--values", "a,b,c", *UNIT]
TAG = b"hearsay scheme 1"  # what a scheme's digest begins with


def refuses(args, code, words, sentence, stdin=b""):
    """Exit code, all words in the message, no output file, no canary."""
    out = path("out")
    r = run(*args, "-o", out, stdin=stdin)
    good = (r.code == code and all(w in r.err for w in words) and r.err.startswith("hearsay: ") and
            not os.path.exists(out) and CANARY not in r.err and NUMBER not in r.err and r.out == b"")
    left = [f for f in os.listdir(TMP) if f.startswith(".hearsay") or f.endswith(".tmp")]
    ok(good and not left, sentence, "%s\n%s" % (r, left))
    if os.path.exists(out):
        os.remove(out)


def truth(options, stdin, words, sentence):
    refuses(["randomize", *options], 1, words, sentence, stdin)


truth(LIST, "a\n%s\nb\n" % CANARY, ["line 2", "--other"], "a truth outside the list: line and what to do")
truth(LIST, "a\n" * 70000 + CANARY, ["line 70001"], "the last line, without its end, far down")
truth(LIST, "a\n\nb\n", ["line 2", "empty"], "an empty line")
truth(LIST, "a\nb \n", ["line 2"], "a space is not dropped")
truth(LIST, b"a\n\xff\xfe%s\n" % CANARY.encode(), ["line 2"], "bytes that are no UTF-8")
truth(LIST, b"a\nb\0%s\n" % CANARY.encode(), ["line 2"], "a NUL in a truth")
truth(LIST, ("a\n" + CANARY * 10000 + "\n").encode(), ["line 2", "65536"], "an endless line")
truth(["--yes-no", *UNIT], "yes\n%s\n" % CANARY, ["line 2", "must be yes or no"], "neither yes nor no")
truth(["--domain", "7", *UNIT], "6\n7\n", ["line 2", "--domain"], "an integer outside the domain")
truth(["--domain", "7", *UNIT], "6\n-1\n", ["line 2"], "a negative integer")
truth(["--domain", "7", *UNIT], "6\n18446744073709551617\n", ["line 2"], "an integer that would wrap round")
truth(["--range", "0:10", *UNIT], "1\n%s\n" % NUMBER, ["line 2", "--clip"], "a number outside the range")
for number in (CANARY, "1e1", "0x5", "1,5", "5 ", " 5", "--5", "+5", ".", "5.", "nan", "inf", "1.2.3"):
    truth(["--range", "0:10", *UNIT], "1\n%s\n" % number, ["line 2", "decimal"], "a malformed number: %r" % number.replace(CANARY, "a word"))
truth(["--range", "0:10", "--bins", "5", *UNIT], "1\n%s\n" % NUMBER, ["line 2", "--clip"], "a number outside the bins")
truth(["--strings", *UNIT], CANARY * 200 + "\n", ["line 1", "1024"], "a string that is too long")
truth(["--other", *LIST], "a\n\n", ["line 2", "empty"], "an empty line is not \"other\"")


MARK = b"\xef\xbb\xbf"
for kind, value in ((["--strings"], b"a"), (["--values", "a,b", "--other"], b"a"), (["--values", "a,b"], b"a"), (["--yes-no"], b"yes"),
                    (["--domain", "3"], b"1"), (["--range", "0:9"], b"1"), (["--range", "0:9", "--bins", "3", "--clip"], b"1")):
    truth([*kind, *UNIT], MARK + value + b"\n", ["line 1", "byte-order mark"], "truths with a byte-order mark: %s" % " ".join(kind))


def usage(args, words, sentence, stdin=b"a\n"):
    refuses(args, 2, words, sentence, stdin)


for epsilon in ("0", "-1", "nan", "inf", "-inf", "32.1", "1e9", "1e-3", "", "0.0000001", "ln0", "1 "):
    usage(["randomize", "--values", "a,b", "--epsilon", epsilon], ["--epsilon"], "epsilon %r" % epsilon)
usage(["randomize", "--values", "", *UNIT], ["empty"], "an empty list")
usage(["randomize", "--values", "a,,b", *UNIT], ["value 2", "empty"], "an empty value")
usage(["randomize", "--values", "a,b,a", *UNIT], ["value 3", "twice"], "a value that stands there twice")
usage(["randomize", "--values", 'a,"b', *UNIT], ["quote"], "an open quote")
usage(["randomize", "--values", "a,b\nc", *UNIT], ["line break"], "a line break in a value")
usage(["randomize", "--values", b"a,\xff\xfe".decode("utf-8", "surrogateescape"), *UNIT], ["UTF-8"], "a value that is no UTF-8")
usage(["randomize", "--domain", "0", *UNIT], ["--domain"], "d = 0")
usage(["randomize", *UNIT], ["--yes-no"], "no question")
usage(["randomize", "--yes-no", "--strings", *UNIT], ["one question"], "two questions")
usage(["randomize", "--yes-no"], ["--epsilon"], "no epsilon")
usage(["randomize", "--range", "5:5", *UNIT], ["--range"], "an empty range")
usage(["randomize", "--range", "0:10", "--bins", "0", *UNIT], ["--bins"], "no bins")
usage(["randomize", "--yes-no", "--bins", "3", *UNIT], ["--range"], "bins without a range")
usage(["randomize", "--yes-no", "--other", *UNIT], ["--other"], "--other without a list")
usage(["randomize", "--values", "a,b", "--mechanism", "nonesuch", *UNIT], ["hearsay mechanisms"], "no such mechanism")
usage(["randomize", "--values", "a,b", "--mechanism", "onebit", *UNIT], ["mechanism"], "a mechanism for another kind")
usage(["randomize", "--yes-no", "--set", "spinner=0.5"], ["no information"], "a spinner that tells nothing")
usage(["randomize", "--yes-no", "--set", "channel=1,0"], ["epsilon"], "a channel without noise")
usage(["randomize", "--yes-no", "--set", "spinner=0.7", "--epsilon", "0.1"], ["--epsilon"], "a spinner above the epsilon allowed")
usage(["randomize", "--yes-no", "--set", "coins=0.5"], ["two probabilities"], "half a design")
usage(["randomize", "--yes-no", "--seed", "1", *UNIT], ["--seed needs --simulate"], "a seed for real people")
usage(["randomize", "--yes-no", "--simulate", *UNIT], ["--seed"], "a simulation without a seed")
usage(["randomize", "--yes-no", "--epsilonn", "1"], ["did you mean --epsilon"], "a misspelt option")
usage(["randomize", "--yes-no", *UNIT, "x", "y"], ["unexpected argument 'y'"], "two inputs")
usage(["tally", "--nonesuch"], ["unknown option"], "an unknown option of tally")
usage(["randomize", "--yes-no", "--epsilon", "1", "--epsilon", "2"], ["--epsilon", "twice"], "two epsilons")
usage(["randomize", "--yes-no", "--epsilon=1", "--yes-no"], ["--yes-no", "twice"], "a flag twice")
usage(["tally", "-o", path("other")], ["--output", "twice"], "two outputs")
for args, words in ((["--yes-no", "--set", "spinner=0.5"], ["--set: "]), (["--strings", "--set", "spinner=0.3"], ["--set: "]),
                    (["--range", "0:9", "--bins", "2000000", "--mechanism", "oue", *UNIT], ["--bins: ", "1048576"]),
                    (["--domain", "2000000", "--mechanism", "oue", *UNIT], ["--domain: ", "1048576"]),
                    (["--domain", "3", "--mechanism", "onebit", *UNIT], ["--mechanism onebit does not", "--range"]),
                    (["--yes-no", "--set", "spinner=0.70000000001"], ["at most 9", "2^31"]),
                    (["--range", "0:9000000000000000000", *UNIT], ["--range", "2^62"]),
                    (["--range", ".:1", *UNIT], ["--range", "decimal numbers"]), (["--yes-no", "--epsilon", "5."], ["--epsilon", "decimal number"])):
    usage(["randomize", *args], words, "the option and its limit are named: %s" % " ".join(args[:4]))
truth(["--range", "0:10", *UNIT], "1\n5.\n", ["line 2", "decimal number"], "a number without a digit after its point")
LH = ["randomize", "--domain", "10", "--mechanism", "olh", *UNIT, "--set"]
usage([*LH, "g=4", "--set", "g=5"], ["--set g", "twice"], "a setting twice")
usage(["randomize", "--yes-no", "--set", "spinner=0.7", "--set", "coins=1/2,1/2"], ["--set coins", "one design"], "two designs")
usage([*LH, "g=1"], ["--set g: ", "at least 2 values\n"], "a hash of one value")
usage([*LH, "pool-bits=99"], ["--set pool-bits: ", "limit is 24"], "a pool too large")
usage([*LH, "pool-bits=0"], ["--set pool-bits", "from 1"], "a pool of no bits")
usage([*LH, "pool-seed=x"], ["--set pool-seed", "from 0"], "a seed that is no number")
usage([*LH, "nonesuch=1"], ["nonesuch", "help randomize"], "an unknown setting")
usage(["randomize", "--domain", "10", "--mechanism", "grr", *UNIT, "--set", "g=4"], ["--set g: ", "no such parameter"], "a setting of another mechanism")
usage(["randomize", "--values-file", "-", *UNIT], ["standard input", "once"], "list and truths both from standard input", b"a\nb\n")
usage(["randomize", "--values-file", "-", *UNIT, "-"], ["standard input", "once"], "the same, said twice", b"a\nb\n")
usage(["tally", "-", "-"], ["standard input", "once"], "standard input counted twice")

refuses(["randomize", "--values-file", path("nonesuch"), *UNIT], 1, ["No such file"], "a list that is not there")
refuses(["randomize", *LIST, path("nonesuch")], 1, ["No such file"], "truths that are not there")
for name, text, words in (
        ("twice", b"a\nb\na\n", ["line 3", "twice"]), ("empty line", b"a\n\nb\n", ["line 2", "empty"]),
        ("byte-order mark", b"\xef\xbb\xbfa\nb\n", ["line 1", "byte-order mark"]), ("nothing", b"", ["no values"]),
        ("no UTF-8", b"a\n\xc0\x80\n", ["line 2", "UTF-8"]), ("a long value", b"a\n" + b"x" * 5000, ["line 2", "4096"])):
    f = write("list", text)
    refuses(["randomize", "--values-file", f, *UNIT], 1, [f, *words], "a list file with %s" % name)

f = write("list", b"".join(b"%d%s\n" % (i, b"x" * 4090) for i in range(5600)))
refuses(["randomize", "--values-file", f, "--json", *UNIT], 1, ["--json", "too long", "67108864"], "a list too long for a line of JSON")

r = run("randomize", "--values", "only", *UNIT, "-o", path("out"), stdin="only\n")
ok(r.code == 0 and r.out == b"" and "nothing is sent" in r.err and not os.path.exists(path("out")),
   "d = 1: says that nothing is sent, and sends nothing", r)

# Streams. Truths behind them are canaries too: a message may not hold reports.
how = ["--values", "a,b,c,d,e", "--mechanism", "grr", *UNIT, "--simulate", "--seed", "3"]
stream = must("randomize", *how, stdin="abcde"[0] + "\n" + "c\n" * 30000)
text = must("randomize", *how, "--json", stdin="c\n" * 50)
tally = must("tally", stdin=stream)
none = must("randomize", *how, stdin="")

for name, data in (("stream", stream), ("tally", tally), ("twin", text)):
    where = sorted({0, 1, 7, 8, 30, 63, 64, 65, 100, len(data) // 2, len(data) - 33, len(data) - 1})
    for at in where:
        f = write("cut", data[:at])
        refuses(["tally", f], 1, [f], "a %s cut at byte %d" % (name, at))
silent = []
for name, data in (("stream", stream), ("tally", tally)):
    step = 11 if SHORT else 1
    for at in [*range(0, min(len(data), 420), step), *range(420, len(data), 499), *range(len(data) - 40, len(data), step)]:
        changed = bytearray(data)
        changed[at] ^= 1 << at % 8
        r = run("tally", stdin=bytes(changed))
        if r.code != 1 or r.out != b"" or not r.err:
            silent.append((name, at, r.code))
ok(not silent, "every flipped bit is noticed in a stream and in a tally", silent)


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def with_cell(tally, value):
    """The tally of five cells, right in all but the first of them."""
    at = len(tally) - 32 - 5 * 8  # an END behind them
    head, rest = tally[at - 32:at], tally[at + 8:-32]
    cells = value.to_bytes(8, "little", signed=True) + rest
    head = head[:24] + crc32c(cells).to_bytes(4, "little")
    return tally[:at - 32] + head + crc32c(head).to_bytes(4, "little") + cells + tally[-32:]


ok(with_cell(tally, int.from_bytes(tally[-72:-64], "little")) == tally, "a tally can be put together by hand")
for cell in (2**63 - 1, -2**63, 30002, -30002):
    f = write("bad.tally", with_cell(tally, cell))
    refuses(["tally", f], 1, [f, "record 2", "number of reports"], "a tally of 30001 reports with a cell of %d" % cell)
    refuses(["tally", f, write("good", stream)], 1, [f, "record 2"], "and with a stream after it")
for name, data in (("a few letters", b"hello y\n"), ("one byte", b"y"), ("text", b"hello\n" * 100), ("zeros", bytes(1000))):
    f = write("foreign", data)
    refuses(["tally", f], 1, [f, "not a hearsay file", "'hearsay randomize'"], "it is said of %s that it is no hearsay file" % name)
for name, magic, words in (("uploads", b"HSYU", "to the collector"), ("document", b"HSYD", "hearsay tasks show")):
    f = write(name, magic + bytes(125))
    refuses(["tally", f], 1, [f, words], "tally says what it was given: %s" % name)
f = write("foreign", stream + b"y")
refuses(["tally", f], 1, [f, "after the end"], "and of what follows a stream")
for name, data in (("at the end", text + b"\n"), ("with a carriage return", text + b"\r\n")):
    f = write("foreign", data)
    refuses(["tally", f], 1, [f, "line %d: empty" % (text.count(b"\n") + 1)], "an empty line of JSON %s" % name)
f = write("foreign", text.replace(b"\n", b"\n\n", 1))
refuses(["tally", f], 1, [f, "line 2: empty"], "an empty line of JSON within")
f = write("mixed", stream + must("randomize", "--yes-no", *UNIT, stdin="yes\n"))
refuses(["tally", f], 1, [f + ": holds parts", "differ"], "two streams in one file that cannot be mixed")


for rows, words in (("0.7,0.2\n0.3,0.7\n", ["--set matrix", "column 2: adds up to less than 1"]),
                    ("0.7,0.4\n0.4,0.6\n", ["column 1: adds up to more than 1"]), ("0.7,0\n0.3,1\n", ["column 2: a probability is 0"])):
    usage(["randomize", "--domain", "2", "--set", "matrix=" + write("m.csv", rows)], words, "a matrix: %s" % words[-1])
BINS = ["--range", "0:9", "--bins", "9", *UNIT]
for args, words in (([*BINS, "--mechanism", "hh", "--set", "fanout=1"], ["at least 2 children\n"]),
                    ([*BINS, "--mechanism", "hh", "--set", "fanout=2000"], ["at most 1024 children\n"]),
                    (["--domain", "500", "--mechanism", "pgr", "--set", "q=3", "--set", "t=2", *UNIT], ["take a larger t or q\n"]),
                    (["--strings", "--mechanism", "grr", *UNIT], ["--mechanism grr", "it supports --values, --range --bins\n"]),
                    (["--yes-no", "--mechanism", "wavelet", *UNIT], ["--mechanism wavelet", "it supports --range --bins\n"]),
                    (["--yes-no", "--set", "channel=0.9,0.1", "--epsilon", "1"], ["--epsilon", "the cap", "--set"]),
                    (UNIT, ["missing question", "--attribute"]), (["--yes-no", "--strings", *UNIT], ["one question", "--attribute"])):
    usage(["randomize", *args], words, "the message says: %s" % words[-1].strip())


def with_labels(tally, labels):
    """The tally with other names for its values, right in every checksum."""
    at, old = 64 + 384, int.from_bytes(tally[16:20], "little")
    block = b"".join(len(l).to_bytes(4, "little") + l for l in labels)
    scheme = bytearray(tally[64:at])
    scheme[152:160] = len(block).to_bytes(8, "little")
    scheme[160:192] = hashlib.blake2b(block, digest_size=32).digest()
    prefix = bytearray(tally[:64])
    prefix[16:20] = len(block).to_bytes(4, "little")
    prefix[20:24] = crc32c(bytes(scheme) + block).to_bytes(4, "little")
    prefix[24:56] = hashlib.blake2b(TAG + bytes(scheme), digest_size=32).digest()
    prefix[60:64] = crc32c(bytes(prefix[:60])).to_bytes(4, "little")
    return bytes(prefix) + bytes(scheme) + block + tally[at + old:]


ok(with_labels(tally, [b"a", b"b", b"c", b"d", b"e"]) == tally, "a list can be put together by hand")
for labels, words, sentence in (([b"a", b"b", b"a", b"d", b"e"], ["value 3", "twice"], "a tally with a name twice"),
                                ([b"a", b"b", b"c", b"", b"e"], ["value 4", "empty"], "a tally with an empty name")):
    f = write("names.tally", with_labels(tally, labels))
    r = run("estimate", f)
    ok(r.code == 1 and f in r.err and all(w in r.err for w in words) and r.out == b"", sentence + " is not estimated", r)
    r = run("estimate", f, "--against", f)
    ok(r.code == 1 and r.out == b"", "nor compared", r)

for name, data in (("text", b"hello\n" * 100), ("zeros", bytes(1000)), ("a gzip file", b"\x1f\x8b\x08" + bytes(500)), ("nothing", b""),
                   ("JSON of another kind", b'{"a": 1}\n'), ("a stream and garbage after it", stream + b"garbage" * 20)):
    f = write("foreign", data)
    refuses(["tally", f], 1, [f], "a foreign file: %s" % name)
    r = run("estimate", f)
    ok(r.code == 1 and f in r.err and r.out == b"", "the same for estimate", r)
f = write("foreign", text.replace(b'"report":', b'"report":9', 1) if b'"report":' in text else text + b"junk\n")
refuses(["tally", f], 1, [f], "a report with impossible content")
third = text.splitlines(True)
for name, bad in (("cut", third[2][:5] + b"\n"), ("outside the domain", b'{"report":77}\n')):
    f = write("foreign", b"".join([*third[:2], bad, *third[3:]]))
    refuses(["tally", f], 1, [f, "line 3"], "a line of JSON that is %s is named by its number" % name)
refuses(["tally", path("nonesuch")], 1, ["No such file"], "a file that is not there")
refuses(["tally", TMP], 1, [TMP], "a directory")

for name, data in (("stream", none), ("tally", must("tally", stdin=none))):
    r = run("estimate", "-", stdin=data)
    ok(r.code == 1 and "no data" in r.err and r.out == b"", "n = 0, a %s: no data" % name, r)


def estimate(args, code, words, sentence, data=tally):
    r = run("estimate", "-", *args, stdin=data)
    ok(r.code == code and all(w in r.err for w in words) and r.out == b"", sentence, r)


for level in ("0", "1", "-1", "nan", "95", "100", "100%", "1.0", "x", "0x.8", " 0.5", "0.5 ", "5e-1", "+0.5", ".", ""):
    estimate(["--level", level], 2, ["--level"], "level %r" % level)
for a, b in ((["--level", "99%"], ["--level", "0.99"]), (["--level", "9/10"], ["--level", "0.9"]), (["--assume-lying", "1%"], ["--assume-lying", "0.01"])):
    ok(must("estimate", *a, "--format", "csv", stdin=tally) == must("estimate", *b, "--format", "csv", stdin=tally), "%s is %s" % (a, b))
half = must("randomize", "--range", "0:8", "--bins", "8", "--mechanism", "hh", *UNIT, "--simulate", "--seed", "1", stdin="1\n5\n" * 100)
ok(must("estimate", "--quantile", "25%,50%", "--format", "csv", stdin=half).decode().replace("25%", "0.25").replace("50%", "0.5") ==
   must("estimate", "--quantile", "0.25,0.5", "--format", "csv", stdin=half).decode(), "quantiles in per cent")
for a, b in ((["--level", ".9"], ["--level", "0.9"]), (["--assume-lying", ".01"], ["--assume-lying", "0.01"])):
    ok(must("estimate", *a, "--format", "csv", stdin=tally) == must("estimate", *b, "--format", "csv", stdin=tally),
       "estimate reads %s %s as %s" % (*a, b[1]))
for args, plain in ((["--yes-no", "--epsilon", ".5"], ["--yes-no", "--epsilon", "0.5"]), (["--range", "-.5:.5", *UNIT], ["--range", "-0.5:0.5", *UNIT])):
    said = [must("randomize", *how, "--simulate", "--seed", "1", stdin=b"0\n") for how in (args, plain)]
    ok(said[0] == said[1], "randomize reads %s as %s" % (" ".join(args), " ".join(plain)))
ok(must("randomize", "--range", "0:1", *UNIT, "--simulate", "--seed", "1", stdin=b".5\n") ==
   must("randomize", "--range", "0:1", *UNIT, "--simulate", "--seed", "1", stdin=b"0.5\n"), "randomize reads the truth .5 as 0.5")
spun = [must("randomize", "--yes-no", "--set", "spinner=" + p, "--simulate", "--seed", "1", stdin="yes\nno\n") for p in ("0.7", "70%")]
ok(spun[0] == spun[1], "a spinner of 70% is one of 0.7, byte for byte")
for args, words in ((["--interval", "wilsn"], "did you mean 'wilson'"), (["--post", "norm-sib"], "did you mean 'norm-sub'")):
    estimate(args, 2, [words], "the word that was meant: %s" % words)
usage(["randomize", "--values", "a,b", "--mechanism", "grrr", *UNIT], ["did you mean 'grr'"], "the mechanism that was meant")
estimate(["--level", "0.5", "--level", "0.9"], 2, ["--level", "twice"], "two levels")
estimate(["--candidates", "-"], 2, ["standard input", "once"], "tally and candidates both from standard input")
estimate(["--against", "-"], 2, ["standard input", "once"], "both tallies from standard input")
estimate(["--interval", "wide"], 2, ["wilson"], "an unknown interval")
estimate(["--interval", "wald"], 1, ["--interval wald", "at least 50 reports"], "Wald intervals of few reports",
         must("randomize", "--yes-no", *UNIT, stdin="yes\n"))
estimate(["--post", "magic"], 2, ["norm-sub"], "an unknown post-processing")
estimate(["--format", "xml"], 2, ["json"], "an unknown format")
estimate(["--top", "0"], 2, ["--top"], "the top none")
estimate(["--candidates", path("nonesuch")], 1, ["No such file"], "candidates that are not there")
estimate(["--candidates", write("c", "a\nz\n")], 1, ["line 2", "not a value"], "a candidate outside the list")
estimate(["--candidates", write("c", "a\na\n")], 1, ["line 2", "twice"], "a candidate twice")
estimate(["--candidates", write("c", "a\n\n")], 1, ["line 2", "empty"], "an empty candidate")
estimate(["--candidates", write("c", b"\xef\xbb\xbfa\n")], 1, ["byte-order mark"], "candidates with a byte-order mark")
words = must("tally", stdin=must("randomize", "--strings", *UNIT, stdin="x\n"))
estimate([], 1, ["--candidates"], "strings without candidates", words)
window = must("randomize", "--range", "0:8", "--bins", "8", "--mechanism", "sw", *UNIT, stdin="1\n" * 200)
estimate(["--quantile", "0.5", "--density", "ems"], 1, ["--quantile", "bias"], "quantiles of a smoothed shape", window)
estimate(["--quantile", "0.5", "--interval", "score"], 1, ["--interval", "linear"], "other intervals of sw", window)
estimate(["--quantile", "0.5"], 1, ["at most 256 bins"], "quantiles of sw with many bins",
         must("randomize", "--range", "0:300", "--bins", "300", "--mechanism", "sw", *UNIT, stdin="1\n" * 200))
for level in ("0", "1", "100", "100%", "-0.5", "nan"):
    estimate(["--level", level], 2, ["--level"], "a level of %s" % level, window)
    estimate(["--level", level, "--quantile", "0.5"], 2, ["--level"], "a level of %s for a quantile" % level, window)
for option in ("--replicates", "--seed"):
    estimate([option, "30"], 2, [option], "%s, which intervals without draws do not have" % option, window)
mean = must("tally", stdin=must("randomize", "--range", "0:1", *UNIT, stdin="0\n" * 200))
estimate(["--candidates", write("c", "a\n")], 1, ["--candidates"], "candidates of a mean", mean)
estimate(["--post", "norm"], 1, ["--post"], "post-processing of a mean", mean)
estimate(["--against", write("m", mean)], 1, ["cannot be compared"], "a list against a mean")
estimate(["--against", path("nonesuch")], 1, ["No such file"], "against nothing")

done()
