#!/usr/bin/python3 -B
"""What the tests of many machines stand on does what it says: servers that are
killed, frozen and promoted, connections that are cut around a commit, and
nothing left when a test has died."""

import os
import signal
import socket
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "rig"))
from e2e import *
import cut_proxy
import postgres
from postgres import Postgres, until

if postgres.why_not():
    skip_all(postgres.why_not())


class Client:
    """As much of the protocol as a pipeline needs."""

    def __init__(self, address):
        self.sock = socket.create_connection(address, timeout=postgres.DEADLINE)
        self.buffer = bytearray()
        words = b"user\0hearsay\0database\0hearsay\0\0"
        self.sock.sendall(struct.pack(">II", 8 + len(words), 196608) + words)
        self.answer()

    def send(self, *parts):
        self.sock.sendall(b"".join(kind + struct.pack(">I", 4 + len(body)) + body for kind, body in parts))

    def answer(self):
        """The types of what comes, up to where the server is ready; None if the line is cut."""
        kinds = b""
        try:
            while True:
                for kind, _ in cut_proxy.messages(self.buffer):
                    kinds += kind
                    if kind == b"Z":
                        return kinds
                data = self.sock.recv(65536)
                if not data:
                    return None
                self.buffer += data
        except ConnectionError:
            return None


def prepare(name, text):
    return b"P", name + b"\0" + text + b"\0\0\0"


def execute(name):
    return (b"B", b"\0" + name + b"\0" + bytes(6)), (b"E", b"\0" + bytes(4))


SYNC = (b"S", b"")

p = Postgres("a")
p.sql("create table t(n int primary key)", "hearsay", "hearsay")
ok({name: p.sql("show " + name) for name in ("fsync", "synchronous_commit", "log_min_error_statement")}
   == {"fsync": "on", "synchronous_commit": "on", "log_min_error_statement": "panic"}, "a primary is started and syncs what it commits")


def rows(server=p):
    return server.sql("select coalesce(string_agg(n::text, ' ' order by n), '') from t", "hearsay")


# ---- Cut ----

def group(proxy, n):
    """A group as a collector sends it: two round trips, statements prepared before."""
    c = Client(proxy.address)
    c.send(prepare(b"b", b"begin"), prepare(b"c", b"COMMIT"), SYNC)
    if c.answer() != b"11Z":
        return None
    c.send(*execute(b"b"), prepare(b"", b"insert into t values (%d)" % n), *execute(b""), SYNC)
    if c.answer() != b"2C12CZ":
        return None
    c.send(*execute(b"c"), SYNC)
    return c.answer()


def cut(moment, n, how):
    proxy = cut_proxy.CutProxy(p.address, moments={moment: 1}, commits=1, bytes=200, messages=8)
    answer = how(proxy, n)
    cuts = dict(proxy.cuts)
    proxy.close()
    return answer is None and cuts == {moment: 1}


def by_psql(proxy, n):
    r = p.psql("-c", "begin", "-c", "insert into t values (%d)" % n, "-c", " Commit;", database="hearsay", user="hearsay",
               host=proxy.address[0], port=proxy.address[1])
    return None if r.returncode else r


ok(cut(cut_proxy.BEFORE, 1, by_psql) and cut(cut_proxy.BEFORE, 2, group) and rows() == "", "a cut before the commit leaves nothing", rows())
ok(cut(cut_proxy.AFTER, 3, by_psql) and cut(cut_proxy.AFTER, 4, group) and rows() == "3 4", "a cut after it leaves the rows, and no answer", rows())
ok(cut(cut_proxy.SENT, 5, group) and cut(cut_proxy.SENT, 6, by_psql), "one at the moment it is sent leaves no answer")
until(lambda: p.sql("select count(*) from pg_stat_activity where usename = 'hearsay'") == "0", "a connection that was cut is still there")
p.sql("delete from t where n > 4", "hearsay")
ok(cut(cut_proxy.BYTES, 7, group) and cut(cut_proxy.MESSAGES, 8, group) and rows() == "3 4", "nor one early on, which leaves nothing", rows())
still = cut_proxy.CutProxy(p.address, moments={})
ok(group(still, 9) == b"2CZ" and rows() == "3 4 9", "without a moment to cut all passes", rows())


def schedule(seed):
    proxy = cut_proxy.CutProxy(p.address, seed=seed, commits=3)
    seen, n = [], 1000 * seed
    while len(seen) < 40:
        c = Client(proxy.address)
        for passed in range(4):
            n += 1
            c.send((b"Q", b"begin\0"), (b"Q", b"insert into t values (%d)\0" % n), (b"Q", b"commit\0"))
            if c.answer() is None or c.answer() is None or c.answer() is None:
                break
        seen.append((passed, n, rows().endswith(str(n))))
    cuts = proxy.cuts
    proxy.close()
    p.sql("delete from t where n > 9", "hearsay")
    return [(a, c) for a, n, c in seen], cuts


one, cuts = schedule(1)
again, other = schedule(1)[0], schedule(2)[0]
ok(one == again != other and cuts[cut_proxy.BEFORE] + cuts[cut_proxy.AFTER] == 40 and cuts[cut_proxy.AFTER] == sum(kept for _, kept in one),
   "a seed says which commit of which connection is cut, and how", (one, cuts))
