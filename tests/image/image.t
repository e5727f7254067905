#!/usr/bin/python3 -B
"""The image of `make image`: it runs as its own user, as it is configured, takes
an upload, and keeps it through a restart. IMAGE names its file."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from collector import *
from collector import _die_with_us

IMAGE, USER = os.environ["IMAGE"], 10001
if os.geteuid() != 0:
    skip_all("containers are run as root")
if shutil.which("buildah") is None:
    skip_all("there is no buildah (tools/packages image)")
STORE = tempfile.mkdtemp(prefix="hearsay-image-", dir="/var/tmp")
os.environ["TMPDIR"] = STORE  # what buildah makes is in there too
BUILDAH = ["buildah", "--storage-driver", "vfs", "--root", STORE + "/store", "--runroot", STORE + "/run"]


def buildah(*words):
    r = subprocess.run([*BUILDAH, *words], capture_output=True)
    if r.returncode != 0:
        raise SystemExit("Bail out! buildah %s: %s" % (" ".join(words), r.stderr.decode()))
    return r.stdout.decode().strip()


def clear():
    subprocess.run([*BUILDAH, "rm", "--all"], capture_output=True)
    shutil.rmtree(STORE, True)


atexit.register(clear)
box = buildah("from", "oci-archive:" + IMAGE)
about = json.loads(buildah("inspect", box))["OCIv1"]["config"]
ok(about["User"] == "%d:%d" % (USER, USER) and set(about["ExposedPorts"]) == {"8080", "8081"}, "it names a user of its own, and its ports", about)


class Boxed(Collector):
    """A collector in the image: its configuration is mounted, and its data."""

    def __init__(self):
        super().__init__("boxed")
        self.configure(data="/var/lib/hearsay", document="/etc/hearsay/tasks.signed", public_key="/etc/hearsay/key.public")
        os.makedirs(self.data)
        os.chown(self.data, USER, USER)
        for directory in (TMP, self.dir):
            os.chmod(directory, 0o755)
        for name in os.listdir(self.dir):
            os.chmod(os.path.join(self.dir, name), 0o755)

    def launch(self):
        self.err = open(self.log, "ab")
        self.mark = self.err.tell()
        words = [*BUILDAH, "run", "--isolation", "chroot", "-v", self.dir + ":/etc/hearsay:ro", "-v", self.data + ":/var/lib/hearsay", box, "--",
                 *about["Entrypoint"], *about["Cmd"]]
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=self.err, stderr=self.err, preexec_fn=_die_with_us)

    def inside(self):
        """What runs in the image: (number, user, first word)."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/cmdline" % pid, "rb") as f:
                    first = f.read().split(b"\0")[0]
                if os.readlink("/proc/%s/root" % pid).startswith(STORE):
                    found.append((int(pid), os.stat("/proc/%s" % pid).st_uid, first))
            except OSError:
                pass
        return found

    def mine(self):
        return next(p for p in self.inside() if p[2] == b"/usr/bin/hearsay")

    def stop(self):
        os.kill(self.mine()[0], signal.SIGTERM)
        return self.wait()

    def kill(self):
        for pid, _, _ in self.inside():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        super().kill()


c = Boxed()
c.start()
ok(c.mine()[1] == USER, "the collector runs as that user", c.inside())
one = c.task["cells"].upload([7])
ok(c.upload([one])[0] == 204 and c.upload([one])[0] == 204 and c.cells("cells") == {7: 1}, "takes an upload, and counts it once", c.said())
ok(c.stop() == 0, "ends when it is told to", c.said())
c.start()
ok(c.upload([one])[0] == 204 and c.upload([c.task["cells"].upload([8])])[0] == 204 and c.cells("cells") == {7: 1, 8: 1}, "and knows it after a restart")
c.stop()
r = subprocess.run([*BUILDAH, "run", "--isolation", "chroot", box, "--", "/bin/sh", "-c", "true"], capture_output=True)
ok(r.returncode != 0, "there is no shell in it", r)
r = subprocess.run([*BUILDAH, "run", "--isolation", "chroot", box, "--", "/usr/bin/hearsay", "serve", "check", "/etc/hearsay/hearsay.yaml"], capture_output=True)
ok(r.returncode != 0 and b"/etc/hearsay/collector.public: No such file" in r.stderr, "its own configuration lacks nothing but tasks and a key", r)
done()
