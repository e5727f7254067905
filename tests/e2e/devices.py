"""devices.py - devices for tests of `hearsay device`: documents of any sort, and
a world that fails where it is told to.

B names the directory of the plain build, whose libraries the helper links. The
clock stands at noon of DAY, unless a test says otherwise.
"""

import os
import struct
import tempfile

TOOLS = tempfile.mkdtemp(prefix="hearsay-tools-")  # nothing in /dev/shm may be run, in places

import quick_disk  # a device syncs a lot
from e2e import *

atexit.register(shutil.rmtree, TOOLS, True)
B = os.path.abspath(os.environ.get("B") or os.path.join(ROOT, "build"))
DAY = 20773  # 2026-11-16
SHIM = os.path.join(TOOLS, "shim.so")
FAULT = os.path.join(ROOT, "tests", "fault")

# id,source,kind,nano,slot_days,round_days,nano_permanent,changes,sends
TASKS = ["crash,crashes,yes-no,1000000000,1,0,0,1,1", "browser,web,values,500000000,7,1,2000000000,1,1",
         "minutes,usage,number,1000000000,0,1,3000000000,1,1", "page,web,strings,1000000000,1,0,0,1,2"]


def _cc(*args):
    r = subprocess.run(["gcc", "-O1", "-Wall", "-Wextra", "-Werror", *args], capture_output=True)
    if r.returncode != 0:
        raise SystemExit("Bail out! gcc: " + r.stderr.decode())


_cc("-shared", "-fPIC", os.path.join(FAULT, "failing_world.c"), "-o", SHIM)


def program(name):
    """A program of tests/fault with libhearsay-host in it; its path."""
    out = os.path.join(TOOLS, name)
    _cc("-I" + os.path.join(ROOT, "include"), os.path.join(FAULT, name + ".c"), os.path.join(B, "libhearsay-host.a"),
        os.path.join(B, "libhearsay.a"), "-lyaml", "-lsodium", "-lnettle", "-lm", "-o", out)
    return out


MAKE = program("make_document")


def shimmed(day=DAY, clock=None, **fault):
    """The environment of a process whose clock stands on a day; fault: HSY_*
    variables in lower case."""
    env = dict(os.environ, LD_PRELOAD=SHIM, HSY_CLOCK=str(clock if clock is not None else day * 86400 + 43200))
    env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    for key, value in fault.items():
        env["HSY_" + key.upper()] = str(value)
    return env


def document(name, tasks=TASKS, seed=1, version=1, issued=DAY, expires=DAY + 400, start=DAY, end=DAY + 364):
    """A signed document, and a file with its public key beside it."""
    r = subprocess.run([MAKE, path(name), *map(str, (seed, version, issued, expires, start, end)), *tasks], capture_output=True)
    if r.returncode != 0:
        raise SystemExit("Bail out! " + r.stderr.decode())
    write(name + ".pub", r.stdout)
    return path(name)


def device(*args, stdin=b"", **how):
    """`hearsay device` on a day; how: as for shimmed."""
    return run("device", *args, stdin=stdin, env=shimmed(**how))


def good(*args, **how):
    """The same where nothing may go wrong."""
    r = device(*args, **how)
    if r.code != 0:
        raise SystemExit("Bail out! hearsay device %s: %s" % (" ".join(map(str, args)), r))
    return r


def fresh(name, doc, *options, consent="send", day=DAY):
    """A new device."""
    where = path(name)
    shutil.rmtree(where, ignore_errors=True)
    good("init", where, "--document", doc, "--public-key", doc + ".pub", *options, day=day)
    if consent != "none":
        good("consent", where, consent, day=day)
    return where


def copy(where, name):
    """A copy of a device's directory, its modes kept."""
    to = path(name)
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(where, to)
    os.chmod(to, 0o700)
    return to


def budget(where, day=DAY):
    """Spent and caps by source, in nano-epsilon."""
    table = json.loads(good("budget", where, "--format", "json", day=day).out)["sources"]
    return {row["source"]: {k: round(v * 1e9) for k, v in row.items() if k != "source"} for row in table}


def spent(where, day=DAY):
    return {s: row["spent_lifetime"] for s, row in budget(where, day).items()}


def uploads(data):
    """The uploads of a packed file (docs/formats.md, 5): (kind, task, bytes)."""
    out = []
    while data:
        kind, length = struct.unpack_from("<I", data, 8)[0], struct.unpack_from("<I", data, 104)[0]
        out.append((kind, data[16:48].rstrip(b"\0").decode(), data[:128 + length]))
        data = data[128 + length:]
    return out


def pack(where, day, *options):
    out = path("packed")
    if os.path.exists(out):
        os.remove(out)
    good("pack", where, "-o", out, *options, day=day)
    with open(out, "rb") as f:
        return f.read()
