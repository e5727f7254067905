#!/usr/bin/python3 -B
"""hearsay serve: starting, stopping, reloading, refusing, tokens."""

import sqlite3

import ohttp
from collector import *
from proxies import Certificate, ssl


def refused(c, words, sentence, *args, code=1):
    """A start that fails at once, and says why."""
    r = run("serve", *(args or [c.yaml]), timeout=DEADLINE)
    ok(r.code == code and all(w in r.err for w in words) and not r.out, sentence, r)


def key_of(c, name):
    return os.path.join(c.dir, name)


def line_of(c, key):
    """The line of a key in the configuration."""
    with open(c.yaml) as f:
        return [line.split(":")[0] for line in f].index(key) + 1


# ---- It starts, counts, stops -----------------------------------------------------

c = Collector("one", log_level="details").start()
ok(c.public[1] != 0 and c.admin[1] != 0, "it says where it listens, the port known", c.said())
ok("sandbox landlock=" in c.said() and (SHORT or "seccomp=on" in c.said()), "it is in its sandbox", c.said())
ok(ask(c.public, "GET", "/healthz")[0] == 200 and ask(c.admin, "GET", "/readyz")[0] == 200, "it is well and ready")
ok(c.upload([c.task["cells"].upload([n]) for n in (1, 2, 2)])[0] == 204, "it counts uploads")
ok(ask(c.public, "GET", "/v1/document")[2] == open(key_of(c, "tasks.signed"), "rb").read(), "it hands out the document")
status, done_ = ask(c.admin, "POST", "/v1/backup")[::2]
ok(status == 201, "it copies itself while it runs", done_)
copy = os.path.join(c.data, json.loads(done_)["directory"]) if status == 201 else ""

# ---- A second process, and a port in use -------------------------------------------

refused(c, [c.data, "process %d serves" % c.process.pid], "a second process on the same directory is refused")
other = Collector("two", listen="127.0.0.1:%d" % c.public[1])
refused(other, ["127.0.0.1:%d" % c.public[1], "in use"], "a port in use is refused by its number")
other.configure(listen="127.0.0.1:0", admin="127.0.0.1:%d" % c.admin[1])
refused(other, ["127.0.0.1:%d" % c.admin[1], "in use"], "and that of the admin listener")
ok(c.stop() == 0, "SIGTERM ends it with 0", c.said())
other.configure(data=c.data)
refused(other, ["version", "signed by another key", "another data directory"], "a directory with a document of another signer is refused")
other.configure()
refused(other, ["203.0.113.7"], "an address of another machine is refused", "--data", key_of(other, "d"), "--public-key", key_of(other, "key.public"),
        "--listen", "203.0.113.7:1")
c.start()
ok(c.cells("cells") == {1: 1, 2: 2}, "started again it has all that was acknowledged")
ok(c.stop() == 0, "and ends again")
c.configure(data=copy)
ok(copy and c.start().cells("cells") == {1: 1, 2: 2} and c.stop() == 0, "the copy serves as well as what it was made of", c.said())
c.configure()

# ---- The service manager ----------------------------------------------------------

manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.bind(path("notify"))
manager.settimeout(DEADLINE)
c.start(env={"NOTIFY_SOCKET": path("notify")})
ok(manager.recv(100) == b"READY=1", "it tells the service manager that it is ready")
c.process.send_signal(signal.SIGHUP)
ok([manager.recv(100) for _ in range(2)] == [b"RELOADING=1", b"READY=1"], "that it reloads")
ok(c.stop() == 0 and manager.recv(100) == b"STOPPING=1", "and that it stops")
manager.close()

# ---- Reload --------------------------------------------------------------------------


def reload(c, word):
    """SIGHUP, and wait for what the log must say."""
    before = c.said().count(word)
    c.process.send_signal(signal.SIGHUP)
    return c.until(lambda: c.said().count(word) > before)


c.start()
ok(re.search(r"^note started version=[0-9.]+ document=\d+ tasks=[1-9]", c.said(), re.M), "the log says that it has started, and with what", c.said())
c.document(TASKS + cells("more", 16))
ok(reload(c, "reloaded") and c.upload([c.task["more"].upload([3])])[0] == 204, "a new document is in force after SIGHUP", c.said())
c.configure(connections="many", grace_days=-1)
where = [line.split(":")[0] for line in open(c.yaml)]
ok(reload(c, "reload-kept-old") and all("reload-problem field=%s line=%d: %s: " % (k, where.index(k) + 1, c.yaml) in c.said() for k in ("connections", "grace_days")),
   "a broken configuration keeps the old, and every line is named", c.said())
