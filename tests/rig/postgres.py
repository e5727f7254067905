#!/usr/bin/python3 -B
"""postgres.py - real PostgreSQL servers for tests, each on an address of its own.

    p = Postgres("a")                 # a primary, started; role and database `hearsay`
    s = p.standby("b")                # its synchronous standby, in step
    url(p, s)                         # postgresql://hearsay@127.3.4.5:5432,127.6.7.8:5432/hearsay
    p.kill9()                         # all its processes at once
    s.promote()
    p.rebuild(s)                      # the old primary becomes the standby of the new one
    s.sql("select count(*) from t")   # as superuser, by psql

    tests/rig/postgres.py run [--shards N] [--standby] [--disk] [--maybe] -- COMMAND ...

runs COMMAND with HSY_PG set to a URL a shard, commas between them: a URL with a
standby names two hosts and so has a comma too; split at ",postgresql://".

Nothing outlives the process that uses this, however it ends: processes, shared
memory and directories are cleared away by a keeper that waits for its end.
Where no server can run, why_not() says why; `run` then skips, in TAP. Programs in
C run themselves so (with_postgres.h).
"""

import argparse
import atexit
import ctypes
import functools
import glob
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

DEADLINE = 120  # seconds for what takes a moment; only a hang comes near
PORT = 5432
ROOM = 1 << 30  # bytes that memory must have free to serve as the disk
_LIBC = ctypes.CDLL(None, use_errno=True)

# What docs ask of a server, and what makes one small and quick. fsync and
# synchronous_commit stay on: a disk in memory makes them cheap, not a setting.
SETTINGS = {
    "fsync": "on", "synchronous_commit": "on", "full_page_writes": "on",
    "idle_in_transaction_session_timeout": "10s",
    "tcp_user_timeout": "5000", "tcp_keepalives_idle": "2", "tcp_keepalives_interval": "1", "tcp_keepalives_count": "3",
    "wal_sender_timeout": "5s", "wal_receiver_timeout": "5s", "wal_retrieve_retry_interval": "100ms",
    "log_min_error_statement": "panic", "log_parameter_max_length_on_error": "0", "log_statement": "none", "log_error_verbosity": "terse",
    "shared_buffers": "16MB", "max_connections": "60", "max_wal_size": "256MB", "min_wal_size": "32MB", "checkpoint_timeout": "15min",
    "max_wal_senders": "8", "max_replication_slots": "8", "wal_log_hints": "on", "hot_standby": "on",
    "max_parallel_workers": "0", "jit": "off", "huge_pages": "off", "timezone": "UTC",
    "dynamic_shared_memory_type": "mmap",  # in the directory, and gone with it
}
_ACCESS = "local all all trust\nhost all all 127.0.0.0/8 trust\nlocal replication all trust\nhost replication all 127.0.0.0/8 trust\n"


class Trouble(Exception):
    """A server, or psql, did not do what it was told."""


@functools.cache
def binaries():
    """The directory of the newest server that is installed, or None. Debian has
    one for each version, other systems one that pg_config names."""
    found = [(int(name.split("/")[4]), os.path.dirname(name)) for name in glob.glob("/usr/lib/postgresql/[0-9]*/bin/initdb")]
    if not found and shutil.which("pg_config") is not None:
        told = subprocess.run(["pg_config", "--bindir"], stdout=subprocess.PIPE, text=True).stdout.strip()
        found = [(0, told)] if os.access(told + "/initdb", os.X_OK) else []
    return max(found)[1] if found else None


def runs_as():
    """Who runs the server: nobody needs to be told, but root, whom it refuses."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
            return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        except KeyError:
            pass
    return {"user": 65534, "group": 65534, "extra_groups": []}


def why_not():
    """Why no server can run here; None if one can."""
    if binaries() is None:
        return "no PostgreSQL server is installed (tools/packages test)"
    try:
        subprocess.run([binaries() + "/initdb", "--version"], stdout=subprocess.DEVNULL, check=True, cwd="/", **runs_as())
    except (OSError, subprocess.SubprocessError) as e:
        return "PostgreSQL cannot be run as an unprivileged user: %s" % e
    return None


def die_with_us(by):
    """In a child, before it becomes a program: so it ends when its parent does."""
    _LIBC.prctl(1, by)  # PR_SET_PDEATHSIG


def until(condition, what, alive=lambda: True):
    """Wait for a condition; Trouble if it never comes."""
    end, pause = time.monotonic() + DEADLINE, 0.002
    while True:
        got = condition()
        if got:
            return got
        if not alive() or time.monotonic() > end:
            raise Trouble(what() if callable(what) else what)
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)


# ---- What is left when a process has gone -------------------------------------------

def processes(directory):
    """Those that work in a directory or below: all of a server's do."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            at = os.readlink("/proc/%s/cwd" % pid)
        except OSError:  # gone, dead, or a stranger's
            continue
        if at == directory or at.startswith(directory + "/"):
            found.append(int(pid))
    return found


