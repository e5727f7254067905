#!/usr/bin/python3 -B
"""Strings of an alphabet and long ones: what is written, read back and refused."""

import random

from e2e import *

rng = random.Random(5)
WORDS = ["waterloo"] * 5 + ["pem"] * 3 + ["a"] * 2
N = 2000
people = "".join(rng.choice(WORDS) + "\n" for _ in range(N)).encode()
PEM = ["--strings", "--mechanism", "pem", "--epsilon", "5", "--simulate", "--seed", "3"]
AZ = ["--alphabet", "a-z", "--set", "bits=40", "--set", "pool-bits=10"]


def refused(code, words, *args, stdin=b""):
    r = run(*args, stdin=stdin)
    ok(r.code == code and all(w in r.err for w in words), "refused: " + " ".join(words), r)


# An alphabet: 8 letters in 40 bits.
stream = must("randomize", *PEM, *AZ, stdin=people)
twin = must("randomize", *PEM, *AZ, "--json", stdin=people)
tally = write("az.tally", must("tally", stdin=stream))
ok(b'"alphabet":"a-z"' in twin.splitlines()[0], "the twin names the alphabet")
ok(must("tally", stdin=twin) == must("tally", stdin=stream), "and reads back to the same tally")
found = json.loads(must("discover", "show", tally, "--significant", "--format", "json"))
ok([s["value"] for s in found["strings"]] == ["waterloo", "pem", "a"], "words of the alphabet are found", found)
ok((found["alphabet"], found["oracle"]) == ("a-z", None), "json says of which alphabet, by which oracle")
stages = list(csv.DictReader(io.StringIO(must("discover", "show", tally, "--top", "3", "--all-stages", "--format", "csv").decode())))
ok(stages[0]["bits"] == "16" and stages[0]["value"] == "wat+0", "prefixes are shown by symbols and bits", stages[:3])
named = write("named", b"waterloo\npem\n")
shares = list(csv.DictReader(io.StringIO(must("estimate", tally, "--candidates", named, "--format", "csv").decode())))
ok(abs(float(shares[0]["estimate"]) - found["strings"][0]["estimate"]) < 0.02, "estimate knows them too", shares)
refused(1, ["line 1", "not in the alphabet"], "estimate", tally, "--candidates", "-", stdin=b"Water\n")

# Any bytes at all, and bytes that are no text.
raw = ["--alphabet", r"\x00\xf0-\xff\\\-", "--set", "bits=20", "--set", "pool-bits=8"]
odd = b"\x00\xff\n\xf0-\\\n" * 300
twin = must("randomize", *PEM, *raw, "--json", stdin=odd)
scheme = json.loads(twin.splitlines()[0])["scheme"]
ok(scheme["alphabet"] == r"\x00\-\\\xf0-\xff", "an alphabet of any bytes is ASCII in the twin", scheme)
got = list(csv.reader(io.StringIO(must("discover", "show", "--significant", "--format", "csv", stdin=must("tally", stdin=twin)).decode("utf-8"))))
ok({bytes.fromhex(r[7]) for r in got[1:-1]} == {b"\x00\xff", b"\xf0-\\"}, "csv keeps zero bytes and the alphabet's own marks in value_hex", got)
table = must("discover", "show", "--significant", stdin=must("tally", stdin=twin))
ok(rb"\u{0}\xff" in table and all(0x20 <= b < 0x7f or b == 10 for b in table), "a table shows bytes that are no text by their numbers", table)
prefix = json.loads(twin.splitlines()[0])["prefix"].encode()
refused(1, ["line 1", "checksum"], "tally", stdin=twin.replace(prefix, prefix[:-1] + b"1", 1))

# More than eight bytes.
long = [b"https://example.org", b"a sentence of words"]
wide = ["--set", "bits=160", "--set", "step=8", "--set", "pool-bits=8"]
tally = must("tally", stdin=must("randomize", *PEM, *wide, stdin=b"".join(rng.choice(long) + b"\n" for _ in range(2 * N))))
got = json.loads(must("discover", "show", "--top", "2", "--significant", "--format", "json", stdin=tally))
ok(sorted(s["value"] for s in got["strings"]) == sorted(w.decode() for w in long), "strings of 19 bytes are found", got)