ok(c.upload([c.task["more"].upload([4])])[0] == 204, "and it goes on counting")
c.configure(data=key_of(c, "elsewhere"), grace_days=9)
ok(reload(c, "reloaded") and "key=data" in c.said() and "key=grace_days" in c.said() and "key=listen" not in c.said(),
   "what cannot change while it runs is named", c.said())
c.configure()
signed = open(key_of(c, "tasks.signed"), "rb").read()
for name, bytes_, words in (("an unsigned", signed[:-64] + bytes(64), "not signed"), ("a cut", signed[:100], "reload-document-kept"),
                            ("an unreadable", None, "cannot be read")):
    os.remove(key_of(c, "tasks.signed"))
    if bytes_ is not None:
        write(os.path.join("one", "tasks.signed"), bytes_)
    ok(reload(c, "reload-document-kept") and words in c.said() and ask(c.public, "GET", "/v1/document")[2] == signed,
       name + " document keeps the old", c.said())
    write(os.path.join("one", "tasks.signed"), signed)
old = c.document(TASKS, version=1, name="old")
os.replace(old, key_of(c, "tasks.signed"))
ok(reload(c, "document-kept") and ask(c.public, "GET", "/v1/document")[2] == signed, "and so does an older one", c.said())
write(os.path.join("one", "tasks.signed"), signed)
c.process.send_signal(signal.SIGINT)
ok(c.wait() == 0, "SIGINT ends it too")

# ---- A new certificate -----------------------------------------------------------------

first, second = Certificate("first"), Certificate("second")
t = Collector("tls", tls_cert=first.cert, tls_key=first.key).start()


def shown():
    """The certificate of a new connection."""
    return ssl.get_server_certificate(t.public, timeout=DEADLINE)


def pem(c):
    with open(c.cert) as f:
        return f.read()


old = pem(first)
ok(shown() == old, "it shows its certificate")
os.replace(second.key, first.key)
ok(reload(t, "reload-certificate-kept") and shown() == old, "a key that is another's keeps the old", t.said())
os.replace(second.cert, first.cert)
ok(reload(t, "reloaded") and shown() == pem(first) != old, "a pair that fits is shown from then on", t.said())
ok(t.stop() == 0, "and it ends")

# ---- Few descriptors ------------------------------------------------------------------

few = Collector("few", connections=1000, loops=1)
for files, least in ((1000, 100), (60, 8)):
    few.start(wrap=["prlimit", "--nofile=%d" % files])
    told = [int(n) for n in re.findall(r"descriptors connections=(\d+)", few.said())]
    ok(len(told) == 1 and least <= told[0] < files, "with %d descriptors it takes as many connections as there are for" % files, few.said())
    ok(reload(few, "reloaded") and "needs-restart" not in few.said(), "and a reload of the same file changes nothing", few.said())
    ok(few.upload([few.task["cells"].upload([files])])[0] == 204 and few.stop() == 0, "and counts")

# ---- Tokens ----------------------------------------------------------------------------

c.configure(admin_open=False)
c.start()
ok(c.get("/v1/status")[0] == 401 and c.get("/healthz")[0] == 200 and "admin-without-tokens" in c.said(), "without a token only health is told, and the log says so")
made = {role: must("serve", "token", "add", role, "--role", role, "--data", c.data).decode().strip() for role in ("scraper", "analyst", "operator")}
ok(c.until(lambda: c.get("/v1/status", made["operator"])[0] == 200) and c.get("/v1/status", made["analyst"])[0] == 200, "a token is good without a restart", c.said())
ok(c.get("/v1/status", made["scraper"])[0] == 403 and c.get("/metrics", made["scraper"])[0] == 200 and c.get("/v1/status", "x" * 43)[0] == 401,
   "for what its role may, and another is none")
ok(ask(c.admin, "POST", "/v1/backup", token=made["analyst"])[0] == 403 and ask(c.admin, "POST", "/v1/backup", token=made["operator"])[0] == 201,
   "only an operator may copy")
