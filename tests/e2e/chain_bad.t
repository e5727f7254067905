#!/usr/bin/python3 -B
"""Bad input at shufflers and a collector that run: batches of strangers, torn,
changed, counted wrongly or sent twice; envelopes that do not open; clocks apart;
keys and documents that do not fit. Refused with a reason, nothing lost, nothing
counted twice."""

from parcels import *
from records import records


def said(party, what):
    """Whether it comes to log this."""
    return party.until(lambda: what in party.said())


def counted(c):
    row = c.collector.get("/v1/tasks/veiled")[1]["live"]
    return row["reports"], row["nulls"]


def taken(party, n):
    """What a party says of the n-th batch that it has taken."""
    rows_ = []

    def there():
        rows_[:] = re.findall(r"batch-taken epoch=\d+ taken=(\d+) nulls=(\d+) unopened=(\d+) again=(\d+)", open(party.log).read())
        return len(rows_) >= n
    party.until(there)
    return tuple(map(int, rows_[n - 1])) if len(rows_) >= n else None


# ---- Uploads at the wrong place ---------------------------------------------------

c = Chain(shufflers=2, min_batch=5)
first, second = c.shufflers
today = c.now[0]
sealed = c.uploads(range(8))
for party, name in ((second, "the second shuffler"), (c.collector, "the collector")):
    status, body = party.upload(sealed)
    ok(status == 422 and "other-place" in str(body), "a sealed upload is not for " + name, [status, body])
bare = bytearray(sealed[0][:128])
struct.pack_into("<I", bare, 8, 1)  # a report, not a sealed one
struct.pack_into("<I", bare, 124, crc32c(bytes(bare[:124])))
status, body = first.upload(bytes(bare) + sealed[0][128:])
ok(status == 422, "one that is not sealed is not for a shuffler", [status, body])

# ---- Batches by hand: at the collector, with the keys of the second shuffler --------

c.collector.kill()
status, body = c.send(sealed)
ok(status == 204, "eight are acknowledged", body)
c.at(today + 1, 7)
good = Batch.of(second)
second.kill()
c.collector.start()
key, collector_key = secret(c, 2), secret(c, "collector")[32:]
must("shuffle", "keys", "-o", c.name("stranger"))

ok(begin(c.collector, good.copy().sign(c, "stranger")) == (422, "not signed by the shuffler of its place"), "a head that a stranger signed")
ok(begin(c.collector, good.copy().sign(c, 1)) == (422, "not signed by the shuffler of its place"), "or the first shuffler, for the second")
many = 2 ** 20 + 1
ok(begin(c.collector, good.copy(n=many, taken_in=many).sign(c, 2)) == (400, "a batch has 1 to 2^20 envelopes"), "refuses a head of more envelopes than a hop puts into one")
ok(begin(c.collector, good.copy(part=4096).named(c, 2).sign(c, 2)) == (400, "an epoch has at most 4096 parts"), "refuses more parts of an epoch than a hop makes")
ok(begin(c.collector, good.copy(place=1).sign(c, 2))[0] == 409, "a head of another place", begin(c.collector, good.copy(place=1).sign(c, 2)))
ok(begin(c.collector, good.copy(of=3).sign(c, 2))[0] == 409, "or of a longer chain")
ok(begin(c.collector, good.copy(task=b"other".ljust(32, b"\0")).named(c, 2).sign(c, 2))[0] == 404, "of a task that is not there")
ok(begin(c.collector, good.copy(release=2).named(c, 2).sign(c, 2))[0] == 404, "of a release that is not there")
ok(begin(c.collector, good.copy(id=bytes(16)).sign(c, 2)) == (422, "the id is not its own"), "an id that is not the shuffler's")
ok(begin(c.collector, good.copy(epoch=good.epoch - 1).named(c, 2).sign(c, 2))[0] == 409, "of another epoch than the hop before")
ok(begin(c.collector, good.copy(before=b"").sign(c, 2))[0] == 400, "without the head of the hop before")
ok(begin(c.collector, good.copy(before=Batch(good.before + good.envelopes[0]).sign(c, "stranger", False).head).sign(c, 2)) ==
   (422, "not signed by the shuffler of its place"), "with one that a stranger signed")
