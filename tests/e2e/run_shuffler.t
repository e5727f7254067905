#!/usr/bin/python3 -B
"""docs/run-a-shuffler.md: its tables have what the source has, and every command
on it does what it should, on three machines whose files are those of the page:
the shuffler that the page is for, a second one, a collector. Stand-ins for the
service manager, its log, the package manager and other users; one clock."""

from chain import *
from proxies import Certificate

DAY = FIRST

page = open(os.path.join(ROOT, "docs", "run-a-shuffler.md")).read()
sections = dict(re.findall(r"^## (.*)\n((?:(?!## ).*\n)*)", page, re.M))
blocks = {m.group(1): m.group(2) for m in re.finditer(r"^```yaml\n# (.*)\n((?:(?!```).*\n)*)```", page, re.M)}
tls = Certificate()
ok("# %s\n%s" % list(blocks.items())[0] == open(os.path.join(ROOT, "examples", "shuffler", "shuffle.yaml")).read(), "the example is the page's")

# ---- The tables ----------------------------------------------------------------------


def first_cells(section):
    """The names in the first column of a section's table."""
    return [n for cell in re.findall(r"^\| ((?:`[\w-]+`(?:, )?)+) \|", sections[section], re.M) for n in re.findall(r"`([\w-]+)`", cell)]


def of_runbook(section):
    text = re.search(r"^## %s\n(.*?)(?=^## |\Z)" % section, open(os.path.join(ROOT, "docs", "runbook.md")).read(), re.M | re.S).group(1)
    return re.findall(r"^\| `([\w-]+)` \|", text, re.M)


OF_OTHERS = {"merged", "retired", "purged", "backup", "backup-unfinished", "backup-pruned", "snapshot", "tokens-of-no-task", "gateway-lost", "gateway-reached", "figure", "figure-of-day",
             "keep-figure", "read-figures", "shard-lost", "control-failed", "fold-failed", "tables-not-made", "days-not-dropped", "commit-failed", "statement-refused", "database-unguarded"}  # events of collectors and relays alone
ok(set(first_cells("Log events")) == set(of_runbook("Log events")) - OF_OTHERS and OF_OTHERS <= set(of_runbook("Log events")), "every event that a shuffler can log is there",
   set(first_cells("Log events")) ^ (set(of_runbook("Log events")) - OF_OTHERS))
ok(first_cells("Troubles") == of_runbook("Troubles"), "and every trouble", set(first_cells("Troubles")) ^ set(of_runbook("Troubles")))
source = open(os.path.join(ROOT, "src", "server", "collector", "api", "api_metrics.c")).read()
named = {"hearsay_" + n for n in re.findall(r'"((?:shuffle|batches)_\w+)"', source)}
ok(set(re.findall(r"`(hearsay_(?:shuffle|batches)_\w+)(?:\{\w+\})?`", sections["Look at it"])) == named and len(named) > 6, "and every metric of shuffling", named)
for name in sorted(set(re.findall(r"\]\(([^)#]+)\)", page))):
    ok(os.path.exists(os.path.join(ROOT, "docs", name)), "the link to %s leads somewhere" % name)
for name in sorted({" ".join(n.split()) for n in re.findall(r"\*([A-Z][\w\s]+)\*,\s(?:above|below)", page)}):
    ok(name in sections, "there is a section: " + name)
for name in sorted(set(re.findall(r"`((?:tests|src)/[^`]+)`", page))):
    ok(os.path.exists(os.path.join(ROOT, name)), "there is " + name)

# ---- Three machines ------------------------------------------------------------------

PLACES = ("/etc/hearsay", "/var/lib/hearsay-shuffle")
PORTS = {name: reserve_port() for name in ("first.example:8443", "second.example:8443", "collector.example")}
CLOCK = path("clock")


def at(day, hours):
    with open(CLOCK + ".new", "w") as f:
        f.write("%d\n" % (day * 86400 + hours * 3600))
    os.rename(CLOCK + ".new", CLOCK)


