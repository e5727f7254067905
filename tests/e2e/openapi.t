#!/usr/bin/python3 -B
"""A running collector and a running shuffler against docs/openapi.yaml: the routes
of a listener are those of its table, the answers are what the file says."""

import http.server
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "rig"))
import ohttp
import postgres
from schema import breaks, follow
from shuffled import *
from chain import *

try:
    import yaml
except ImportError:
    skip_all("needs python3-yaml")

TABLES = {"public": "api_public", "admin": "api_admin", "shuffler": "api_shuffler_admin"}
NOT_PROVOKED = {"429", "503"}  # what only load or a broken disk brings

FILE = yaml.safe_load(open(os.path.join(ROOT, "docs", "openapi.yaml")))


def part_of(listener):
    """The file without what is not of a listener: operations with other tags; answers
    of others; refusals of tokens where this one wants none."""
    def answers(op, role):
        return {s: a for s, a in op["responses"].items() if a.get("x-listener", listener) == listener
                and not (isinstance(op["x-role"], dict) and role == "anyone" and s in ("401", "403"))}

    paths = {}
    for where, item in FILE["paths"].items():
        for method, op in item.items():
            if method != "parameters" and listener in op["tags"]:
                role = op["x-role"][listener] if isinstance(op["x-role"], dict) else op["x-role"]
                paths.setdefault(where, {})[method] = {**op, "x-role": role, "responses": answers(op, role)}
    return {**FILE, "paths": paths}


SPECS = {name: part_of(name) for name in TABLES}
ok([t["name"] for t in FILE["tags"]] == list(TABLES) and all(set(op["tags"]) <= set(TABLES) for item in FILE["paths"].values() for m, op in item.items() if m != "parameters"),
   "every operation is of a listener")


def parts(value):
    """The value and everything below it."""
    yield value
    for below in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from parts(below)


arrays = [at for at in parts(FILE) if isinstance(at, dict) and (at.get("type") == "array" or isinstance(at.get("type"), list) and "array" in at["type"])]
ok(len(arrays) > 10 and all("items" in at for at in arrays), "every array schema says what its items are", [at for at in arrays if "items" not in at])
names = [op.get("operationId") for item in FILE["paths"].values() for m, op in item.items() if m != "parameters"]
ok(len(set(names)) == len(names) > 20 and all(re.fullmatch("[a-z][A-Za-z]+", name or "") for name in names), "every operation has an operationId of its own, a name that programs can use", names)
probe = {"components": {}}
strict = {"type": "object", "required": ["a"], "additionalProperties": False, "properties": {"a": {"type": "integer"}}}
ok(breaks(probe, strict, {"a": 1}) == [] and breaks(probe, strict, {"a": "1"}) and breaks(probe, strict, {}) and breaks(probe, strict, {"a": 1, "b": 2})
   and breaks(probe, {"type": "integer"}, True) and breaks(probe, {"oneOf": []}, 1), "control: the validator finds what is wrong")

# ---- The routes are those of the tables ---------------------------------------------


def operations(spec):
    return {(m.upper(), p): (op, item) for p, item in spec["paths"].items() for m, op in item.items() if m != "parameters"}


for name, spec in SPECS.items():
    api = os.path.join(ROOT, "src", "server", "collector", "api")
    source = "".join(open(os.path.join(api, f)).read() for f in ("api_public.c", "api_admin.c"))
    source = re.search(r"const struct route %s\[\] = \{(.*?)\n\};" % TABLES[name], source, re.S).group(1)
    source = re.sub(r".*api_gone.*\n", "", source)  # 410: it is there for programs of before
    table = {(m, p): role.lower() for m, p, role in re.findall(r'\{"([A-Z]+)",\s*"([^"]+)",\s*LISTEN_([A-Z]+)', source)}
    described = {(m, re.sub(r"\{[a-z]+\}", "*", p)): op for (m, p), (op, _) in operations(spec).items()}
    described_at = {(m, re.sub(r"\{[a-z]+\}", "*", p)): p for m, p in operations(spec)}
    ok(set(table) == set(described) and table, "%s: the file has the routes of the table" % name, set(table) ^ set(described))
    ok(all(described[r]["x-role"] == table[r] for r in table if r in described), "%s: and their roles" % name)
    ok(all(({} in described[r].get("security", FILE["security"])) == ("anyone" in str(FILE["paths"][described_at[r]][r[0].lower()]["x-role"])) for r in table),
       "only what is open to anyone needs no token")

