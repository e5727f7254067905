#!/usr/bin/python3 -B
"""docs/runbook.md: every alert, trouble and log event of the source is in its
tables, and every command on it does what it should, with stand-ins for the
service manager, its log, the package manager and other users."""

import glob

from collector import *

sys.path.insert(0, os.path.join(ROOT, "tests", "fault"))
page = open(os.path.join(ROOT, "docs", "runbook.md")).read()
sections = dict(re.findall(r"^## (.*)\n((?:(?!## ).*\n)*)", page, re.M))


def table(section):
    return re.findall(r"^\| `([\w-]+)` \|", sections[section], re.M)


# ---- The tables ----------------------------------------------------------------------

sources = "\n".join(open(name).read() for name in glob.glob(os.path.join(ROOT, "src", "**", "*.c"), recursive=True) if not name.endswith("/log.c"))
events = re.findall(r"\blog_(?:event|failure|failure_about|words)\([^;]*?\"([a-z-]+)\"", sources)
tables = re.findall(r"\bevents\[\] = \{(.*?)\}", sources, re.S)  # of which a call takes one
calls = len(re.findall(r"\blog_(?:event|failure|failure_about|words)\((?!c->log, event,)", sources))
said = re.findall(r"\bcluster_say(?:_shard)?\([^;{]*?\"([a-z-]+)\"", sources)  # which one call hands on
told = len(re.findall(r"\bcluster_say(?:_shard)?\(", sources)) - 3  # without two definitions, and the call of one by the other
ok(len(said) == told > 4, "every event of a cluster has a name", (said, told))
events += said
ok(len(tables) == 1 and len(events) - len(said) + len(tables) == calls > 20, "every event has a name", (len(events), calls))
events += re.findall(r'"([a-z-]+)"', tables[0])
ok(len(table("Log events")) == len(set(events)) and set(table("Log events")) == set(events), "the page has every event of the source, and no other", set(table("Log events")) ^ set(events))
troubles = re.findall(r'^    \{"([a-z-]+)", trouble_', open(os.path.join(ROOT, "src", "server", "collector", "watch", "troubles.c")).read(), re.M)
ok(table("Troubles") == troubles and len(troubles) > 10, "every trouble", set(table("Troubles")) ^ set(troubles))
alerts = re.findall(r"- alert: (\w+)", open(os.path.join(ROOT, "packaging", "prometheus", "hearsay.rules.yml")).read())
ok(table("Alerts") == alerts and len(alerts) > 10, "every alert", set(table("Alerts")) ^ set(alerts))
for name in sorted(set(re.findall(r"\]\((#?[^)]+)\)", page))):
    other, _, part = name.partition("#")
    there = os.path.join(ROOT, "docs", other or "runbook.md")
    heads = re.findall(r"^## (.*)", open(there).read(), re.M) if os.path.exists(there) else []
    good = part in {re.sub(r"\W+", "-", s.lower()) for s in heads} if part else os.path.exists(there)
    ok(good, "the link to %s leads somewhere" % name)

# ---- The machine of the page ---------------------------------------------------------

import machine  # noqa: E402 - it builds what tells a collector the time