# As a task.
yaml = """version: 1
expires: 2099-12-31
tasks:
  - {id: words, source: words, question: Which?, strings: true, epsilon: 5, mechanism: pem, %s
     set: {bits: 40, pool-bits: 10}, repeat: once, start: 2020-01-01, end: 2099-12-31}
"""
task = write("tasks.yaml", (yaml % "alphabet: a-z,").encode())
ok(must("randomize", "--task", task + ":words", "--simulate", "--seed", "3", stdin=people) == stream, "a task asks the same")
must("tasks", "keygen", "-o", path("key"))
must("tasks", "compile", task, "--key", path("key.secret"), "-o", path("d"))
ok(must("randomize", "--task", path("d") + ":words", "--simulate", "--seed", "3", stdin=people) == stream, "and so does its document")
must("tasks", "compile", write("wide.yaml", (yaml % "alphabet: a-z, oracle: hcms,").replace("epsilon: 5", "epsilon: 2")
     .replace("set: {bits: 40, pool-bits: 10}", "set: {bits: 130}").encode()), "--key", path("key.secret"), "-o", path("wide"))
for word in (b"abcdefghijklmnopqrstuvwxyz", b"Not of these!", b"z" * 27, b""):
    shutil.rmtree(path("device"), ignore_errors=True)
    must("device", "init", path("device"), "--document", path("wide"), "--public-key", path("key.public"))
    must("device", "consent", path("device"), "send")
    ok(must("device", "answer", path("device"), "words", stdin=word + b"\n").strip() == b"answered", "a device answers whatever the string is")
for wrong, words in (("alphabet: z-a,", ["alphabet", "runs backwards"]), ("alphabet: '',", ["alphabet", "empty"]),
                     ("oracle: nobody,", ["oracle", "no such mechanism"])):
    refused(1, words, "tasks", "check", write("bad.yaml", (yaml % wrong).encode()))

# Refused.
refused(2, ["--alphabet", "character 2", "ranges"], "randomize", "--strings", "--mechanism", "pem", "--epsilon", "1", "--alphabet", "a\\q")
refused(2, ["--alphabet", "empty"], "randomize", "--strings", "--mechanism", "pem", "--epsilon", "1", "--alphabet", "")
refused(2, ["--alphabet", "pem"], "randomize", "--strings", "--mechanism", "olh", "--epsilon", "1", "--alphabet", "a-z")
refused(2, ["--oracle", "pem"], "randomize", "--strings", "--mechanism", "olh", "--epsilon", "1", "--oracle", "olh")
refused(2, ["--oracle", "no such mechanism"], "randomize", "--strings", "--mechanism", "pem", "--epsilon", "1", "--oracle", "nobody")
refused(2, ["--alphabet needs --strings"], "randomize", "--yes-no", "--epsilon", "1", "--alphabet", "a-z")
refused(2, ["--task"], "randomize", "--task", task + ":words", "--alphabet", "a-z")
refused(1, ["line 2", "outside the alphabet", "--other"], "randomize", *PEM, *AZ, stdin=b"good\nBad\n")
refused(1, ["line 1", "too long"], "randomize", *PEM, *AZ, stdin=b"ninechars\n")
refused(2, ["--set bits", "512"], "randomize", "--strings", "--mechanism", "pem", "--epsilon", "1", "--set", "bits=513")
refused(2, ["--alphabet is only for 'discover plan' or"], "discover", "show", path("az.tally"), "--alphabet", "a-z")
plan = json.loads(must("discover", "plan", "--epsilon", "1", "--frequency", "0.01", "--alphabet", "a-z", "--set", "bits=40", "--format", "json"))
ok(len(plan["stages"]) == 4, "a plan takes an alphabet", plan)

