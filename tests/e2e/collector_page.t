#!/usr/bin/python3 -B
"""docs/collector.md: its commands work one after another, its table has every
field with its default, its links lead somewhere."""

from collector import *

page = open(os.path.join(ROOT, "docs", "collector.md")).read()

# ---- The table of fields ------------------------------------------------------------

source = open(os.path.join(ROOT, "src", "server", "process", "config.c")).read()
source = source[source.index("config_rows[] = {"):source.index("_Static_assert")]
plain = re.findall(r'CONFIG_(?:FIELD|NUMBER)\((\w+),[^")]*?(?:\([^)]*\)[^")]*?)?(NULL|"[^"]*"),\s*(LIVE|FIXED)\)', source)
spelled = re.findall(r'\{\.key = "(\w+)",([^{}]*)\}', source)
plain += [(key, otherwise, "FIXED") for key, otherwise in re.findall(r'CONFIG_DIVIDED\((\w+),[^"]*("[^"]*"),', source)]
fields = [(key, otherwise) for key, otherwise, _ in plain] + [(key, re.search(r'\.otherwise = (NULL|"[^"]*")', rest).group(1)) for key, rest in spelled]
changing = {key for key, _, when in plain if when == "LIVE"} | {key for key, rest in spelled if ".live = true" in rest}
table = {}
for names, otherwise in re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| (\S*) ?\| ", page, re.M):
    for name in names.replace("`", "").split(", "):
        table[name] = otherwise.strip("`") or "NULL"
wrong = [(k, d) for k, d in fields if table.get(k) != d.strip('"')]
ok(len(fields) == 43 and not wrong, "the table has every field with its default", wrong)
live = re.search(r"reads it all again\.\s(.*?)\stake\seffect", page, re.S).group(1)
ok(set(re.findall(r"`([a-z_]+)`", live)) == changing, "and says which change while it runs", live)
sizes = {k: re.search(r"^%s: *(\S+)" % k, open(os.path.join(ROOT, "examples/collector/hearsay.yaml")).read(), re.M) for k in ("listen", "grace_days", "sandbox", "log_json")}
ok(all(m and m.group(1) == table[k] for k, m in sizes.items()), "the example says the same", sizes)

# ---- The commands ----------------------------------------------------------------------

os.makedirs(path("bin"))
os.symlink(HEARSAY, path("bin/hearsay"))
os.symlink(os.path.join(ROOT, "examples"), path("examples"))
shell = {**os.environ, "PATH": path("bin") + ":" + os.environ["PATH"]}
ports, server = {}, None


def told(command):
    for port, real in ports.items():
        command = command.replace("127.0.0.1:" + port, "127.0.0.1:" + real)
    return command


@atexit.register
def end():
    if server is not None and server.poll() is None:
        server.kill()
        server.wait()


commands = re.findall(r"^    \$ (.*)$", page, re.M)
for command in commands:
    if command.endswith(" &"):
        words = command[:-2].replace("127.0.0.1:8081", "127.0.0.1:0").split()
        server = subprocess.Popen([HEARSAY, *words[1:], "--listen", "127.0.0.1:0"], cwd=TMP, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        line = server.stdout.readline().decode()
        at = re.fullmatch(r"ready public=127\.0\.0\.1:(\d+) admin=127\.0\.0\.1:(\d+)\n", line)
        if not ok(at is not None, command, line):
            break
        ports = dict(zip(("8080", "8081"), at.groups()))
        continue
    if "devices 2000" in command:  # fewer show as much
        command = command.replace("2000", "1100")
    r = subprocess.run(["bash", "-c", told(command)], cwd=TMP, env=shell, capture_output=True, timeout=DEADLINE)
    said = r.stdout.decode()
    good = r.returncode == 0
    # Reports came, or a token was made, a moment ago: they are folded and it is noticed within two seconds.
    for where, field in (("/estimate", '"estimates"'), ("/v1/backup", '"directory"')):
        def answered():
            """an answer with what the page promises"""
            global said
            said = said if field in said else subprocess.run(["bash", "-c", told(command)], cwd=TMP, env=shell, capture_output=True).stdout.decode()
            return field in said
        where not in command or until(answered)
    if "/estimate" in command:
        got = json.loads(said)
        good = good and got["task"] == "browser" and len(got["estimates"]) == 6
    if "/v1/backup" in command:
        good = good and os.path.isdir(os.path.join(TMP, "first", json.loads(said).get("directory", "nowhere")))
    if "tasks.fetched" in command:
        good = good and open(path("tasks.fetched"), "rb").read() == open(path("first.signed"), "rb").read()
    ok(good, command, said + r.stderr.decode())
server.terminate()
ok(server.wait(DEADLINE) == 0, "it ends")
ok(must("store", "check", path("first")) and must("store", "export", path("first"), "-o", path("file")) is not None and run("store", "import", path("file"), path("again")).code == 0,
   "what was kept is sound, is exported and imported")

for link in re.findall(r"\]\(([^)#]+)\)", page):
    ok(os.path.exists(os.path.join(ROOT, "docs", link)), link + " is there")
done()
