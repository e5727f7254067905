"""machine.py - a collector on a machine that fails as a test wants it to, at any
moment: failing_machine.c, and the words for it."""

import errno
import mmap
import os
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
_TOOLS = tempfile.mkdtemp(prefix="hearsay-tools-")  # nothing in /dev/shm may be run, in places
from collector import *

atexit.register(shutil.rmtree, _TOOLS, True)
KILL, TORN, HANG = -1, -2, -3
WRITES, SYNCS, NAMES, SENDS, READS, TAKES = 1, 2, 4, 8, 16, 32
CHANGES = WRITES | SYNCS | NAMES | SENDS  # a kill before another call is one after the last of these
NEVER = 2 ** 64 - 1
NOON = DAY * 86400 + 43200 - int(time.time())  # Machine.clock(NOON): no day ends while the test runs
_LAYOUT = "QQiiIIqq"
_SHIM = os.path.join(_TOOLS, "machine.so")


def _build():
    r = subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror",
                        os.path.join(os.path.dirname(os.path.abspath(__file__)), "failing_machine.c"), "-o", _SHIM], capture_output=True)
    if r.returncode != 0:
        raise SystemExit("Bail out! gcc: " + r.stderr.decode())


_build()


class Machine:
    """The world of one collector; each field can be set while it runs."""

    def __init__(self, name="machine"):
        self.file = write(name, struct.pack(_LAYOUT, 0, NEVER, 0, 0, 0, 0, 0, 0))
        with open(self.file, "r+b") as f:
            self.map = mmap.mmap(f.fileno(), struct.calcsize(_LAYOUT))
        self.env = {"LD_PRELOAD": _SHIM, "HSY_MACHINE": self.file,
                    "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}

    def _get(self, at, kind):
        return struct.unpack_from(kind, self.map, at)[0]

    calls = property(lambda self: self._get(0, "Q"))
    struck = property(lambda self: self._get(28, "I"))

    def clock(self, seconds):
        struct.pack_into("q", self.map, 32, seconds)

    def steady(self, seconds):
        """So many seconds have gone by, though the wall clock does not say so."""
        struct.pack_into("q", self.map, 40, seconds)

    def passes(self, seconds):
        """Time goes by: for the wall clock, and the steady one that it is held against."""
        struct.pack_into("q", self.map, 40, self._get(40, "q") + seconds)
        self.clock(self._get(32, "q") + seconds)

    def count(self, which):
        """Count calls of these kinds from now on; nothing befalls them."""
        struct.pack_into("I", self.map, 24, 0)
        struct.pack_into("QQiiII", self.map, 0, 0, NEVER, 0, 0, which, 0)

    def strike(self, what, at=0, which=CHANGES, on=False):
        """From now on call number `at` of these kinds meets its fate."""
        struct.pack_into("I", self.map, 24, 0)
        struct.pack_into("QQiiII", self.map, 0, 0, at, what, on, which, 0)

    def well(self):
        """Nothing befalls any call."""
        self.strike(0, NEVER, 0)
