#!/usr/bin/python3 -B
"""Which PostgreSQL a node takes: values come back, settings that would lose or
log something are refused by name, and a primary is not taken after another was
promoted."""

import os
import subprocess
import sys

sys.path.insert(0, "tests/rig")
import postgres  # noqa: E402

OUT = os.environ.get("B", "build")
PROGRAM = OUT + "/tests/unit/server/postgres/test_connect"
count = 0
failed = 0

# What is set, by the session or the server, and the words that say so.
SESSION = {
    "synchronous_commit=off": "synchronous_commit",
    "synchronous_commit=local": "synchronous_commit",
    "log_statement=mod": "log_statement",
    "log_min_duration_statement=100": "log_parameter_max_length",
    "log_parameter_max_length_on_error=-1": "log_parameter_max_length_on_error",
    "auto_explain.log_min_duration=0": "auto_explain",
}
SERVER = {"fsync": ("off", "fsync"), "full_page_writes": ("off", "full_page_writes"), "track_commit_timestamp": ("on", "track_commit_timestamp")}


def result(good, name, said=""):
    global count, failed
    count += 1
    failed += not good
    if not good:
        print(said, file=sys.stderr)
    print("%sok %d - %s" % ("" if good else "not ", count, name), flush=True)


def run(url, *words):
    done = subprocess.run([PROGRAM, *words], env={**os.environ, "HSY_PG": url}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode == 0, done.stdout


def timelines(p, s):
    child = subprocess.Popen([PROGRAM, "timelines"], env={**os.environ, "HSY_PG": postgres.url(p, s)}, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
    said = []
    for what in (s.promote, s.kill9):
        for line in child.stdout:
            said.append(line)
            if line == "# next\n":
                break
        what()
        child.stdin.write("\n")
        child.stdin.flush()
    said += child.stdout
    result(child.wait() == 0, "after a promotion the old primary is not taken", "".join(said))


def main():
    why = postgres.why_not()
    if why:
        print("1..0 # SKIP " + why)
        return 0
    if subprocess.run(["make", "-s", "CI=1", "B=" + OUT, PROGRAM], stdout=sys.stderr, check=False).returncode:
        return 1
    p = postgres.Postgres("a")
    good, said = run(p.url(), "values")
    result(good, "what is sent comes back", said)
    for setting, words in SESSION.items():
        url = p.url(user="postgres") + "?options=-c%20" + setting.replace("=", "%3D")
        good, said = run(url, "refused", words)
        result(good, setting + " is refused", said)
    for name, (value, words) in SERVER.items():
        wrong = postgres.Postgres(name, **{name: value})
        good, said = run(wrong.url(), "refused", words)
        result(good, "%s=%s is refused" % (name, value), said)
        wrong.kill9()
    s = p.standby("b")
    timelines(p, s)
    print("1..%d" % count)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