# ---- Answers are as described -------------------------------------------------------

N = 40
SMALL = "values: [red, green]; epsilon: 1; mechanism: grr; repeat: daily"
TASKS = "".join([
    task("crash", "yes-no: true; epsilon: 1; repeat: daily", min_reports=N), task("colour", SMALL, min_reports=N), task("shy", SMALL, min_reports=10**6),
    task("minutes", "range: [0, 1440]; epsilon: 1; repeat: daily", min_reports=N),
    task("memory", "range: [0, 96]; bins: 8; epsilon: 2; mechanism: sw; repeat: once", min_reports=N),
    task("age", "range: [0, 96]; bins: 8; epsilon: 2; mechanism: hh; repeat: once", min_reports=N),
    task("page", "strings: true; epsilon: 2; mechanism: olh; set: {pool-bits: 8}; repeat: daily", min_reports=N),
    task("site", "strings: true; mechanism: rappor; set: {filter-bits: 32, hashes: 2, cohorts: 8, f: 0.25, p: 0.35, q: 0.65}; repeat: once", min_reports=N),
    task("word", "strings: true; epsilon: 4; mechanism: pem; set: {bits: 16, step: 8, pool-bits: 8}; repeat: once", min_reports=N),
    shuffled("veiled", SMALL, 1000, min_reports=N),
    task("closed", SMALL, start=DAY - 30, end=DAY - 20), task("guarded", SMALL), parties()])
os.makedirs(path("candidates"))
write("candidates/site.txt", "anna\nbert\n")
c = Collector("openapi", TASKS, admin_open=False, estimate_seconds=1, candidates=path("candidates"), enrolled=["guarded"],
              gateway_keys=[write("gateway.secret", "x25519-secret %s\n" % os.urandom(32).hex())])
os.chmod(path("gateway.secret"), 0o600)
os.makedirs(c.data, 0o700)
TOKENS = {role: must("serve", "token", "add", role, "--role", role, "--data", c.data).decode().split()[-1] for role in ("scraper", "analyst", "operator")}
TOKENS["anyone"] = None
c.start()
c.stop()
deliver(c, "veiled", DAY - 1, 2000, nulls=3)
c.start()

seen = set()


def announce(address, method, where, length, token):
    """A body that is never sent, only its length."""
    line = Line(address)
    line.send(("%s %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/octet-stream\r\nContent-Length: %d\r\n%s\r\n"
               % (method, where, length, "Authorization: Bearer %s\r\n" % token if token else "")).encode())
    answer = line.answer()
    line.close()
    return answer


def conform(listener, method, where, status, body=None, token=None, type_=None, **headers):
    """Ask, and hold the answer against the file."""
    spec = SPECS[listener]
    if type_:
        headers["Content-Type"] = type_
    address = c.public if listener == "public" else c.admin
    got, head, answer = announce(address, method, where, body, token) if isinstance(body, int) else ask(address, method, where, body, token, **headers)
    bare = where.split("?")[0]
    route = next((r for r in operations(spec) if r[0] == method and re.fullmatch(re.sub(r"\\\{[a-z]+\\\}", "[^/]+", re.escape(r[1])), bare)), None)
    what = "%s %s %s: %d" % (listener, method, where, status)
    if route is None or str(got) not in operations(spec)[route][0]["responses"] or got != status:
        return ok(False, what, "%s %s" % (got, answer[:300]))
    seen.add((listener, *route, str(got)))
    found = follow(spec, operations(spec)[route][0]["responses"][str(got)])
    if method == "GET" and status == 200 and "etag" in head:
        conform(listener, method, where, 304, None, token, **{"If-None-Match": "*"})
    content = found.get("content", {})
    kind = head.get("content-type", "").split(";")[0]
    if not content:
        return ok(answer == b"", what + ", with nothing in it")
    if kind not in content:
        return ok(False, what, "the file does not have " + kind)
    schema = content[kind]["schema"]
    if schema.get("format") == "binary":
        return ok(len(answer) > 0, what)
    value = json.loads(answer) if "json" in kind else answer.decode("utf-8", "replace")
    wrong = breaks(spec, schema, value)
    return ok(not wrong, what, "\n".join(wrong))


def admin(method, where, status, role="analyst", body=None):
    return conform("admin", method, where, status, body, TOKENS[role])


def public(status, body, type_="application/octet-stream", **more):
    return conform("public", "POST", "/v1/uploads", status, body, type_=type_, **more)


