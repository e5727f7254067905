#!/usr/bin/python3 -B
"""A fleet behind a relay: every upload counted once and none in clear, through
`hearsay relay` into a collector that is a gateway. Then relays that fail, that
are none and that are down, tasks that demand one, and days that pass behind one."""

import ohttp
from relays import *

N = 150 if SHORT else 400
ENV = {"ASAN_OPTIONS": "detect_leaks=0"}  # its sandbox hides /proc
YES_NO = "yes-no: true; epsilon: 2; repeat: daily; delay: 1h"
TASKS = (task("dark", YES_NO + "; relay: required") + task("half", YES_NO + "; sample: 1/2")
         + task("minutes", "range: [0, 480]; epsilon: 2; repeat: daily; delay: 1h"))


def keys(*names):
    """Key pairs of gateways, whose numbers differ: what goes before tasks."""
    while True:
        for name in names:
            for end in (".secret", ".public"):
                if os.path.exists(path(name + end)):
                    os.remove(path(name + end))
            must("tasks", "keygen", "--seal", "-o", path(name))
        publics = [ohttp.x25519(secret(name)) for name in names]
        if len({ohttp.number(p) for p in publics}) == len(names):
            return "gateway_keys: [%s]\n" % ", ".join(path(name + ".public") for name in names)


def secret(name):
    with open(path(name + ".secret")) as f:
        return bytes.fromhex(f.read().split()[1])


def gateway(name, tasks=TASKS, parties="", **config):
    """A collector that opens what a relay brings, started."""
    c = Collector(name, task("none", YES_NO), gateway_keys=[path("gate.secret")], **config)
    document(c, tasks, parties)
    return c.start(env=ENV)


def document(c, tasks, parties):
    """Signed tasks behind a gateway, and perhaps a relay; the file."""
    c.version += 1
    yaml, signed = os.path.join(c.dir, "tasks.yaml"), os.path.join(c.dir, "tasks.signed")
    with open(yaml, "w") as f:
        f.write("version: %d\nissued: %s\nexpires: %s\n%s%stasks:\n%s" % (c.version, date(DAY - 40), date(DAY + 300), PARTIES, parties, tasks))
    if os.path.exists(signed):
        os.remove(signed)
    must("tasks", "compile", yaml, "--key", os.path.join(c.dir, "key.secret"), "-o", signed)
    return signed


def fleet(url, *options, code=0, devices=N):
    r = run("simulate", "fleet", url, "--devices", devices, *options, "--format", "json")
    ok(r.code == code, "simulate fleet %s: exit %d" % (" ".join(map(str, options)), code), r)
    return json.loads(r.out) if r.out else {}, r


def sent(got):
    return {t["task"]: (t["reports"], t["nulls"]) for t in got["tasks"]}


def by_day(c, name):
    """As it is now: in the list of tasks null uploads may come late."""
    return {row["day"]: (row["reports"], row["nulls"]) for row in c.get("/v1/tasks/" + name)[1]["live"]["days"]}


def counted(c):
    """Reports and null uploads of each task, of all days."""
    return {name: tuple(map(sum, zip(*by_day(c, name).values()))) for name in ("dark", "half", "minutes")}


class Between(Wire):
    """In the place of a relay or a collector: gives every request on to one, or
    answers it by itself; keeps all it is sent."""

    def __init__(self, to=None, answer=lambda n: None):
        self.to, self.mine = to, answer
        super().__init__(self.given_on)

    def given_on(self, n):
        by_itself = self.mine(n)
        if by_itself is not None or self.to is None:
            return by_itself
        head, body = self.bytes[n]
        method, where = head.decode().split()[:2]
        kind = re.search(rb"(?i)content-type: (\S+)", head).group(1).decode()
        status, headers, answer = ask(self.to, method, where, body, **{"Content-Type": kind})
        return http_answer("%d X" % status, answer, headers.get("content-type", "text/plain"))

    def clear(self):
        """Requests that are no sealed upload of the one length."""
        return [head for head, body in self.bytes if not head.startswith(b"POST ") or b"message/ohttp-req" not in head or len(body) != 567 or b"HSYU" in body]


