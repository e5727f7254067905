"""e2e.py - TAP and a few helpers for tests of the real command.

HEARSAY names the command, build/hearsay if it is unset. HSY_SHORT is set where
the command is slow, as under sanitizers: fewer truths, no look at its memory.
"""

import atexit
import csv
import io
import json
import linecache
import math
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEARSAY = os.path.abspath(os.environ.get("HEARSAY") or os.path.join(ROOT, "build", "hearsay"))
SHORT = bool(os.environ.get("HSY_SHORT"))
DEADLINE = 120  # seconds for what takes a moment; only a hang comes near
UNREACHABLE = "the database cannot be reached"
TMP = tempfile.mkdtemp(prefix="hearsay-e2e-")
atexit.register(shutil.rmtree, TMP, True)

count = 0
failed = 0


def ok(passed, sentence, detail=None):
    global count, failed
    count += 1
    print("%sok %d - %s" % ("" if passed else "not ", count, sentence))
    if not passed:
        failed += 1
        if detail is not None:
            for line in str(detail).splitlines()[:int(os.environ.get("HSY_TEST_LINES", "20"))]:
                print("#   " + line)
    sys.stdout.flush()
    return passed


def done():
    """Ends the test without the interpreter's own shutdown: threads that still
    serve TLS would use what OpenSSL frees then, and the process would abort."""
    print("1..%d" % count)
    sys.stdout.flush()
    sys.stderr.flush()
    atexit._run_exitfuncs()
    os._exit(failed != 0)


def skip_all(why):
    print("1..0 # SKIP " + why)
    sys.exit(0)


def until(condition, alive=lambda: True):
    """Waits until a condition holds; true if it does. Gives up after DEADLINE
    seconds, or if alive() no longer holds, and prints what it waited for."""
    began, pause = time.monotonic(), 0.001
    while not condition():
        ended = not alive() and not condition()
        if ended or time.monotonic() > began + DEADLINE:
            print("# gave up after %.1f s%s, waiting for %s" % (time.monotonic() - began, ": the process has ended" if ended else "", _described(condition)))
            sys.stdout.flush()
            return False
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)
    return True


def _described(condition):
    """A condition by its docstring or else its source line, and the line of the test that waits for it."""
    frame, code = sys._getframe(2), getattr(condition, "__code__", None)
    while frame.f_back is not None and not frame.f_code.co_filename.endswith(".t"):
        frame = frame.f_back
    words = condition.__doc__ or (linecache.getline(code.co_filename, code.co_firstlineno) if code else repr(condition))
    return "%s (%s:%d)" % (" ".join(words.split()), os.path.basename(frame.f_code.co_filename), frame.f_lineno)


def path(name):
    """A file of this name in the test's own directory."""
    return os.path.join(TMP, name)


