#!/usr/bin/python3 -B
"""A collector says what an operator has to mend: in /readyz, /v1/status,
metrics and its log, once a day. A document that expires, first of all."""

from collector import *


def samples(c):
    """Metrics by name and labels."""
    text = c.get("/metrics")[1].decode()
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line and line[0] != "#"}


def ready(c):
    """Status of /readyz, and what it says."""
    status, _, body = ask(c.admin, "GET", "/readyz")
    return status, body.decode()


def troubles(c):
    """What /v1/status, metrics and /readyz say of troubles; they agree."""
    status, row = c.get("/v1/status")[1], samples(c)
    names = {t["name"] for t in status["troubles"]}
    graves = [t for t in status["troubles"] if t["grave"]]
    agree = names == {name for name in re.findall(r'name="([^"]*)"', " ".join(k for k, v in row.items() if k.startswith("hearsay_trouble{") and v == 1))} \
        and status["ready"] == (not graves) and row["hearsay_ready"] == (not graves) and (status["why"] is None) == (not graves)
    return names if agree else {"they do not agree", *names}


def said(c, word):
    return [line for line in c.said().splitlines() if word in line]


# ---- A document that expires -------------------------------------------------------

def clock(day):
    write("clock.new", date(day) + "T12:00Z\n")
    os.replace(path("clock.new"), path("clock"))


LAST = DAY + 60  # the last day of the document
clock(LAST - 14)
c = Collector("expires", rehearsal=path("clock"))
c.document(TASKS, version=1, expires=LAST)
c.start()


def day(n):
    clock(n)
    ok(c.until(lambda: c.get("/v1/status")[1]["day"] == date(n)), "it is another day")
    return c


ok(troubles(c) == set() and ready(c) == (200, "ready, rehearsal\n"), "a document that lasts is not worth a word", c.said())
ok(samples(c)["hearsay_document_version"] == 1 and samples(c)["hearsay_document_expires_timestamp_seconds"] == (LAST + 1) * 86400, "metrics have its version and its end")
day(LAST - 13)
ok(troubles(c) == {"document-expires"}, "from 14 days before on it is a trouble", c.get("/v1/status")[1])
status, text = ready(c)
ok(status == 200 and text.startswith("ready, rehearsal\n") and "document-expires: " in text and text.endswith("days that are left: 14\n"), "/readyz says so and is ready", text)
c.until(lambda: said(c, "document-expires"))
time.sleep(3.2)
ok(len(said(c, "document-expires")) == 1, "the log says so once that day", c.said())
day(LAST)
ok(troubles(c) == {"document-expires"} and ready(c)[1].endswith("days that are left: 1\n"), "on its last day it is taken", ready(c))
c.until(lambda: len(said(c, "document-expires")) > 1)
ok(len(said(c, "document-expires")) == 2 and all(line.startswith("note trouble name=document-expires: ") for line in said(c, "document-expires")), "another day, another line", c.said())
day(LAST + 1)
ok(troubles(c) == {"document-expired"} and ready(c)[0] == 503 and "has expired" in ready(c)[1], "after it the collector is not ready, and says why", ready(c))
told = json.loads(ready(c)[1])
ok(told["detail"].startswith("document-expired: ") and told["troubles"] == c.get("/v1/status")[1]["troubles"], "by the name that the runbook has", told)
t = c.task["cells"]
ok(c.upload([t.upload([1], epoch=LAST + 1)])[0] == 204, "devices that have the document are still counted")
ok(c.until(lambda: said(c, "error trouble name=document-expired: ")), "nor is the log silent", c.said())
ok(c.stop() == 0, "it ends")
c.start()
ok(said(c, "document-expired"), "it is said at the start too", c.said())
c.document(TASKS, version=2, expires=LAST + 300)
c.process.send_signal(signal.SIGHUP)
ok(c.until(lambda: samples(c)["hearsay_document_version"] == 2) and troubles(c) == set() and ready(c)[0] == 200, "another document mends it", c.said())
ok(c.until(lambda: said(c, "note trouble-over name=document-expired")), "the log says that it is over")
ok(c.stop() == 0, "it ends again")

for expires, words in ((DAY - 3, "has expired"), (DAY + 3, "days left: "), (DAY + 30, None)):
    c.document(TASKS, version=3, expires=expires)
    r = run("serve", "check", c.yaml)
    ok(r.code == 0 and (words in r.err if words else r.err == ""), "serve check: %s" % words, r)
    r = run("tasks", "compile", os.path.join(c.dir, "tasks.yaml"), "--key", os.path.join(c.dir, "key.secret"), "-o", path("signed-%d" % expires))
    ok(r.code == 0 and (": warning: expires: " in r.err) == bool(words), "tasks compile too", r)

# ---- None at all -------------------------------------------------------------------