differ = "it took in another number than the hop before it gave"
ok(begin(c.collector, good.copy(n=7, taken_in=7, envelopes=good.envelopes[1:]).sign(c, 2)) == (422, differ), "a second shuffler that drops one")
ok(begin(c.collector, good.copy(n=9, taken_in=9, envelopes=good.envelopes + [os.urandom(good.length)]).sign(c, 2)) == (422, differ), "or adds one")
ok(said(c.collector, "batch-not-taken") and differ in c.collector.said(), "counts that differ are logged", c.collector.said())
ok(begin(c.collector, good.copy(n=4, unopened=4, envelopes=good.envelopes[:4]).sign(c, 2)) == (422, "fewer envelopes than a batch must have"), "fewer than min_batch")
ok(begin(c.collector, good.copy(n=9).sign(c, 2))[0] == 400, "counts that do not add up")
ok(post(c.collector, b"x" * 300)[0] == 400 and post(c.collector, part(1, b""))[0] == 400 and post(c.collector, part(7, b"x"))[0] == 400, "what is no delivery")
ok(piece(c.collector, good, key)[0] == 404 and end(c.collector, good, key)[0] == 404, "a piece, and an end, of what was not begun")
ok(begin(c.collector, good)[0] == 200, "the right head is taken")
ok(piece(c.collector, good, secret(c, 1))[0] == 403 and end(c.collector, good, secret(c, "stranger"))[0] == 403, "a piece, or an end, that somebody else signed is not")
ok(piece(c.collector, good, key, at=good.length)[0] == 416, "nor a piece that is not the next")
half = b"".join(good.envelopes[:4])
ok(piece(c.collector, good, key, data=half)[0] == 200 and end(c.collector, good, key)[0] == 416, "a batch that is torn is not taken")
ok(piece(c.collector, good, key, at=len(half), data=os.urandom(4 * good.length))[0] == 200 and
   end(c.collector, good, key) == (422, "what came is not what its head was signed for"), "nor one with another digest")
twins = good.copy(envelopes=good.envelopes[:7] + good.envelopes[:1]).sign(c, 2)
ok(deliver(c.collector, twins, key) == (422, "two of its envelopes are equal"), "nor one with two equal envelopes")
ok(counted(c) == (0, 0), "nothing of all this is counted", counted(c))
answers = [deliver(c.collector, good, key) for _ in range(3)]
ok(all(a == answers[0] for a in answers) and answers[0][0] == 200 and good.receipt_holds(receipt_of(answers[0][1]), collector_key),
   "what is right is taken after that, and each time it comes has the same receipt", answers)
ok(deliver(c.collector, good.copy(envelopes=good.envelopes[::-1]).sign(c, 2), key)[0] == 409, "another batch of its id is refused for ever")
ok(c.collector.settled("veiled", 8) == {i: 1 for i in range(8)}, "its reports are counted once")
second.start()
ok(second.until(lambda: second.batches().get((date(today), 0)) == ("received", 8)), "the second shuffler learns that it is there", second.batches())

# ---- Batches by hand: at the second shuffler, with the keys of the first -------------

ok(first.until(lambda: first.batches().get((date(today), 0)) == ("received", 8)), "and so does the first of its own", first.batches())
second.kill()
ok(c.send(c.uploads(range(100, 106)))[0] == 204, "six more come")
c.at(today + 2, 7)
mixed = Batch.of(first)
first.kill()
second.start()
ok(begin(second, mixed.copy().sign(c, "stranger"))[0] == 422, "the second shuffler takes nothing of a stranger")
ok(begin(second, good)[0] in (400, 409), "nothing of its own place", begin(second, good))
ok(begin(second, mixed.copy(n=4, unopened=2, envelopes=mixed.envelopes[:4]).sign(c, 1)) == (422, "fewer envelopes than a batch must have"), "and no small batch",
   [begin(second, mixed.copy(n=4, unopened=2, envelopes=mixed.envelopes[:4]).sign(c, 1)), mixed.__dict__])
ok(deliver(second, mixed.copy(envelopes=mixed.envelopes[:5] + [os.urandom(mixed.length)]), secret(c, 1)) ==
   (422, "what came is not what its head was signed for"), "none with another digest")
