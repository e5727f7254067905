#!/usr/bin/python3 -B
"""Days in seconds: a fleet drives the clock of a collector; what it sent on each
day was counted on that day, once, whoever stays, leaves or joins. What was
rehearsed is never mixed with what was not: neither stores nor devices."""

import collector

collector.DAY = 20773  # 2026-11-16: the clock is driven, and so no day is today's

import devices
from collector import *

FIRST, DAYS, N = DAY - 20, 7, 50
OPTIONS = dict(start=DAY - 30, end=DAY + 300)
TASKS = (task("dark", "yes-no: true; epsilon: 1; permanent: {epsilon: 2}", **OPTIONS)
         + task("kept", "yes-no: true; permanent: {epsilon: 1, gamma: 0.000001}", **OPTIONS)
         + task("late", "values: [a, b, c]; mechanism: grr; epsilon: 1; repeat: daily; delay: 23h", start=FIRST + 2, end=DAY + 300)
         + task("week", "yes-no: true; epsilon: 1; repeat: weekly; delay: 1h", start=FIRST, end=DAY + 300))
ENV = {"ASAN_OPTIONS": "detect_leaks=0"}  # its sandbox hides /proc


def rehearsal(name, **config):
    clock = write("clock-" + name, date(FIRST) + "\n")
    return Collector(name, TASKS, rehearsal=clock, **config).start(env=ENV)


def fleet(c, *options, code=0, clock=True):
    more = ("--clock", c.config["rehearsal"]) if clock else ()
    r = run("simulate", "fleet", "http://127.0.0.1:%d" % c.public[1], "--devices", N, *more, *options, "--format", "json")
    ok(r.code == code, "simulate fleet %s: exit %d" % (" ".join(map(str, options)), code), r)
    return ({t["task"]: t for t in json.loads(r.out)["tasks"]} if r.out else {}), r


def by_day(rows):
    return {row["day"]: (row["reports"], row["nulls"]) for row in rows}


def counted(c, name):
    return by_day(c.get("/v1/tasks/" + name)[1]["live"]["days"])


def reports(rows):
    return [rows.get(date(FIRST + 1 + i), (0, 0))[0] for i in range(DAYS)]


