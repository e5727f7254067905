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
ok(samples(c)["hearsay_document_version"] == 1 and samples(c)["hearsay_document_expires_seconds"] == (LAST + 1) * 86400, "metrics have its version and its end")
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
ok(c.until(lambda: said(c, "error trouble name=document-expired: ")), "nor is the log silent", c.said())
ok(c.stop() == 0, "it ends")
c.start()
ok(said(c, "document-expired"), "it is said at the start too", c.said())
c.document(TASKS, version=2, expires=LAST + 300)
c.process.send_signal(signal.SIGHUP)
ok(c.until(lambda: samples(c)["hearsay_document_version"] == 2) and troubles(c) == set() and ready(c)[0] == 200, "another document mends it", c.said())
ok(c.until(lambda: said(c, "note trouble-over name=document-expired")), "the log says that it is over")
ok(c.stop() == 0, "it ends again")

for expires, words in ((DAY - 3, "has expired"), (DAY + 3, "days that are left: "), (DAY + 30, None)):
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
done()
