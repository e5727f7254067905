#!/usr/bin/python3 -B
"""packaging/kubernetes: its objects are as the schemas of Kubernetes have them and fit
each other; and what they start runs, without Kubernetes: the job's command makes the
tables, the nodes' command serves with the files that are mounted, on a PostgreSQL
with a certificate, and the probes are answered."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "rig"))
from collector import *
import glob
import postgres

try:
    import yaml
except ImportError:
    skip_all("python3-yaml is not installed")
OBJECTS = [o for f in sorted(glob.glob(os.path.join(ROOT, "packaging", "kubernetes", "*.yaml"))) for o in yaml.safe_load_all(open(f))]


def the(kind, name):
    return next(o for o in OBJECTS if o["kind"] == kind and o["metadata"]["name"] == name)


deployment, job, config, secret = the("Deployment", "hearsay"), the("Job", "hearsay-init"), the("ConfigMap", "hearsay-config"), the("Secret", "hearsay-database")
pods = {"node": deployment["spec"]["template"], "init": job["spec"]["template"]}

# ---- By the schemas ------------------------------------------------------------------


def wrong(objects):
    """What the schemas say of each."""
    r = subprocess.run(["node", os.path.join(ROOT, "tests", "kubernetes", "check.mjs")], input=json.dumps(objects).encode(), capture_output=True)
    if r.returncode != 0:
        raise SystemExit("Bail out! check.mjs: " + r.stderr.decode())
    return json.loads(r.stdout)


def changed(o, place, value):
    """An object with another value at a place; None: without it."""
    new = json.loads(json.dumps(o))
    at, (*path_, last) = new, place.split("/")
    for word in path_:
        at = at[int(word) if isinstance(at, list) else word]
    at.pop(last, None)
    if value is not None:
        at[last] = value
    return new


fetched = subprocess.run([os.path.join(ROOT, "tests", "kubernetes", "fetch")], capture_output=True)
if fetched.returncode != 0 or shutil.which("node") is None:
    print("# not checked by the schemas: " + (fetched.stderr.decode().strip().replace("\n", " ") or "there is no node"))
else:
    for o, found in zip(OBJECTS, wrong(OBJECTS)):
        ok(found == [], "%s %s is as its schema says" % (o["kind"], o["metadata"]["name"]), found)
    container = "spec/template/spec/containers/0/"
    spoiled = [changed(deployment, container + "imag", "x"), changed(deployment, container + "name", None), changed(deployment, "spec/replicas", "2"),
               changed(deployment, container + "securityContext/runAsNonRoot", "yes"), changed(job, "spec/backofLimit", 3),
               changed(the("PodDisruptionBudget", "hearsay"), "spec/maxUnavailable", [1]), changed(deployment, "apiVersion", "apps/v2")]
    ok(all(found for found in wrong(spoiled)), "an unknown, a missing, a mistyped field would be found", wrong(spoiled))

# ---- By hand: what no schema knows -----------------------------------------------------

version = re.search(r"\d+\.\d+\.\d+", must("--version").decode())[0]
for name, pod in pods.items():
    (c,) = pod["spec"]["containers"]
    ok(c["image"].endswith("/hearsay:" + version), "%s: its image is of this version" % name, c["image"])
    ok(pod["spec"]["securityContext"]["runAsNonRoot"] is True and pod["spec"]["securityContext"]["seccompProfile"]["type"] == "RuntimeDefault"
       and c["securityContext"] == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
       and pod["spec"]["automountServiceAccountToken"] is False, "%s: it may do little" % name, pod["spec"])
    volumes = {v["name"]: v.get("configMap", {}).get("name") or v.get("secret", {}).get("secretName") for v in pod["spec"]["volumes"]}
    ok(set(volumes.values()) == {"hearsay-config", "hearsay-tasks", "hearsay-database"} and all(m["readOnly"] for m in c["volumeMounts"])
       and {m["name"] for m in c["volumeMounts"]} == set(volumes), "%s: it reads what there is and writes nowhere" % name, volumes)
labels = pods["node"]["metadata"]["labels"]
selectors = [deployment["spec"]["selector"]["matchLabels"], the("PodDisruptionBudget", "hearsay")["spec"]["selector"]["matchLabels"],
             *(the("Service", name)["spec"]["selector"] for name in ("hearsay", "hearsay-admin"))]
ok(all(s == labels for s in selectors) and labels != pods["init"]["metadata"]["labels"], "deployment, services and budget mean the nodes, and not the job", selectors)
(c,) = pods["node"]["spec"]["containers"]
ports = {p["name"]: p["containerPort"] for p in c["ports"]}
settings = yaml.safe_load(config["data"]["hearsay.yaml"])
ok(settings["listen"].endswith(":%d" % ports["public"]) and settings["admin"].endswith(":%d" % ports["admin"]) and "data" not in settings,
   "the configuration listens where the ports are, and has no data", settings)
routes = yaml.safe_load(open(os.path.join(ROOT, "docs", "openapi.yaml")))["paths"]
probes = {kind: c[kind]["httpGet"] for kind in ("startupProbe", "livenessProbe", "readinessProbe")}
ok(all(p["path"] in routes and p["port"] == "admin" for p in probes.values()), "probes ask what the admin listener has", probes)
grace, pause = pods["node"]["spec"]["terminationGracePeriodSeconds"], c["lifecycle"]["preStop"]["sleep"]["seconds"]
ok(grace > pause + int(settings["timeout"].rstrip("s")) + 5, "it is given the time that it takes to stop", grace)

# ---- And run ----------------------------------------------------------------------------

why = postgres.why_not()
if why:
    print("# not run: " + why)
    done()
    raise SystemExit(0)

PASSWORD = os.urandom(12).hex()
base = postgres.Postgres("base", start=False, ssl="on", ssl_cert_file="server.pem", ssl_key_file="server.key")
made = {end: path("server." + end) for end in ("pem", "key")}
subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30", "-subj", "/CN=hearsay-db-1",
                "-addext", "subjectAltName=DNS:hearsay-db-1,DNS:hearsay-db-2", "-keyout", made["key"], "-out", made["pem"]], check=True, stderr=subprocess.DEVNULL)
for end in made:
    base.write("server." + end, open(made[end]).read())
base.access = "local all all trust\nhostssl hearsay hearsay all scram-sha-256\n"
base.configure()
base.start()
r = base.psql("-f", os.path.join(ROOT, "packaging", "cluster", "roles.sql"))
if r.returncode != 0:
    raise SystemExit("Bail out! roles.sql: " + r.stderr.decode())
base.sql("alter role hearsay password '%s'" % PASSWORD)

node = Collector("node")  # its tasks
files = {"hearsay-config": config["data"], "hearsay-database": {**secret["stringData"], "pgpass": secret["stringData"]["pgpass"].replace("change-me", PASSWORD),
                                                                "ca.pem": open(made["pem"]).read()},
         "hearsay-tasks": {name: open(os.path.join(node.dir, name), "rb").read() for name in ("tasks.signed", "key.public")}}
mounts = sorted(((m["mountPath"], volumes[m["name"]]) for m in c["volumeMounts"]), reverse=True)


def there(text):
    """A text with the mounted directories where they are in this test."""
    return re.sub("(?<![\\w/])(%s)/" % "|".join(re.escape(at) for at, _ in mounts), lambda m: path("root" + m[1]) + "/", text)


for at, volume in mounts:
    os.makedirs(path("root" + at))
    for name, data in files[volume].items():
        if name == "hearsay.yaml":
            data = there(data).replace("/hearsay?", "/hearsay?hostaddr=%s,%s&" % (base.host, base.host)).replace("0.0.0.0:8080", "127.0.0.1:0").replace("0.0.0.0:8081", "127.0.0.1:0")
        with open(os.open(os.path.join(path("root" + at), name), os.O_CREAT | os.O_WRONLY, 0o440), "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())
said = must(*(there(word) for word in pods["init"]["spec"]["containers"][0]["args"]))
ok(b"1 shard made" in said, "the job makes the tables", said)
node.yaml = there(c["args"][-1])
ok(c["args"][:-1] == ["serve"], "a node serves the file that is mounted", c["args"])
node.start()
answers = {kind: ask(node.admin, "GET", p["path"])[0] for kind, p in probes.items()}
ok(set(answers.values()) == {200}, "and answers the probes", answers)
ok(node.upload([node.task["cells"].upload([5])])[0] == 204, "it takes an upload")
base.kill9()
ok(node.until(lambda: ask(node.admin, "GET", probes["readinessProbe"]["path"])[0] == 503), "without its database it is not ready")
ok(ask(node.admin, "GET", probes["livenessProbe"]["path"])[0] == 200, "but lives")
base.start()
ok(node.until(lambda: ask(node.admin, "GET", probes["readinessProbe"]["path"])[0] == 200), "and is ready when that is back")
ok(node.stop() == 0, "it ends when it is told to", node.said())
done()