receipt = receipt_of(deliver(second, mixed, secret(c, 1))[1])
ok(receipt is not None and mixed.receipt_holds(receipt, secret(c, 2)[32:]), "what is right is taken, and has a receipt")
ok(c.collector.settled("veiled", 14) == {**{i: 1 for i in range(8)}, **{i: 1 for i in range(100, 106)}}, "and goes on")
first.start()
ok(first.until(lambda: first.batches().get((date(today + 1), 0)) == ("received", 6)), "the first learns that it is there", first.batches())
ok(begin(first, mixed)[0] == 404, "a first shuffler takes no batches")

# ---- Envelopes that do not open ----------------------------------------------------

def under(upload, payload):
    """Another payload under an upload's head."""
    head = bytearray(upload[:128])
    struct.pack_into("<I", head, 108, crc32c(payload))
    struct.pack_into("<I", head, 124, crc32c(bytes(head[:124])))
    return bytes(head) + payload


def elsewhere(name, release):
    """An envelope for another task or release, by the same keys."""
    for i in range(2):
        c.statement(i, task=name, release=release, output=c.name("x%d.statement" % (i + 1)))
    yaml = open(c.name("tasks.yaml")).read().replace("id: veiled", "id: " + name).replace("test.veiled", "test." + name)
    yaml = re.sub(r"\bs([12])\.statement", r"x\1.statement", yaml).replace("    start:", "    release: %d\n    start:" % release)
    with open(c.name("x.yaml"), "w") as f:
        f.write(yaml)
    must("tasks", "compile", c.name("x.yaml"), "--key", c.name("author.secret"), "-o", c.name("x%s%d.signed" % (name, release)))
    return c.uploads([777], document=c.name("x%s%d.signed" % (name, release)), task=name)[0][128:]


n, day = 3, today + 2  # batches that the collector takes
mine = c.uploads(range(200, 205))
moved = bytearray(c.uploads([300], epoch=day - 1)[0])
struct.pack_into("<I", moved, 96, day)
struct.pack_into("<I", moved, 124, crc32c(bytes(moved[:124])))
other_id = bytearray(c.uploads([301])[0])
other_id[80:96] = os.urandom(16)
struct.pack_into("<I", other_id, 124, crc32c(bytes(other_id[:124])))
base = c.uploads([302, 303, 304, 305, 306])
changed = bytearray(base[0][128:])
changed[100] ^= 1
low = base[1][128:][:4] + bytes(32) + base[1][128:][36:]  # a point of order 1: the shared secret would be zero
low2 = base[4][128:][:4] + b"\1" + bytes(31) + base[4][128:][36:]
bad = [bytes(moved), bytes(other_id), under(base[0], bytes(changed)), under(base[1], low), under(base[4], low2), under(base[2], elsewhere("other", 1)),
       under(base[3], elsewhere("veiled", 2))]
ok(c.send(mine + bad)[0] == 204, "uploads sealed for another epoch, id, task, release, changed, or to a zero secret are acknowledged: nobody can tell yet")
c.at(day + 1, 7)
ok(taken(c.collector, n) == (5, 0, 0, 0), "they do not open, and are left out", taken(c.collector, n))
heads = records(c.collector, "SELECT heads FROM received WHERE epoch = %d" % day)[0][0]
ok(struct.unpack_from("<QQQ", heads, HEAD + 108) == (5, 12, 7), "the head of the first shuffler says of how many nothing came", struct.unpack_from("<QQQ", heads, HEAD + 108))

ok(second.until(lambda: second.batches().get((date(day), 0)) == ("received", 5)), "the second shuffler has its receipt", second.batches())
c.collector.kill()
ok(c.send(c.uploads(range(400, 407)))[0] == 204, "seven more come")
c.at(day + 2, 7)
b = Batch.of(second, day + 1)
second.kill()
c.collector.start()
spoilt = [b.envelopes[0][:4] + bytes(32) + b.envelopes[0][36:], os.urandom(b.length), *b.envelopes[2:]]
ok(receipt_of(deliver(c.collector, b.copy(envelopes=spoilt).sign(c, 2), key)[1]) is not None and taken(c.collector, n + 1) == (5, 0, 2, 0),
   "what a second shuffler changes does not open at the collector, to a zero secret or at all, and is counted", taken(c.collector, n + 1))