ok(must("serve", "token", "list", "--data", c.data).split() == [b"scraper"] * 2 + [b"analyst"] * 2 + [b"operator"] * 2, "they are listed")
must("serve", "token", "revoke", "analyst", "--data", c.data)
ok(c.until(lambda: c.get("/v1/status", made["analyst"])[0] == 401), "a token that is revoked is none")
mine = must("serve", "token", "enrol", "crash", "--count", "2", "--quota", "2", "--data", c.data).decode().split()
one = [c.task["crash"].upload([1]) for _ in range(3)]
ok(len(mine) == 2 and c.until(lambda: c.upload([c.task["crash"].upload([1])])[0] == 403), "a task with enrolment tokens wants one")
must("serve", "token", "enrol", "crsh", "--count", "1", "--quota", "1", "--data", c.data)
ok(c.until(lambda: "tokens-of-no-task task=crsh" in c.said()) and "task=crash" not in c.said(), "tokens for a task that is not asked: the log says so", c.said())
rows = {row["task"]: row for row in c.get("/v1/tasks", made["operator"])[1]["tasks"]}
ok(rows["crash"]["enrolled"] and not rows["browser"]["enrolled"], "and is told to want one", rows)
ok((rows["crash"]["end"], rows["crash"]["sent_until"]) == (date(DAY + 300), date(DAY + 300 + 1 + 7)), "devices send for a week after its last day", rows["crash"])
ok(c.upload(one[:2], Authorization="Bearer " + mine[0])[0] == 204 and c.upload([one[2]], Authorization="Bearer " + mine[0])[0] == 429
   and c.upload([one[2]], Authorization="Bearer " + mine[1])[0] == 204, "which is good for its quota")
ok(c.stop() == 0, "ends")
text = b"".join(open(os.path.join(d, f), "rb").read() for d, _, files in os.walk(c.data) for f in files) + c.said().encode()
ok(not [t for t in [*made.values(), *mine] if t.encode() in text], "no token is in the data directory or the log")
c.configure(enrolled=["browser"])
c.start()
ok(c.upload([c.task["browser"].upload([1])])[0] == 403 and c.stop() == 0, "a task that the file calls enrolled is closed before there is a token")
for args, words in ((["add", "a b", "--role", "analyst"], "letters"), (["add", "operator", "--role", "analyst"], "revoke it first"), (["revoke", "nobody"], "no token"),
                    (["enrol", "../x", "--count", "1", "--quota", "1"], "no id"), (["list"], None)):
    data = c.data if words else key_of(c, "nowhere")
    r = run("serve", "token", *args, "--data", data)
    ok(r.code == 1 and (words or "No such file") in r.err and not r.out, "token %s says what is wrong" % args[0], r)
for args, words in ((["add", "x"], "--role"), (["add", "--role", "analyst"], "NAME"), (["list", "x", "y"], "unexpected argument 'y'"), (["enrol", "x", "--count", "1"], "--quota"),
                    (["forget"], "unknown command 'serve token forget'"), (["lst"], "did you mean 'serve token list'"), (["list", "--listen", "x"], "unknown option --listen"), (["list", "--role", "analyst"], "--role is only for 'serve token add'")):
    r = run("serve", "token", *args, "--data", c.data)
    ok(r.code == 2 and words in r.err, "token %s is no usage" % " ".join(args), r)
    os.path.exists(key_of(c, "nowhere")) and ok(False, "nothing is made by it")

# ---- Data that it cannot have ------------------------------------------------------------

with sqlite3.connect(os.path.join(c.data, "record.db")) as record:
    version = record.execute("PRAGMA user_version").fetchone()[0]
    record.execute("PRAGMA user_version = %d" % (version + 1))
record.close()
refused(c, [c.data, "newer"], "data of a newer version is refused")

# ---- What it does not start with ---------------------------------------------------------