PARTIES = keys("gate", "later")
c = gateway("collector")
document_file = os.path.join(c.dir, "tasks.signed")
KEY = os.path.join(c.dir, "key.public")
collector = "http://127.0.0.1:%d" % c.public[1]
front = Between(c.public)  # what the relay takes for the gateway: sees all that reaches it
relay = Relay(front.url)
GIVEN = ("--document", document_file, "--public-key", KEY)

# ---- Counted once, nothing in clear -------------------------------------------------------

got, r = fleet(collector, "--relay", relay.url, "--public-key", KEY, "--batch", 10)
want = sent(got)
ok(set(want) == {"dark", "half", "minutes"} and counted(c) == want, "the collector counted what was sent", (counted(c), want))
ok(got["requests"] == got["acknowledged"] == sum(map(sum, want.values())) >= 3 * N and got["refused"] == got["given_up"] == 0 and got["relay"] == relay.url,
   "one upload a request, all of them acknowledged", got)
ok("--batch is ignored" in r.err, "which is said to who asks for more", r)
ok(relay.metrics()["hearsay_relay_answered_total"] == got["requests"] == len(front.bytes) and not front.clear()
   and {head.split()[1] for head, _ in front.bytes} == {b"/v1/ohttp"}, "all of it through the relay, sealed, of one length", front.clear()[:3])
ok(len({body for _, body in front.bytes}) == len(front.bytes), "and no two alike")
again, _ = fleet("http://nobody.invalid", *GIVEN, "--relay", relay.url, "--threads", 3, "--connections", 7, "--repeat", 2)
ok(sent(again) == want and again["repeated"] == got["requests"] and counted(c) == want, "the same seed twice over, tasks from a file: nothing is counted again, and the URL not connected to", again)

# ---- Relays that fail ------------------------------------------------------------------------

BUSY = http_answer("503 Busy", b"{}", "application/problem+json")
some = Between(relay.public, lambda n: (BUSY, b"HTTP/1.1 502 X\r\nContent-Length: 0\r\n\r\n")[n % 2] if n % 5 < 2 else None)
before = {name: sum(n) for name, n in counted(c).items()}
got, _ = fleet(collector, *GIVEN, "--relay", some.url, "--seed", 2, "--attempts", 40, devices=60)
after = {name: sum(n) - before[name] for name, n in counted(c).items()}
ok(got["tried_again"] > 0 and got["requests"] == len(some.bytes) == got["acknowledged"] + got["tried_again"] and got["given_up"] == 0,
   "a relay that fails two times in five is tried again", got)
ok(after == {name: sum(n) for name, n in sent(got).items()} and not some.clear(), "everything arrives once, nothing in clear", (after, some.clear()[:3]))
total = counted(c)
seen = len(front.bytes)
watch = Between()  # in the collector's place
for what, answer, words, options in (
        ("is busy for ever", BUSY, "given up", ["--attempts", 2]),
        ("acknowledges in clear", b"HTTP/1.1 204 No Content\r\n\r\n", "no relay", []),
        ("says 200", http_answer(body=b"fine", kind="text/plain"), "no relay", []),
        ("seals nothing", http_answer(body=b"x" * 304), "not sealed for this request", []),
        ("redirects to the collector", http_answer("307 Go", kind="text/plain", more="Location: %s/v1/uploads\r\n" % watch.url), "no relay", []),
        ("knows no such key", http_answer("400 Bad", b"{}", "application/problem+json"), "take the tasks again", ["--attempts", 3]),
        ("is no web server", b"\0\1\2\r\n\r\n", "web server", []),
        ("hangs up", None, "closed without an answer", ["--attempts", 2])):
    liar = Between(None, lambda n, answer=answer: answer)
    got, r = fleet(watch.url, *GIVEN, "--relay", liar.url, *options, code=1, devices=20)
    ok(words in r.err and got.get("acknowledged", 0) == 0 and liar.bytes and not liar.clear() and not watch.connections,
       "a relay that %s: nothing is acknowledged, nothing in clear" % what, (r, liar.clear()[:3]))
    liar.close()
liar.close()
_, r = fleet(watch.url, *GIVEN, "--relay", liar.url, "--attempts", 2, code=1, devices=20)
ok("cannot connect" in r.err and liar.url in r.err and not watch.connections, "one that is down: nothing in clear", r)
ok(counted(c) == total and len(front.bytes) == seen, "and the collector has seen none of it")

# ---- Without a relay ---------------------------------------------------------------------------