second.start()
ok(said(second, "batch-refused"), "the second shuffler, whose own is not what came, says that it is refused", second.said())
again = c.uploads([500, 501, 502, 503, 504])
ok(c.send(again)[0] == 204, "five more come")
c.at(day + 3, 7)
ok(taken(c.collector, n + 2) == (5, 0, 0, 0), "later batches go on beside it", taken(c.collector, n + 2))

# ---- Nulls only --------------------------------------------------------------------

reports = counted(c)
ok(c.send(c.uploads([None] * 6))[0] == 204, "six null uploads come")
c.at(day + 4, 7)
ok(taken(c.collector, n + 3) == (0, 6, 0, 0) and counted(c) == (reports[0], reports[1] + 6), "a batch of them is legal, and of no reports", counted(c))
for party in c.parties:
    party.kill()

# ---- Clocks apart ------------------------------------------------------------------

c = Chain(shufflers=2, min_batch=5, name="clocks", start=False)
first, second = c.shufflers
today = c.now[0]
behind = c.name("behind")


def clock(day, hours):
    with open(behind + ".new", "w") as f:
        f.write("%d\n" % (day * 86400 + hours * 3600))
    os.rename(behind + ".new", behind)


clock(today - 1, 12)
c.collector.configure(rehearsal=behind)
for party in c.parties:
    party.start()
ok(c.send(c.uploads(range(6)))[0] == 204, "six come")
c.at(today + 1, 7)
refused = 'hearsay_batches_refused_total{reason="later"} '
ok(c.collector.until(lambda: (refused + "0\n") not in ask(c.collector.admin, "GET", "/metrics")[2].decode()), "a collector of yesterday is not there yet")
b = Batch.of(second)
second.kill()
status, answer = deliver(c.collector, b, secret(c, 2))
ok((status, answer) == (503, "of a day that has not come by this clock") and counted(c) == (0, 0), "it says so, and counts nothing", [status, answer])
clock(today + 1, 7)
second.start()
ok(c.collector.settled("veiled", 6) == {i: 1 for i in range(6)}, "once it has caught up they are counted, once", second.said())

# ---- Keys that are not there -------------------------------------------------------

must("shuffle", "keys", "-o", c.name("stranger"))
for party, own, nth in ((first, "s1", 1), (second, "s2", 2), (c.collector, "collector", 3)):
    party.stop()
    party.configure(seal_keys=[c.name("stranger-seal.secret")], **({"rehearsal": behind} if party is c.collector else {}))
    party.start()
    day, base = c.now[0], 100 * nth
    ok(c.send(c.uploads(range(base, base + 6)))[0] == 204, "six come while the %s has another key" % own)
    c.at(day + 1, 7)
    clock(day + 1, 7)
    before = {first: None, second: first, c.collector: second}[party]
    if before is None:
        ok(said(party, "no-seal-key task=veiled release=1"), "it says that the key is missing", party.said())
        ok(party.until(lambda: party.get("/v1/status")[1]["day"] == date(day + 1)) and (date(day), 0) not in party.batches(), "and closes nothing", party.batches())
    else:
        ok(said(before, "batch-refused") and before.batches()[(date(day), 0)] == ("mixed", 6), "it takes no batch, and the hop before keeps it", before.said())
    party.stop()
    party.configure(seal_keys=[c.name("stranger-seal.secret"), c.name(own + "-seal.secret")], **({"rehearsal": behind} if party is c.collector else {}))
    party.start()
    if before is not None:  # it would ask again in ten minutes
        before.stop()
        before.start()
    got = c.collector.settled("veiled", 6 * (nth + 1))
    ok(all(got.get(base + i) == 1 for i in range(6)) and len(got) == 6 * (nth + 1), "with both keys in force all of them are counted", [got, party.said()])

# ---- Keys that are changed: a new release, and both for a while ----------------------

