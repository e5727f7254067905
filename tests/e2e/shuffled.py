"""shuffled.py - shuffled tasks for tests of a collector, and batches of them,
without a shuffler: what one delivers is put into the data of a collector that
does not run, by its own engine (tests/fault/deliver_batch.c).

    c = Collector("one", shuffled("veiled", "values: [red, green]; ...", min_batch=1000))
    c.start(), c.stop()                    # it has its document
    deliver(c, "veiled", DAY - 1, 1500, nulls=20)
    c.start()                              # and now the batch
"""

from collector import *

B = os.path.abspath(os.environ.get("B") or os.path.join(ROOT, "build"))
TOOLS = tempfile.mkdtemp(prefix="hearsay-tools-")
atexit.register(shutil.rmtree, TOOLS, True)
HELPER = os.path.join(TOOLS, "deliver_batch")
KEYS = "\nrelay: https://relay.example/ohttp\ngateway_keys: [%s]\ncollector_key: %s\n"
subprocess.run(["make", "-s", "-C", ROOT, "B=" + B, os.path.join(B, "obj", "src", "server.a")], stdout=subprocess.DEVNULL)
_made = subprocess.run(["gcc", "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-DHSY_UNSTABLE", "-I" + os.path.join(ROOT, "include"), "-I" + os.path.join(ROOT, "src"),
                        os.path.join(ROOT, "tests", "fault", "deliver_batch.c"), os.path.join(B, "obj", "src", "server.a"), os.path.join(B, "libhearsay-host.a"), os.path.join(B, "libhearsay.a"),
                        *"-lyaml -lsodium -ljansson -lnettle -lz -lgnutls -lsqlite3 -lseccomp -lm -pthread".split(), "-o", HELPER], capture_output=True)
if _made.returncode != 0:
    raise SystemExit("Bail out! gcc: " + _made.stderr.decode())
_number = iter(range(1, 1 << 20))


def _help(*args):
    r = subprocess.run([HELPER, *map(str, args)], capture_output=True)
    if r.returncode != 0:
        raise SystemExit("Bail out! " + r.stderr.decode())


def shuffled(name, what, min_batch, shufflers=2, **more):
    """A task of tasks.yaml, with statements of its shufflers; delta is 1e-8."""
    files = [path("%s-%d.statement" % (name, i + 1)) for i in range(shufflers)]
    for i, f in enumerate(files):
        _help("statement", f, name, 1, i + 1, shufflers, min_batch, DAY + 1000)
    return task(name, what + "; model: shuffled; min_batch: %d; delta: 1e-8; shufflers: [%s]" % (min_batch, ", ".join(files)), **more)


def parties():
    """What stands after the tasks: keys of the collector, and a relay."""
    for name in ("gate", "collector-seal"):
        must("tasks", "keygen", "--seal", "-o", path(name))
    return KEYS % (path("gate.public"), path("collector-seal.public"))


def deliver(c, name, epoch, reports, nulls=0):
    """A batch, while the collector does not run."""
    _help("batch", c.data, name, DAY, epoch, reports, nulls, next(_number))