# Before anything has come, and without a right.
for (method, where), (op, _) in operations(SPECS["admin"]).items():
    where = where.replace("{task}", "crash").replace("{file}", "app.js")
    if "401" in op["responses"]:
        admin(method, where, 401, "anyone")
    if "403" in op["responses"]:
        admin(method, where, 403, "scraper")

A = c.task["colour"]
good = A.upload([2])
public(204, good)
public(200, good + A.upload([1], epoch=DAY + 9))
public(400, b"HSYU and no more")
public(400, b"{}", "application/json")
public(403, c.task["guarded"].upload([1]))
public(404, A.upload([1], task=b"nobody"))
public(409, A.upload([1], id=good[80:96]))
public(410, c.task["closed"].upload([1], epoch=DAY - 20))
public(415, good, "text/plain")
public(422, A.upload([1], digest=bytes(32)))
public(413, 1 << 30)
public(204, json.dumps({"uploads": [{"task": "colour", "release": 1, "digest": A.digest.hex(), "epoch": date(DAY), "id": os.urandom(16).hex(), "reports": [1]}]}), "application/json")
listed = ask(c.public, "GET", "/.well-known/ohttp-gateway")[2]
(key_id, key), = ohttp.keys(listed).items()
conform("public", "POST", "/v1/ohttp", 200, ohttp.Sealed(key_id, key, ohttp.request(good, size=512)).bytes, type_="message/ohttp-req")
conform("public", "POST", "/v1/ohttp", 400, ohttp.Sealed(key_id ^ 1, key, ohttp.request(good, size=512)).bytes, type_="message/ohttp-req")
conform("public", "POST", "/v1/ohttp", 415, good, type_="application/octet-stream")
conform("public", "POST", "/v1/ohttp", 413, 1 << 30)
conform("public", "GET", "/.well-known/ohttp-gateway", 200)
c.configure(**{**c.config, "gateway_keys": []})
c.process.send_signal(signal.SIGHUP)
c.until(lambda: "reloaded" in c.said())
conform("public", "GET", "/.well-known/ohttp-gateway", 404)
conform("public", "GET", "/v1/document", 200)
conform("public", "GET", "/healthz", 200)

people = {"crash": "yes", "colour": "red", "minutes": "30", "memory": "8", "age": "8", "page": "anna", "site": "anna", "word": "ab"}
signed = os.path.join(c.dir, "tasks.signed")
for name, truth in people.items():
    tally = must("tally", "--round", "0:0", stdin=must("randomize", "--task", "%s:%s" % (signed, name), stdin=lines([truth] * 400)))
    admin("POST", "/v1/tasks/%s/tally" % name, 200, "operator", tally)
admin("POST", "/v1/tasks/word/tally", 409, "operator", tally)
admin("POST", "/v1/tasks/crash/tally", 409, "operator", tally)
admin("POST", "/v1/tasks/crash/tally", 400, "operator", b"nothing")
admin("POST", "/v1/tasks/none/tally", 404, "operator", tally)
admin("POST", "/v1/tasks/crash/tally", 413, "operator", 1 << 30)
admin("PUT", "/v1/document", 413, "operator", 1 << 30)
admin("GET", "/v1/tasks/closed/tally", 409)
for where in ("/v1/tasks", "/v1/tasks/crash", "/v1/tasks/crash/live"):
    admin("GET", where, 200, "operator")
admin("GET", "/v1/tasks/crash/live", 403, "analyst")
admin("GET", "/v1/tasks/crash/live?from=x", 400, "operator")
admin("GET", "/v1/tasks/none/live", 404, "operator")
for name in people:
    c.settled(name, c.get("/v1/tasks/" + name, TOKENS["analyst"])[1]["reports"], token=TOKENS["analyst"])
today = "from=%s&to=%s" % (date(DAY), date(DAY))

for where in ("/healthz", "/readyz", "/", "/assets/app.js", "/assets/style.css"):
    admin("GET", where, 200, "anyone")
admin("GET", "/assets/none", 404, "anyone")
admin("GET", "/metrics", 200, "scraper")
for where in ("/v1/status", "/v1/tasks", "/v1/tasks/crash", "/v1/tasks/crash/tally", "/v1/document", "/v1/tasks/crash/compare?release=1&with=1", "/v1/tasks/memory/compare?release=1&with=1"):
    admin("GET", where, 200)
