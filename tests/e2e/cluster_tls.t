#!/usr/bin/python3 -B
"""A node and its databases over TLS, as the role that packaging/cluster/roles.sql
makes and through the pg_hba.conf beside it: passwords from a file, certificates of
its own, both again after the server was restarted, when the node has long closed
itself off; and what does not fit is refused with the reason, no password in it."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "rig"))
from collector import *
import postgres

why = postgres.why_not()
if why:
    skip_all(why)
PACKAGING = os.path.join(ROOT, "packaging", "cluster")
PASSWORD = "p:w\\" + os.urandom(12).hex()  # what a file of passwords has to escape


# ---- Certificates -------------------------------------------------------------------

def openssl(*words):
    r = subprocess.run(["openssl", *words], capture_output=True)
    if r.returncode != 0:
        raise SystemExit("Bail out! openssl: " + r.stderr.decode())


class Authority:
    def __init__(self, name):
        self.name, self.n = name, 0
        os.makedirs(path("tls"), exist_ok=True)
        self.cert, self.key = (path("tls/%s.%s" % (name, end)) for end in ("pem", "key"))
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30", "-subj", "/CN=" + name, "-keyout", self.key,
                "-out", self.cert)

    def sign(self, common, alternative=None):
        """A certificate and its key, as texts."""
        self.n += 1
        at = path("tls/%s-%d" % (self.name, self.n))
        with open(at + ".ext", "w") as f:
            f.write("subjectAltName=DNS:%s\n" % (alternative or common))
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=" + common, "-keyout", at + ".key", "-out", at + ".req")
        openssl("x509", "-req", "-in", at + ".req", "-CA", self.cert, "-CAkey", self.key, "-CAcreateserial", "-days", "30", "-extfile", at + ".ext", "-out", at + ".pem")
        return open(at + ".pem").read(), open(at + ".key").read()


def put(directory, name, text, mode=0o600):
    """A file in a directory of its own; its name."""
    os.makedirs(path(directory), exist_ok=True)
    at = os.path.join(path(directory), name)
    with open(at + ".new", "w") as f:
        f.write(text)
    os.chmod(at + ".new", mode)
    os.rename(at + ".new", at)
    return at


# ---- Servers ------------------------------------------------------------------------

def access(kind):
    """packaging/cluster/pg_hba.conf, for this machine; kind: how nodes show who they are."""
    text = open(os.path.join(PACKAGING, "pg_hba.conf")).read().replace("10.77.0.0/24", "127.0.0.0/8")
    if kind == "cert":
        text = re.sub(r"(?m)^hostssl +hearsay.*\n", "", text).replace("#hostssl", "hostssl")
    return "local all all trust\n" + text


def identify(server, common, by):
    cert, key = by.sign(common)
    server.write("server.pem", cert)
    server.write("server.key", key)


def serve(name, kind, by, clients):
    """A server with TLS and the role and database of roles.sql."""
    p = postgres.Postgres(name, start=False, ssl="on", ssl_cert_file="server.pem", ssl_key_file="server.key", ssl_ca_file="clients.pem")
    identify(p, name + ".test", by)
    p.write("clients.pem", open(clients.cert).read())
    p.access = access(kind)
    p.configure()
    p.start()
    for _ in range(2):
        r = p.psql("-f", os.path.join(PACKAGING, "roles.sql"))
        if r.returncode != 0:
            raise SystemExit("Bail out! roles.sql: " + r.stderr.decode())
    p.sql("set log_statement = 'none'; set log_min_error_statement = panic; alter role hearsay password '%s'" % PASSWORD)
    return p


def url(server, host=None, **more):
    """By name, as its certificate has it, and its address: nobody is asked for it."""
    at = {"hostaddr": server.host, "sslmode": "verify-full", "sslrootcert": root, **more}
    return "postgresql://hearsay@%s:%d/hearsay?%s" % (host or server.name + ".test", postgres.PORT, "&".join("%s=%s" % i for i in at.items() if i[1]))


def sessions(server):
    """How the node's sessions are: encrypted or not, and whose certificate."""
    return set(server.sql("select ssl, coalesce(client_dn, '') from pg_stat_ssl join pg_stat_activity using (pid) where usename = 'hearsay'").split("\n"))