def _signal(pid, what):
    try:
        os.kill(pid, what)
    except ProcessLookupError:
        pass


def _kill(directory):
    until(lambda: not [_signal(pid, signal.SIGKILL) for pid in processes(directory)], "processes in %s do not die" % directory)


def _free_memory(data):
    """Remove the segment by which a killed server guards its directory."""
    try:
        with open(os.path.join(data, "postmaster.pid")) as f:
            key, number = map(int, f.read().split("\n")[6].split())
    except (OSError, IndexError, ValueError):
        return
    about = ctypes.create_string_buffer(256)
    if _LIBC.shmctl(number, 2, about) == 0 and ctypes.c_int.from_buffer(about).value == ctypes.c_int(key).value:  # IPC_STAT: still that one
        _LIBC.shmctl(number, 0, None)  # IPC_RMID


def _keep(base):
    """Make the directory of a process, and clear it away when that has ended: its
    end of the pipe closes then, whatever it died of."""
    for what in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(what, signal.SIG_IGN)
    directory = tempfile.mkdtemp(prefix="hearsay-pg-", dir=base)
    os.chmod(directory, 0o755)
    print(directory, flush=True)
    sys.stdin.buffer.read()
    _kill(directory)
    for data in glob.glob(directory + "/*/data"):
        _free_memory(data)
    shutil.rmtree(directory, True)


def room(disk=False):
    """Where directories can be made that the server's user can reach: in memory if
    there is enough of it and no disk is asked for."""
    quick = "/dev/shm"
    if not disk and os.access(quick, os.W_OK) and os.statvfs(quick).f_bavail * os.statvfs(quick).f_frsize >= ROOM:
        return quick
    for base in (os.environ.get("TMPDIR"), "/tmp", "/var/tmp"):
        if base and subprocess.run(["test", "-x", base], cwd="/", **runs_as()).returncode == 0:
            return base
    raise Trouble("no directory for temporary files that %s can use" % runs_as())