bad = Collector("bad", wroks=1, body_bytes="4Q", sandbox="maybe", loops=[1])
r = run("serve", "check", bad.yaml)
ok(r.code == 1 and all("hearsay.yaml:%d:" % line_of(bad, k) in r.err for k in ("wroks", "loops", "body_bytes", "sandbox")), "check names the line of all that is wrong, of whatever sort", r)
bad.configure(body_bytes="4Q", sandbox="maybe", listen="nowhere", tls12="perhaps")
keys = ("body_bytes", "sandbox", "tls12", "listen")
r = run("serve", "check", bad.yaml)
ok(r.code == 1 and all("hearsay.yaml:%d: %s:" % (line_of(bad, k), k) in r.err for k in keys), "and of every value that is none", r)
refused(bad, ["hearsay.yaml:%d:" % line_of(bad, "sandbox")], "it does not start with it")
ok(not os.path.exists(bad.data), "and makes nothing")
bad.configure()
ok(run("serve", "check", bad.yaml).code == 0, "check is silent about what is sound")
every = write("every.yaml", """data: %s
public_key: %s
document: nodocument
lying: 3
version: 2
epsilon: 1
lifetime: 4
tls_cert: nocert
tls_key: nokey
candidates: nocandidates
backups: nobackups
lissen: x
""" % (path("nodata"), path("nopublic")))
r = run("serve", "check", every)
wanted = [":4: lying: ", ":5: 'version' does not belong in this file: move it into tasks.yaml",
          ":6: 'epsilon' does not belong in this file: move it into an entry of 'tasks' of tasks.yaml",
          ":7: 'lifetime' does not belong in this file: move it into an entry of 'sources' of policy.yaml",
          ":12: unknown key 'lissen'; did you mean 'listen'?", ":2: public_key: " + path("nopublic"), ":3: document: " + path("nodocument"), ":8: tls_cert: " + path("nocert"),
          ":9: tls_key: " + path("nokey"), ":10: candidates: " + path("nocandidates"), ":11: backups: " + path("nobackups")]
ok(r.code == 1 and all(words in r.err for words in wanted) and r.err.count("\n") == len(wanted),
   "check lists every mistake in one pass, of keys and of files, and says where a key of another file belongs", r)
late = Collector("late")
late.document(TASKS, expires=DAY - 9)
late.start()
r = run("simulate", "fleet", "http://%s:%d" % late.public, "--devices", "10")
ok(r.code == 1 and "the document has expired (its last day was %s)" % date(DAY - 9) in r.err, "devices refuse a document that has expired, and say its last day", r)
ok(late.stop() == 0, "it ends")
os.makedirs(bad.data, 0o755, exist_ok=True)
os.chmod(bad.data, 0o755)
r = run("serve", "check", bad.yaml, "--set", "candidates=" + path("nonesuch"))
ok(r.code == 1 and "chmod 700" in r.err and "nonesuch" in r.err, "it looks at every directory, as a store wants them", r)
os.chmod(bad.data, 0o700)
bad.configure(enrolled=["browser", "brouser"])
r = run("serve", "check", bad.yaml)
ok(r.code == 0 and "'brouser'" in r.err and "'browser'" not in r.err, "a task that is closed under a wrong name is named", r)
for key in ("candidates", "backups"):
    bad.configure(**{key: "nowhere"})
    wanted = "hearsay.yaml:%d: %s: %s: no such directory; make it first" % (line_of(bad, key), key, key_of(bad, "nowhere"))
    r = run("serve", "check", bad.yaml)
    ok(r.code == 1 and wanted in r.err, "check names line and field of a directory of %s that is not there" % key, r)
    refused(bad, [wanted], "serve does not start without it, and names line and field")
r = run("serve", "check", bad.yaml, "--set", "backups=" + path("nonesuch"))
ok(r.code == 1 and "serve: backups: %s: no such directory" % path("nonesuch") in r.err, "check names the field of an option's directory, and no line of the file", r)
write(os.path.join("bad", "no.pem"), b"not PEM\n")
two, no = [Certificate(name) for name in ("third", "fourth")], key_of(bad, "no.pem")
for cert, key, wanted in ((two[0].cert, two[1].key, "tls_key: %s: does not belong to the certificate in %s" % (two[1].key, two[0].cert)),
                          (no, two[0].key, "tls_cert: %s: not a certificate" % no), (two[0].cert, no, "tls_key: %s: not a private key" % no)):
    bad.configure(tls_cert=cert, tls_key=key)
    wanted = "hearsay.yaml:%d: %s" % (line_of(bad, wanted.split(":")[0]), wanted)
    r = run("serve", "check", bad.yaml)
    ok(r.code == 1 and wanted in r.err and r.err.count("\n") == 1, "check names line and field: " + re.sub(r"\S*/", "", wanted), r)
    refused(bad, [wanted], "serve does not start with it, and names the same place and files")