us, strangers, nodes = Authority("us"), Authority("strangers"), Authority("nodes")
root = put("trust", "root.pem", open(us.cert).read())
line = PASSWORD.replace("\\", "\\\\").replace(":", "\\:")
passfile = put("secret", "pgpass", "# a remark\nother.test:*:*:*:wrong\na.test:5432:hearsay:hearsay:%s\n" % line, 0o640)
a = serve("a", "scram", us, nodes)

# ---- The role -------------------------------------------------------------------------

ok(a.sql("select rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls, rolconnlimit from pg_roles where rolname = 'hearsay'") == "f|f|f|f|f|60",
   "roles.sql, run twice, makes a role that may do little")
ok(a.sql("select count(*) from pg_database where pg_get_userbyid(datdba) = 'hearsay'") == "0", "and owns no database")
a.sql("create role other login")
for user, statement, what in (("other", "select 1", "connect"), ("hearsay", "create table public.t(n int)", "use the schema of all"),
                              ("hearsay", "create role mine", "make roles"), ("hearsay", "create database mine", "make databases"),
                              ("hearsay", "set log_statement = 'all'", "have statements logged"), ("hearsay", "select * from pg_authid", "read passwords")):
    r = a.psql("-c", statement, database="hearsay", user=user)
    ok(r.returncode != 0 and b"denied" in r.stderr, "%s may not %s" % (user if user == "hearsay" else "another role", what), r.stderr)

# ---- A password over TLS ----------------------------------------------------------------

c = Collector("node", data=None, storage=[url(a, passfile=passfile)], sandbox="on", node="n")
said = must("store", "init-cluster", c.yaml)
ok(b"1 shard made" in said, "the tables are made over TLS, with the password of a file", said)
token = must("serve", "token", "add", "ann", "--role", "operator", "--storage", url(a, passfile=passfile)).decode().strip()
ok(len(token) == 43, "a token too")
r = run("serve", "check", c.yaml)
ok(r.code == 0, "serve check finds nothing wrong", r)
c.start()
closed = "landlock=0" not in c.said() and "seccomp=none" not in c.said()
note = "" if closed else " # this kernel has no Landlock or seccomp"
serial = iter(range(10 ** 6))


def counts(what, *servers):
    """An upload is acknowledged, whoever was restarted: it is sent until it is."""
    answers = []

    def once():
        answers.append(c.upload([upload]))
        return answers[-1][0] == 204
    for _ in range(8):  # at every shard, as good as surely
        upload = c.task["cells"].upload([next(serial)])
        if not c.until(once):
            break
    ok(answers[-1][0] == 204 and all(sessions(s) for s in servers), what + note, (answers[-1], c.said()))


counts("a node takes uploads", a)
ok(sessions(a) == {"t|"}, "all its sessions are encrypted", sessions(a))
n = int(a.sql("select count(*) from pg_stat_activity where usename = 'hearsay'"))
ok(n <= 8, "at most eight a node, as roles.sql says", n)
a.stop()
a.start()
counts("it connects again when the server was restarted, closed off as it is", a)
ok(sessions(a) == {"t|"}, "encrypted again", sessions(a))
identify(a, "a.test", strangers)
a.stop()
a.start()
upload = c.task["cells"].upload([next(serial)])
ok(c.until(lambda: "certificate verify failed" in str(c.get("/v1/status", token)[1]) or "certificate verify failed" in c.said()), "a server with a stranger's certificate is refused, and the reason said", c.said())
status, body = c.upload([upload])
ok(status == 503, "uploads wait meanwhile", (status, body))
put("trust", "root.pem", open(us.cert).read() + open(strangers.cert).read())
counts("until the file of who signs is replaced", a)
ok(c.stop() == 0, "it ends", c.said())
everything = [c.said()]
put("trust", "root.pem", open(us.cert).read())

# ---- What is refused ----------------------------------------------------------------------