for name in [*people, "veiled"]:
    if name != "page":
        for end in ("", ".csv", ".svg"):
            admin("GET", "/v1/tasks/%s/estimate%s?level=0.9&target=population" % (name, end), 200)
for end in ("estimate", "estimate.csv", "estimate.svg"):
    admin("GET", "/v1/tasks/page/" + end, 422)
    admin("GET", "/v1/tasks/shy/" + end, 409)
for end in ("estimate", "estimate.csv", "estimate.svg", "history", "tally", "compare"):
    admin("GET", "/v1/tasks/none/%s?%s" % (end, "with=1" if end == "compare" else ""), 404)
    admin("GET", "/v1/tasks/crash/%s?release=x" % end, 400)
admin("GET", "/v1/tasks/none", 404)
admin("GET", "/v1/tasks/crash?release=0", 400)
admin("GET", "/v1/tasks/crash/estimate?from=%s&to=%s" % (date(DAY - 60), date(DAY - 60)), 404)
admin("GET", "/v1/tasks/shy/compare?with=1", 409)
admin("GET", "/v1/tasks/page/compare?with=1", 422)
c.until(lambda: c.get("/v1/tasks/crash/history", TOKENS["analyst"])[1]["live"] != [])
admin("GET", "/v1/tasks/crash/history", 200)

status, _, body = ask(c.admin, "GET", "/v1/events", token=TOKENS["analyst"])
ok(status == 410 and json.loads(body)["title"] == "Gone", "admin GET /v1/events: 410, it is gone", body)

new = open(c.document(TASKS.replace(task("closed", SMALL, start=DAY - 30, end=DAY - 20), ""), name="next"), "rb").read()
admin("PUT", "/v1/document", 400, "operator", b"nothing")
admin("PUT", "/v1/document", 403, "operator", new[:-1] + bytes([new[-1] ^ 1]))
admin("PUT", "/v1/document", 200, "operator", new)
admin("PUT", "/v1/document", 409, "operator", open(signed, "rb").read())
admin("POST", "/v1/backup", 201, "operator")
admin("POST", "/v1/tasks/closed/retire", 200, "operator")
for what in ("estimate", "estimate.csv", "estimate.svg", "compare?with=1", "tally"):
    admin("GET", "/v1/tasks/closed/" + what, 410, "analyst")
admin("GET", "/v1/tasks/closed/live", 410, "operator")
admin("POST", "/v1/tasks/closed/tally", 410, "operator", b"nothing")
admin("POST", "/v1/tasks/crash/retire", 409, "operator")
admin("POST", "/v1/tasks/crash/retire?release=0", 400, "operator")
admin("POST", "/v1/tasks/none/retire", 404, "operator")
admin("POST", "/v1/purge?before=%s" % date(DAY - 20), 200, "operator")
admin("POST", "/v1/purge", 400, "operator")
admin("POST", "/v1/purge?before=%s" % date(DAY), 409, "operator")

# A collector that was given nothing to ask.
bare = Collector("bare", TASKS, document=None)
bare.start()
c, asked = bare, c
conform("public", "GET", "/v1/document", 404)
admin("GET", "/v1/document", 404)
conform("admin", "GET", "/readyz", 503)
c = asked
bare.stop()

# ---- A shuffler, and its batches at a collector --------------------------------------


class Tap(http.server.BaseHTTPRequestHandler):
    """A next hop that takes all parts of a delivery, and never the end."""
    protocol_version, parts = "HTTP/1.1", []

    def do_POST(self):
        part = self.rfile.read(int(self.headers["Content-Length"]))
        kind, = struct.unpack_from("<H", part, 6)
        self.parts.append((kind, part, self.headers["Content-Type"]))
        at = struct.unpack_from("<Q", part, 24)[0] + len(part) - 96 if kind == 2 else 0
        id = part[24:40] if kind == 1 else part[8:24]
        answer = b"HSYA" + struct.pack("<HH", 1, 1) + id + struct.pack("<Q", at) + bytes(64)
        self.send_response(503 if kind == 3 else 200)
        self.send_header("Content-Length", len(answer))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args):
        pass