plain = Between(c.public)
got, r = fleet(plain.url, *GIVEN, "--seed", 3, devices=20)
ok(set(sent(got)) == {"half", "minutes"} and "dark is left out: its uploads leave through a relay only" in r.err, "a task that demands a relay is left out, and said so", r)
ok(plain.bytes and not any(b"dark" in body for _, body in plain.bytes) and "relay" not in got, "nothing of it is in what leaves")
named = gateway("named", parties="relay: %s\n" % relay.url)
got, r = fleet(watch.url, "--document", os.path.join(named.dir, "tasks.signed"), "--seed", 4, devices=20)
ok(set(sent(got)) == {"dark", "half", "minutes"} and got["relay"] == relay.url and not watch.connections, "a relay that the document names is used without being told", r)
keyless = Collector("keyless", task("dark", YES_NO))
for options in (["--relay", relay.url], []):
    r = run("simulate", "fleet", watch.url, "--document", os.path.join(keyless.dir, "tasks.signed"), "--devices", 5, "--attempts", 1, *options)
    ok(r.code == 1 and ("no key of a gateway" in r.err) == bool(options), "a document without a key of a gateway: nothing is sealed", r)
for options, words in ((["--relay", "relay.example"], "URL"), (["--relay", ""], "URL"), (["--relay"], "relay")):
    r = run("simulate", "fleet", collector, *options)
    ok(r.code == 2 and words in r.err, "refused: " + " ".join(options), r)
for content, words in ((b"", "document"), (b"HSYD" + bytes(60), "document")):
    r = run("simulate", "fleet", watch.url, "--document", write("no-document", content))
    ok(r.code == 1 and "no-document" in r.err, "no document, by its name", r)

# ---- Tokens ----------------------------------------------------------------------------------------

write("token", "abc-123\n")
os.chmod(path("token"), 0o600)


class Gate(Between):
    """Relay and gateway in one: opens, and acknowledges."""

    def __init__(self, key):
        self.key, self.inside = key, []
        super().__init__(None, self.open)

    def open(self, n):
        try:
            opened = ohttp.Opened(self.key, self.bytes[n][1])
        except ValueError:
            return http_answer("400 Bad", b"{}", "application/problem+json")
        self.inside.append(ohttp.parts(opened.message))
        return http_answer(body=opened.answer(ohttp.answer_message(204, {}, b"")))


gate = Gate(secret("later"))
got, r = fleet("https://collector.example:8443/x", *GIVEN, "--relay", gate.url, "--token", path("token"), devices=20)
ok(got["acknowledged"] == len(gate.inside) == len({i[3] for i in gate.inside}) and {i[:2] for i in gate.inside} == {("POST", "/v1/uploads")}, "what is inside is one upload, to the collector", got)
ok({i[2].get("authorization") for i in gate.inside} == {"Bearer abc-123"} and not any(b"authorization" in head.lower() for head, _ in gate.bytes), "a token goes inside, and not outside")
ok(0 < got["tried_again"] == len(gate.bytes) - len(gate.inside) <= 32, "a gateway that has only the other key: each connection tries that one, and keeps to it", got)

# ---- Days -------------------------------------------------------------------------------------------

clock = write("clock", date(DAY - 5) + "\n")
old = gateway("rehearsed", TASKS, rehearsal=clock)
after = Relay("http://127.0.0.1:%d" % old.public[1], name="second")
got, _ = fleet("http://127.0.0.1:%d" % old.public[1], "--relay", after.url, "--days", 3, "--clock", clock, devices=15)
rows = {t["task"]: {row["day"]: (row["reports"], row["nulls"]) for row in t["days"]} for t in got["tasks"]}
live = {name: by_day(old, name) for name in rows}
ok(rows == live and sum(n for n, _ in rows["dark"].values()) == 45 and after.metrics()["hearsay_relay_answered_total"] == got["requests"],
   "days pass behind a relay: each upload is counted on its day", (rows, live))
got, r = fleet("http://127.0.0.1:%d" % old.public[1], "--relay", after.url, "--clock", clock, "--seed", 9, devices=15)
ok(got["acknowledged"] == got["requests"] >= 45 and set(sent(got)) == {"dark", "half", "minutes"}, "and a past day is answered by the clock of a rehearsal", r)
done()
