#!/usr/bin/python3 -B
"""The life of a token: made, listed, expired, revoked, backed up; and what a
running collector makes of it."""

import hashlib

from collector import *


def token(*words):
    return run("serve", "token", *words, "--data", c.data)


def made(*words):
    return token(*words).out.decode().split()


def taken(task_, bearer, **more):
    """Whether an upload with this token is taken, after the collector has looked."""
    return c.upload([c.task[task_].upload([0], **more)], Authorization="Bearer " + bearer)[0] == 204


def keyed(text, key, size):
    return hashlib.blake2b(text, key=key.ljust(32, b"\0"), digest_size=size).digest()


c = Collector("tokens", admin_open=False, estimate_seconds=1)
os.makedirs(c.data, 0o700)
os.mkdir(os.path.join(c.data, "enrolled"), 0o700)
with open(os.path.join(c.data, "tokens"), "w"):
    pass
r = token("list")
ok(r.code == 1 and "issue new tokens" in r.err, "tokens in files are not read in silence", r)
os.unlink(os.path.join(c.data, "tokens"))
os.rmdir(os.path.join(c.data, "enrolled"))
device, = made("enrol", "browser", "--count", "1", "--quota", "7")
c.start()
ok(taken("browser", device) and not taken("browser", "another"), "a task with tokens takes no others")

# ---- One by one ------------------------------------------------------------------

a, b = made("enrol", "browser", "--count", "2", "--quota", "100")
r = token("enrol", "browser", "--count", "1", "--quota", "100", "--expires", date(DAY - 2))
ok(r.code == 1 and "is over" in r.err and r.out == b"", "none are made that nobody could use", r)
r = token("forwarder", "--count", "1", "--quota", "5", "--expires", "2020-01-01")
ok(r.code == 1 and "is over" in r.err, "nor for forwarders", r)
short, = made("enrol", "browser", "--count", "1", "--quota", "100", "--expires", date(DAY + 9))
token("expire", "browser", short, "--expires", date(DAY - 1))
ok(c.until(lambda: taken("browser", a) and not taken("browser", short)) and taken("browser", b), "tokens are known when they are made, and those that have expired are not")
listed = token("list", "browser").out.decode().splitlines()
ok(len(listed) == 4 and sum(l.endswith("until " + date(DAY - 1)) for l in listed) == 1, "each is listed by a name, with its last day", listed)
ok(token("expire", "browser", short, "--expires", date(DAY + 9)).code == 0 and c.until(lambda: taken("browser", short)), "a later day lets it live")
ok(token("expire", "browser", keyed(b"browser\0" + a.encode(), b"hearsay collector: token, task", 16).hex(), "--expires", date(DAY - 1)).code == 0
   and c.until(lambda: not taken("browser", a)) and taken("browser", b), "an earlier one ends it, and no other")
ok(token("revoke", "browser", b).code == 0 and c.until(lambda: not taken("browser", b)) and taken("browser", device), "one is revoked, the others stay")
r = token("revoke", "browser", b)
ok(r.code == 1 and "no such enrolment token" in r.err, "once", r)
for words in (["expire", "browser", a], ["expire", "browser", "--expires", date(DAY)], ["list", "a", "b"], ["list", "--expires", date(DAY)], ["enrol", "browser", "--count", "1", "--quota", "1", "--expires", "soon"]):
    ok(token(*words).code == 2, "token %s: refused" % " ".join(words))
ok(token("list", "minutes").code == 1, "a task without tokens has none to list")
r = token("enrol", "browserr", "--count", "1", "--quota", "2")
ok(r.code == 0 and "has no task 'browserr'" in r.err, "a task that nobody asks is said", r)
r = token("enrol", "browser", "--count", "1", "--quota", "101")
ok(r.code == 0 and r.err == "", "and one that is asked is not", r)
ok(token("forwarder", "--count", "2", "--quota", "5").err == "", "nor are forwarders")
listed = token("list").out.decode().splitlines()
ok("%-32s enrolment, tokens: 4, quota: 101" % "browser" in listed and "%-32s enrolment, tokens: 1, quota: 2" % "browserr" in listed and "%-32s forwarder, tokens: 2, quota: 5" % "Forwarders" in listed,
   "the list has them, with their quota", listed)
