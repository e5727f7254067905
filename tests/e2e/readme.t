#!/usr/bin/python3 -B
"""Every command of README.md and docs/examples.md runs as written, line by line
in one directory, and what README claims about the output holds.

A line that ends in `&` is a server. It listens on ports of its own: the ports
that the page names stand for them in later lines. The address of PostgreSQL
stands for that of a server of the test's own; where none can run, the lines
that need one are left out."""

import signal
import time

from e2e import *

sys.path.insert(0, os.path.join(ROOT, "tests", "rig"))
import postgres  # noqa: E402

if SHORT:
    skip_all("every command has a short test of its own")

DATABASE = "postgresql://hearsay@127.0.0.1/hearsay"
DEFAULT_PORT = {"serve": "8080", "relay": "8090"}
DEADLINE = 120
ports, servers = {}, []


@atexit.register
def end():
    for server in servers:
        if server.poll() is None:
            server.kill()
            server.wait()


def told(line):
    for port, real in ports.items():
        line = line.replace("127.0.0.1:" + port, "127.0.0.1:" + real)
    return line


def start(line):
    """A server in the background, as soon as it says that it is ready."""
    words = told(line.rstrip("& ")).split()
    wanted = {"public": DEFAULT_PORT[words[1]]}
    for i in range(len(words) - 1):
        if words[i] in ("--listen", "--admin"):
            wanted["public" if words[i] == "--listen" else "admin"] = words[i + 1].rpartition(":")[2]
            words[i + 1] = "127.0.0.1:0"
    if "--listen" not in words:
        words += ["--listen", "127.0.0.1:0"]
    server = subprocess.Popen(words, cwd=TMP, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    servers.append(server)
    said = dict(re.findall(r"(public|admin)=127\.0\.0\.1:(\d+)", server.stdout.readline().decode()))
    ports.update({wanted[which]: port for which, port in said.items() if which in wanted})
    return set(said) == set(wanted), said


def stop(line):
    """kill %1 %2: each ends by itself, in order."""
    left = [server for server in servers if server.poll() is None]
    if ok(line.split()[1:] == ["%%%d" % (i + 1) for i in range(len(left))], "ends every server: " + line, line):
        for server in left:
            server.send_signal(signal.SIGTERM)
    return all([server.wait(DEADLINE) == 0 for server in left]), [server.returncode for server in left]


def run_line(line):
    if line.endswith("&"):
        return start(line)
    if line.startswith("kill "):
        return stop(line)
    r = subprocess.run(["bash", "-o", "pipefail", "-c", told(line)], cwd=TMP, capture_output=True, timeout=DEADLINE)
    return r.returncode == 0, r.stderr.decode()


def blocks(text):
    return [block.splitlines() for block in re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)]


readme = open(os.path.join(ROOT, "README.md")).read()
examples_page = open(os.path.join(ROOT, "docs", "examples.md")).read()

# ---- The shape of the page --------------------------------------------------

ok(len(readme.splitlines()) <= 170, "README has at most 170 lines", len(readme.splitlines()))
doors = re.findall(r"^## (I [^\n]*)\n(.*?)(?=^## )", readme, re.M | re.S)
ok(len(doors) == 5, "it has five doors", [name for name, _ in doors])
for name, text in doors:
    ok([6 <= len(b) <= 12 for b in blocks(text)] == [True], "'%s' is 6 to 12 lines to run" % name, blocks(text))
    ok("\nNext: [" in text, "and says where to go from there")
ok(sum(len(b) for b in blocks(readme)) == sum(len(b) for _, text in doors for b in blocks(text)), "there are no others")

# ---- Its lines --------------------------------------------------------------

os.symlink(os.path.join(ROOT, "examples"), path("examples"))
os.symlink(os.path.join(ROOT, "include"), path("include"))
os.symlink(os.path.dirname(HEARSAY), path("build"))
why_not = postgres.why_not()
server = None if why_not else postgres.Postgres("readme")
for line in [line for block in blocks(readme) + blocks(examples_page) for line in block]:
    short = line.partition("  #")[0].rstrip()
    if "node.yaml" in line:
        if why_not:
            print("# left out, %s: %s" % (why_not, short))
            continue
        line = line.replace(DATABASE, postgres.url(server))
    good, why = run_line(line if line.endswith("&") else line.partition("  #")[0] if line.startswith("kill") else line)
    ok(good, "runs: " + short, why)

# 20 % said yes; 7.5 standard errors of 20,000 answers at epsilon 1 are 5 %.
share = {row["value"]: row["estimate"] for row in rows(must("estimate", path("counts.tally"), "--format", "csv"))}
ok(0.15 < share["yes"] < 0.25, "the estimate is about 20 %", share)
(study,) = [line for line in readme.splitlines() if "depends on epsilon" in line]
table = rows(must(*study.partition(" --plot")[0].split()[1:], "--format", "csv"))
best = [min((row for row in table if row["epsilon"] == e), key=lambda row: row["run_mse"])["mechanism"] for e in sorted({row["epsilon"] for row in table})]
ok(set(best) == {"grr", "oue"}, "which of grr and oue is better depends on epsilon in the study shown", best)
if os.path.exists(os.path.join(ROOT, ".git")):
    left = [name for name in sorted(os.listdir(TMP)) if name not in ("build", "examples", "include")
            and subprocess.run(["git", "-C", ROOT, "check-ignore", "-q", name]).returncode != 0]
    ok(not left, "what the commands leave is not taken for a part of the tree", left)
done()