def dated(text):
    return text.replace("2026-12-01", date(DAY - 1)).replace("2027-11-30", date(DAY + 200))


def told(text, root, own):
    """A file of the page, as it is here: ports, names, places, the clock."""
    for place in PLACES:
        text = text.replace(place, root + place)
    for name, port in PORTS.items():
        text = text.replace("https://" + name, "https://127.0.0.1:%d" % port)
    text = text.replace("0.0.0.0:8443", "127.0.0.1:%d" % PORTS[own])
    assert "127.0.0.1:%d" % PORTS[own] in text
    return text.replace("admin: 127.0.0.1:8081", "admin: 127.0.0.1:0") + "next_ca: cert.pem\nrehearsal: %s\n" % CLOCK


class Machine(Collector):
    """One whose operator is not the reader of the page."""

    def __init__(self, name, *words):
        self.dir, self.words = path(name), words
        os.makedirs(self.dir)
        self.data, self.log, self.yaml = (os.path.join(self.dir, n) for n in ("data", "stderr", "hearsay.yaml"))
        self.process = self.public = self.admin = self.token = None
        for f in (tls.cert, tls.key):
            shutil.copy(f, self.dir)
        atexit.register(self.kill)

    def has(self, *files):
        for f in files:
            shutil.copy(f, self.dir)

    def configure(self, text):
        with open(self.yaml, "w") as f:
            f.write(text + "admin_open: yes\n")

    def launch(self, **how):
        self.err = open(self.log, "ab")
        self.mark = self.err.tell()
        self.process = subprocess.Popen([HEARSAY, *self.words, self.yaml], stdin=subprocess.DEVNULL, stdout=self.err, stderr=self.err)

    def reload(self):
        before = self.said().count(" reloaded")
        self.process.send_signal(signal.SIGHUP)
        ok(self.until(lambda: self.said().count(" reloaded") > before), "it is reloaded: " + os.path.basename(self.dir), self.said())


STANDINS = {
    "systemctl": """
        pid=$HERE/pid log=$HERE/journal
        alive() { [ -e "$pid" ] && kill -0 "$(cat "$pid")" 2>/dev/null && ! grep -q '^State:.Z' "/proc/$(cat "$pid")/status" 2>/dev/null; }
        for last; do :; done; [ "$last" = hearsay-shuffle ] || exit 1
        case $1 in
        reload-or-restart) alive || exit 0; "$0" reload "$2" ;;
        enable) [ "$2" = --now ] && "$0" start "$3" ;;
        restart) "$0" stop "$2" && "$0" start "$2" ;;
        stop) kill "$(cat "$pid")"; while alive; do sleep 0.05; done; rm "$pid" ;;
        start)
            : >"$HERE/ready"
            setsid "$HERE/bin/hearsay" shuffle serve "$HERE/etc/hearsay/shuffle.yaml" >"$HERE/ready" 2>>"$log" </dev/null &
            echo $! >"$pid"
            while ! grep -q '^ready' "$HERE/ready"; do alive || exit 1; sleep 0.05; done ;;
        reload)
            before=$(grep -c '^[a-z]* reloaded' "$log")
            kill -HUP "$(cat "$pid")"
            for i in $(seq 2400); do [ "$(grep -c '^[a-z]* reloaded' "$log")" != "$before" ] && exit; sleep 0.05; done
            echo "gave up waiting for 'reloaded' in the log" >&2; exit 1 ;;
        esac""",
    "journalctl": 'tail -n 50 "$HERE/journal"',
    "sudo": '[ "$1 $2" = "-u hearsay" ] && shift 2 && exec "$@"',
    "chown": '[ "$1" = hearsay: ] && shift && ls "$@"',
    "apt-get": 'for last; do :; done; [ "$1 $2" = "install -y" ] && dpkg -x "$last" "$HERE/installed" && cp "$HERE/installed/usr/bin/hearsay" "$HERE/bin/hearsay.next" && mv "$HERE/bin/hearsay.next" "$HERE/bin/hearsay"',
    "curl": """
        admin=$(sed -n 's/.*admin=\\([^ ]*\\).*/\\1/p' "$HERE/ready")
        for word; do shift; word=${word//127.0.0.1:8081/$admin}; while read -r name port; do word=${word//https:\\/\\/$name/https:\\/\\/127.0.0.1:$port}; done <"$HERE/names"; set -- "$@" "$word"; done
        exec /usr/bin/curl "$@\"""",
}
work = path("root")
for directory in ("bin", "etc/hearsay", "var/lib", "root"):
    os.makedirs(path(directory))