ok(token("revoke", "browserr", "all").code == 0 and token("revoke", "Forwarders", "all").code == 0, "both are revoked")
r = run("serve", "token", "add", "bob", "--role", "analyst", "--data", path("mistyped"))
ok(r.code == 0 and "created this directory" in r.err, "a directory that is made for a token is said", r)

# ---- Readers ---------------------------------------------------------------------

ann, = made("add", "ann", "--role", "analyst")
bob, = made("add", "bob", "--role", "operator")
c.until(lambda: c.get("/v1/tasks", bob)[0] == 200)
ok(c.get("/v1/tasks", ann)[0] == 200, "a reader with a token is answered")
token("revoke", "ann")
ok(c.until(lambda: c.get("/v1/tasks", ann)[0] == 401) and c.get("/v1/tasks", bob)[0] == 200, "is refused once it is revoked, and nobody else is")

# ---- A book that is gone ---------------------------------------------------------

book = os.path.join(c.data, "tokens.db")
mark = len(c.said())
os.rename(book, book + ".away")
ok(c.until(lambda: "tokens-kept" in c.said()[mark:]), "a book that cannot be read is said", c.said()[mark:])
time.sleep(4)  # it is looked for each second or two
ok(c.said()[mark:].count("tokens-kept") == 1 and c.get("/v1/tasks", bob)[0] == 200, "once, and what was known is still", c.said()[mark:])
os.rename(book + ".away", book)
late, = made("add", "late", "--role", "analyst")
ok(c.until(lambda: c.get("/v1/tasks", late)[0] == 200), "and it goes on when it is back")

# ---- Backups ---------------------------------------------------------------------

copy = json.loads(ask(c.admin, "POST", "/v1/backup", b"", bob)[2])["directory"]
c.stop()
os.rename(os.path.join(c.data, copy), path("copy"))
ok(os.stat(os.path.join(path("copy"), "tokens.db")).st_mode & 0o777 == 0o600, "a backup has the tokens, for nobody else to read")
c.configure(**{**c.config, "data": path("copy")})
c.start()
ok(c.get("/v1/tasks", late)[0] == 200 and c.get("/v1/tasks", ann)[0] == 401 and taken("browser", device), "restored it knows who may, and who may not")
c.stop()

# ---- The page --------------------------------------------------------------------

node = shutil.which("node")
if node is None:
    ok(True, "a link asks before it replaces a session # SKIP there is no node")
else:
    shutil.copytree(os.path.join(ROOT, "web"), path("web"))
    write("web/package.json", '{"type": "module"}')
    write("web/ask.js", """import { takeToken, token } from "./api.js";
const kept = new Map();
globalThis.sessionStorage = { getItem: (k) => kept.get(k) ?? null, setItem: (k, v) => kept.set(k, v), removeItem: (k) => kept.delete(k) };
globalThis.history = { replaceState: (a, b, where) => { location.hash = where.slice(1); } };
globalThis.location = { pathname: "/", hash: "" };
const asked = [];
const follow = (hash, answer) => { location.hash = hash; takeToken((words) => { asked.push(words); return answer; }); return [token(), location.hash, asked.length]; };
console.log(JSON.stringify([follow("#token=one", false), follow("#token=one", false), follow("#token=two", false), follow("#token=two", true), follow("#/task/x", true)]));
""")
    got = json.loads(subprocess.run([node, path("web/ask.js")], stdout=subprocess.PIPE, check=True).stdout)
    ok(got[0] == ["one", "#/", 0] and got[1] == ["one", "#/", 0], "a link signs in where nobody is, and is gone from the address", got)
    ok(got[2] == ["one", "#/", 1] and got[3] == ["two", "#/", 2] and got[4] == ["two", "#/task/x", 2], "one that would replace a session asks first", got)
done()