old, c.signed = c.signed, c.name("second.signed")
for i, seal in enumerate(("stranger", "s2")):
    c.statement(i, release=2, output=c.name("r%d.statement" % (i + 1)), **{"seal-key": c.name(seal + "-seal.public")})
with open(c.name("second.yaml"), "w") as f:
    f.write(re.sub(r"\bs([12])\.statement", r"r\1.statement", open(c.name("tasks.yaml")).read()).replace("version: 1", "version: 2")
            .replace("    start:", "    release: 2\n    start:"))
must("tasks", "compile", c.name("second.yaml"), "--key", c.name("author.secret"), "-o", c.signed)
c.at(c.now[0], 12)
clock(*c.now)
before = c.uploads(range(600, 606), document=old)
for party in c.parties:
    party.configure(seal_keys=party.config["seal_keys"], **({"rehearsal": behind} if party is c.collector else {}))
    party.process.send_signal(signal.SIGHUP)
    ok(said(party, "note reloaded"), "a document with a new release for another key is taken", party.said()[-500:])
ok(c.send(before + c.uploads(range(700, 706)))[0] == 204, "uploads for both keys come on one day")
c.at(c.now[0] + 1, 7)
clock(*c.now)
got = [c.collector.settled("veiled", n, release=r) for n, r in ((30, 1), (6, 2))]
ok(len(got[0]) == 30 and all(got[0].get(i) == 1 for i in range(600, 606)) and got[1] == {i: 1 for i in range(700, 706)},
   "each is opened by its own, and counted once", [got, first.said()[-1000:]])
c.signed = old

# ---- Documents ---------------------------------------------------------------------

def altered(name, change):
    """The document in force with one change, signed as the next version."""
    document = bytearray(open(c.signed, "rb").read())
    change(document, document.index(open(c.name("s1.statement"), "rb").read()))
    struct.pack_into("<Q", document, 8, 3)
    document[-64:] = signature(bytes.fromhex(open(c.name("author.secret")).read()), bytes(document[:-64]))
    with open(c.name(name), "wb") as f:
        f.write(document)
    return c.name(name)


def forge(document, at):
    document[at + 511] ^= 1  # of the shuffler's signature


def lie(document, at):
    struct.pack_into("<QQ", document, at - 96 + 24, 1, 1)  # assume_honest
    struct.pack_into("<Q", document, at - 96 + 56, 1000000)  # nano_central


for name, change, field, text, what in (
        ("forged.signed", forge, "statement", "a shuffler's statement is not signed by it", "a statement that its shuffler did not sign"),
        ("lying.signed", lie, "epsilon_central", "the central epsilon is below what the task's batches are proved to give", "a central epsilon that batches do not give")):
    bad = altered(name, change)
    for party, words in ((first, "shuffle"), (c.collector, "serve")):
        party.configure(document=bad, **({"rehearsal": behind} if party is c.collector else {}))
        want = "document: %s: task 1: %s: %s\n" % (bad, field, text)
        r = run(words, "check", party.yaml)
        ok(r.code == 1 and re.fullmatch(r"hearsay: %s:\d+: %s" % (re.escape(party.yaml), re.escape(want)), r.err), "%s check finds %s" % (words, what), r)
        party.process.send_signal(signal.SIGHUP)
        ok(said(party, text), "%s serve does not accept a document with %s" % (words, what), party.said())
        status, _, body = ask(party.admin, "PUT", "/v1/document", open(bad, "rb").read())
        ok(party is first or (status >= 400 and text in body.decode()), "PUT /v1/document refuses %s" % what, [status, body])
        party.stop()
        shutil.move(party.data, party.data + "." + name)
        party.launch()
        ok(party.wait() == 1 and want.replace("task 1: ", "") in party.said(), "%s serve does not start with %s" % (words, what), party.said())
        party.configure(document=c.signed, **({"rehearsal": behind} if party is c.collector else {}))
        party.start()