def delivery(shuffler, cells_):
    """The parts of a shuffler's delivery: heads, envelopes, end."""
    Tap.parts.clear()
    shuffler.more["next"] = "http://127.0.0.1:%d" % tap.server_port
    shuffler.configure(admin_open=False)
    os.makedirs(shuffler.data, 0o700)
    role = {r: must("serve", "token", "add", r, "--role", r, "--data", shuffler.data).decode().split()[-1] for r in ("scraper", "operator")}
    TOKENS.update(role)
    chain.at(chain.day, 12)
    shuffler.start()
    ok(shuffler.upload(chain.uploads(cells_))[0] == 204, "uploads come to a shuffler")
    chain.at(chain.day + 1, 7)
    ok(shuffler.until(lambda: any(kind == 3 for kind, _, _ in Tap.parts)), "which mixes and delivers them", shuffler.said())
    parts = {kind: part for kind, part, _ in Tap.parts}
    ok(sorted(parts) == [1, 2, 3] and {t for _, _, t in Tap.parts} == {PARCEL}, "in three parts", Tap.parts)
    return parts[1], parts[2], parts[3]


PARCEL = "application/vnd.hearsay.parcel"
tap = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Tap)
threading.Thread(target=tap.serve_forever, daemon=True).start()
chain = Chain(shufflers=1, min_batch=3, name="openapi-chain", start=False)
one = chain.shufflers[0]
first = delivery(one, range(4))
c = one
for (method, where), (op, _) in operations(SPECS["shuffler"]).items():
    if "401" in op["responses"]:
        conform("shuffler", method, where, 401)
    if "403" in op["responses"]:
        conform("shuffler", method, where, 403, token=TOKENS["scraper"])
    conform("shuffler", method, where, 200, token=TOKENS["operator"])
conform("public", "GET", "/v1/batches", 200)
conform("public", "GET", "/v1/documents", 200)
ok({b["state"] for b in json.loads(ask(c.public, "GET", "/v1/batches")[2])["batches"]} <= {"received", "erased"}, "anyone sees only those that are over")
one.stop()
one.configure(document=None, data=path("nothing"), admin_open=True)
one.start()
conform("shuffler", "GET", "/v1/document", 404)
conform("shuffler", "GET", "/readyz", 503)
one.stop()
twin = Party(chain, "twin", ("shuffle", "serve"), **one.more)  # the same keys, other uploads: another batch of the same id
second = delivery(twin, range(4, 8))
twin.stop()
tap.shutdown()
ok(first[0] != second[0] and first[2] == second[2], "two batches have one id")

c = chain.collector.start()


def part(status, body, type_=PARCEL):
    conform("public", "POST", "/v1/batches", status, body, type_=type_)


conform("public", "GET", "/v1/batches", 404)
conform("public", "GET", "/v1/documents", 404)
part(400, b"no part of anything")
part(415, first[0], "application/octet-stream")
part(413, 1 << 30)
part(422, first[0][:-1] + bytes([first[0][-1] ^ 1]))
part(404, first[1])
for status, body in ((200, second[0]), (200, first[1]), (422, first[2]), (200, first[0]), (416, first[2]), (403, second[1][:-1] + bytes([second[1][-1] ^ 1])), (200, first[1]),
                     (200, first[2]), (200, first[0]), (409, second[0])):
    part(status, body)
ok(c.settled("veiled", 4) == {i: 1 for i in range(4)}, "what was taken is counted once")
c.stop()
c = asked

# ---- A node of a cluster ---------------------------------------------------------------

RARE = {("POST", "/v1/backup", "409")} if postgres.why_not() else set()  # else after a thousand backups of one day
if not RARE:
    database = postgres.Postgres("openapi")
    c = Collector("node", TASKS, data=None, storage=database.url(), node="here")
    must("store", "init-cluster", c.yaml)
    c.start()
    B = c.task["colour"]
    public(204, B.upload([1]))
    admin("GET", "/v1/status", 200, "operator")
    ok(c.get("/v1/status")[1]["cluster"]["nodes"][0]["name"] == "here", "a node says of which cluster it is", c.get("/v1/status"))
    admin("POST", "/v1/backup", 409, "operator")
    database.stop()
    c.until(lambda: not c.get("/v1/status")[1]["ready"])
    admin("GET", "/v1/status", 200, "operator")
    conform("admin", "GET", "/readyz", 503)
    public(503, B.upload([2]))
    c.stop()
c = asked

missing = [(listener, m, p, status) for listener, spec in SPECS.items() for (m, p), (op, _) in operations(spec).items() for status in op["responses"]
           if (listener, m, p, status) not in seen and status not in NOT_PROVOKED and (m, p, status) not in RARE]
ok(not missing, "every answer in the file was given", "\n".join(map(str, missing)))
ok(c.stop() == 0, "and the collector lives")
done()
