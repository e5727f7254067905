#!/usr/bin/python3 -B
"""The device from a shell: what a new user does, and everything that may be
wrong around it: refused, explained, the ledger whole; never a truth anywhere."""

from devices import *

CANARY = "canary7351"
doc = document("one")

# ---- A new user ----------------------------------------------------------------

yaml = write("tasks.yaml", """version: 1
issued: 2026-11-16
expires: 2027-02-13
tasks:
  - id: browser
    source: web
    question: Which browser do you use most?
    values: [Firefox, Chrome]
    epsilon: 1
    repeat: day
    start: 2026-11-16
    end: 2026-12-13
""")
must("tasks", "keygen", "-o", path("collector"))
must("tasks", "compile", yaml, "--key", path("collector.secret"), "-o", path("tasks.signed"))
home = path("home")
r = device("init", home, "--document", path("tasks.signed"), "--public-key", path("collector.public"))
ok(r.code == 0 and b"web" in r.out and b"consent" in r.out and os.stat(home).st_mode & 0o777 == 0o700,
   "init makes a directory for its owner alone, shows the policy and says what comes next", r)
ok(all(os.stat(os.path.join(home, f)).st_mode & 0o077 == 0 for f in os.listdir(home)), "none of its files is for others")
r = device("answer", home, "browser", stdin="Firefox\n")
ok(r.code == 0 and r.out == b"no-consent\n" and spent(home)["web"] == 0, "nothing is answered, or charged, before consent", r)
ok("hearsay device consent %s " % home in r.err, "and what to do about it is said", r)
ok(good("consent", home).out == b"none\n" and good("consent", home, "send").out == b"send\n", "consent is shown and given")
ok(good("answer", home, "browser", stdin="Firefox\n").out == b"answered\n" and spent(home) == {"web": 10 ** 9, "all": 10 ** 9},
   "an answer is charged")
ok(good("answer", home, "browser", stdin="Chrome\n").out == b"kept\n" and spent(home)["web"] == 10 ** 9,
   "asked again the first answer stands, and costs nothing")
ok(good("answer", home, "browser", "Firefox", day=DAY + 1).out == b"answered\n", "a value may stand in the command line")
first = uploads(pack(home, DAY + 1))
ok(len(first) == 1 and first[0][:2] == (1, "browser"), "the day after, one upload is due")
ok(uploads(pack(home, DAY + 1)) == first, "and again, until it is sent")
ok(uploads(pack(home, DAY + 1, "--mark-sent")) == first and pack(home, DAY + 1) == b"", "then no more")
log = json.loads(good("log", home, "--format", "json").out)["entries"]
kinds = [e["what"] for e in log]
ok(kinds.count("charge") == 2 and kinds.count("answer") == 2 and {"tasks", "consent", "silent", "upload", "sent"} <= set(kinds),
   "the log tells what happened", kinds)
sent = [bytes.fromhex(e["bytes"]) for e in log if e["what"] == "upload"]
ok(sent and set(sent) == {first[0][2]}, "with the very bytes that left")
table = good("log", home).out.decode()
ok("charge" in table and "1.000000000" in table and "bytes" in table, "as a table, too")
tasks = json.loads(good("tasks", home, "--format", "json").out)["tasks"]
ok(tasks[0]["task"] == "browser" and tasks[0]["admitted"] and tasks[0]["epsilon_slot"] == 1 and
   "Which browser" in tasks[0]["label"], "tasks says what is asked, at what price, in plain words", tasks)
policy = json.loads(good("policy", home, "--format", "json").out)
ok(policy["sources"][0] == {"source": "web", "cap_answer": 2, "cap_day": 5, "cap_lifetime": 10} and policy["sources"][1]["cap_lifetime"] == 20,
   "policy shows the caps", policy)
good("forget", home, "web")
r = good("answer", home, "browser", day=DAY + 2, stdin="Firefox")
ok(r.out == b"closed\n" and "forgotten" in r.err and spent(home)["web"] == 2 * 10 ** 9, "what is forgotten is closed, and stays spent", r)
ok(run("device", "budget", home).code == 0, "by the real clock, too")

# ---- Truths --------------------------------------------------------------------