me = c.name("lied-to")
r = run("device", "init", me, "--document", bad, "--public-key", c.name("author.public"), "--source", "test.veiled=16,16,16", "--day", 16, "--now", date(c.now[0]))
r = run("device", "tasks", me, "--now", date(c.now[0]))
ok(r.code == 0 and b"veiled is refused: epsilon_central: the central epsilon is below" in r.out, "a device refuses a task whose central epsilon its batches do not give", r)
r = run("tasks", "show", bad, "--labels")
ok(b"by the collector's claim, can move" in b" ".join(r.out.split()) and b"says less than this program finds" in run("tasks", "show", bad).out, "tasks show calls such an epsilon the collector's claim", r)
r = run("tasks", "show", c.signed, "--labels")
ok(r.code == 0 and b"claim" not in r.out, "tasks show states an epsilon that it proves without that", r)

# ---- A stranger fills a small batch with noise ----------------------------------------
# Five uploads of which the inside of two is noise are a batch at the first shuffler, which
# cannot see it: what it would deliver then is made by hand.

f = Chain(shufflers=2, min_batch=5, max_wait=3, name="flush")
one, two = f.shufflers
day, key = f.now[0], secret(f, 1)


def noisy(cells_, part):
    """A batch of the first shuffler: three of these cells, and two envelopes of noise."""
    two.kill()
    status, body = f.send(f.uploads(cells_))
    if status != 204:
        raise SystemExit("Bail out! not acknowledged: %s" % body)
    f.at(f.now[0] + 1, 7)
    b = Batch.of(one, f.now[0] - 1)
    one.kill()
    two.start()
    return b.copy(envelopes=b.envelopes[:3] + [os.urandom(b.length) for _ in range(2)], part=part).named(f, 1).sign(f, 1)


b = noisy(range(1, 6), 7)
answer = deliver(two, b, key)
ok(answer[0] == 200 and b.receipt_holds(receipt_of(answer[1]), secret(f, 2)[32:]), "a batch with noise inside has a receipt of the second shuffler", answer)
waits = {(date(day), 7): ("waiting", 3)}
ok(two.until(lambda: two.batches() == waits), "which keeps the three that open", two.batches())
ok(two.until(lambda: records(two, "SELECT count(*) FROM batches") == [(0,)]) and len(os.listdir(os.path.join(two.data, "mixed"))) == 1, "in a file, and nothing of the noise")
replay = b.copy(envelopes=b.envelopes[:3] + [os.urandom(b.length) for _ in range(2)], part=8).named(f, 1).sign(f, 1)
answer = deliver(two, replay, key)
ok(answer[0] == 200 and two.until(lambda: two.batches().get((date(day), 8)) == ("erased", 2)) and two.batches().get((date(day), 7)) == ("waiting", 3),
   "a replay of those that wait adds none", [answer, two.batches()])
ok("hearsay_shuffle_unopened_total 2\n" in ask(two.admin, "GET", "/metrics")[2].decode(), "the noise is counted as not opened")
waits[(date(day), 8)] = ("erased", 2)
two.kill()
two.start()
ok(two.batches() == waits, "remembers them when it is killed", two.batches())
one.start()  # and delivers its own batch, of which two did not come before
ok(two.until(lambda: two.batches().get((date(day), 0)) == ("received", 5)), "the next batch leaves with the three", (two.batches(), two.said()))
ok(f.send(f.uploads(range(10, 16)))[0] == 204, "six more come the next day")
f.at(day + 2, 7)
ok(f.collector.settled("veiled", 11) == {i: 1 for i in [*range(1, 6), *range(10, 16)]}, "each honest report is counted once", f.collector.cells("veiled"))
ok(two.until(lambda: not os.listdir(os.path.join(two.data, "mixed"))), "nothing of them is left at the second shuffler")

b = noisy(range(20, 25), 7)
ok(deliver(two, b, key)[0] == 200 and two.until(lambda: two.batches().get((date(day + 2), 7)) == ("waiting", 3)), "three wait again", two.batches())
f.at(day + 6, 23)
ok(two.until(lambda: two.get("/v1/batches")[1]["day"] == date(day + 6)) and two.batches().get((date(day + 2), 7)) == ("waiting", 3),
   "for the three days of max_wait", two.batches())
f.at(day + 7, 1)
ok(two.until(lambda: two.batches().get((date(day + 2), 7)) == ("erased", 3)), "and are erased then, and counted", two.batches())
ok(two.until(lambda: not os.listdir(os.path.join(two.data, "mixed"))), "with their file")
for party in f.parties:
    party.kill()