class _Place:
    """The directory of this process, with its keeper."""

    def __init__(self, disk):
        self.keeper = subprocess.Popen([sys.executable, "-B", os.path.abspath(__file__), "keep", room(disk)],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        self.directory = self.keeper.stdout.readline().decode().strip()
        if not self.directory:
            raise Trouble("no directory for PostgreSQL")
        atexit.register(self.clear)

    def clear(self):
        self.keeper.stdin.close()
        self.keeper.wait()


_places = {}


def _place(disk):
    if disk not in _places:
        _places[disk] = _Place(disk)
    return _places[disk]


# ---- A server -------------------------------------------------------------------------

class Postgres:
    def __init__(self, name="primary", disk=False, start=True, init=True, **settings):
        """A primary, started, with the role and the database `hearsay`. disk: on a
        real one, not in memory. settings: besides SETTINGS, None to leave one out."""
        self.name, self.process = name, None
        self.disk, self.bin, self.as_user = disk, binaries(), runs_as()
        place = _place(disk).directory
        self.dir = tempfile.mkdtemp(prefix=name + "-", dir=place)
        self.data, self.log = os.path.join(self.dir, "data"), os.path.join(self.dir, "log")
        os.chmod(self.dir, 0o755)
        if self.as_user:
            os.chown(self.dir, self.as_user["user"], self.as_user["group"])
        self.settings, self.access = {**SETTINGS, **settings}, _ACCESS
        self._new_host()
        if init:
            self._tool("initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "--encoding=UTF8", "--locale=C", "--wal-segsize=4", "--no-sync",
                       "--no-instructions")
            self.configure()
        if init and start:
            self.start()
            self.sql("create role hearsay login")
            self.database("hearsay")

    def _new_host(self):
        # Its address stays through restarts, so it cannot be a port that the kernel
        # lends: it is one of the machine's own addresses that nobody else has.
        self.host = "127.%d.%d.%d" % (*os.urandom(2), 1 + os.urandom(1)[0] % 254)

    address = property(lambda self: (self.host, PORT))

    def url(self, user="hearsay", database="hearsay"):
        return url(self, user=user, database=database)

    def _tool(self, name, *args):
        r = subprocess.run([os.path.join(self.bin, name), *args], cwd=self.dir, stdin=subprocess.DEVNULL, capture_output=True, env=_clean(), **self.as_user)
        if r.returncode != 0:
            raise Trouble("%s: %s" % (name, (r.stdout + r.stderr).decode("utf-8", "replace")))

    def write(self, name, text):
        """A file in its directory, its own."""
        new = os.path.join(self.data, name + ".new")
        with open(new, "w") as f:
            f.write(text)
        os.chmod(new, 0o600)
        if self.as_user:
            os.chown(new, self.as_user["user"], self.as_user["group"])
        os.rename(new, os.path.join(self.data, name))

    def configure(self, **settings):
        """Write its configuration; a running server takes up what can be changed
        without a restart, and has when this returns."""
        self.settings.update(settings)
        at = {**self.settings, "listen_addresses": self.host, "port": PORT, "unix_socket_directories": self.dir, "cluster_name": self.name}
        self.write("postgresql.conf", "".join("%s = '%s'\n" % (k, str(v).replace("'", "''")) for k, v in at.items() if v is not None))
        self.write("pg_hba.conf", self.access)
        if self.alive():
            before = self.sql("select pg_conf_load_time()")
            self.process.send_signal(signal.SIGHUP)
            until(lambda: self.sql("select pg_conf_load_time()") != before, "%s does not read its configuration" % self.name)
            # Whether commits wait is known to all once the checkpointer has read
            # it too, which it does before it makes the next checkpoint.
            self.sql("checkpoint")

    # ---- Its life ----

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def launch(self):
        """Start it, and do not wait."""
        with open(self.log, "ab") as log:
            self.mark = log.tell()
            self.process = subprocess.Popen([os.path.join(self.bin, "postgres"), "-D", self.data], cwd=self.data, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, env=_clean(), start_new_session=True, **self.as_user)

    def said(self):
        with open(self.log, "rb") as f:
            f.seek(self.mark)
            return f.read().decode("utf-8", "replace")

    def ready(self):
        """Whether it takes connections, by what it says in its directory."""
        try:
            with open(os.path.join(self.data, "postmaster.pid")) as f:
                lines = f.read().split("\n")
            return int(lines[0]) == self.process.pid and lines[7].strip() == "ready"
        except (OSError, IndexError, ValueError):
            return False

    def start(self):
        """Start it and wait until it takes connections."""
        while True:
            self.launch()
            try:
                until(self.ready, lambda: "%s does not start: %s" % (self.name, self.said()), self.alive)
                return self
            except Trouble:
                if "Address already in use" not in self.said():
                    raise
            self.kill9()
            self._new_host()
            self.configure()

    def stop(self, how=signal.SIGINT):
        """Stop it in good order (SIGINT), or as by a failure of power (SIGQUIT)."""
        if self.alive():
            self.thaw()
            self.process.send_signal(how)
        return self.process.wait(DEADLINE)

    def kill9(self):
        """All its processes, at once."""
        self.freeze()
        _kill(self.data)
        if self.process is not None:
            self.process.wait(DEADLINE)

    def freeze(self):
        """Stop all its processes where they are, the one that makes others first."""
        if self.alive():
            _signal(self.process.pid, signal.SIGSTOP)

        def frozen():
            running = [pid for pid in processes(self.data) if _state(pid) not in "TtZX"]
            for pid in running:
                _signal(pid, signal.SIGSTOP)
            return not running
        until(frozen, "%s does not freeze" % self.name)

    def thaw(self):
        for pid in processes(self.data):
            _signal(pid, signal.SIGCONT)

    # ---- Two of them ----

    def standby(self, name="standby", synchronous=True, via=None, **settings):
        """Another server that follows this one; when this returns it is in step.
        synchronous: commits wait for it. via: the address of a proxy between the two."""
        other = Postgres(name, disk=self.disk, start=False, init=False, **{**self.settings, "synchronous_standby_names": None, **settings})
        other.rebuild(self, synchronous, via)
        return other

    def rebuild(self, of, synchronous=True, via=None):
        """Become the standby of another server, whatever this one was before. If the
        other waits for this one already its commits wait until this has followed."""
        if self.process is not None:
            self.kill9()
            _free_memory(self.data)
            shutil.rmtree(self.data)
        slot = re.sub("[^a-z0-9]", "_", self.name.lower())
        # The server may not yet have noticed that whoever used the slot is gone.
        until(lambda: of.psql("-c", "select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = '%s'" % slot).returncode == 0,
              "%s does not let go of %s" % (of.name, self.name))
        self.upstream, (host, port) = of, via or of.address
        self._tool("pg_basebackup", "-D", self.data, "-R", "-X", "stream", "-c", "fast", "--no-sync", "-C", "-S", slot,
                   "-d", "host=%s port=%d user=postgres" % (host, port))
        self.settings["synchronous_standby_names"] = None
        self.configure()
        self.start()
        if synchronous:
            of.configure(synchronous_standby_names='"%s"' % self.name)
        self.in_step(synchronous)

    def in_step(self, synchronous=True):
        """Wait until its primary says that it follows without delay."""
        state = "sync" if synchronous else "async"
        until(lambda: self.upstream.sql("select 1 from pg_stat_replication where application_name = '%s' and state = 'streaming' and sync_state = '%s'"
                                        % (self.name, state)), lambda: "%s does not follow: %s" % (self.name, self.said()))

    def promote(self):
        """Make a standby the primary; it writes when this returns."""
        until(lambda: self.sql("select pg_promote(true, %d)" % DEADLINE) == "t", "%s is not promoted" % self.name)
        self.settings["synchronous_standby_names"] = None

    # ---- Questions ----

    def sql(self, text, database="postgres", user="postgres"):
        """What psql prints: rows in lines, | between the columns."""
        r = self.psql("-c", text, database=database, user=user)
        if r.returncode != 0:
            raise Trouble("%s: %s" % (self.name, r.stderr.decode("utf-8", "replace").strip()))
        return r.stdout.decode().strip()

    def psql(self, *words, database="postgres", user="postgres", host=None, port=PORT, **how):
        """psql with these words, as subprocess.run() returns it."""
        how = {"capture_output": True, "stdin": subprocess.DEVNULL, "timeout": DEADLINE, **how}
        return subprocess.run(self.psql_words(*words, database=database, user=user, host=host, port=port), env=_clean(), **how)

    def psql_words(self, *words, database="postgres", user="postgres", host=None, port=PORT):
        return [os.path.join(self.bin, "psql"), "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-h", host or self.dir, "-p", str(port), "-U", user,
                "-d", database, *words]

    def database(self, name):
        """Another database, owned by `hearsay`; its URL. Dearer than a schema,
        much cheaper than a server."""
        self.sql('create database "%s" owner hearsay' % name)
        return self.url(database=name)


def _clean():
    """The environment without what libpq would take from it."""
    return {**{k: v for k, v in os.environ.items() if not k.startswith("PG")}, "LC_ALL": "C"}


def _state(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "X"


def url(*servers, user="hearsay", database="hearsay"):
    """One URL that names all of these hosts."""
    return "postgresql://%s@%s/%s" % (user, ",".join("%s:%d" % s.address for s in servers), database)


# ---- The command ------------------------------------------------------------------------

def _run(args):
    reason = why_not()
    if reason and args.maybe:
        print("# " + reason, flush=True)
        os.environ["HSY_PG"] = ""
        os.execvp(args.command[0], args.command)
    if reason:
        print("1..0 # SKIP " + reason)
        return 0
    shards = [Postgres("shard%d" % i, disk=args.disk) for i in range(args.shards)]
    urls = [url(s, s.standby(s.name + "b")) if args.standby else s.url() for s in shards]
    child = subprocess.Popen(args.command, env={**os.environ, "HSY_PG": ",".join(urls)}, preexec_fn=lambda: die_with_us(signal.SIGKILL))
    for what in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(what, lambda number, frame: _signal(child.pid, number))
    code = child.wait()
    return code if code >= 0 else 128 - code


def main():
    parser = argparse.ArgumentParser(description="Run a command beside PostgreSQL servers of its own, named in HSY_PG.")
    parser.add_argument("act", choices=["run"])
    parser.add_argument("--shards", type=int, default=1)
    parser.add_argument("--standby", action="store_true", help="a synchronous one for each")
    parser.add_argument("--maybe", action="store_true", help="where no server can run, run the command with an empty HSY_PG")
    parser.add_argument("--disk", action="store_true", help="on a disk, not in memory")
    parser.add_argument("command", nargs="+")
    sys.exit(_run(parser.parse_args()))


if __name__ == "__main__":
    if sys.argv[1:2] == ["keep"]:
        _keep(sys.argv[2])
    else:
        main()
