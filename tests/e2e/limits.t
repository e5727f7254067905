#!/usr/bin/python3 -B
"""Memory does not grow with reports; lost output is an error; a name in the
way is no half-written file."""

import resource
import signal
import threading

from e2e import *

HOW = ["--values", "a,b,c,d,e,f", "--epsilon", "1"]


def peak(args, feed):
    """Peak memory of the command in KiB; feed writes to its input."""
    child = subprocess.Popen([HEARSAY, *args], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)

    def pump():
        feed(child.stdin)
        child.stdin.close()

    thread = threading.Thread(target=pump)
    thread.start()
    _, status, usage = os.wait4(child.pid, 0)
    thread.join()
    child.returncode = status
    return usage.ru_maxrss, status


def repeat(block, times):
    def feed(pipe):
        for _ in range(times):
            pipe.write(block)
    return feed


block = lines("abcdef"[i % 6] for i in range(50000))
for mechanism in () if SHORT else ("grr", "oue", "olh"):
    how = [*HOW, "--mechanism", mechanism]
    small, s1 = peak(["randomize", *how], repeat(block, 2))
    large, s2 = peak(["randomize", *how], repeat(block, 100))
    ok(s1 == s2 == 0 and large <= small + 512, "randomize, %s: 5 million lines take no more memory than 100,000" % mechanism,
       "%d KiB, %d KiB" % (small, large))
    stream = must("randomize", *how, stdin=block)
    small, s1 = peak(["tally"], repeat(stream, 2))
    large, s2 = peak(["tally"], repeat(stream, 100))
    ok(s1 == s2 == 0 and large <= small + 512, "tally, %s: 5 million reports neither" % mechanism, "%d KiB, %d KiB" % (small, large))
text = must("randomize", *HOW, "--json", stdin=block[:20000])
small, s1 = peak(["tally"], repeat(text, 2))
large, s2 = peak(["tally"], repeat(text, 40))
ok(s1 == s2 == 0 and (SHORT or large <= small + 512), "tally of the JSON twin neither", "%d KiB, %d KiB" % (small, large))

stream = must("randomize", *HOW, stdin=block)
tally = must("tally", stdin=stream)
COMMANDS = {
    "randomize": (["randomize", *HOW], block * 4), "randomize --json": (["randomize", *HOW, "--json"], block),
    "tally": (["tally"], stream), "estimate": (["estimate", "-"], tally), "estimate csv": (["estimate", "-", "--format", "csv"], tally),
    "estimate json": (["estimate", "-", "--format", "json"], tally), "mechanisms": (["mechanisms"], b""), "help": (["help"], b""),
    "help tally": (["help", "tally"], b""), "--version": (["--version"], b""),
}
for name, (args, data) in COMMANDS.items():
    with open("/dev/full", "wb") as full:
        r = Result(subprocess.run([HEARSAY, *args], input=data, stdout=full, stderr=subprocess.PIPE))
    ok(r.code == 1 and "No space left" in r.err, "%s: a full disk is an error" % name, r)

    ours, theirs = os.pipe()
    os.close(ours)  # before it starts, or it may be done first
    child = subprocess.Popen([HEARSAY, *args], stdin=subprocess.PIPE, stdout=theirs, stderr=subprocess.PIPE)
    os.close(theirs)
    try:
        child.stdin.write(data)
        child.stdin.close()
    except BrokenPipeError:
        pass
    err = child.stderr.read().decode()
    child.stderr.close()
    code = child.wait()
    ok(code == 1 and "roken pipe" in err, "%s: a closed pipe is an error with a message, not a signal" % name, "%d %s" % (code, err))


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


for name in ("randomize", "tally"):
    out = path("out-" + name)
    args, data = (["randomize", *HOW], block * 4) if name == "randomize" else (
        ["tally"], must("randomize", "--domain", "1024", "--mechanism", "olh", "--epsilon", "1", stdin="5\n" * 1000))
    before = set(os.listdir(TMP))
    r = run(*args, "-o", out, stdin=data, preexec_fn=small_files)
    ok(r.code == 1 and "too large" in r.err and set(os.listdir(TMP)) == before, "%s -o: a file that cannot grow is not left behind" % name, r)
    write(os.path.basename(out), b"old")
    r = run(*args, "-o", out, stdin=data, preexec_fn=small_files)
    ok(r.code == 1 and open(out, "rb").read() == b"old", "%s -o: what was there before stays" % name, r)
    r = run(*args, "-o", out, stdin=data)
    ok(r.code == 0 and len(open(out, "rb").read()) > 4096 and set(os.listdir(TMP)) == before | {os.path.basename(out)},
       "%s -o: and is replaced when all went well" % name, r)
    r = run(*args, "-o", path("none/such"), stdin=data)
    ok(r.code == 1 and "No such file" in r.err, "%s -o: no such directory" % name, r)

# A signal in the middle: the file is written without a name where the file
# system allows that, so nothing is left, whatever ends the process.
try:
    os.close(os.open(TMP, os.O_TMPFILE | os.O_WRONLY, 0o600))
    nameless = True
except OSError:
    nameless = False
for name in ("SIGINT", "SIGTERM", "SIGKILL") if nameless else ():
    before = set(os.listdir(TMP))
    child = subprocess.Popen([HEARSAY, "randomize", *HOW, "-o", path("cut")], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    for _ in range(8):  # more than a pipe holds: it has begun to write
        child.stdin.write(block)
    child.stdin.flush()
    child.send_signal(getattr(signal, name))
    code = child.wait()
    try:
        child.stdin.close()
    except BrokenPipeError:
        pass
    ok(code == -getattr(signal, name) and set(os.listdir(TMP)) == before, "%s leaves no file behind" % name, os.listdir(TMP))

ends = terminal("randomize and tally do not write to a terminal, estimate does")
if ends is not None:
    for args in (["randomize", *HOW], ["tally"]):
        r = run(*args, stdin=block, stdout=ends[1])
        ok(r.code == 2 and "to a terminal" in r.err and "-o" in r.err, "%s does not write to a terminal" % args[0], r)
    r = run("estimate", "-", stdin=tally, stdout=ends[1])
    ok(r.code == 0, "estimate writes to a terminal", r)

done()