dev = fresh("truths", doc)
for task, text, words in (("crash", CANARY, "must be yes or no"), ("crash", "\n", "must be yes or no"), ("minutes", CANARY, "decimal"),
                          ("crash", "yes\nno", "one answer"), ("minutes", "1e3", "decimal"), ("none", CANARY, "no such task; 'hearsay device tasks")):
    r = device("answer", dev, task, stdin=text)
    ok(r.code == 1 and words in r.err and CANARY not in r.err and r.out == b"", "no answer: %s, %r" % (task, text.replace(CANARY, "a word")), r)
ok(spent(dev)["all"] == 0, "none of them was charged")
r = device("answer", dev, "crash", stdin=b"")
ok(r.code == 1 and "one answer" in r.err, "no truth at all", r)
for args in (["minutes", "-" + CANARY], ["minutes", "--" + CANARY], ["minutes", "--%s=5" % CANARY], ["minutes", "5", CANARY],
             ["minutes", "--lock-wait=" + CANARY], ["--lock-wait", CANARY, "minutes"], [CANARY]):
    r = device("answer", dev, *args, stdin="5")
    ok(r.code in (1, 2) and r.err and CANARY not in r.err and r.out == b"", "no word of the command line is repeated", r)
r = device("answer", dev, "minutes", "-5", stdin="5")
ok(r.code == 2 and "'--' before" in r.err and "-5" not in r.err, "nor a number below 0: how to write it is said", r)
ok(good("answer", dev, "browser", stdin=CANARY).out == b"answered\n", "what is not in the list is another value")
ok(good("answer", dev, "minutes", stdin="99999999999999999999999").out == b"answered\n", "what is outside the range is at its end")
ok(good("answer", dev, "page", stdin=CANARY * 500).out == b"answered\n", "a long string is cut")
ok(good("answer", dev, "crash", stdin="TRUE").out == b"answered\n", "yes in other words")
pack(dev, DAY + 1)
left = b"".join(open(os.path.join(dev, f), "rb").read() for f in os.listdir(dev))
ok(CANARY.encode() not in left and CANARY.encode().hex().encode() not in left, "no truth is in any file")

# What the device does shows nothing of the truth: which calls, how many bytes.
shape = fresh("shape", doc)
for task, truths in (("crash", ("yes", "no", "FALSE")), ("browser", ("firefox", "other", "something else")),
                     ("minutes", ("0", "1440", "77.5")), ("page", ("a", "b" * 1024))):
    seen = set()
    for truth in truths:
        where, trace = copy(shape, "shaped"), path("trace")
        if os.path.exists(trace):
            os.remove(trace)
        r = device("answer", where, task, stdin=truth, trace_to=trace)
        sizes = tuple(sorted((f, os.path.getsize(os.path.join(where, f))) for f in os.listdir(where)))
        seen.add((r.code, r.out, r.err, open(trace).read(), sizes))
    ok(len(seen) == 1 and "fsync" in open(trace).read(), "%s: the same calls and lengths for every truth" % task, seen)

# ---- Damage --------------------------------------------------------------------


def refused(where, words, sentence, keep=None, **how):
    """Neither answers nor says it has; the rest of the directory is as it was."""
    before = {f: open(os.path.join(where, f), "rb").read() for f in ("key", "state.a", "state.b")
              if os.path.isfile(os.path.join(where, f))}
    r = device("answer", where, "crash", stdin="yes", **how)
    after = {f: open(os.path.join(where, f), "rb").read() for f in before if os.path.isfile(os.path.join(where, f))}
    return ok(r.code == 1 and r.out == b"" and any(w in r.err for w in words) and before == after, sentence, "%s\n%s" % (r, words))


def spoil(name, data):
    def change(where):
        with open(os.path.join(where, name), "wb") as f:
            f.write(data(open(os.path.join(dev, name), "rb").read()))
    return change


def gone(*names):
    return lambda where: [os.remove(os.path.join(where, n)) for n in names]