STANDINS = {
    "systemctl": """
        pid=$HERE/pid log=$HERE/journal
        alive() { [ -e "$pid" ] && kill -0 "$(cat "$pid")" 2>/dev/null && ! grep -q '^State:.Z' "/proc/$(cat "$pid")/status" 2>/dev/null; }
        case $1 in
        restart) "$0" stop "$2" && "$0" start "$2" ;;
        stop) kill "$(cat "$pid")"; while alive; do sleep 0.05; done; rm "$pid" ;;
        start)
            : >"$HERE/ready"
            setsid env $(cat "$HERE/environment") "$HERE/bin/hearsay" serve "$HERE/etc/hearsay/hearsay.yaml" >"$HERE/ready" 2>>"$log" </dev/null &
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
    "chown": '[ "$*" = "-R hearsay: $HERE/var/lib/hearsay" ]',
    "apt-get": 'for last; do :; done; [ "$1 $2" = "install -y" ] && dpkg -x "$last" "$HERE/installed" && cp "$HERE/installed/usr/bin/hearsay" "$HERE/bin/hearsay.next" && mv "$HERE/bin/hearsay.next" "$HERE/bin/hearsay"',
    "curl": """
        public=$(sed -n 's/.*public=\\([^ ]*\\).*/\\1/p' "$HERE/ready") admin=$(sed -n 's/.*admin=\\([^ ]*\\).*/\\1/p' "$HERE/ready")
        for word; do shift; word=${word//127.0.0.1:8080/$public}; set -- "$@" "${word//127.0.0.1:8081/$admin}"; done
        exec /usr/bin/curl "$@\"""",
}
work = path("root")
for directory in ("bin", "etc/hearsay", "var/lib", "srv/backups"):
    os.makedirs(os.path.join(TMP, directory))
for name, text in STANDINS.items():
    with open(path("bin/" + name), "w") as f:
        f.write("#!/bin/bash\n" + text + "\n")
    os.chmod(path("bin/" + name), 0o755)
shutil.copy(HEARSAY, path("bin/hearsay"))
write("environment", "")
write("journal", "")
write("etc/hearsay/hearsay.yaml", "data: ../../var/lib/hearsay\ndocument: tasks.signed\npublic_key: collector.public\nlisten: 127.0.0.1:0\nadmin: 127.0.0.1:0\ngrace_days: 3\n")
# Where tasks are written: signed by now, for some days more.
maker = Collector("root")
os.makedirs(os.path.join(work, "x"))
for old, new in (("key.secret", "collector.secret"), ("key.public", "collector.public")):
    os.rename(os.path.join(work, old), os.path.join(work, new))


def sign(days):
    yaml_ = open(os.path.join(work, "tasks.yaml")).read()
    with open(os.path.join(work, "tasks.yaml"), "w") as f:
        f.write(re.sub(r"(?m)^expires: .*$", "expires: " + date(int(time.time()) // 86400 + days), yaml_))
    os.remove(os.path.join(work, "tasks.signed"))
    must("tasks", "compile", os.path.join(work, "tasks.yaml"), "--key", os.path.join(work, "collector.secret"), "-o", os.path.join(work, "tasks.signed"))


sign(3)
for name in ("tasks.signed", "collector.public"):
    shutil.copy(os.path.join(work, name), path("etc/hearsay/" + name))
for name in ("hearsay_new.deb", "hearsay_old.deb"):
    os.makedirs(path(name + ".d/DEBIAN"))
    os.makedirs(path(name + ".d/usr/bin"))
    write(name + ".d/DEBIAN/control", "Package: hearsay\nVersion: 1\nArchitecture: all\nMaintainer: nobody <nobody@example.org>\nDescription: a collector\n")
    os.link(path("bin/hearsay"), path(name + ".d/usr/bin/hearsay"))
    subprocess.run(["dpkg-deb", "-Znone", "--build", path(name + ".d"), os.path.join(work, name)], check=True, capture_output=True)
ENV = {**os.environ, "PATH": path("bin") + ":" + os.environ["PATH"], "HERE": TMP}


def shell(command):
    for place in ("/etc/hearsay", "/var/lib/hearsay", "/srv/backups"):
        command = command.replace(place, TMP + place)
    return subprocess.run(["bash", "-c", command], cwd=work, env=ENV, capture_output=True, timeout=2 * DEADLINE)


def ended():
    """Whatever the test did, no collector is left."""
    try:
        os.kill(int(open(path("pid")).read()), signal.SIGKILL)
    except (OSError, ValueError):
        pass


atexit.register(ended)


def count_some(cell, epoch=DAY):
    """An upload is acknowledged."""
    at = dict(re.findall(r"(public|admin)=127\.0\.0\.1:(\d+)", open(path("ready")).read()))
    wire = maker.task["cells"].upload([cell], epoch=epoch)
    status = ask(("127.0.0.1", int(at["public"])), "POST", "/v1/uploads", wire, **{"Content-Type": "application/octet-stream"})[0]
    ok(status == 204, "it counts: %d" % cell, status)


# ---- The commands --------------------------------------------------------------------

def months_ago():
    """The data are of a machine that was off for 100 days."""
    ok(shell("systemctl stop hearsay && rm -r /var/lib/hearsay.broken && mv /var/lib/hearsay /var/lib/kept && mkdir -m 700 /var/lib/hearsay && cp -a /var/lib/kept/tokens* /var/lib/hearsay/".replace("/var/lib/kept", TMP + "/var/lib/kept")).returncode == 0, "another machine")
    m = machine.Machine("the-clock")
    m.clock(-100 * 86400)
    write("environment", " ".join("%s=%s" % (k, v.replace(" ", ":")) for k, v in m.env.items()))
    ok(shell("systemctl start hearsay").returncode == 0, "100 days ago")
    ok(shell("systemctl stop hearsay").returncode == 0, "it was switched off")
    write("environment", "")
    ok(shell("systemctl start hearsay").returncode == 0, "and on again")
    r = shell("curl -s http://127.0.0.1:8081/readyz")
    ok(b'"status": 503' in r.stdout and b"\"detail\": \"clock-ahead: " in r.stdout, "it does not believe the clock", r)


def backups():
    """There are some that may go."""
    ok(shell("curl -sf -K auth -X POST http://127.0.0.1:8081/v1/backup").returncode == 0, "a backup is made")


BEFORE = {"Clock trouble": months_ago, "Disk full": backups}
AFTER = {"Before anything happens": lambda: count_some(1), "A new document": lambda: count_some(2), "Upgrade": lambda: count_some(3), "Rollback": lambda: count_some(4),
         "Restore": lambda: count_some(5), "Disk full": lambda: count_some(6), "Clock trouble": lambda: count_some(7)}
r = shell("systemctl start hearsay")
ok(r.returncode == 0, "the collector runs", r.stderr.decode() + open(path("journal")).read())
n = 0
for title, text in sections.items():
    BEFORE.get(title, lambda: None)()
    for command, block in re.findall(r"^    \$ (.*)\n((?:    (?!\$ ).*\n)*)", text, re.M):
        r = shell(command)
        want = re.sub(r"^    ", "", block, flags=re.M)
        ok(r.returncode == 0 and r.stdout.decode().startswith(want), "%s: %s" % (title, command),
           "exit %d\n%s%s\n%s" % (r.returncode, r.stdout.decode(), r.stderr.decode(), open(path("journal")).read()[-400:]))
        n += 1
    AFTER.get(title, lambda: None)()
ok(n >= 60, "all commands were run", n)
ok(shell("systemctl stop hearsay").returncode == 0, "it ends")
said = set(re.findall(r"^(?:note|error|detail) ([a-z-]+)", open(path("journal")).read(), re.M))
ok(said <= set(table("Log events")) and {"trouble", "reloaded", "backup", "tokens-read"} <= said, "what it said meanwhile is in the table", said)
done()
