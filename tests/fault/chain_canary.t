#!/usr/bin/python3 -B
"""A canary sweep over relay, two shufflers and collector: after devices have
sent by the relay from an address of their own, disk, logs and memory of every
process are searched. The address is at the relay only, and not after its
connection is closed; a report opened at the collector only; the id of an upload
in no output of a shuffler, not at the second one, and not at the collector."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import ohttp
from chain import *
from records import records
from relays import Relay

N = 8
FROM = "127.213.%d.%d" % tuple(1 + b % 254 for b in os.urandom(2))  # the devices' address


def memory(pid):
    """What a process holds, region by region; the pages of programs and libraries are not its own."""
    with open("/proc/%d/maps" % pid) as f, open("/proc/%d/mem" % pid, "rb", 0) as mem:
        for line in f:
            at, rights, _, device, _, *name = line.split(None, 5)
            first, last = (int(x, 16) for x in at.split("-"))
            if rights[0] != "r" or (rights[1] != "w" and name):
                continue
            try:
                mem.seek(first)
                yield mem.read(last - first)
            except OSError:  # as vvar
                pass


def files(root, given=()):
    for where, _, names in os.walk(root):
        for name in names:
            if name not in given:
                with open(os.path.join(where, name), "rb") as f:
                    yield f.read()


def found(places, needles):
    """Those of the needles that are somewhere."""
    hits = set()
    for data in places:
        hits.update(what for what, needle in needles.items() if needle in data)
    return sorted(hits)


# ---- Devices send -------------------------------------------------------------------

c = Chain(shufflers=2, min_batch=5, start=False, log_level="details", checkpoint_seconds=3600)
c.document(task="range: [0, 256]; bins: 256; epsilon: 4; mechanism: oue; repeat: daily")
first, second = c.shufflers
today = c.now[0]
for party in c.parties:
    party.start()
relay = Relay(c.url(0))
ids, reports = [os.urandom(16) for _ in range(N)], [os.urandom(32) for _ in range(N)]
uploads = c.uploads(["x" + r.hex() for r in reports], ids=ids)
(number, public), = ohttp.keys(ask(first.public, "GET", "/.well-known/ohttp-gateway")[2]).items()
address = {"address as text": FROM.encode()}
ids = {"id %d" % i: id_ for i, id_ in enumerate(ids)}
reports = {"report %d" % i: r for i, r in enumerate(reports)}
size = 1 << max(9, (len(uploads[0]) + 128).bit_length())
answers, held = [], []
for upload in uploads:
    line = Line(relay.public, source=(FROM, 0))
    address["socket %d" % line.sock.getsockname()[1]] = struct.pack("!H4s", line.sock.getsockname()[1], socket.inet_aton(FROM))
    q = ohttp.Sealed(number, public, ohttp.request(upload, size=size))
    status, _, body = line.post(q.bytes, "message/ohttp-req", "/")
    answers.append(q.answer(body)[0] if status == 200 else (status, body))
    held.append(line)
ok(answers == [204] * N, "devices send by the relay, from an address that nobody else has", answers)

try:
    next(memory(relay.process.pid))
    looks = True
except PermissionError:
    looks = False
    print("# memory of processes cannot be read here: run it as root")
if looks:
    ok(found(memory(relay.process.pid), {"gateway": c.url(0).encode()}), "control: the relay's memory has the URL of its gateway")
    ok(not found(memory(first.process.pid), address), "the first shuffler's has not", found(memory(first.process.pid), address))
for line in held:
    line.close()

# ---- The first output, while it waits -----------------------------------------------

second.kill()
c.at(today + 1, 7)
ok(first.until(lambda: records(first, "SELECT state FROM mixes WHERE epoch = %d" % today) == [(3,)]), "the first shuffler has mixed", first.said())
output = list(files(os.path.join(first.data, "mixed")))
ok(len(output) == 1 and len(output[0]) > 256 + N * 100 and not found(output, ids), "its output has no id", found(output, ids))
ok(found(files(first.data), ids) == sorted(ids), "control: its record has them until then", found(files(first.data), ids))
second.start()
ok(c.collector.until(lambda: c.collector.get("/v1/tasks/veiled")[1]["live"]["reports"] == N), "the collector counts them", [p.said() for p in c.parties])
gone = "SELECT (SELECT count(*) FROM batches WHERE type = 3) + (SELECT count(*) FROM mixes WHERE state != 5)"
ok(all(s.until(lambda: records(s, gone) == [(0,)]) for s in c.shufflers), "both shufflers have erased theirs")

# ---- The sweep -----------------------------------------------------------------------

GIVEN = ("hearsay.yaml",)
everything = {**address, **ids, **reports}
for party, name, may in ((first, "the first shuffler", ids), (second, "the second shuffler", {}), (c.collector, "the collector", reports)):
    secret = {what: needle for what, needle in everything.items() if what not in may}
    ok(not found(files(party.dir, GIVEN), secret), "%s has on disk and in its log no address%s%s" % (
        name, "" if may is ids else ", no id", "" if may is reports else ", no report"), found(files(party.dir, GIVEN), secret))
    if looks:
        ok(not found(memory(party.process.pid), secret), "nor in its memory", found(memory(party.process.pid), secret))
ok(found(files(c.collector.data), reports) == sorted(reports), "control: opened reports are at the collector", found(files(c.collector.data), reports))
theirs = {**ids, **{"envelope %d" % i: upload[128:] for i, upload in enumerate(uploads)}}
ok(first.until(lambda: not found(files(first.data), theirs)), "and the first shuffler has no id and no envelope on its disk any more", found(files(first.data), theirs))
said = found([relay.said().encode()], everything)
ok(not said, "the relay's log has nothing of it", said)
if looks:
    ok(relay.until(lambda: not found(memory(relay.process.pid), everything)), "and its memory, now that they have gone", found(memory(relay.process.pid), everything))
done()