bad.configure(tls_cert=two[0].cert, tls_key=two[0].key)
r = run("serve", "check", bad.yaml)
ok(r.code == 0 and not r.err, "check is silent about a certificate with its own key", r)


def gateway_key(name):
    """Make a key pair of a gateway; the number of the key, one of 256."""
    for end in (".secret", ".public"):
        os.path.exists(key_of(bad, name + end)) and os.remove(key_of(bad, name + end))
    must("tasks", "keygen", "--seal", "-o", key_of(bad, name))
    with open(key_of(bad, name + ".public")) as f:
        return ohttp.number(bytes.fromhex(f.read().split()[1]))


number = gateway_key("gate")
while gateway_key("spare") == number:  # a gateway does not take two keys of one number
    pass
os.chmod(key_of(bad, "spare.secret"), 0o640)
for files, words in ((["nowhere"], "nowhere: No such file"), (["gate.secret", "spare.secret"], "spare.secret: other users can read"), (["gate.secret"] * 2, "number of the other"),
                     (["gate.public"], "gate.public: this is a public key; name its .secret file"), (["key.secret"], "key.secret: this is a signing key")):
    bad.configure(gateway_keys=[key_of(bad, f) for f in files])
    r = run("serve", "check", bad.yaml)
    ok(r.code == 1 and words in r.err, "check looks at the gateway's keys: " + words, r)
    refused(bad, [words], "it does not start with them")
shutil.rmtree(bad.data)
bad.configure(gateway_keys=[key_of(bad, "gate.secret")])
r = run("serve", "check", bad.yaml)
ok(r.code == 0 and r.err.count("warning") == 1 and "gateway_keys: " in r.err and "names none" in r.err, "it warns of keys that the document does not name", r)
os.chmod(key_of(bad, "spare.secret"), 0o600)
bad.configure(gateway_keys=[key_of(bad, "spare.secret"), key_of(bad, "gate.secret")])
bad.document(TASKS + "gateway_keys: [gate.public]\n")
r = run("serve", "check", bad.yaml)
ok(r.code == 0 and not r.err, "one of two is enough, while they are changed", r)
write(os.path.join("bad", "empty.yaml"), b"")
r = run("serve", "check", path("bad/empty.yaml"))
ok(r.code == 1 and "empty.yaml: the file is empty" in r.err, "an empty file is named", r)
bad.configure(document=None)
bad.start()
ok("no-document" in bad.said() and bad.stop() == 0, "without a document the log says so", bad.log)
shutil.rmtree(bad.data)
bad.configure()
good = open(key_of(bad, "tasks.signed"), "rb").read()
write(os.path.join("bad", "tasks.signed"), good[:-64] + bytes(64))
refused(bad, ["tasks.signed", "not signed"], "an unsigned document is refused")
r = run("serve", "check", bad.yaml)
ok(r.code == 1 and "not signed" in r.err, "and check says so", r)
write(os.path.join("bad", "tasks.signed"), b"tasks: []\n")
refused(bad, ["tasks.signed", "tasks compile"], "one that is no document is refused, with what makes one")
os.remove(key_of(bad, "tasks.signed"))
refused(bad, ["tasks.signed", "No such file"], "one that is not there is refused")
write(os.path.join("bad", "tasks.signed"), good)
write(os.path.join("bad", "key.public"), b"zz\n")
refused(bad, ["key.public", "64 hexadecimal"], "a key that is none is refused")
for args, words in (([], "give a hearsay.yaml"), (["a", "b"], "unexpected argument 'b'"), (["--set", "x"], "KEY=VALUE"), (["x", "--role", "analyst"], "token")):
    r = run("serve", *args)
    ok(r.code == 2 and words in r.err, "serve %s is no usage" % " ".join(args), r)
refused(bad, ["unknown key 'grace'"], "--set of a key that is none", "--set", "grace=1", "--data", bad.data)
ok("No such file" in run("serve", path("none.yaml")).err, "a file that is not there")
refused(bad, ["data"], "a data directory that cannot be made is named", "--data", "/proc/none/data", "--public-key", key_of(other, "key.public"))
done()