flip = lambda b: b[:100] + bytes([b[100] ^ 1]) + b[101:]
dev = fresh("whole", doc)
good("answer", dev, "crash", stdin="yes")
other = fresh("other", doc)
for name, change in (("both copies missing", gone("state.a", "state.b")), ("the key missing", gone("key")),
                     ("both copies changed", lambda w: (spoil("state.a", flip)(w), spoil("state.b", flip)(w))),
                     ("both copies cut", lambda w: (spoil("state.a", lambda b: b[:50])(w), spoil("state.b", lambda b: b[:-1])(w))),
                     ("both copies empty", lambda w: (spoil("state.a", lambda b: b"")(w), spoil("state.b", lambda b: b"")(w))),
                     ("the key changed", spoil("key", lambda b: b[:-20] + bytes(20))), ("the key cut", spoil("key", lambda b: b[:30])),
                     ("the key of another device", spoil("key", lambda b: open(os.path.join(other, "key"), "rb").read())),
                     ("the state of another device", lambda w: [shutil.copy(os.path.join(other, f), os.path.join(w, f))
                                                                for f in ("state.a", "state.b")])):
    where = copy(dev, "spoilt")
    change(where)
    refused(where, ("missing", "damaged", "changed", "not", "state", "key"), name + ": refused, and left as it is")
for name, change in (("one copy missing", gone("state.a")), ("one copy changed", spoil("state.b", flip)),
                     ("one copy cut", spoil("state.a", lambda b: b[:77]))):
    where = copy(dev, "spoilt")
    change(where)
    r = device("answer", where, "crash", stdin="no")
    ok(r.code == 0 and r.out == b"kept\n" and spent(where) == spent(dev), name + ": the other one stands", r)
where = copy(dev, "spoilt")
gone("policy.yaml")(where)
refused(where, ("policy.yaml is missing",), "no policy: that is said, and not that there is no device")
where = copy(dev, "spoilt")
gone("document")(where)
refused(where, ("document",), "no document: no answer")
ok(device("budget", where).code == 0 and device("consent", where, "none").code == 0 and device("forget", where).code == 0,
   "but the person's own decisions need none")
sound = open(os.path.join(dev, "policy.yaml")).read()
lines = sound.splitlines()
at = next(i for i, line in enumerate(lines, 1) if line.strip() == "answer: 2")
for text, words in (("key: 12\n", ["policy.yaml:1: key: must be 64 hexadecimal digits"] + ["policy.yaml:1: %s: is missing" % k for k in ("day", "lifetime", "releases", "sources")]),
                    ("nonsense: [", ["policy.yaml:1: not valid YAML"]), ("", ["policy.yaml: the file is empty"]),
                    (sound + "grace_days: 1\n", ["policy.yaml:%d: 'grace_days' does not belong in this file: move it into hearsay.yaml" % (len(lines) + 1)]),
                    (sound + "more: 1\n", ["policy.yaml:%d: unknown key 'more'; there are key, " % (len(lines) + 1)]),
                    (sound + "day: 1\n", ["policy.yaml:%d: 'day' is given twice" % (len(lines) + 1)]),
                    (sound.replace("answer: 2", "answer: -2", 1), ["policy.yaml:%d: source " % at, ": answer: must be a decimal"]),
                    (sound.replace("name: 'web'", "name: 'Web'", 1), ["source Web: name: a source's name is 1 to 64 characters of a-z"]),
                    (sound.replace("lifetime: 10", "lifetime: ten", 1), ["lifetime: must be a decimal"])):
    where = copy(dev, "spoilt")
    write("spoilt/policy.yaml", text)
    refused(where, words[:1], "a policy that makes no sense: " + words[0])
    r = device("policy", where)
    ok(r.code == 1 and r.out == b"" and all(w in r.err for w in words), "and all that is wrong with it, by line", r)

# What a person does about it stands there, too.
where = copy(dev, "spoilt")
gone("state.a", "state.b")(where)
r = device("budget", where)
ok(r.code == 1 and "restore the newest files, or delete" in r.err, "damage: what to do is said", r)

# ---- Who may use it ------------------------------------------------------------

where = copy(dev, "rights")
os.chmod(where, 0o750)
refused(where, ("chmod",), "a directory that others can read")
where = copy(dev, "rights")
os.chmod(os.path.join(where, "key"), 0o640)
refused(where, ("key",), "a key that others can read")
where = copy(dev, "rights")
os.remove(os.path.join(where, "state.a"))
os.remove(os.path.join(where, "state.b"))
for f in ("state.a", "state.b"):
    os.symlink(os.path.join(dev, f), os.path.join(where, f))
