#!/usr/bin/python3 -B
"""Bad input: the right exit code, a message that says where and what to do,
no output, and never the private value."""

from e2e import *

CANARY = "canary7351"  # a truth that must not turn up anywhere
NUMBER = "735.1931"
UNIT = ["--epsilon", "1"]
LIST = ["--values", "a,b,c", *UNIT]


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
truth(["--yes-no", *UNIT], "yes\n%s\n" % CANARY, ["line 2", "yes/no"], "neither yes nor no")
truth(["--domain", "7", *UNIT], "6\n7\n", ["line 2", "--domain"], "an integer outside the domain")
truth(["--domain", "7", *UNIT], "6\n-1\n", ["line 2"], "a negative integer")
truth(["--domain", "7", *UNIT], "6\n18446744073709551617\n", ["line 2"], "an integer that would wrap round")
truth(["--range", "0:10", *UNIT], "1\n%s\n" % NUMBER, ["line 2", "--clip"], "a number outside the range")
for number in (CANARY, "1e1", "0x5", "1,5", "5 ", " 5", "--5", "+5", ".", "5.", "nan", "inf", "1.2.3"):
    truth(["--range", "0:10", *UNIT], "1\n%s\n" % number, ["line 2", "decimal"], "a malformed number: %r" % number.replace(CANARY, "a word"))
truth(["--range", "0:10", "--bins", "5", *UNIT], "1\n%s\n" % NUMBER, ["line 2", "--clip"], "a number outside the bins")
truth(["--strings", *UNIT], CANARY * 200 + "\n", ["line 1", "1024"], "a string that is too long")
truth(["--other", *LIST], "a\n\n", ["line 2", "empty"], "an empty line is not \"other\"")


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
usage(["randomize", "--yes-no", "--seed", "1", *UNIT], ["refused", "--simulate"], "a seed for real people")
usage(["randomize", "--yes-no", "--simulate", *UNIT], ["--seed"], "a simulation without a seed")
usage(["randomize", "--yes-no", "--epsilonn", "1"], ["did you mean --epsilon"], "a misspelt option")
usage(["randomize", "--yes-no", *UNIT, "x", "y"], ["one input"], "two inputs")
usage(["tally", "--nonesuch"], ["no option"], "an unknown option of tally")

refuses(["randomize", "--values-file", path("nonesuch"), *UNIT], 1, ["No such file"], "a list that is not there")
refuses(["randomize", *LIST, path("nonesuch")], 1, ["No such file"], "truths that are not there")
for name, text, words in (
        ("twice", b"a\nb\na\n", ["line 3", "twice"]), ("empty line", b"a\n\nb\n", ["line 2", "empty"]),
        ("byte-order mark", b"\xef\xbb\xbfa\nb\n", ["line 1", "byte-order mark"]), ("nothing", b"", ["no values"]),
        ("no UTF-8", b"a\n\xc0\x80\n", ["line 2", "UTF-8"]), ("a long value", b"a\n" + b"x" * 5000, ["line 2", "4096"])):
    f = write("list", text)
    refuses(["randomize", "--values-file", f, *UNIT], 1, [f, *words], "a list file with %s" % name)

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
for name, data in (("text", b"hello\n" * 100), ("zeros", bytes(1000)), ("a gzip file", b"\x1f\x8b\x08" + bytes(500)), ("nothing", b""),
                   ("JSON of another kind", b'{"a": 1}\n'), ("a stream and garbage after it", stream + b"garbage" * 20)):
    f = write("foreign", data)
    refuses(["tally", f], 1, [f], "a foreign file: %s" % name)
    r = run("estimate", f)
    ok(r.code == 1 and f in r.err and r.out == b"", "the same for estimate", r)
f = write("foreign", text.replace(b'"report":', b'"report":9', 1) if b'"report":' in text else text + b"junk\n")
refuses(["tally", f], 1, [f], "a report with impossible content")
refuses(["tally", path("nonesuch")], 1, ["No such file"], "a file that is not there")
refuses(["tally", TMP], 1, [TMP], "a directory")

for name, data in (("stream", none), ("tally", must("tally", stdin=none))):
    r = run("estimate", "-", stdin=data)
    ok(r.code == 1 and "no data" in r.err and r.out == b"", "n = 0, a %s: no data" % name, r)


def estimate(args, code, words, sentence, data=tally):
    r = run("estimate", "-", *args, stdin=data)
    ok(r.code == code and all(w in r.err for w in words) and r.out == b"", sentence, r)


for level in ("0", "1", "-1", "nan", "95", "x"):
    estimate(["--level", level], 2, ["--level"], "level %s" % level)
estimate(["--interval", "wide"], 2, ["wilson"], "an unknown interval")
estimate(["--post", "magic"], 2, ["norm-sub"], "an unknown post-processing")
estimate(["--format", "xml"], 2, ["json"], "an unknown format")
estimate(["--top", "0"], 2, ["--top"], "the top none")
estimate(["--candidates", path("nonesuch")], 1, ["No such file"], "candidates that are not there")
estimate(["--candidates", write("c", "a\nz\n")], 1, ["line 2", "not one"], "a candidate outside the list")
estimate(["--candidates", write("c", "a\na\n")], 1, ["line 2", "twice"], "a candidate twice")
estimate(["--candidates", write("c", "a\n\n")], 1, ["line 2", "empty"], "an empty candidate")
estimate(["--candidates", write("c", b"\xef\xbb\xbfa\n")], 1, ["byte-order mark"], "candidates with a byte-order mark")
words = must("tally", stdin=must("randomize", "--strings", *UNIT, stdin="x\n"))
estimate([], 1, ["--candidates"], "strings without candidates", words)
mean = must("tally", stdin=must("randomize", "--range", "0:1", *UNIT, stdin="0\n" * 200))
estimate(["--candidates", write("c", "a\n")], 1, ["--candidates"], "candidates of a mean", mean)
estimate(["--post", "norm"], 1, ["--post"], "post-processing of a mean", mean)
estimate(["--against", write("m", mean)], 1, ["cannot be compared"], "a list against a mean")
estimate(["--against", path("nonesuch")], 1, ["No such file"], "against nothing")

done()