def answering(attendance):
    """Devices that answer on each day."""
    if attendance == "leave":
        return [N] + [N // 2] * (DAYS - 1)
    return [sum(i * DAYS // N <= day for i in range(N)) if attendance == "join" else N for day in range(DAYS)]


# ---- Who stays, who leaves, who joins ------------------------------------------

for attendance in ("stay", "leave", "join"):
    c = rehearsal(attendance, estimate_seconds=1)
    sent, _ = fleet(c, "--days", DAYS, "--attendance", attendance, "--repeat", 2, "--batch", 9)
    ok(all(by_day(sent[name]["days"]) == counted(c, name) for name in sent), "%s: every day the collector counted what was sent" % attendance, (sent, counted(c, "late")))
    ok(all(sent[name]["reports"] == sum(r for r, _ in counted(c, name).values()) == sent[name]["answered"] for name in sent), "and nothing else", sent)
    ok(all(sum(v["person_rounds"] for v in t["truth"]) == t["reports"] for t in sent.values()), "whose truth it was is known of each", sent)
    if attendance != "leave":  # it leaves after the first week, which is all of them
        ok(reports(by_day(sent["dark"]["days"])) == answering(attendance), "%s: a report of each who is there" % attendance, (sent["dark"]["days"], answering(attendance)))
    ok(sum(n for r, n in counted(c, "week").values()) == 0 and sent["week"]["reports"] == N, "a week is one round", sent["week"])
    ok(sum(c.settled("dark", sent["dark"]["reports"]).values()) > 0, "the tally has them")
    if attendance == "stay":
        c.settled("kept", sent["kept"]["reports"])
        shares = {c.get("/v1/tasks/kept/estimate?from=%s&to=%s" % (d, d))[1]["estimates"][0]["estimate"] for d in list(counted(c, "kept"))[:DAYS]}
        # Fresh coins would agree on seven days with chance below 1e-5.
        rows = {row["task"]: row for row in c.get("/v1/tasks")[1]["tasks"]}
        ok(rows["dark"]["frozen"] is True and rows["dark"]["kept_days"] == 331 and rows["week"]["frozen"] is False and rows["week"]["kept_days"] == 0,
           "whose first answer is kept, and for how long, is said", rows)
        ok(len(shares) == 1, "kept answers: every day is the same but for a millionth", shares)
    ok(c.stop() == 0, "the collector ends")

alone = Collector("alone", task("dark", "yes-no: true; epsilon: 1; permanent: {epsilon: 2}", **OPTIONS), rehearsal=write("clock-alone", "%d\n" % (FIRST * 86400)),
                  grace_days=2, keep_days=3).start(env=ENV)
sent, _ = fleet(alone, "--days", DAYS, "--attendance", "leave")
ok(reports(by_day(sent["dark"]["days"])) == answering("leave") == reports(counted(alone, "dark")), "leave: half are gone after the first round", sent["dark"]["days"])
ok(sum(n for _, n in counted(alone, "dark").values()) == 0, "and send nothing more, not even null uploads")
open_ids = alone.get("/v1/status")[1]["store"]["ids"]
ok(0 < open_ids <= N // 2 * 4, "ids of closed days are forgotten", open_ids)
before = sum(r for r, _ in counted(alone, "dark").values())
again, _ = fleet(alone, "--days", DAYS, "--seed", 2)
ok(again["dark"]["reports"] == N * DAYS and sum(r for r, _ in counted(alone, "dark").values()) == before + N * DAYS, "days go on where they ended", again)
once, _ = fleet(alone, "--seed", 3)
ok(once["dark"]["reports"] == N, "a fleet that answers once has the same clock", once)

# ---- One real device of the same rehearsal ---------------------------------------

day = alone.get("/v1/status")[1]["day"]
home, files = path("home"), (os.path.join(alone.dir, "tasks.signed"), os.path.join(alone.dir, "key.public"))
url = "http://127.0.0.1:%d" % alone.public[1]
made = ("init", home, "--document", files[0], "--public-key", files[1])
for args in ((*made, "--now", day), ("consent", home, "send", "--now", day), ("answer", home, "dark", "yes", "--now", day)):
    r = run("device", *args)
    ok(r.code == 0, "device %s --now" % args[0], r)
ok("--now TIME" in run("device", "init", path("other-home"), *made[2:], "--now", day + "T00:00Z").out.decode(), "init says that it goes on so")
at = int(time.mktime(time.strptime(day + " UTC", "%Y-%m-%d %Z")) - time.timezone)
write("clock-alone", "%d\n" % (at + 129600))
ok(alone.until(lambda: alone.get("/v1/status")[1]["day"] > day), "the clock moves on by hand")
before = counted(alone, "dark")
r = run("device", "send", home, url, "--spread", "0", "--now", str(at + 129600))
ok(r.code == 0 and b"sent" in r.out, "device send --now", r)
ok(sum(a for a, _ in counted(alone, "dark").values()) == 1 + sum(a for a, _ in before.values()), "it arrives")
r = run("device", "budget", home)
ok(r.code == 1 and "give --now TIME" in r.err, "a device of a rehearsal does not take the system's clock", r)
real = path("real-home")
r = devices.device("init", real, *made[2:], day=DAY)
ok(r.code == 0, "a real device", r)
for verb in (("consent", real, "send"), ("answer", real, "dark", "yes"), ("budget", real), ("send", real, url), ("take", real, files[0])):
    r = run("device", *verb, "--now", "2030-01-01")
    ok(r.code == 1 and "made by" in r.err, "a real device does not take --now: " + verb[0], r)
r = devices.device("consent", real, "send", day=DAY)
ok(r.code == 0, "and its day has not moved", r)
for text in ("", "tomorrow", "2026-02-30", "2026-01-31T25:00Z", "2026-01-31T10:00", "-1", "1e9", "99999999999999", "2026-01-31 "):
    r = run("device", "budget", home, "--now", text)
    ok(r.code == 2 and "--now takes" in r.err, "no time: '%s'" % text, r)
r = run("device", "log", home, "--now", day)
ok(r.code == 2 and "--now cannot be used with 'device log'" in r.err, "what reads no clock takes none", r)

# ---- Never mixed -------------------------------------------------------------------

ok(ask(alone.admin, "GET", "/readyz")[2] == b"ready, rehearsal\n" and alone.get("/v1/status")[1]["rehearsal"] is True and "rehearsal" in alone.said(), "it says that it rehearses")
os.replace(write("nonsense", "soon\n"), path("clock-alone"))
time.sleep(0.05)
ok(alone.get("/v1/status")[1]["ready"] is True, "a clock that cannot be read stands still")
_, r = fleet(alone, "--days", 2, code=1)
ok("is a line with a day" in r.err, "and nobody drives it on", r)
write("clock-alone", date(FIRST) + "\n")
_, r = fleet(alone, "--days", 2, code=1)
ok("do not go back" in r.err, "days do not go back", r)
ok(alone.stop() == 0, "it ends")
archive, inherited = path("archive"), path("inherited")
must("store", "export", alone.data, "-o", archive)
must("store", "import", archive, inherited)
for data in (alone.data, inherited):
    r = run("serve", "--data", data, "--public-key", files[1], "--listen", "127.0.0.1:0")
    ok(r.code == 1 and "holds a rehearsal" in r.err, "its data is not served with the real clock, nor what was made of an archive", r)
ok(run("store", "check", alone.data).code == 0, "and is sound")
real = Collector("real", TASKS).start(env=ENV)
_, r = fleet(real, "--days", 2, "--clock", write("clock-real", date(DAY)), code=1, clock=False)
ok("real clock" in r.err and real.get("/v1/status")[1]["store"]["commits"] == 0, "a real collector is left alone", r)
ok(real.get("/v1/status")[1]["rehearsal"] is False and ask(real.public, "GET", "/healthz")[2] == b"ok\n", "it says nothing of a rehearsal")
ok(real.stop() == 0, "it ends")
for text, words in ((date(DAY), "used with the real clock"), (None, "No such file"), ("soon", "is a line with a day")):
    where = path("clock-missing") if text is None else write("clock-real", text)
    r = run("serve", "--data", real.data if text else path("new-data"), "--public-key", files[1], "--listen", "127.0.0.1:0", "--rehearsal", where)
    ok(r.code == 1 and words in r.err, "refused: " + words, r)
for args, words in ((["--days", "2"], "--days needs --clock"), (["--attendance", "stay"], "--attendance needs --days"), (["--days", "0"], "days"),
                    (["--days", "2", "--clock", path("x"), "--attendance", "all"], "stay")):
    r = run("simulate", "fleet", "http://127.0.0.1:1", *args)
    ok(r.code == 2 and words in r.err, "refused: simulate fleet " + " ".join(args), r)
r = run("simulate", "fleet", "http://127.0.0.1:1", "--days", "2", "--clock", path("none"))
ok(r.code == 1 and "No such file" in r.err, "no clock", r)

# ---- docs/rehearsal.md ---------------------------------------------------------------

os.makedirs(path("bin"))
os.makedirs(path("page"))
os.symlink(HEARSAY, path("bin/hearsay"))
os.symlink(os.path.join(ROOT, "examples"), path("page/examples"))
server, ports = None, {}


@atexit.register
def end():
    if server is not None and server.poll() is None:
        server.kill()
        server.wait()


for command in re.findall(r"^    \$ (.*)$", open(os.path.join(ROOT, "docs", "rehearsal.md")).read(), re.M):
    for port, real in ports.items():
        command = command.replace("127.0.0.1:" + port, "127.0.0.1:" + real)
    if command.endswith(" &"):
        words = command[:-2].replace("127.0.0.1:8081", "127.0.0.1:0").split()
        server = subprocess.Popen([HEARSAY, *words[1:], "--listen", "127.0.0.1:0"], cwd=path("page"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        said = server.stdout.readline().decode()
        ports = dict(zip(("8080", "8081"), re.findall(r"127\.0\.0\.1:(\d+)", said)))
        ok(len(ports) == 2, command, said)
        continue
    r = subprocess.run(["bash", "-c", command], cwd=path("page"), env={**os.environ, "PATH": path("bin") + ":" + os.environ["PATH"]}, capture_output=True, timeout=DEADLINE)
    good = r.returncode == 0
    if "curl" in command:
        got = json.loads(r.stdout)
        good = good and got["live"]["reports"] == 10500 and len(got["live"]["days"]) == 7
    if "device send" in command:
        good = good and r.stdout.split()[4] == b"5"  # a report, and null uploads of the other tasks
    ok(good, command, r.stdout.decode() + r.stderr.decode())
server.terminate()
ok(server.wait(DEADLINE) == 0, "the collector of the page ends")
done()
