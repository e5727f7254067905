#!/usr/bin/python3 -B
"""What the batches of a shuffled task are worth: a collector says it of what it
shows, its tally carries it, and `hearsay estimate` says the same of that."""

from shuffled import *

VEILED = "values: [red, green]; epsilon: 4; mechanism: grr; repeat: daily"
c = Collector("worth", shuffled("veiled", VEILED, 1000, min_reports=100) + shuffled("rare", VEILED, 10, min_reports=100)
              + task("plain", "yes-no: true; epsilon: 1; repeat: daily") + parties())
c.start()
c.stop()
for epoch, reports, nulls in ((DAY - 2, 1500, 20), (DAY - 2, 2500, 0), (DAY - 1, 1200, 90)):
    deliver(c, "veiled", epoch, reports, nulls)
deliver(c, "rare", DAY - 1, 400)
deliver(c, "rare", DAY - 1, 30, 5)
c.start()
upload = c.task["plain"].upload([1])
ok(c.upload(upload)[0] == 204, "a task that is not shuffled takes an upload")


def estimate(name, **query):
    return json.loads(ask(c.admin, "GET", "/v1/tasks/%s/estimate?%s" % (name, "&".join("%s=%s" % i for i in query.items())))[2])


def tally(name, where="tally"):
    status, _, body = ask(c.admin, "GET", "/v1/tasks/%s/%s" % (name, where))
    return write("%s.%s" % (name, where), body) if status == 200 else None


def own(file, *how):
    return json.loads(must("estimate", file, "--format", "json", *how))["shuffled"]


said = estimate("veiled").get("shuffled")
ok(said and (said["batches"], said["reports"], said["min_batch"], said["n"]) == (3, 5200, 1200, 1080), "the API says in which batches reports came", said)
promise = json.loads(must("tasks", "show", os.path.join(c.dir, "tasks.signed"), "--format", "json"))["tasks"][0]
ok(said["promised"] == promise["epsilon_central"] > said["epsilon_central"] and said["kept"] and said["delta"] == 1e-8 and abs(said["epsilon_report"] - 4) < 1e-9,
   "what they are worth, and that more was not promised", (said, promise))
ok(said["unless"] == "the collector and all shufflers work together", "and unless who works together")
ok((said["reports_each"], said["delta_each"] > 1e-8) == (2, True) and said["epsilon_central"] < said["epsilon_each"] <= 2 * said["epsilon_central"], "two rounds tell more than one", said)
ok(own(tally("veiled")) == said, "the tally carries it: the command says the same, digit for digit", said)
day = estimate("veiled", **{"from": date(DAY - 2), "to": date(DAY - 2)})["shuffled"]
ok((day["batches"], day["reports"], day["min_batch"], day["reports_each"]) == (2, 4000, 1500, 1), "a day has its own", day)
table = rows(ask(c.admin, "GET", "/v1/tasks/veiled/estimate.csv")[2])
ok(all((r["epsilon_central"], r["delta"], r["bound"], r["n"]) == (said["epsilon_central"], 1e-8, "blanket", 1080) and abs(r["epsilon_report"] - 4) < 1e-9 for r in table), "CSV has it in each row", table[:1])
text = must("estimate", tally("veiled")).decode()
ok("shuffled in 3 batches of at least 1200 reports: epsilon " in text and "with 1080 honest reports" in text and "promised of a batch: epsilon " in text and "a device with 2 reports" in text,
   "a table says it in words", text)

rare = estimate("rare")["shuffled"]
ok((rare["batches"], rare["reports"], rare["min_batch"], rare["n"]) == (2, 430, 1, 0) and rare["epsilon_report"] >= rare["epsilon_central"] > 3.99,
   "of a batch that is smaller than a lot a reader is not told the size", rare)
ok("shuffled" not in estimate("plain"), "of what is not shuffled nothing is said")
there = json.loads(ask(c.admin, "GET", "/v1/tasks/veiled")[2])["live"]
ok(there["batches"] == {"batches": 3, "reports": 5200, "smallest": 1200, "nulls": 110, "unopened": 0}, "an operator is told what came of all batches", there)
live = tally("rare", "live")
ok(live and own(live)["min_batch"] == 30, "an operator's live tally has it")

before = (said, rare)
c.stop()
ok(own((must("store", "export", c.data, "--tallies", path("out")), path("out/rare-1.tally"))[1])["min_batch"] == 30, "so have exported tallies")
c.start()
ok((estimate("veiled")["shuffled"], estimate("rare")["shuffled"]) == before, "after a restart the same is said")

# What is merged in came in no batch that is known here.
status = ask(c.admin, "POST", "/v1/tasks/veiled/tally", open(tally("veiled"), "rb").read(), **{"Content-Type": "application/octet-stream"})[0]
merged = tally("veiled", "live")
both = json.loads(must("estimate", merged, "--format", "json"))
ok(status == 200 and both["reports"] == 10400 and both["shuffled"]["reports"] == 5200, "reports that were merged in are not among those of batches", (status, both["shuffled"]))
ok("5200 of the reports came in no batch that is known" in must("estimate", merged).decode(), "which is said")

# Tallies add up, and so do their batches.
write("two.tally", must("tally", tally("veiled"), tally("veiled")))
two = own(path("two.tally"))
ok((two["batches"], two["reports"], two["min_batch"]) == (6, 10400, 1200), "tallies that are merged have the batches of both", two)
half = own(tally("veiled"), "--assume-honest", "0.5", "--delta", "1e-6")
ok((half["n"], half["delta"], half["promised"], half["kept"]) == (600, 1e-6, None, True), "other assumptions have no promise", half)
r = run("estimate", "--min-batch", "1000", tally("veiled"))
ok(r.code == 1 and "leave out --min-batch" in r.err and r.out == b"", "what the tally says need not be said", r)
for at, what in ((8, "more batches than reports"), (24, "nobody honest")):
    whole = bytearray(open(tally("veiled"), "rb").read())
    start = next(i for i in range(448, len(whole) - 96) if struct.unpack_from("<IIQQ", whole, i) == (7, 64, 0, 1))
    whole[start + 32 + at:start + 40 + at] = struct.pack("<Q", 5201 if at == 8 else 0)
    whole[start + 24:start + 28] = struct.pack("<I", crc32c(whole[start + 32:start + 96]))
    whole[start + 28:start + 32] = struct.pack("<I", crc32c(whole[start:start + 28]))
    r = run("estimate", write("broken.tally", bytes(whole)))
    ok(r.code == 1 and "batches" in r.err and "record" in r.err and r.out == b"", "a record that cannot be is refused: " + what, r)
done()
