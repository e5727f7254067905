"""cluster.py - packaging/cluster/hearsay-cluster for tests: etcd, two PostgreSQL
under Patroni, two collectors and HAProxy, in a network that nobody else sees.

    if cluster.why_not():
        skip_all(cluster.why_not())
    c = Cluster(document=signed, public_key=key)   # or collectors=False
    c.enter()                        # this test is in the cluster's network from now on
    leader, standby = c.wait_sync()  # Patroni would fail over now
    c.kill(leader, whole=True)       # as if its power had gone
    c.start(leader)
    c.sql("select ...", database="hearsay")
    c.public("node1"), c.admin("node1"), c.public("proxy")

Besides: cut, heal, stop (a collector), signal(machine, SIGSTOP, "patroni"),
processes, members, url, down. It is taken down when the test ends, however.
"""

import atexit
import importlib.machinery
import importlib.util
import os
import signal
import subprocess

import postgres

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPT = os.path.join(ROOT, "packaging", "cluster", "hearsay-cluster")


def _load():
    loader = importlib.machinery.SourceFileLoader("hearsay_cluster", SCRIPT)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("hearsay_cluster", loader))
    loader.exec_module(module)
    return module


script = _load()
Trouble, until, why_not = script.Trouble, script.until, script.why_not


class Cluster(script.Cluster):
    def __init__(self, collectors=True, document=None, public_key=None, disk=False, strict=False, **config):
        """config: fields of hearsay.yaml besides what a node needs anyway."""
        place = os.path.join(postgres.room(disk), "hearsay-cluster-" + os.urandom(6).hex())
        words = [SCRIPT, "up", place, "--apart", "--attached"]
        words += ["--hearsay", os.environ.get("HEARSAY") or os.path.join(ROOT, "build", "hearsay")] if collectors else ["--without-collectors"]
        words += ["--document", document, "--public-key", public_key] if document else []
        words += ["--strict"] if strict else []
        for item in config.items():
            words += ["--set", "%s=%s" % item]
        # Its keeper reads from this pipe, which closes when this process is no more.
        self.up = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   preexec_fn=lambda: postgres.die_with_us(signal.SIGTERM))
        said = self.up.stderr.read().decode("utf-8", "replace")
        if self.up.wait() != 0:
            raise Trouble(said)
        atexit.register(self.down)
        super().__init__(place)

    def public(self, machine):
        return self.address(machine), 8080

    def admin(self, node):
        return self.address(node), 8081

    def down(self):
        """End it; what it wrote is gone when this returns."""
        if not self.up.stdin.closed:
            self.up.stdin.close()
            until(lambda: not self.alive(), "the cluster does not end")
