#!/usr/bin/python3 -B
"""Documents behind shufflers: the first shuffler gives its own copy through the
relay, every shuffler signs which documents it has loaded, and a device that was
given a document of its own is told so."""

import hashlib

from chain import *
from relays import Relay, Wire

c = Chain(shufflers=2, min_batch=5, max_wait=1)
first, second = c.shufflers
today = date(c.now[0])
relay = Relay(c.url(0))
watch = Wire(lambda n: None)  # in the collector's place: nobody may connect to it


def digest(name):
    with open(name, "rb") as f:
        return hashlib.blake2b(f.read(), digest_size=32).digest()


def kept(name):
    to = c.name(name)
    shutil.copy(c.signed, to)
    return to


def loaded(party, name):
    status, _, body = ask(party.public, "GET", "/v1/documents")
    with open(c.name(name), "wb") as f:
        f.write(body)
    return status, body, c.name(name)


def device(name, document):
    where = c.name(name)
    must("device", "init", where, "--document", document, "--public-key", c.name("author.public"), "--source", "test.veiled=16,16,16", "--day", 16, "--now", today)
    return where


def tasks(where, *options):
    return run("device", "tasks", where, "--now", today, *options)


def put(party, document):
    """Load another document; whether it did."""
    before = len(party.said())
    party.configure(document=document)
    party.process.send_signal(signal.SIGHUP)
    party.until(lambda: re.search("reloaded|document-kept", party.said()[before:]))
    return "document-kept" not in party.said()[before:]


one = kept("one.signed")
me = device("me", one)
c.document()
two = kept("two.signed")
c.document(extra="relay: http://127.0.0.1:1\n")
three = kept("three.signed")

# ---- Whose copy it is ----

ok(put(c.collector, three) and put(first, two), "the collector loads a document that the first shuffler does not have")
take = lambda where: run("device", "take", where, watch.url, "--relay", relay.url, "--spread", "0", "--now", today)
r = take(me)
ok(r.code == 0 and digest(os.path.join(me, "document")) == digest(two) and watch.connections == 0, "a device gets the first shuffler's copy, and connects to nobody else", r)

# ---- Lists ----

status, body, of_first = loaded(first, "first.list")
rows = [(int.from_bytes(body[at:at + 8], "little"), body[at + 8:at + 40]) for at in range(48, len(body) - 64, 40)]
ok(status == 200 and body[:4] == b"HSYL" and rows == [(1, digest(one)), (2, digest(two))], "a shuffler lists the documents that it has loaded", [status, rows])
ok(loaded(c.collector, "none")[0] == 404, "a collector signs no list")
text = tasks(me)
ok(text.code == 0 and digest(two).hex() in text.out.decode() and "version 2" in text.out.decode(), "device tasks prints version and digest of the document", text)
table = json.loads(tasks(me, "--format", "json").out)
ok((table["version"], table["digest"]) == (2, digest(two).hex()), "so does its JSON", table)
shown = run("tasks", "show", two)
ok(digest(two).hex() in shown.out.decode(), "tasks show prints the digest", shown)
r = tasks(me, "--loaded", of_first)
ok(r.code == 0 and "Party 1 has loaded this document" in r.err and today in r.err, "a device finds its document in the list", r)
r = tasks(me, "--loaded", loaded(second, "second.list")[2])
ok(r.code == 1 and "had not loaded version 2" in r.err and "newest is 1" in r.err, "a shuffler that has not loaded it is named", r)
first.stop()
first.start()
again = loaded(first, "again.list")[1]
ok(again == body, "the list stays through a restart", [len(again), len(body), os.listdir(first.data), first.said()[-800:]])

c.version -= 2
c.document(extra="relay: http://127.0.0.1:2\n")
split = device("split", kept("split.signed"))
r = tasks(split, "--loaded", of_first)
ok(r.code == 1 and "another document of version 2" in r.err, "a device with a document of its own under the same version is told so", r)
r = take(split)
ok(r.code == 1 and "same version" in r.err and digest(os.path.join(split, "document")) == digest(c.name("split.signed")), "it does not take another document of that version", r)
ok(put(second, c.name("split.signed")) and not put(second, two), "a shuffler does not load two documents of one version")
for what, bad, words in (("a byte changed", body[:60] + bytes([body[60] ^ 1]) + body[61:], "not signed"), ("cut short", body[:-1], "length"), ("a page", b"<html>" * 40, "list of documents"),
                         ("a later version", body[:4] + b"\2" + body[5:], "format"), ("nothing", b"", "list of documents")):
    with open(c.name("bad.list"), "wb") as f:
        f.write(bad)
    r = tasks(me, "--loaded", c.name("bad.list"))
    ok(r.code == 1 and words in r.err, "refused: a list with " + what, r)
stranger = Chain(shufflers=1, name="stranger")
r = tasks(me, "--loaded", loaded(stranger.shufflers[0], "stranger.list")[2])
ok(r.code == 1 and "no shuffler of this document" in r.err, "refused: the list of a stranger", r)
done()
