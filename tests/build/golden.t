#!/usr/bin/python3 -B
"""golden.t - what golden files are about, reports, counters and lines, is what
it was when they were first made: tests/golden/payloads has a digest of each.
Prefixes, schemes and headers, which say how a file is to be read, may be made
anew before a release; test_golden.c has those.

    golden.t --print    the digests of the files as they are
"""

import glob
import hashlib
import os
import struct
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
GOLDEN = os.path.join(ROOT, "tests", "golden")
PREFIX, SCHEME, RECORD = 64, 384, 32


def records(data):
    """All records of a stream or tally: type, first, count and payload."""
    labels, = struct.unpack_from("<I", data, 16)
    at = PREFIX + SCHEME + labels
    while at < len(data):
        kind, length, first, count = struct.unpack_from("<IIQQ", data, at)
        payload = data[at + RECORD:at + RECORD + length]
        yield struct.pack("<IQQ", kind, first, count) + payload
        at += RECORD + length


def payload(name, data):
    """The bytes that a file is about."""
    if name.endswith(".jsonl"):
        return data[data.index(b"\n") + 1:]
    return b"".join(records(data))


def digests():
    """Of every golden file that has a payload, its name and digest."""
    for path in sorted(glob.glob(os.path.join(GOLDEN, "*"))):
        name = os.path.basename(path)
        if name.endswith((".reports", ".tally", ".jsonl")):
            with open(path, "rb") as f:
                yield name, hashlib.sha256(payload(name, f.read())).hexdigest()


if sys.argv[1:] == ["--print"]:
    for name, digest in digests():
        print(digest, name)
    sys.exit()

with open(os.path.join(GOLDEN, "payloads"), encoding="ascii") as f:
    kept = {name: digest for digest, name in map(str.split, f)}
now = dict(digests())
tests = [(now.get(name) == digest, f"{name} has the payload it always had") for name, digest in kept.items()]
tests.append((now.keys() == kept.keys() and len(kept) > 90, "no file is left out"))
with open(os.path.join(GOLDEN, "grr.tally"), "rb") as f:
    old = f.read()
for at, same, what in ((40, True, "another digest of the scheme is no other payload"), (len(old) - RECORD - 1, False, "control: another counter is")):
    other = old[:at] + bytes([old[at] ^ 1]) + old[at + 1:]
    tests.append(((hashlib.sha256(payload("grr.tally", other)).hexdigest() == kept["grr.tally"]) == same, what))
for i, (good, what) in enumerate(tests):
    print("ok" if good else "not ok", i + 1, "-", what)
print(f"1..{len(tests)}")
sys.exit(not all(good for good, _ in tests))