ok(max(passed for passed, _ in one) == 2, "as late as the third", one)
c = Client(still.address)
still.freeze()
c.send((b"Q", b"select 1\0"))
c.sock.settimeout(0.3)
try:
    silent = c.answer()
except TimeoutError:
    silent = "silent"
c.sock.settimeout(postgres.DEADLINE)
still.thaw()
ok(silent == "silent" and c.answer() == b"TDCZ", "a frozen proxy passes nothing on until it thaws", silent)
still.close()

# ---- Freeze, kill, promote ----

p.freeze()
asked = subprocess.Popen(p.psql_words("-c", "select 17"), stdout=subprocess.PIPE)
try:
    silent = asked.wait(0.3)
except subprocess.TimeoutExpired:
    silent = "silent"
stopped = {postgres._state(pid) for pid in postgres.processes(p.data)}
p.thaw()
ok(silent == "silent" and stopped == {"T"} and asked.communicate()[0] == b"17\n", "a frozen server does not answer until it thaws", (silent, stopped))
s = p.standby("b")
p.sql("insert into t values (10)", "hearsay")
s.freeze()
writer = subprocess.Popen(p.psql_words("-c", "insert into t values (11)", database="hearsay"))
until(lambda: p.sql("select 1 from pg_stat_activity where wait_event = 'SyncRep'"), "no commit waits")
ok(writer.poll() is None, "a commit waits for the synchronous standby")
s.thaw()
ok(writer.wait(postgres.DEADLINE) == 0, "and ends when that has it")
p.kill9()
ok(not postgres.processes(p.data) and p.psql("-c", "select 1").returncode != 0, "of a server that is killed nothing is left to answer")
s.promote()
s.sql("insert into t values (12)", "hearsay")
ok(rows(s) == "3 4 9 10 11 12", "a standby that is promoted has all rows, and writes", rows(s))
p.rebuild(s)
ok(rows(p) == "3 4 9 10 11 12" and p.sql("select pg_is_in_recovery()") == "t" and s.sql("show synchronous_standby_names") == '"a"',
   "the old primary comes back as its synchronous standby", rows(p))
s.kill9()
s.start()
p.in_step()
found = rows(s)
ok(found == "3 4 9 10 11 12" and s.stop() == 0, "one that was killed starts again, and stops", found)

# ---- Nothing is left ----


CHILD = """import sys
sys.path.insert(0, sys.argv[1])
from postgres import Postgres
p = Postgres()
p.kill9() if sys.argv[2] == "killed" else None
print(p.dir, flush=True)
sys.stdin.read()
raise Exception("on purpose")"""


def leftover(how, state=""):
    """Whether a process that has a server, and dies, leaves anything."""
    child = subprocess.Popen([sys.executable, "-B", "-c", CHILD, os.path.dirname(postgres.__file__), state], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    place = child.stdout.readline().decode().strip()
    with open(os.path.join(place, "data", "postmaster.pid")) as f:
        segment = f.read().split("\n")[6].split()[1]
    if how:
        child.send_signal(how)
    child.communicate()
    until(lambda: not os.path.exists(os.path.dirname(place)) and not postgres.processes(place), "%s is left" % place)
    return segment in re.findall(r"^\s*\d+\s+(\d+)\s", open("/proc/sysvipc/shm").read(), re.M)


ok(not leftover(signal.SIGTERM) and not leftover(signal.SIGKILL) and not leftover(None) and not leftover(signal.SIGTERM, "killed"),
   "a test that dies leaves no process, no directory, no memory")
asks = "'%s/psql' -Atc 'select current_user' \"$HSY_PG?target_session_attrs=read-write\"; exit 3" % p.bin
r = subprocess.run([postgres.__file__, "run", "--standby", "--", "sh", "-c", asks], capture_output=True)
ok(r.stdout == b"hearsay\n" and r.returncode == 3, "a command is run beside a pair, which it finds in HSY_PG, and its status is kept", r)
write("beside.c", """#include "rig/with_postgres.h"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    const bool any = with_postgres(argv, 2);
    printf("%d %s\\n", any, getenv("HSY_PG") != NULL ? getenv("HSY_PG") : "none");
    return argc;
}
""")
tools = tempfile.mkdtemp(prefix="hearsay-tools-", dir=os.environ.get("TMPDIR") or "/tmp")  # nothing in /dev/shm may be run, in places
atexit.register(shutil.rmtree, tools, True)
beside = os.path.join(tools, "beside")
subprocess.run(["gcc", "-I", os.path.join(ROOT, "tests"), path("beside.c"), os.path.join(ROOT, "tests", "rig", "with_postgres.c"), "-o", beside], check=True)
alone = {k: v for k, v in os.environ.items() if k != "HSY_PG"}
got = [subprocess.run([beside], cwd=ROOT, env=env, capture_output=True).stdout.decode() for env in (alone, {**alone, "HSY_PG": "x"}, {**alone, "HSY_PG": ""})]
ok(re.fullmatch(r"1 postgresql://hearsay@[0-9.]+:5432/hearsay,postgresql://hearsay@[0-9.]+:5432/hearsay\n", got[0]) and got[1:] == ["1 x\n", "0 none\n"],
   "a program in C runs itself beside two, beside those that are named, or says that there are none", got)
done()