for name, text in STANDINS.items():
    with open(path("bin/" + name), "w") as f:
        f.write("#!/bin/bash\n" + text + "\n")
    os.chmod(path("bin/" + name), 0o755)
shutil.copy(HEARSAY, path("bin/hearsay"))
for name in ("journal", "ready"):
    write(name, "")
write("names", "".join("%s %d\n" % pair for pair in PORTS.items()))
for f in (tls.cert, tls.key):
    shutil.copy(f, path("etc/hearsay"))
os.makedirs(path("deb/DEBIAN"))
os.makedirs(path("deb/usr/bin"))
write("deb/DEBIAN/control", "Package: hearsay\nVersion: 1\nArchitecture: all\nMaintainer: nobody <nobody@example.org>\nDescription: a shuffler\n")
shutil.copy(HEARSAY, path("deb/usr/bin/hearsay"))
subprocess.run(["dpkg-deb", "-Znone", "--build", path("deb"), os.path.join(work, "hearsay_new.deb")], check=True, capture_output=True)
ENV = {**os.environ, "PATH": path("bin") + ":" + os.environ["PATH"], "HERE": TMP, "CURL_CA_BUNDLE": tls.cert}


@atexit.register
def ended():
    """Whatever the test did, no shuffler is left."""
    try:
        os.kill(int(open(path("pid")).read()), signal.SIGKILL)
    except (OSError, ValueError):
        pass


ran = 0
left = {title: re.findall(r"^    \$ (.*)\n((?:    (?!\$ ).*\n)*)", text, re.M) for title, text in sections.items()}


def shell(command, where=work):
    for place in PLACES:
        command = command.replace(place, TMP + place)
    return subprocess.run(["bash", "-c", command], cwd=where, env=ENV, capture_output=True, timeout=2 * DEADLINE)


def do(title, n=None, where=work):
    """The next n commands of a section; all that are left."""
    global ran
    commands = left[title][:n]
    left[title] = left[title][len(commands):]
    for command, block in commands:
        r = shell(dated(command), where)
        want = re.sub(r"^    ", "", block, flags=re.M)
        ok(r.returncode == 0 and r.stdout.decode().replace("ready, rehearsal", "ready").startswith(want), "%s: %s" % (title, command),
           "exit %d\n%s%s\n%s" % (r.returncode, r.stdout.decode(), r.stderr.decode(), open(path("journal")).read()[-600:]))
        ran += 1
    return r.stdout.decode()


# ---- Two shufflers and a collector, each by its own operator ---------------------------

STATEMENT = re.search(r"^    \$ (hearsay shuffle statement steps --release 1 .*)$", page, re.M).group(1)
LEAST = int(re.search(r"--min-batch (\d+)", STATEMENT).group(1))
at(DAY, 12)
second, collector = Machine("second", "shuffle", "serve"), Machine("collector", "serve")
do("Keys")
do("The statement")
for release in (1, 2, 3):  # the other shuffler does as the page says, with other words
    if release == 1:
        must("shuffle", "keys", "-o", os.path.join(second.dir, "second"))
    r = shell(dated(STATEMENT).replace("--release 1 --place 1", "--release %d --place 2" % release).replace("acme", "second").replace("-o second.statement", "-o second%s.statement"
              % ("" if release == 1 else release)).replace("Acme Trust, Geneva", "Second Ltd"), second.dir)
    ok(r.returncode == 0, "the second shuffler states the same", r)