def write(name, data):
    with open(path(name), "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())
    return path(name)


def lines(truths):
    return "".join("%s\n" % t for t in truths).encode()


class Result:
    def __init__(self, done):
        self.code = done.returncode
        self.out = done.stdout
        self.err = done.stderr.decode("utf-8", "replace")

    def __str__(self):
        return "exit %d\n%s" % (self.code, self.err)


def run(*args, stdin=b"", **more):
    """Run the command; bytes in, a Result out. A command that gives up a database
    is run again: it waits 2.5 s for the answer, and a loaded server may take longer."""
    if isinstance(stdin, str):
        stdin = stdin.encode()
    more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    end = time.monotonic() + DEADLINE
    while True:
        r = Result(subprocess.run([HEARSAY, *map(str, args)], input=stdin, **more))
        if not (UNREACHABLE in r.err and "no answer in time" in r.err) or time.monotonic() > end:
            return r
        print("# run again, the database did not answer in time: hearsay " + " ".join(map(str, args)))


def terminal(sentence):
    """Both ends of a pseudo-terminal; where the system has none, None, and the sentence is skipped."""
    try:
        return pty.openpty()
    except OSError as e:
        ok(True, "%s # SKIP no pseudo-terminal: %s" % (sentence, e))
        return None


def on_terminal(holds, sentence, *args, stdin=None):
    """Run with stderr on a terminal: holds(exit code, what it was told)."""
    ends = terminal(sentence)
    if ends is None:
        return
    mine, its = ends
    child = subprocess.Popen([HEARSAY, *map(str, args)], stdin=open(stdin, "rb") if stdin else subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=its)
    os.close(its)
    told = b""
    while True:
        try:
            more = os.read(mine, 65536)
        except OSError:  # the other end is closed
            break
        if not more:
            break
        told += more
    os.close(mine)
    code, told = child.wait(), told.decode()
    ok(holds(code, told), sentence, (code, told))


def must(*args, stdin=b""):
    """Run what is not under test; its output."""
    r = run(*args, stdin=stdin)
    if r.code != 0:
        raise SystemExit("Bail out! hearsay %s: %s" % (" ".join(map(str, args)), r))
    return r.out


def rows(out):
    """Rows of csv output as dictionaries; numbers are floats."""
    table = list(csv.DictReader(io.StringIO(out.decode())))
    for row in table:
        for key, value in row.items():
            if key not in ("value", "mechanism", "aliases", "kinds", "title"):
                try:
                    row[key] = float(value)
                except ValueError:
                    pass
    return table


def examples(name):
    """The page docs/NAME, and its commands with what it says they print."""
    page = open(os.path.join(ROOT, "docs", name)).read()
    return page, re.findall(r"^    \$ (hearsay .*)\n((?:    .*\n|\n(?=    ))*)", page, re.M)


def tells_the_truth(page, shown):
    """Every command prints and draws what the page says; not in a short run."""
    for command, block in shown if not SHORT else ():
        words = command.split()[1:]
        figure = None
        for option in {"--plot", "--plot-learned"} & set(words):
            figure = words[words.index(option) + 1]
            words[words.index(option) + 1] = path("page.svg")
        want = re.sub(r"^    ", "", block, flags=re.M).rstrip("\n") + "\n"
        ok(must(*words).decode() == want, command + " prints what the page says", want)
        if figure is not None:
            ok(open(path("page.svg"), "rb").read() == open(os.path.join(ROOT, figure), "rb").read(), figure + " is its figure")
            ok("](%s)" % figure.replace("docs/", "") in page, "which the page shows")


def runs_in_a_shell(name, long=None):
    """The same of a page whose commands are lines of a shell, that make files
    for each other; how many there are. A short run leaves out those with LONG."""
    page = open(os.path.join(ROOT, "docs", name)).read()
    shown = re.findall(r"^    \$ (.*)\n((?:    (?!\$ ).*\n|\n(?=    (?!\$ )))*)", page, re.M)
    os.makedirs(path("bin"))
    os.makedirs(path("docs/figures"))
    os.symlink(HEARSAY, path("bin/hearsay"))
    for command, block in shown:
        if SHORT and long and long in command:
            continue
        done_ = subprocess.run(["bash", "-c", command], cwd=TMP, env={**os.environ, "PATH": path("bin") + ":" + os.environ["PATH"]}, capture_output=True)
        got = re.sub(r" +$", "", done_.stdout.decode(), flags=re.M)
        ok(done_.returncode == 0 and got == re.sub(r"^    ", "", block, flags=re.M), command + " prints what the page says", got)
        for figure in re.findall(r"docs/(figures/\S*)", command):
            ok(open(path("docs/" + figure), "rb").read() == open(os.path.join(ROOT, "docs", figure), "rb").read() and "](%s)" % figure in page,
               "and shows the figure it draws")
    return len(shown)


def noise(name, d, epsilon):
    """What tells a mechanism how much noise to add: an epsilon, and for a
    matrix of d states one that spends at most that."""
    if name == "sfp":  # small sketches
        return ["--epsilon", epsilon, "--mechanism", name, "--set", "hashes=16", "--set", "width=256"]
    if name == "pem":  # a small tally
        return ["--epsilon", epsilon, "--mechanism", name, "--set", "pool-bits=8"]
    if name == "stage":  # of strings of one letter the whole
        return ["--epsilon", epsilon, "--mechanism", name, "--set", "bits=8"]
    if name != "matrix":
        return ["--epsilon", epsilon, "--mechanism", name]
    e = 2.9999 if epsilon == "ln3" else math.exp(float(epsilon))
    own, total = int(1000 * e), int(1000 * e) + 1000 * (d - 1)
    square = [",".join("%d/%d" % (own if y == x else 1000, total) for x in range(d)) for y in range(d)]
    return ["--epsilon", epsilon, "--set", "matrix=" + write("matrix%d-%s" % (d, epsilon), lines(square))]


def mechanisms():
    """The catalogue: name to the kinds it can ask."""
    table = json.loads(must("mechanisms", "--format", "json"))["mechanisms"]
    return {m["mechanism"]: m["kinds"].split() for m in table}
