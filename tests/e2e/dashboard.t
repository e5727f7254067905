#!/usr/bin/python3 -B
"""The dashboard in a real browser, against a real collector.

Every file of web/ is served as it is. Then tests/browser/dashboard.mjs clicks
through the page, and cluster.mjs looks at that of a cluster's node (playwright-core, Debian's chromium); screenshots are left in
build/browser/. Where there is no node, npm, chromium or no way to playwright-
core, that part is skipped and says so.
"""

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "rig"))
from browser import browse
from shuffled import *
import postgres

HOSTILE = "</script><img src=x onerror=globalThis.pwned=1>"
random.seed(7)
VEILED = shuffled("veiled", "values: [red, green]; epsilon: 3; mechanism: grr; repeat: daily", 1000, start=DAY - 9, min_reports=1000)
PARTIES = parties()


def tasks(release, browsers):
    kind = {"crash": "yes-no: true; epsilon: 1; repeat: daily", "minutes": "range: [0, 480]; epsilon: 1; repeat: daily",
            "memory": "range: [0, 96]; bins: 24; epsilon: 2; repeat: daily", "page": "strings: true; epsilon: 4; mechanism: pem; repeat: daily"}
    rows = [task(name, what, start=DAY - 9) for name, what in kind.items()]
    rows.append(task("browser", "release: %d; values: [%s]; epsilon: 2; mechanism: grr; repeat: daily" % (release, browsers), start=DAY - 9, min_reports=1000))
    rows.append(task("hostile", "values: [%s, b]; epsilon: 1; repeat: daily" % json.dumps(HOSTILE), start=DAY - 9))
    rows.append(task("kept", "yes-no: true; epsilon: 1; permanent: {epsilon: 2}", start=DAY - 9))
    rows.append(task("few", "yes-no: true; epsilon: 1; permanent: {epsilon: 2}", min_reports=100000))
    rows += [VEILED, PARTIES]
    return "".join(rows).replace("Which one is it?", json.dumps("Which one is it? " + HOSTILE), 1)


PAGES = ["news", "maps", "<b>"]
TRUTHS = {"crash": ["yes", "no", "no"], "minutes": [90, 120, 180, 300], "memory": [4, 8, 8, 16, 16, 16, 32, 64], "page": PAGES,
          "browser": ["firefox", "chrome", "chrome", "safari"], "hostile": [HOSTILE, "b"], "kept": ["yes", "no", "no"]}


def feed(c, name, people, epoch=DAY):
    """Honest reports of so many people, in one upload."""
    twin = must("randomize", "--task", "%s:%s" % (os.path.join(c.dir, "tasks.signed"), name), "--json",
                stdin=lines(random.choice(TRUTHS[name]) for _ in range(people))).decode().splitlines()
    reports = [json.loads(line)["report"] for line in twin[1:-1]]
    upload = {"task": name, "release": c.task[name].release, "digest": json.loads(twin[0])["scheme"]["digest"], "epoch": date(epoch), "id": os.urandom(16).hex(), "reports": reports}
    status, body = c.bring(json.dumps({"uploads": [upload]}), "application/json")
    if status != 204:
        raise SystemExit("Bail out! an upload of %s was refused: %s" % (name, body))


def served(c):
    """Everything in web/ is there, byte by byte, and nothing else."""
    files = {"/": "index.html"}
    for folder in ("", "vendor"):
        for name in sorted(os.listdir(os.path.join(ROOT, "web", folder))):
            if os.path.isfile(os.path.join(ROOT, "web", folder, name)) and name != "index.html":
                files["/assets/" + name] = os.path.join(folder, name)
    for where, name in files.items():
        status, headers, body = ask(c.admin, "GET", where)
        same = body == open(os.path.join(ROOT, "web", name), "rb").read()
        kind = headers.get("content-type", "").split(";")[0]
        want = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html", ".txt": "text/plain"}[os.path.splitext(name)[1]]
        ok(status == 200 and same and kind == want and "default-src 'none'" in headers.get("content-security-policy", ""), "web/%s is served as it is" % name, (status, headers))
    for where in ("/assets/", "/assets/index.html", "/assets/..%2fassets.c", "/assets/app.js/x", "/favicon.ico"):
        ok(ask(c.admin, "GET", where)[0] == 404, "%s is not" % where)
    ok(all(ask(c.public, "GET", where)[0] == 404 for where in ("/", "/assets/app.js")), "devices find no page at all")


c = Collector("dashboard", tasks(1, "firefox, chrome, safari"), admin_open=False, estimate_seconds="1s")
token = must("serve", "token", "add", "reader", "--role", "analyst", "--data", c.data).decode().split()[-1]
c.start()
c.stop()
deliver(c, "veiled", DAY - 2, 3000)
deliver(c, "veiled", DAY - 1, 2000, nulls=10)
c.start()
for name in TRUTHS:
    feed(c, name, 3000)
served(c)
c.document(tasks(2, "firefox, chrome, safari"))
c.process.send_signal(signal.SIGHUP)
c.until(lambda: any(t["task"] == "browser" and t["release"] == 2 for t in c.get("/v1/tasks", token)[1]["tasks"]))
for back in range(3):
    feed(c, "browser", 3000, DAY - back)
feed(c, "kept", 3000, DAY - 1)
feed(c, "browser", 50, DAY - 3)  # too few for a figure of its own
browse(c.admin, token, "dashboard.mjs", {"more": lambda name: feed(c, name, 3000)})
ok(c.stop() == 0, "the collector ends when it is told to")


def node():
    """The page of a cluster's node, of two."""
    p = postgres.Postgres("page")
    urls = [p.url(), p.database("second")]
    one, two = (Collector(name, data=None, storage=urls, node=name) for name in ("berlin", "paris"))
    must("store", "init-cluster", one.yaml)
    one.start()
    two.configure(**{**two.config, "document": None, "public_key": one.config["public_key"]})
    two.start()
    ok(one.upload([one.task["cells"].upload([i]) for i in range(200)])[0] == 204, "a cluster counts")
    one.until(lambda: len(one.get("/v1/status")[1]["cluster"]["nodes"]) == 2)

    def lose():
        p.sql("alter database second with allow_connections false; select pg_terminate_backend(pid) from pg_stat_activity where datname = 'second'")
        one.until(lambda: not one.get("/v1/status")[1]["cluster"]["shards"][1]["reachable"])
    browse(one.admin, "", "cluster.mjs", {"lost": lose})
    ok(one.stop() == 0 and two.stop() == 0, "its nodes end")


why = postgres.why_not()
if why:
    ok(True, "the page of a cluster's node # SKIP " + why)
else:
    node()
done()