must("tasks", "keygen", "-o", os.path.join(collector.dir, "author"))
collector.has(*(os.path.join(work, f) for f in ("acme.statement", "acme-gateway.public")), os.path.join(second.dir, "second.statement"))
TASKS_YAML = "version: 1\nissued: %s\nexpires: %s\n%s    start: %s\n    end: %s\n" % (date(DAY - 1), date(DAY + 200), blocks["of tasks.yaml"], date(DAY - 1), date(DAY + 100))
with open(os.path.join(collector.dir, "tasks.yaml"), "w") as f:
    f.write(TASKS_YAML)
OWN = ("data: data\ndocument: tasks.signed\npublic_key: author.public\nlisten: 127.0.0.1:%d\ntls_cert: cert.pem\ntls_key: key.pem\nadmin: 127.0.0.1:0\nsnapshot_seconds: 0\nrehearsal: %s\n"
       % (PORTS["collector.example"], CLOCK))
collector.configure(OWN + blocks["of hearsay.yaml"])
do("For the collector's operator", where=collector.dir)
collector.start()

shutil.copy(os.path.join(collector.dir, "author.public"), os.path.join(work, "collector.public"))
with open(path("etc/hearsay/shuffle.yaml"), "w") as f:
    f.write(told(blocks["/etc/hearsay/shuffle.yaml of the first shuffler"], TMP, "first.example:8443"))
do("The document", 5)
r = shell("hearsay tasks show /etc/hearsay/tasks.signed --key collector.public")
ok(b"shuffled by 2: Acme Trust, Geneva, Second Ltd" in b" ".join(r.stdout.split()), "the document names both shufflers", r.stdout.decode())

second.has(os.path.join(collector.dir, "tasks.signed"), os.path.join(collector.dir, "collector-sign.public"))
shutil.copy(os.path.join(collector.dir, "author.public"), os.path.join(second.dir, "collector.public"))
second.configure(told(blocks["/etc/hearsay/shuffle.yaml of a later shuffler, here the last"], second.dir, "second.example:8443"))
os.makedirs(second.dir + "/var/lib")
second.start()

do("Start it")
do("Look at it")
do("The document")

# ---- Days ----------------------------------------------------------------------------


def uploads(cells_, day):
    """One report of a device each, of a cell."""
    text = "".join("%d %d %s\n" % (c, day, os.urandom(16).hex()) for c in cells_)
    return subprocess.run([SEAL, path("etc/hearsay/tasks.signed"), "steps"], input=text.encode(), capture_output=True, check=True).stdout


def answers(sealed):
    """The status that the first shuffler answers uploads with."""
    with open(path("uploads"), "wb") as f:
        f.write(sealed)
    return shell("curl -s -o /dev/null -w '%{http_code}' -H 'Content-Type: application/octet-stream' --data-binary @../uploads https://first.example:8443/v1/uploads").stdout.decode()


def send(cells_, day):
    status = answers(uploads(cells_, day))
    ok(status == "204", "%d uploads are acknowledged" % len(cells_), status)


def batches(state):
    """Of the first shuffler: (task's release, epoch, envelopes)."""
    all_ = json.loads(shell("curl -sf -K auth http://127.0.0.1:8081/v1/batches").stdout)["batches"]
    return [(b["release"], b["epoch"], b["envelopes"]) for b in all_ if b["state"] == state]


send([7] * LEAST, DAY)
at(DAY + 1, 7)
got = collector.settled("steps", LEAST)
ok(got == {7: LEAST}, "a day's reports are counted", (got, open(path("journal")).read()[-800:], second.said()[-800:]))
ok(until(lambda: batches("received") == [(1, date(DAY), LEAST)]), "its batch is received", batches("received"))
public = json.loads(shell("curl -sf https://first.example:8443/v1/batches").stdout)["batches"]
ok([(b["state"], b["envelopes"]) for b in public] == [("received", LEAST)], "anyone can see how many", public)
do("One document for everybody")
send([3] * 10, DAY + 1)
at(DAY + 2, 7)
ok(until(lambda: batches("waiting") == [(1, date(DAY + 1), 10)]), "too few wait", batches("waiting"))

