#!/usr/bin/python3 -B
"""A search in batches with a collector, by the commands of docs/batches.md: each
stage is asked of the same devices over HTTP, its tally makes the next one."""

from collector import *

page = open(os.path.join(ROOT, "docs", "batches.md")).read()
section = page[page.index("## With a collector"):page.index("## What a device does")]
commands = re.findall(r"^    (\S.*)$", section, re.M)
os.makedirs(path("bin"))
os.symlink(HEARSAY, path("bin/hearsay"))
N, STAGES = 600, 3
# At epsilon 16 a batch of some 200 is as good as certain; fewer than 100 of 600
# are in it with chance below 1e-15.
must("discover", "start", "--bits", "24", "--epsilon", "16", "--source", "keyboard", "--question", "Which word?", "--from", date(DAY - STAGES), "--to", date(DAY - STAGES),
     "-o", path("first.yaml"))
tasks = open(path("first.yaml")).read()
tasks = re.sub("min_reports: .*", "min_reports: 100", re.sub("delay: .*", "delay: 0s", tasks[tasks.index("tasks:\n") + 7:]))
c = Collector("real", tasks, grace_days=7, admin_open=False)
for there, here in (("key.secret", "collector.secret"), ("tasks.yaml", "words-1.yaml")):
    os.rename(os.path.join(c.dir, there), os.path.join(c.dir, here))
with open(os.path.join(c.dir, "operator"), "wb") as f:
    f.write(must("serve", "token", "add", "op", "--role", "operator", "--data", c.data))
c.start()


def shell(command, stage):
    """A command of the page as of a stage, for this collector; a stage is a day."""
    for was, now in (("words-2", "words-%d" % (stage + 1)), ("words-1", "words-%d" % stage), ("release=1", "release=%d" % stage),
                     ("127.0.0.1:8081", "127.0.0.1:%d" % c.admin[1]), ("--significant", "--significant --to " + date(DAY - STAGES + stage))):
        command = command.replace(was, now)
    r = subprocess.run(["bash", "-c", command], cwd=c.dir, env={**os.environ, "PATH": path("bin") + ":" + os.environ["PATH"]}, capture_output=True, timeout=DEADLINE)
    return ok(r.returncode == 0, command, (r.stdout, r.stderr))


def counted(stage):
    token = open(os.path.join(c.dir, "operator")).read().strip()
    row = c.get("/v1/tasks/words?release=%d" % stage, token)[1]
    return row["live"]["reports"], row["live"]["nulls"]


ok(len(commands) == 4, "the page has four commands a stage", commands)
total = 0
for stage in range(1, STAGES + 1):
    sent = json.loads(must("simulate", "fleet", "http://127.0.0.1:%d" % c.public[1], "--devices", N, "--batch", 50, "--truth", "words=sun:2,sea:1", "--format", "json"))["tasks"][0]
    reports, nulls = sent["reports"], sent["nulls"]
    ok(reports >= 100 and reports + nulls == N and c.until(lambda: counted(stage) == (reports, nulls)), "stage %d: its batch reports, the others send null uploads" % stage, sent)
    total += reports
    for command in commands if stage < STAGES else commands[:1]:
        shell(command, stage)
ok(total == N, "every device has answered one stage", total)
found = json.loads(must("discover", "show", os.path.join(c.dir, "words-%d.tally" % STAGES), "--significant", "--format", "json"))["strings"]
ok({"sun", "sea"} == {s["value"] for s in found[:2]} and found[0]["value"] == "sun", "the words are found", found)
code = c.stop()
ok(code == 0, "the collector ends", (code, c.said()))
done()
