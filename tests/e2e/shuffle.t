#!/usr/bin/python3 -B
"""Shufflers as processes: batches go from devices through a relay and two
shufflers to the collector, each report once; too few wait, and are erased and
counted; what operators see of it."""

from chain import *
from relays import Relay

c = Chain(shufflers=2, min_batch=5, max_wait=1)
first, second = c.shufflers
today = c.now[0]


def over(shuffler):
    """What anyone is told: (epoch, state) -> envelopes."""
    status, _, body = ask(shuffler.public, "GET", "/v1/batches")
    return {(b["epoch"], b["state"]): b["envelopes"] for b in json.loads(body)["batches"]}


def counted():
    return c.collector.get("/v1/tasks/veiled")[1]["live"]


# ---- A batch ----

sent = c.uploads(list(range(20)) + [None])
status, body = c.send(sent)
ok(status == 204, "sealed uploads are acknowledged", body)
ok(c.send(sent)[0] == 204 and c.send(c.uploads([21], ids=[sent[3][80:96]]))[0] == 409, "the same again too, other bytes under an id are not")
ok(over(first) == {} and over(second) == {}, "nobody is told how many have come")
c.at(today + 1, 5)
ok(first.until(lambda: first.get("/v1/status")[1]["day"] == date(today + 1)) and (date(today), 0) not in first.batches(), "before close_after nothing is closed",
   first.batches())
c.at(today + 1, 7)
got = c.collector.settled("veiled", 20)
ok(got == {i: 1 for i in range(20)}, "all reports are counted, each once", [got, [p.said()[-1500:] for p in c.parties]])
ok((counted()["reports"], counted()["nulls"]) == (20, 1), "the null upload is counted as one", counted())
ok(first.until(lambda: over(first) == {(date(today), "received"): 21} and over(second) == {(date(today), "received"): 21}), "both shufflers say what they passed on",
   [over(first), over(second)])

# ---- Too few ----

ok(c.send(c.uploads([100, 101]))[0] == 204, "two come on the next day")
c.at(today + 2, 7)
ok(first.until(lambda: first.batches().get((date(today + 1), 0)) == ("waiting", 2)), "they wait", first.batches())
ok((date(today + 1), "waiting") not in over(first), "which only operators are told")
ok(c.send(c.uploads([102, 103, 104]))[0] == 204, "three come on the day after")
first.stop()
c.at(today + 3, 7)
first.start()
second.kill()
second.start()
got = c.collector.settled("veiled", 25)
ok(got == {**{i: 1 for i in range(20)}, **{i: 1 for i in range(100, 105)}}, "they go together, through restarts of both", got)
ok(c.send(c.uploads([200, 201]))[0] == 204, "two more come")
c.at(today + 4, 7)
ok(first.until(lambda: first.batches().get((date(today + 3), 0)) == ("waiting", 2)), "they wait", first.batches())
c.at(today + 5, 7)
ok(first.until(lambda: over(first).get((date(today + 3), "erased")) == 2), "and are erased after max_wait, and how many is published", over(first))
WANTED = ("hearsay_shuffle_erased_total 2\n", "hearsay_shuffle_delivered_total 26\n", 'hearsay_shuffle_batches{state="received"} 2\n')
said = lambda: ask(first.admin, "GET", "/metrics")[2].decode()  # a receipt may come a moment later
ok(first.until(lambda: all(line in said() for line in WANTED)), "metrics say the same", [line for line in said().splitlines() if "shuffle" in line])
ok(c.collector.settled("veiled", 25) == got, "nothing else is counted")

# ---- A device, by a relay ----

relay = Relay(c.url(0))
for i in range(6):
    me = c.name("device%d" % i)
    must("device", "init", me, "--document", c.signed, "--public-key", c.name("author.public"), "--source", "test.veiled=16,16,16", "--day", 16,
         "--now", date(today + 5))
    must("device", "consent", me, "send", "--now", date(today + 5))
    must("device", "answer", me, "veiled", "--now", date(today + 5), stdin=b"%d\n" % (300 + i))
c.at(today + 6, 12)
ok(first.until(lambda: first.get("/v1/status")[1]["day"] == date(today + 6)), "a day later")
before = relay.metrics()["hearsay_relay_forwarded_total"]
for i in range(6):
    must("device", "send", c.name("device%d" % i), "http://127.0.0.1:1", "--spread", "0", "--relay", relay.url, "--now", date(today + 6))
ok(relay.metrics()["hearsay_relay_forwarded_total"] - before == 6, "six devices send by the relay, a request each", relay.metrics())
c.at(today + 7, 7)
ok(c.collector.until(lambda: counted()["reports"] == 31), "their answers are counted", [counted(), first.batches()])

# ---- Answered as shuffled, then asked for in clear ----

answers = c.now[0]
with open(c.name("clear.yaml"), "w") as f:
    f.write("version: %d\nissued: %s\nexpires: %s\ntasks:\n" % (c.version + 1, date(c.day - 40), date(c.day + 300)))
    f.write(task("veiled", "range: [0, 4096]; bins: 4096; epsilon: 16; mechanism: grr; repeat: daily; release: 2", start=c.day - 30, end=c.day + 250))
must("tasks", "compile", c.name("clear.yaml"), "--key", c.name("author.secret"), "-o", c.name("clear.signed"))
for pin in "none", "document":
    me, clock = c.name("downgraded-" + pin), ["--now", date(answers)]
    must("device", "init", me, "--pin", pin, "--document", c.signed, "--public-key", c.name("author.public"), "--source", "test.veiled=16,16,64", "--day", 16,
         "--lifetime", 64, *clock)
    must("device", "consent", me, "send", *clock)
    must("device", "answer", me, "veiled", *clock, stdin=b"77\n")
    ok(b"sealed and mixed" in b" ".join(run("device", "tasks", me, *clock).out.split()), "the label promises that the answer is sealed and mixed (pin %s)" % pin)
    must("device", "take", me, c.name("clear.signed"), *clock)
    if pin == "document":
        r = run("device", "tasks", me, *clock)
        ok(b"veiled is refused: min_shufflers" in r.out, "a device that pinned its document refuses the task in clear", r)
        continue
    r = run("device", "pack", me, "-o", c.name("downgraded"), "--now", date(answers + 1))
    packed = open(c.name("downgraded"), "rb").read()
    ok(r.code == 0 and len(packed) > 128 and packed[8:12] == b"\2\0\0\0" and packed[12:16] == b"\2\0\0\0" and len(packed) == 128 + int.from_bytes(packed[104:108], "little"),
       "without pins an empty upload of release 2 is packed, and the answer is not", [r, packed[:128].hex()])
    ok("an answer was given under another promise" in r.err, "pack says so", r)
    ok(b" withheld " in must("device", "log", me), "so does the log")
    r = run("device", "answer", me, "veiled", "--now", date(answers + 1), stdin=b"78\n")
    ok(r.code == 0 and r.out == b"answered\n", "a new answer, under the new promise, is stored", r)

# ---- What cannot be asked ----

for party, path_, want in ((c.collector, "/v1/batches", 404), (first, "/v1/tasks/veiled/estimate", 404), (first, "/v1/tasks", 404)):
    status, _, body = ask(party.admin if party is first else party.public, "GET", path_)
    ok(status == want, "%s is not there" % path_, [status, body])
ok(ask(first.public, "POST", "/v1/batches", b"x")[0] == 415, "a batch has a type of its own")
ok(all(p.stop() == 0 for p in c.parties), "all end well", [p.said()[-500:] for p in c.parties])
done()