none = Collector("none", document=None).start()
ok(troubles(none) == {"no-document"} and ready(none)[0] == 503 and said(none, "error trouble name=no-document: "), "without a document it is not ready", ready(none))
status, body = none.upload([none.task["cells"].upload([1])])
ok(status == 404, "as it refuses all uploads", (status, body))
ok(none.stop() == 0, "it ends")

# ---- No room for bodies ------------------------------------------------------------

c = Collector("bodies", body_bytes=1 << 20, memory=12 << 20).start()
many = [Line(c.public) for _ in range(4)]
HEAD = b"POST /v1/uploads HTTP/1.1\r\nHost: x\r\nContent-Type: application/octet-stream\r\nContent-Length: 1000000\r\n\r\n"
for part in (HEAD + bytes(900000), bytes(100000)):  # all begin before one is done
    for line in many:
        try:
            line.send(part)
        except Gone:
            pass
ok(c.until(lambda: samples(c)['hearsay_refused_full_total{listener="public"}'] > 0), "bodies for which there is no room are counted", samples(c))
ok(samples(c)['hearsay_refused_full_total{listener="admin"}'] == 0, "by listener")
for line in many:
    line.close()
ok(c.stop() == 0, "it ends")

# ---- Figures -----------------------------------------------------------------------

begun = time.time()
c = Collector("figures", checkpoint_seconds=1).start()
was = samples(c)
ok(was["hearsay_last_backup_timestamp_seconds"] == 0 and was["hearsay_wait_seconds_sum"] == 0, "nothing has happened yet")
t = c.task["cells"]
ok(c.upload([t.upload([n]) for n in range(200)])[0] == 204 and len(c.cells("cells")) == 200, "something happens")
ok(c.upload([b"nonsense"])[0] == 400 and c.upload([b"x"], kind="text/plain")[0] == 415 and c.upload([t.upload([1], release=77)])[0] == 404, "some is refused")
ok(ask(c.admin, "POST", "/v1/backup")[0] == 201, "a backup is made")
now = samples(c)
for reason, n in (("malformed", 1), ("content-type", 1), ("disk", 0), ("busy", 0), ("memory", 0)):
    ok(now['hearsay_requests_refused_total{reason="%s"}' % reason] == n, "requests that were refused whole: %s" % reason, now)
ok(now['hearsay_uploads_total{verdict="unknown-task"}'] == 1, "uploads that were refused are counted by their verdict")
waits = [now[k] for k in now if k.startswith("hearsay_wait_seconds_bucket")]
ok(waits == sorted(waits) and waits[-1] == now["hearsay_wait_seconds_count"] == 2 and 0 < now["hearsay_wait_seconds_sum"] < DEADLINE, "the histogram has its sum", waits)
ok(0 <= time.time() - now["hearsay_last_backup_timestamp_seconds"] < DEADLINE, "when the last backup was made")
ok(c.until(lambda: samples(c)["hearsay_last_checkpoint_timestamp_seconds"] > was["hearsay_last_checkpoint_timestamp_seconds"]), "checkpoints move on")
def logs():
    return sum(os.path.getsize(os.path.join(c.data, n)) for n in os.listdir(c.data) if n.endswith("-wal"))


ok(c.until(lambda: 0 < logs() == samples(c)["hearsay_log_bytes"]), "how long the logs are", (logs(), samples(c)["hearsay_log_bytes"]))
fs = os.statvfs(c.data)
ok(now["hearsay_disk_size_bytes"] == fs.f_blocks * fs.f_frsize and abs(now["hearsay_disk_free_bytes"] - fs.f_bavail * fs.f_frsize) < max(1 << 30, fs.f_bavail * fs.f_frsize / 2), "what is free of the disk")
ok(abs(now["hearsay_clock_step_seconds"]) <= 1 and now["hearsay_clock_ahead_seconds"] in (0, 86400), "the clock is right", now)
ok(c.until(lambda: samples(c)["hearsay_unfolded_seconds"] == 0), "all is folded", samples(c))
ok(now["hearsay_tally_limit_bytes"] == 1 << 30 and any(re.fullmatch(r'hearsay_build_info{version="[0-9.]+"}', k) for k in now), "limits, and what it is")
ok(begun - 2 <= now["process_start_time_seconds"] <= time.time() and now["process_cpu_seconds_total"] > 0, "when it started, what it took of the processor")
files = lambda: len(os.listdir("/proc/%d/fd" % c.process.pid))
ok(c.until(lambda: abs(samples(c)["process_open_fds"] - files()) <= 4) and now["process_max_fds"] > files(), "descriptors", (samples(c)["process_open_fds"], files()))
ok(SHORT or 0.1 < now["process_resident_memory_bytes"] / c.rss() < 10 and now["process_virtual_memory_bytes"] > now["process_resident_memory_bytes"], "memory", now)
ok(c.stop() == 0, "it ends")
done()