refused(where, ("link",), "links in the place of the state")
where = copy(dev, "rights")
os.rename(where, where + ".real")
os.symlink(where + ".real", where)
refused(where, ("link", "directory"), "a link in the directory's place")
os.remove(where)
shutil.rmtree(where + ".real")
where = copy(dev, "rights")
refused(where, ("read-only",), "a read-only file system", at=1, do=30, on=1, day=DAY + 1)
if os.geteuid() == 0:
    where = copy(dev, "rights")
    os.chown(where, 12345, 12345)
    refused(where, ("another user",), "somebody else's directory")

holder = subprocess.Popen([HEARSAY, "device", "answer", dev, "crash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
r = device("budget", dev, "--lock-wait", "0")
ok(r.code == 0, "who waits for a truth holds nobody up", r)
holder.kill()
holder.communicate()
lock = open(os.path.join(dev, "lock"), "r+")
import fcntl
fcntl.flock(lock, fcntl.LOCK_EX)
r = device("answer", dev, "crash", "--lock-wait", "0", stdin="yes")
ok(r.code == 1 and "another process" in r.err and r.out == b"", "a second process is refused", r)
lock.close()

# ---- Hostile documents ---------------------------------------------------------


def hostile(name, made, words):
    where = copy(dev, "hostile")
    was = {f: open(os.path.join(where, f), "rb").read() for f in os.listdir(where) if f not in ("log", "lock")}
    r = device("take", where, made)
    now = {f: open(os.path.join(where, f), "rb").read() for f in os.listdir(where) if f not in ("log", "lock")}
    ok(r.code == 1 and words in r.err and was == now, "a document %s: refused, nothing changed" % name, r)


two = document("two", version=2)
hostile("signed by a stranger", document("stranger", version=2, seed=9), "signed")
hostile("changed by a bit", write("bit", flip(open(two, "rb").read())), "")
hostile("cut short", write("cut", open(two, "rb").read()[:-1]), "")
hostile("without a signature", write("bare", open(two, "rb").read()[:-64] + bytes(64)), "signed")
hostile("of the same version with other bytes", document("same", TASKS[:2]), "version")
hostile("that has expired", document("expired", version=2, issued=DAY - 9, expires=DAY), "expired (its last day was 2026-11-15)")
hostile("that is no document", write("noise", b"hello\n"), "'hearsay tasks compile'")
hostile("that comes too early", document("premature", version=2, issued=DAY + 2), "set the clock (the clock says 2026-11-16)")
where = copy(dev, "newer")
ok(device("take", where, two).code == 0 and good("answer", where, "page", stdin="x").out == b"answered\n", "a newer one is taken")
r = device("take", where, doc)
ok(r.code == 1 and "newer" in r.err and good("answer", where, "crash", stdin="no").out == b"kept\n", "and the older one then refused", r)

greedy = document("greedy", version=2, tasks=[
    "loud,web,yes-no,3000000000,1,0,0,1,1", "hasty,web,yes-no,1000000000,1,0,0,1,6", "secret,diary,yes-no,1000000000,1,0,0,1,1",
    "crash,crashes,yes-no,1000000000,1,0,0,1,1"])
where = copy(dev, "policed")
good("take", where, greedy)
rows = {t["task"]: t for t in json.loads(good("tasks", where, "--format", "json").out)["tasks"]}
ok(rows["crash"]["admitted"] and not any(rows[t]["admitted"] for t in ("loud", "hasty", "secret")), "what the policy does not allow is left out", rows)
for task, words in (("loud", "policy"), ("hasty", "day"), ("secret", "source")):
    r = device("answer", where, task, stdin="yes")
    ok(r.code == 1 and words in r.err and r.out == b"" and spent(where) == spent(dev), "and why is said: %s" % words, r)
    ok("hearsay device policy %s" % where in r.err and "--source" in r.err, "and what to do about it", r)
shown = good("tasks", where).out.decode()
ok("loud is refused: one report costs more than the policy allows (epsilon 2)\n" in shown and
   "hasty is refused: a slot costs more than the source may spend a day (epsilon 5)\n" in shown, "whole, below the table", shown)
r = device("forget", where, "nonesuch")
ok(r.code == 1 and "hearsay device policy %s" % where in r.err, "an unknown source: where they are listed", r)

# ---- Caps ----------------------------------------------------------------------

tight = fresh("tight", doc, "--source", "crashes=1,1,3", "--lifetime", "2.5", "--day", "2")
said = [good("answer", tight, "crash", day=DAY + i, stdin="yes").out for i in range(4)]
r = device("answer", tight, "crash", day=DAY + 3, stdin="yes")
ok("crash: the lifetime cap of the device leaves no room for this slot, which takes epsilon 1: 2 of 2.5 is spent, which never renews\n" in r.err and
   "hearsay device budget %s" % tight in r.err, "exhausted: whose cap it is, and that it does not renew, is said", r)
mine = fresh("mine", doc, "--source", "crashes=1,1,2", "--lifetime", "20", "--day", "20")
for i in range(2):
    good("answer", mine, "crash", day=DAY + i, stdin="yes")
r = good("answer", mine, "crash", day=DAY + 2, stdin="yes")
pair = document("pair", tasks=["%s,1000000000,1,0,0,1,1" % task for task in ("crash,crashes,yes-no", "hang,crashes,number")])
daily = fresh("daily", pair, "--source", "crashes=1,1,9", "--lifetime", "20", "--day", "20")
good("answer", daily, "crash", stdin="yes")
told = good("answer", daily, "hang", stdin="7")
ok("hang: the daily cap of source crashes leaves no room for this slot, which takes epsilon 1: 1 of 1 is spent, and it begins anew on 2026-11-17\n"
   in told.err, "of a day's cap when it begins anew", told)
ok("crash: the lifetime cap of source crashes leaves no room" in r.err and "2 of 2 is spent, which never renews" in r.err, "a source's own too", r)
ok(said == [b"answered\n"] * 2 + [b"exhausted\n"] * 2 and spent(tight, DAY + 4) == {"crashes": 2 * 10 ** 9, "all": 2 * 10 ** 9},
   "a cap is a cap, whatever the day", said)
lengths = {len(u[2]) for u in uploads(pack(tight, DAY + 4))}
kinds = sorted(u[0] for u in uploads(pack(tight, DAY + 4)))
ok(len(lengths) == 1 and kinds == [1, 1, 2, 2], "an exhausted device goes on sending, of the same length", kinds)
for bad in ("crashes", "crashes=1", "crashes=1,2", "crashes=1,2,3,4", "crashes=1,2,x", "Crashes=1,2,3", "=1,2,3", "crashes=1,2,-3"):
    r = device("init", path("bad"), "--document", doc, "--public-key", doc + ".pub", "--source", bad)
    ok(r.code in (1, 2) and "source" in r.err and not os.path.exists(path("bad")), "--source %s" % bad, r)
for args, words in ((["init", path("bad")], "--document"), (["init", path("bad"), "--document", doc], "--public-key"),
                    (["init", path("bad"), "--document", doc, "--policy", "x", "--day", "1"], "--policy"), (["consent", dev, "maybe"], "collect"),
                    (["pack", dev, "--mark-sent"], "-o"), (["answer", dev], "TASK"), (["answer", dev, "crash", CANARY, CANARY], "'device answer' takes DIR TASK [VALUE]"),
                    (["budget", dev, "--mark-sent"], "--mark-sent is only for 'device pack'"), (["bugdet", dev], "did you mean 'device budget'"), ([], "missing subcommand")):
    r = device(*args)
    ok(r.code == 2 and words in r.err and CANARY not in r.err and not os.path.exists(path("bad")), "usage: %s" % words, r)
r = device("init", path("bad"), "--document", doc, "--public-key", document("x", seed=5) + ".pub")
ok(r.code == 1 and "not signed" in r.err and not os.path.exists(path("bad")), "init with another's key makes nothing", r)
r = device("init", dev, "--document", doc, "--public-key", doc + ".pub")
ok(r.code == 1 and "already" in r.err and spent(dev)["crashes"] == 10 ** 9, "init does not make a device new", r)
shutil.copy(os.path.join(tight, "policy.yaml"), path("policy.yaml"))
r = device("init", path("byfile"), "--document", doc, "--policy", path("policy.yaml"))
ok(r.code == 0 and good("policy", path("byfile"), "--format", "csv").out == good("policy", tight, "--format", "csv").out,
   "init takes a whole policy", r)

# ---- Clocks --------------------------------------------------------------------

past, future = 0, 4294967296 + 86400  # 1970 and 2106
where = copy(dev, "clock")
r = device("answer", where, "crash", stdin="yes", clock=past)
ok(r.code == 0 and r.out == b"kept\n" and spent(where) == spent(dev), "in 1970 it is still the last day that was", r)
r = device("answer", where, "crash", stdin="yes", clock=-5)
ok(r.code == 1 and "clock" in r.err, "before 1970 there is no day", r)
r = device("answer", where, "crash", stdin="yes", clock=future)
ok((r.code == 1 and "expired" in r.err or r.out == b"closed\n") and spent(where) == spent(dev), "in 2106 everything is over", r)
r = device("answer", where, "crash", stdin="yes", clock=2 ** 62)
ok(r.code == 1 and r.out == b"" or r.out == b"closed\n", "so it is at the end of all clocks", r)
ok(good("answer", where, "crash", stdin="yes", day=DAY + 1).out in (b"answered\n", b"closed\n"), "and looking there costs nothing")
new = path("early")
for clock, words in ((past, "clock"), (-5, "clock"), (future, "expired")):
    r = device("init", new, "--document", doc, "--public-key", doc + ".pub", clock=clock)
    ok(r.code == 1 and words in r.err and not os.path.exists(new), "no device is made by a wrong clock: %d" % clock, r)
good("init", new, "--document", doc, "--public-key", doc + ".pub")
good("consent", new, "send")
r = device("answer", new, "crash", stdin="yes", clock=past)
ok(r.code == 0 and r.out == b"closed\n" and spent(new)["crashes"] == 0,
   "one that knows no later day than 1970 does not answer what is asked after it", r)

# ---- Restored ------------------------------------------------------------------

os.mkdir(path("elsewhere"), 0o700)
where = fresh("anchored", doc, "--anchor", path("elsewhere/anchor"))
old = copy(where, "backup")
good("answer", where, "crash", stdin="yes")
ok(int(open(path("elsewhere/anchor")).read()) > 0, "the anchor is raised")
for f in ("state.a", "state.b"):
    shutil.copy(os.path.join(old, f), os.path.join(where, f))
refused(where, ("restored", "older", "anchor"), "a state put back from a backup is noticed")
os.remove(path("elsewhere/anchor"))
where = old
refused(where, (path("elsewhere/anchor"),), "an anchor that is gone is noticed, and named")
r = device("init", path("inside"), "--document", doc, "--public-key", doc + ".pub", "--anchor", path("inside/anchor"))
ok(r.code == 1 and "elsewhere" in r.err, "an anchor inside the directory is none", r)
for name, words in (("an\nchor", "control characters"), (os.fsdecode(b"an\xff"), "UTF-8")):
    r = device("init", path("odd"), "--document", doc, "--public-key", doc + ".pub", "--anchor", path("elsewhere/" + name))
    ok(r.code == 1 and words in r.err and not os.path.exists(path("odd/key")), "an anchor that the policy cannot name: %r" % name, r)

# ---- Names that are too long, streams that are closed --------------------------

os.mkdir(path("long"), 0o700)
r = device("init", path("long").ljust(4085, "/"), "--document", doc, "--public-key", doc + ".pub")
ok(r.code == 1 and "too long" in r.err and r.out == b"", "a directory in which there is room for a document, not for a policy", r)
where = fresh("closed", doc)
for closed in ("<&- >&-", ">&-", "<&- >&- 2>&-"):
    r = subprocess.run(["sh", "-c", '"$0" device answer "$1" crash yes ' + closed, HEARSAY, where], stderr=subprocess.DEVNULL)
    ok(r.returncode == 1 and os.path.getsize(os.path.join(where, "lock")) == 0 and
       b"closed" not in open(os.path.join(where, "log"), "rb").read().replace(b"why=closed", b""),
       "nothing is written where a closed stream would be: %s" % closed, r)

# ---- A sample of the answers ---------------------------------------------------

some = fresh("some", document("some-tasks", ["page,web,strings,1000000000,7,0,0,1,1,30"]))
left = set()
for i in range(12):
    good("answer", some, "page", stdin="page%d\n" % i)
    left |= {u[2] for u in uploads(pack(some, DAY + 7)) if u[0] == 1}
ok(len(left) == 1, "what was packed once, by a clock that was ahead, is not drawn again", len(left))
log = json.loads(good("log", some, "--format", "json").out)["entries"]
ok([e["what"] for e in log].count("upload") == 12, "and every packing of it is in the log, once")
done()
