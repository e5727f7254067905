#!/usr/bin/python3 -B
"""`hearsay-cluster check` names what loses data in the configuration of a Patroni:
above all Debian 12's with the v3 interface of etcd."""

from e2e import *

try:
    import yaml
except ImportError:
    skip_all("no python3-yaml")
SCRIPT = os.path.join(ROOT, "packaging", "cluster", "hearsay-cluster")
GOOD = {"bootstrap": {"dcs": {"synchronous_mode": True, "postgresql": {"use_slots": True, "parameters": {"synchronous_commit": "on"}}}}}


def check(config, version="3.0.2"):
    """Exit code and output, with a Patroni of this version; None: without any."""
    bin_ = path("bin-%s" % version)
    os.makedirs(bin_, exist_ok=True)
    if version:
        write("bin-%s/patroni" % version, "#!/bin/sh\necho patroni %s\n" % version)
        os.chmod(os.path.join(bin_, "patroni"), 0o755)
    r = subprocess.run([sys.executable, "-B", SCRIPT, "check", write("patroni.yml", config if isinstance(config, str) else json.dumps(config))],
                       capture_output=True, env={**os.environ, "PATH": bin_})
    return r.returncode, (r.stdout + r.stderr).decode()


v2, v3 = {**GOOD, "etcd": {"host": "x:2379"}}, {**GOOD, "etcd3": {"host": "x:2379"}}
ok(check(v2) == (0, ""), "Patroni 3.0.2 with the v2 interface is well", check(v2))
code, said = check(v3)
ok(code == 1 and "etcd3: Patroni 3.0.2" in said and "is lost" in said and "3.0.3" in said and "--enable-v2" in said, "with the v3 interface it loses data, and it is said what to do", said)
ok(check(v3, "3.0.3") == check(v3, "3.1.0") == check(v3, "4.0") == (0, ""), "a later one does not", check(v3, "3.0.3"))
code, said = check(v3, None)
ok(code == 1 and "unknown version" in said, "one that cannot be asked is not trusted", said)
for where, value in (("synchronous_mode", False), ("synchronous_mode", None)):
    config = json.loads(json.dumps(v2))
    config["bootstrap"]["dcs"][where] = value
    code, said = check(config)
    ok(code == 1 and "bootstrap.dcs.synchronous_mode" in said, "%s %s is named" % (where, value), said)
for where, value in (("synchronous_commit", "off"), ("synchronous_commit", "local"), ("fsync", "off"), ("fsync", False)):
    config = json.loads(json.dumps(v2))
    config["bootstrap"]["dcs"]["postgresql"]["parameters"][where] = value
    code, said = check(config)
    ok(code == 1 and "parameters." + where in said, "%s %s is named" % (where, value), said)
for text in ("[", "- a\n", ""):
    code, said = check(text)
    ok(code == 1 and "patroni.yml" in said and "Traceback" not in said, "what is no configuration is told: %r" % text, said)
done()