# ---- hearsay.yaml ------------------------------------------------------------------

together = "sign_key and seal_keys go together: the receiver of a batch opens its envelopes and signs a receipt"
signs = "a shuffler signs its batches: set sign_key and seal_keys"
LATE = "grace_days, close_after and max_wait of all shufflers together must be less than 32 days: later hops open no older envelopes"
for what, want in (
        ({"sign_key": None, "seal_keys": None}, ["next: " + signs]), ({"sign_key": None}, ["seal_keys: " + together, "next: " + signs]),
        ({"seal_keys": None}, ["sign_key: " + together]), ({"next": None}, ["receipt_key: only for a shuffler: set 'next', the receiver of its batches"]),
        ({"next": None, "receipt_key": None}, ["next: missing; give the URL of the next shuffler, or of the collector"]),
        ({"next": "ftp://here"}, ["next: must be a URL, e.g. https://next.example.org"]),
        ({"backup_hours": 1}, ["backup_hours: a shuffler's data are not copied: an older copy that is put back could be mixed a second time. Keep its keys"]),
        ({"grace_days": 29, "keep_days": 60}, ["document: %s: task 1: max_wait: %s" % (c.signed, LATE)]),
        ({"body_bytes": "1M"}, ["body_bytes: a part of a batch must fit: at least 2M"]),
        ({"seal_keys": [c.name("s1-seal.secret")] * 3}, ["seal_keys: " + c.name("s1-seal.secret") + ": more than two keys that open envelopes"]),
        ({"seal_keys": [c.name("s1-seal.public")]}, ["seal_keys: " + c.name("s1-seal.public") + ": this is a public key; name its .secret file"]),
        ({"sign_key": c.name("s1-seal.secret")}, ["sign_key: " + c.name("s1-seal.secret") + ": this is a sealing key; a signing key is needed ('hearsay tasks keygen')"]),
        ({"seal_keys": [c.name("s2-seal.secret")]}, ["warning: seal_keys: %s has the reports of 'veiled' sealed for another key; its batches will be refused" % c.signed]),
        ({"sign_key": c.name("stranger-sign.secret")}, ["warning: document: %s has no statement of this shuffler; it will receive no reports" % c.signed])):
    first.configure(**what)
    r = run("shuffle", "check", first.yaml)
    found = [re.sub("^hearsay: (%s(:\\d+)?: )?" % re.escape(first.yaml), "", line) for line in r.err.splitlines()]
    ok(found == want and r.code == (0 if "warning" in want[0] else 1), "shuffle check: " + want[0].replace(c.dir, ""), r)
late = Chain(shufflers=2, min_batch=5, name="late", start=False).shufflers[0]
late.configure(grace_days=29, keep_days=60)
late.launch()
ok(late.wait() == 1 and "max_wait: " + LATE in late.said(), "shuffle serve does not start with them", late.said())
second.configure(receipt_key=None)
r = run("shuffle", "check", second.yaml)
ok(r.code == 0 and "warning: receipt_key: by %s the next hop is the collector" % c.signed in r.err, "the last shuffler is told that it needs the collector's key", r)
c.collector.configure(document=c.signed, sign_key=None, seal_keys=None)
r = run("serve", "check", c.collector.yaml)
ok(r.code == 0 and "warning: seal_keys: %s has the reports of 'veiled' sealed" % c.signed in r.err, "and a collector that it has no keys for its task", r)

# ---- tasks.yaml --------------------------------------------------------------------

yaml_ = open(c.name("tasks.yaml")).read()
for key, want in (("s1-seal", "s1.statement: its seal_key is the collector_key: who has both layers reads reports with their ids"),
                  ("s1-gateway", "collector_key: this is a gateway's key, which the first shuffler has: reports are sealed for the collector alone")):
    with open(c.name("wrong.yaml"), "w") as f:
        f.write(yaml_.replace("collector-seal.public", key + ".public"))
    r = run("tasks", "check", c.name("wrong.yaml"))
    ok(r.code == 1 and want in r.err, "tasks check: " + want, r)
done()