do("Stop, upgrade")
do("Disk full")
do("The clock")
ok(batches("waiting") == [(1, date(DAY + 1), 10)], "after all that they still wait", batches("waiting"))

# ---- New keys ------------------------------------------------------------------------


def next_document(version, release, statement):
    """The collector's operator signs it, and all hops take it; release 0: without the task."""
    text = TASKS_YAML.replace("version: 1", "version: %d" % version)
    if release:
        shutil.copy(os.path.join(work, statement), os.path.join(collector.dir, "acme.statement"))
        shutil.copy(os.path.join(second.dir, "second%d.statement" % release), os.path.join(collector.dir, "second.statement"))
        text = text.replace("  - id: steps\n", "  - id: steps\n    release: %d\n" % release)
    else:
        text = text[:text.index("tasks:\n")] + "tasks: []\n"
    with open(os.path.join(collector.dir, "tasks.yaml"), "w") as f:
        f.write(text)
    os.rename(os.path.join(collector.dir, "tasks.signed"), os.path.join(collector.dir, "tasks.before"))
    must("tasks", "compile", os.path.join(collector.dir, "tasks.yaml"), "--against", os.path.join(collector.dir, "tasks.before"), "--key", os.path.join(collector.dir, "author.secret"),
         "-o", os.path.join(collector.dir, "tasks.signed"))
    second.has(os.path.join(collector.dir, "tasks.signed"))
    shutil.copy(os.path.join(collector.dir, "tasks.signed"), path("etc/hearsay/tasks.signed"))
    second.reload()
    collector.reload()


do("New keys", 6)
send([5] * LEAST, DAY + 2)  # of the old release still
next_document(2, 2, "acme2.statement")
ok(shell("systemctl reload hearsay-shuffle").returncode == 0, "the shuffler takes the new release")
send([9] * LEAST, DAY + 2)
at(DAY + 3, 7)
ok(until(lambda: {(1, date(DAY + 2), LEAST + 10), (2, date(DAY + 2), LEAST)} <= set(batches("received"))), "batches of both releases are opened, each by its key",
   (batches("received"), open(path("journal")).read()[-800:]))
do("New keys", 3)
send([11] * 10, DAY + 3)
late = uploads([12], DAY + 3)
at(DAY + 4, 7)
ok(until(lambda: (2, date(DAY + 3), 10) in batches("waiting")), "what came under one key waits", batches("waiting"))
next_document(3, 0, None)
ok(shell("systemctl reload hearsay-shuffle").returncode == 0, "the shuffler takes a document without the task")
ok(answers(late) == "410", "an upload of a release that has ended is answered 410", answers(late))
for days in (5, 6):
    at(DAY + days, 7)
ok(until(lambda: not batches("mixed") + batches("closed") + [b for b in batches("waiting") if b[2]]), "the old release ends", batches("waiting"))
do("New keys", 4)
next_document(4, 3, "acme3.statement")
do("New keys")
send([11] * LEAST, DAY + 6)
at(DAY + 7, 7)
ok(until(lambda: (3, date(DAY + 6), LEAST) in batches("received")), "and the next goes on under another key", (batches("received"), open(path("journal")).read()[-800:]))
do("What to keep")
ok(set(shell("tar -tf acme-keep.tar").stdout.decode().split()) >= {"acme3-sign.secret", "acme2-seal.secret", "shuffle.yaml", "acme3.statement"}, "what is kept is all that a new machine needs")

ok(not any(left.values()) and ran >= 50, "all commands were run", (ran, {t: c for t, c in left.items() if c}))
ok(shell("systemctl stop hearsay-shuffle").returncode == 0, "it ends")
said = set(re.findall(r"^(?:note|error|detail) ([a-z-]+)", open(path("journal")).read(), re.M))
ok(said <= set(first_cells("Log events")) and {"batch-received", "batch-waits", "reloaded", "tokens-read"} <= said, "what it said meanwhile is in the table", said)
ok(second.stop() == 0 and collector.stop() == 0, "so do the others")
done()
