#!/usr/bin/python3 -B
"""H08: nothing of the admin listener is to be had on the public one, no token but
a right one opens anything, and a right one no more than its role. H10: whatever
a request says of who sends it, nothing of that is on the disk or in a log. H11:
a flood of ids is refused at the limit, and none is forgotten to make room.

HSY_TEST_LONG=1: 10^5 wrong tokens, 10^6 ids."""

import random

from collector import *

LONG = bool(os.environ.get("HSY_TEST_LONG"))
WRONG, FLOOD = (100000, 1000000) if LONG else (500, 5000) if SHORT else (10000, 50000)
rng = random.Random(3)
ROLES = ("none", "scraper", "analyst", "operator")


def request(method, target, token=None, body=b"", **headers):
    head = ["%s %s HTTP/1.1" % (method, target), "Host: x", "Content-Length: %d" % len(body)] if body or method != "GET" else ["GET %s HTTP/1.1" % target, "Host: x"]
    if token is not None:
        head.append("Authorization: Bearer " + token)
    head += ["%s: %s" % (k.replace("_", "-"), v) for k, v in headers.items()]
    return ("\r\n".join(head) + "\r\n\r\n").encode("latin-1") + body


# ---- H08: routes ------------------------------------------------------------------

source = open(os.path.join(ROOT, "src", "server", "collector", "api", "api_admin.c")).read()
source = source[source.index("route api_admin[]"):source.index("route api_shuffler_admin[]")]
table = re.findall(r'\{"(GET|POST|PUT)", "([^"]+)", LISTEN_(\w+)', source)
admin = [(method, where.replace("*", "cells"), role.lower().replace("anyone", "none")) for method, where, role in table]
ok(len(admin) >= 15, "the admin listener has its routes", admin)
c = Collector("roles", admin_open=False)
os.makedirs(c.data, mode=0o700)
token = {role: must("serve", "token", "add", "my-" + role, "--role", role, "--data", c.data).decode().split()[-1] for role in ROLES[1:]}
c.start()
OPEN = {("GET", "/v1/document"), ("GET", "/healthz")}
found = []
for method, where, _ in admin:
    odd = [where, "/" + where, where + "/", where.upper(), where.replace("v1", "%76%31"), "/v1/uploads/.." + where, "/x/../" + where, "http://127.0.0.1" + where,
           where + "?a=b", where + "%00"]
    for other in ("GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
        for target in odd:
            for tok in (None, token["operator"]):
                line = Line(c.public)
                try:
                    line.send(request(other, target, tok))
                    status, _, body = line.answer()
                except Gone:
                    status, body = 0, b""  # closed without a word
                line.close()
                plain = target.split("?")[0].replace("http://127.0.0.1", "").replace("%76%31", "v1")
                if status in (0, 400, 404, 405, 501) or (other, plain) in OPEN or plain == "/v1/uploads":
                    continue
                found.append((other, target, status))
    if SHORT and method != "GET":
        break
ok(not found, "none of them is on the public listener, however it is asked for", found[:5])

# ---- H08: tokens and roles -------------------------------------------------------------

wrong = []
for method, where, least in admin:
    for role in ROLES:
        enough = ROLES.index(role) >= ROLES.index(least)
        if enough and (method, where) == ("POST", "/v1/backup"):
            continue  # it needs a place
        status = ask(c.admin, method, where, b"" if method != "GET" else None, token.get(role))[0]
        if (status in (401, 403)) == enough:
            wrong.append((method, where, role, status))
ok(not wrong, "each role can do what it may, and no more", wrong)


def near(right):
    """Tokens that are nearly right."""
    for i in range(len(right)):
        for letter in "Aa0-_z":
            if letter != right[i]:
                yield right[:i] + letter + right[i + 1:]
        yield right[:i] if i else "x"
    yield right + "A"
    yield right.lower() if right != right.lower() else right.upper()
    yield right[::-1] if right != right[::-1] else "x"


letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
tries = [t for role in ROLES[1:] for t in near(token[role]) if t not in token.values()]
tries += ["", " ", "=", "null", "my-operator", "../../tokens", "x" * 4000]
while len(tries) < WRONG:
    tries.append("".join(rng.choices(letters, k=43)))
statuses = {}
for at in range(0, len(tries), 50):
    line = Line(c.admin)  # a wrong token may cost the connection
    for one in tries[at:at + 50]:
        try:
            line.send(request("GET", "/v1/status", one))
            status = line.answer()[0]
        except Gone:
            status, line = 0, Line(c.admin)
        statuses[status] = statuses.get(status, 0) + 1
    line.close()
ok(set(statuses) <= {0, 400, 401, 431}, "%d wrong tokens open nothing" % len(tries), statuses)
for scheme in ("Basic ", "bearer: ", "Token ", ""):
    status = ask(c.admin, "GET", "/v1/status", Authorization=scheme + token["operator"])[0]
    if status != 401:
        wrong.append((scheme, status))
ok(not wrong, "and a right one must be a bearer token", wrong)
must("serve", "token", "revoke", "my-analyst", "--data", c.data)
c.process.send_signal(signal.SIGHUP)
ok(c.until(lambda: ask(c.admin, "GET", "/v1/status", token=token["analyst"])[0] == 401), "a revoked token opens nothing any more")
ok(ask(c.admin, "GET", "/v1/status", token=token["operator"])[0] == 200, "control: the other one does")
c.stop()

# ---- H10 --------------------------------------------------------------------------------

canaries = {}


def canary(what):
    """A word that stands nowhere else."""
    canaries[what] = "%s%016x" % ("Qx", rng.getrandbits(64))
    return canaries[what]


def swept(c):
    """Where a canary is, of all that the collector wrote."""
    hits = []
    for root, _, files in os.walk(c.dir):
        for name in files:
            if name in ("tasks.yaml", "tasks.signed", "hearsay.yaml") or name.startswith("key."):
                continue  # what it was given
            data = open(os.path.join(root, name), "rb").read()
            for what, word in canaries.items():
                raw = word if isinstance(word, bytes) else word.encode()
                if raw in data or (not isinstance(word, bytes) and raw.lower() in data.lower()):
                    hits.append((name, what))
    return hits


for json_log in (False, True):
    c = Collector("canary-%d" % json_log, log_json=json_log, log_level="details", checkpoint_seconds=1, admin_open=False, enrolled=["browser"])
    os.makedirs(c.data, mode=0o700)
    tok = must("serve", "token", "add", "reader", "--role", "analyst", "--data", c.data).decode().split()[-1]
    enrol = must("serve", "token", "enrol", "browser", "--count", "3", "--quota", "2", "--data", c.data).decode().split()
    canaries.clear()
    c.start()
    canaries["a role token"], canaries["an enrolment token"] = tok, enrol[0]
    said = {"User_Agent": canary("agent"), "X_Forwarded_For": canary("forwarded"), "Forwarded": "for=" + canary("forwarded2"), "Cookie": "a=" + canary("cookie"),
            "Referer": "http://x/" + canary("referer"), "X_Request_Id": canary("request id"), canary("a header's name"): "1", "From": canary("from"),
            "Content_Type": "application/octet-stream"}
    host = "127.213.97.%d" % rng.randint(2, 250)
    canaries["address"] = host
    wire = {}
    for k, name in enumerate(("cells", "crash", "browser", "cells", "page")):
        wire[k] = c.task[name].upload([k % 2], null=k == 3)
        canaries["id %d" % k] = wire[k][80:96]
    statuses = []
    for body, target, more in ((wire[0], "/v1/uploads", {}), (wire[1] + wire[3], "/v1/uploads", {}), (wire[2], "/v1/uploads", {"Authorization": "Bearer " + enrol[0]}),
                               (wire[2], "/v1/uploads", {"Authorization": "Bearer " + canary("a wrong token")}), (wire[0][:-1] + b"\x7f", "/v1/uploads", {}),
                               (canary("a body").encode(), "/v1/uploads", {}), (b"", "/" + canary("path"), {}), (b"", "/healthz?" + canary("query") + "=1", {}),
                               (json.dumps({"uploads": [{"task": canary("a task"), "release": 1}]}).encode(), "/v1/uploads", {"Content_Type": "application/json"}),
                               (c.task["cells"].upload([1], task=b"qx-no-such-task"), "/v1/uploads", {})):
        line = Line(c.public, source=(host, 0))
        port = line.sock.getsockname()[1]
        canaries["port %d" % port] = "%s:%d" % (host, port)
        canaries["socket %d" % port] = struct.pack("!H4s", port, socket.inet_aton(host))
        line.send(request("POST" if body else "GET", target, body=body, **{**said, **more}))
        try:
            statuses.append(line.answer()[0])
        except Gone:
            statuses.append(0)
        line.close()
    line = Line(c.public, source=(host, 0))
    line.send(b"GET /" + canary("half a request").encode())
    line.close()
    ask(c.admin, "GET", "/v1/" + canary("an admin path"), token=canary("a wrong admin token"))
    ask(c.admin, "GET", "/v1/tasks/%s/estimate?level=%s" % (canary("a task asked for"), canary("a level")), token=tok)
    canaries["a task that is none"] = "qx-no-such-task"
    began = "%d" % time.time()
    canaries["the time, to 100 seconds"] = began[:8]
    ok(statuses[:3] == [204, 204, 204] and set(statuses[3:]) <= {0, 200, 400, 403, 404, 409, 422}, "control: uploads that are counted, and others", statuses)
    c.get("/v1/tasks/cells", tok)
    time.sleep(1.3)  # a checkpoint
    hits = swept(c)
    c.kill()  # as it is at any moment
    hits += swept(c)
    c.start()
    c.stop()
    hits += swept(c)
    ok(not hits, "of %d words about senders none is on the disk or in the log (%s)" % (len(canaries), "JSON" if json_log else "text"), hits[:5])
    canaries["control"] = "reader"
    ok(("tokens.db", "control") in swept(c), "control: a word that is there is found", os.listdir(c.data))
    ok(not [f for f in os.listdir(c.dir) + os.listdir(".") if f.startswith("core")], "and no core is left")

# ---- H11 --------------------------------------------------------------------------------

LIMIT = FLOOD // 5
c = Collector("flood", tasks=cells("cells", 65536), ids_epoch=LIMIT)
c.start()
t = c.task["cells"]
first = [t.upload([i]) for i in range(100)]
ok(c.upload(first)[0] == 204, "a hundred honest uploads")
before = c.rss()
counted, refused, odd, peak = 100, 0, [], 0
line = Line(c.public)
for at in range(0, FLOOD, 250):
    some = [t.upload([65535]) for _ in range(250)]
    status, headers, answer = line.post(b"".join(some))
    if status == 204:
        counted += 250
    elif status in (200, 503):
        answer = json.loads(answer)
        counted += answer.get("accepted", 0)
        refused += len(answer["refused"])
        if {r["status"] for r in answer["refused"]} != {503} or (status == 503 and not headers.get("retry-after", "").isdigit()):
            odd.append((status, headers))
    else:
        odd.append(status)
    peak = max(peak, c.rss())
ok(not odd and counted == LIMIT and refused == FLOOD + 100 - LIMIT, "%d ids: %d are taken, the rest is told to come back" % (FLOOD, LIMIT), (counted, refused, odd[:3]))
store = c.get("/v1/status")[1]["store"]
ok(store["ids"] == LIMIT and store["ids_bytes"] <= 64 * LIMIT + (1 << 20), "which take no more memory than the limit allows", store)
ok(SHORT or peak - before < 64 << 20, "nor does all of it", "%d MiB" % ((peak - before) >> 20))
ok(c.upload(first)[0] == 204, "those that were counted are still known")
got = c.cells("cells")
ok(sum(got.values()) == LIMIT and all(got[i] == 1 for i in range(100)), "and counted once", sum(got.values()))
ok(c.upload([t.upload([1], epoch=DAY - 1)])[0] == 204, "another day has room of its own")
c.stop()
done()