# Every oracle that can answer for candidates, and TreeHist.
small = "".join(rng.choice(["ab", "ab", "ab", "c", "c", "de"]) + "\n" for _ in range(3000)).encode()
SMALL = ["--alphabet", "a-e", "--set", "bits=6", "--set", "step=2", "--set", "first=1"]
for oracle in ("grr", "ss", "pgr", "hpg", "hr", "sue", "oue", "olh", "blh", "cms", "hcms"):
    stream = must("randomize", *PEM, *SMALL, "--oracle", oracle, stdin=small)
    got = json.loads(must("discover", "show", "--significant", "--format", "json", stdin=must("tally", stdin=stream)))
    ok([s["value"] for s in got["strings"]] == ["ab", "c", "de"], "strings are found by " + oracle, got)
    plan = json.loads(must("discover", "plan", "--epsilon", "5", "--frequency", "0.1", *SMALL, "--oracle", oracle, "--format", "json"))
    ok({s["oracle"] for s in plan["stages"]} == {oracle} and plan["users"] > 0, "and planned")
twin = must("randomize", *PEM, *SMALL, "--oracle", "hcms", "--json", stdin=small)
ok(json.loads(twin.splitlines()[0])["scheme"]["oracle"] == "hcms" and
   must("tally", stdin=twin) == must("tally", stdin=must("randomize", *PEM, *SMALL, "--oracle", "hcms", stdin=small)), "the twin names the oracle")
task = write("hcms.yaml", (yaml % "alphabet: a-e, oracle: hcms,").replace("set: {bits: 40, pool-bits: 10}", "set: {bits: 6, step: 2, first: 1}").encode())
ok(must("randomize", "--task", task + ":words", "--simulate", "--seed", "3", "--json", stdin=small) == twin, "and a task does")
tree = must("randomize", "--strings", "--mechanism", "treehist", *SMALL[:4], "--epsilon", "5", "--simulate", "--seed", "3", "--json", stdin=small * 2)
head = json.loads(tree.splitlines()[0])["scheme"]
ok(head["mechanism"] == "pem" and head["oracle"] == "hcms" and head["parameters"]["step"] == 1, "treehist is pem by a bit of hcms a group", head)
got = json.loads(must("discover", "show", "--significant", "--format", "json", stdin=must("tally", stdin=tree)))
ok(got["groups"] == 5 and [s["value"] for s in got["strings"]] == ["ab", "c", "de"], "and finds strings", got)
for oracle, words in (("rappor", ["cannot answer", "hcms"]), ("pem", ["cannot answer"]), ("oue", ["fewer bits", "olh"])):
    refused(2, ["--oracle"] + words, "randomize", "--strings", "--mechanism", "pem", "--epsilon", "1", "--oracle", oracle)
refused(2, ["--set pool-bits", "olh and blh"], "randomize", *PEM, "--oracle", "hcms", "--set", "pool-bits=8")
refused(2, ["--set hashes", "cms and hcms"], "randomize", *PEM, "--oracle", "olh", "--set", "hashes=8")
refused(2, ["--set step", "64 groups"], "randomize", *PEM, "--set", "bits=512", "--set", "step=4")

# A figure.
figure = path("found.svg")
table = must("discover", "show", path("az.tally"), "--significant", "--plot", figure)
svg = open(figure, encoding="utf-8").read()
ok(svg.startswith("<svg") and "waterloo" in svg and b"waterloo" in table, "--plot draws what was found beside the table")
must("discover", "show", "--significant", "--plot", figure, stdin=must("tally", stdin=must("randomize", *PEM, *raw, stdin=odd)))
svg = open(figure, "rb").read()
ok(svg.decode("utf-8") is not None and b"\0" not in svg and b"\xff" not in svg, "bytes that are no text do not break it")
refused(1, [path("no/found.svg")], "discover", "show", path("az.tally"), "--plot", path("no/found.svg"))
refused(2, ["--plot is only for 'discover show'"], "discover", "plan", "--epsilon", "1", "--frequency", "0.1", "--plot", figure)
done()