secret = put("wrong", "pgpass", "*:*:*:*:" + line + "x\n")
opened = put("open", "pgpass", "*:*:*:*:" + line + "\n", 0o644)
identify(a, "a.test", us)
a.stop()
a.start()
by_hand = "postgresql://hearsay:%s@a.test:5432/hearsay?hostaddr=%s&sslmode=verify-full&sslrootcert=%s"
quoted = "".join("%%%02x" % b for b in PASSWORD.encode())
refused = [
    ("a name that is not the server's", url(a, host="b.test", passfile=opened.replace("open", "secret")), 'does not match host name "b.test"'),
    ("a certificate of strangers", url(a, sslrootcert=strangers.cert, passfile=passfile), "certificate verify failed"),
    ("no word of who signs", url(a, sslrootcert="", passfile=passfile), "need sslrootcert=FILE"),
    ("a file of who signs that is not there", url(a, sslrootcert=path("nowhere.pem"), passfile=passfile), "nowhere.pem"),
    ("who the system trusts", url(a, sslrootcert="system", passfile=passfile), "name a file"),
    ("a wrong password", url(a, passfile=secret), "password authentication failed"),
    ("a wrong password in the URL", by_hand % (quoted + "x", a.host, root), "password authentication failed"),
    ("no password", url(a), "no password supplied"),
    ("a file of passwords that is not there", url(a, passfile=path("nowhere")), "No such file"),
    ("one that all can read", url(a, passfile=opened), "everybody can read it"),
    ("a connection in the clear", url(a, sslmode="disable", passfile=passfile), "rejects connection"),
]
put("secret", "pgpass", "b.test:*:*:*:%s\n" % line + open(passfile).read(), 0o640)
for what, storage, reason in refused:
    c.configure(data=None, storage=[storage], sandbox="on")
    for words in (("serve", c.yaml), ("serve", "check", c.yaml), ("store", "init-cluster", c.yaml), ("serve", "token", "list", "--storage", storage)):
        r = run(*words)
        everything += [r.out.decode(), r.err]
        ok(r.code != 0 and reason in everything[-1] + everything[-2], "%s: %s" % (" ".join(words[:2]) if words[1] != c.yaml else words[0], what), r)
c.configure(data=None, storage=[by_hand % (quoted, a.host, root)], sandbox="on")
c.start()
counts("a password in the URL serves", a)
ok(c.stop() == 0, "and it ends", c.said())
everything.append(c.said())
a.configure(ssl="off")
a.stop()
a.start()
r = run("serve", c.yaml)
ok(r.code != 0 and "server does not support SSL" in r.err, "a server without TLS is refused", r)
everything += [r.out.decode(), r.err]
everything.append(open(a.log, errors="replace").read())
ok(not any(p in text for text in everything for p in (PASSWORD, line, quoted)), "the password stands in no output and no log, the node's or the server's")
a.stop()

# ---- Certificates of the node's own, and two shards with files of their own ------------------

x, y = serve("x", "cert", us, nodes), serve("y", "cert", strangers, nodes)
cert, key = nodes.sign("hearsay")


def own(server, directory, by):
    return url(server, sslrootcert=put(directory + "-root", "root.pem", open(by.cert).read()), sslcert=put(directory + "-cert", "node.pem", cert),
               sslkey=put(directory + "-key", "node.key", key))


c.configure(data=None, storage=[own(x, "x", us), own(y, "y", strangers)], sandbox="on")
must("store", "init-cluster", c.yaml)
c.start()
counts("a node with a certificate takes uploads, at two shards", x, y)
ok(sessions(x) == sessions(y) == {"t|/CN=hearsay"}, "its certificate says who it is", (sessions(x), sessions(y)))
for server in (x, y):
    server.stop()
    server.start()
counts("and again when both were restarted, with the files of each", x, y)
ok(sessions(x) == sessions(y) == {"t|/CN=hearsay"}, "by its certificate", (sessions(x), sessions(y)))
ok(c.stop() == 0, "it ends", c.said())
wrong, wrong_key = nodes.sign("postgres")
for what, files, reason in (("without one it is refused", {}, "certificate"),
                            ("or with somebody else's", {"sslcert": put("w", "node.pem", wrong), "sslkey": put("w", "node.key", wrong_key)}, "certificate authentication failed"),
                            ("or with a key that others can read", {"sslcert": path("x-cert/node.pem"), "sslkey": put("w", "open.key", key, 0o644)}, "has group or world access")):
    c.configure(data=None, storage=[url(x, **files)], sandbox="on")
    r = run("serve", c.yaml)
    ok(r.code != 0 and reason in r.err, what, r)
done()
