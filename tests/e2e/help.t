#!/usr/bin/python3 -B
"""Help fits a screen; help, man pages and completion tell the same story."""

import re

from e2e import *

out = must("help").decode()
commands = re.findall(r"^  ([a-z]+)  +\S", out.split("Example")[0], re.M)
ok({"randomize", "tally", "estimate", "discover", "release", "plan", "tasks", "device", "serve", "relay", "shuffle", "store", "mechanisms", "audit", "simulate", "survey", "account", "help"} <= set(commands), "help lists the commands", out)
ok(must("--help").decode() == out == must("-h").decode(), "--help and -h are help")
ok(re.fullmatch(r"hearsay \d+\.\d+\.\d+\n", must("--version").decode()) is not None, "--version")
ok(len(out.splitlines()) <= 24 and max(map(len, out.splitlines())) <= 80, "the overview fits a screen of 80 times 24")
overview = open(os.path.join(ROOT, "docs", "man", "hearsay.1")).read()
listed, seen = overview.split(".Sh SEE ALSO")
ok(set(commands) == set(re.findall(r"^\.It Cm (\w+)$", listed, re.M)), "hearsay(1) lists them", listed)
ok(set(commands) - {"help"} == set(re.findall(r"^\.Xr hearsay-(\w+) 1", seen, re.M)), "and refers to the page of each", seen)

TABLES = {}  # the words before a table of options: its verbs and options


def table(path):
    """What the command says about its own table, for tools/options."""
    lines = [l.split("\t") for l in must(*path.split(), "--help=rows").decode().splitlines()]
    TABLES[path] = ([l[1] for l in lines if l[0] != "option" and l[1]], {l[1]: l for l in lines if l[0] == "option"})
    for l in lines:
        if l[0] == "command":
            table(path + " " + l[1])


for command in commands:
    if command != "help":
        table(command)
for path, (verbs, options) in TABLES.items():
    for words in [path] + [path + " " + v for v in verbs if path + " " + v not in TABLES]:
        text = must("help", *words.split()).decode()
        ok(text == must(*words.split(), "--help").decode() == must(*words.split(), "-h").decode(), "hearsay help %s is hearsay %s --help" % (words, words))
        ok(len(text.splitlines()) <= (48 if path == "simulate discover" else 40) and max(map(len, text.splitlines())) <= 80, "help %s fits a screen" % words, text)
        shown = set(re.findall(r"^  --([a-z-]+)", text, re.M))
        verb = words[len(path) + 1:]
        want = {o for o, row in options.items() if not verb or not row[3] or verb in row[3].split()}
        ok(shown == want or (not verb and not shown), "and has every option that goes with it", shown ^ want)
    page = open(os.path.join(ROOT, "docs", "man", "hearsay-%s.1" % path.split()[0])).read()
    missing = [o for o in options if "Fl -" + o not in page]
    ok(not missing, "the man page has every option of %s" % path, missing)
    r = run(*path.split(), "--nonesuch")
    ok(r.code == 2 and "usage: hearsay " + path in r.err, "%s refuses an unknown option with its usage" % path, r)
plots = [row[-1] for _, options in TABLES.values() for row in options.values() if row[2] == "FILE.svg"]
ok(len(plots) >= 9 and all(".svg or .png" in text for text in plots), "the help of every option that writes a figure says that it takes .svg or .png", plots)
r = subprocess.run([os.path.join(ROOT, "tools", "options"), "--check", HEARSAY], capture_output=True, text=True)
ok(r.returncode == 0, "man pages and completion are what tools/options makes of the tables", r.stderr)

for args, words in ((["randomise"], "did you mean 'randomize'"), (["estimat"], "did you mean 'estimate'"), (["zzzzz"], "hearsay help"),
                    (["--version", "x"], "unexpected argument"), (["help", "help", "x"], "unexpected argument"), (["help", "device", "anser"], "did you mean 'device answer'"), (["help", "a", "b", "c", "d", "e"], "unexpected argument"),
                    ([], "hearsay help"), (["help", "zzzzz"], "hearsay help"), (["randomize", "--epsilom", "1"], "did you mean --epsilon"), (["plan", "--users", "5"], "did you mean --n"), (["mechanisms", "--n", "5"], "did you mean --users"),
                    (["randomize", "--epsilon"], "needs a value"), (["randomize", "--yes-no=1"], "takes no value"),
                    (["estimate", "-x"], "unknown option -x"), (["mechanisms", "--epsilon", "1"], "--epsilon needs --domain"),
                    (["mechanisms", "extra"], "unexpected argument 'extra'")):
    r = run(*args)
    ok(r.code == 2 and words in r.err, "hearsay %s: %s" % (" ".join(args), words), r)

one = must("randomize", "--yes-no", "--epsilon=1", "--simulate", "--seed=4", "--", "/dev/stdin", stdin="yes\n")
ok(one == must("randomize", "--simulate", "--seed", "4", "-", "--epsilon", "1", "--yes-no", stdin="yes\n"),
   "--name=value, -- and options after operands")

if shutil.which("mandoc"):
    pages = sorted(os.path.join(ROOT, "docs", "man", p) for p in os.listdir(os.path.join(ROOT, "docs", "man")) if p.endswith(".1"))
    for page in pages:
        r = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page], capture_output=True)
        ok(r.returncode == 0 and not r.stdout, "%s passes mandoc" % os.path.basename(page), r.stdout.decode())


def complete(*words):
    """What completion offers for the last word."""
    script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hearsay; printf "%s\\n" "${COMPREPLY[@]}"')
    r = subprocess.run(["bash", "-c", script, "bash", os.path.join(ROOT, "packaging", "completion", "hearsay.bash"), HEARSAY, *words],
                       capture_output=True)
    return r.stdout.decode().split()


ok(complete("rand") == ["randomize"], "completion knows commands")
ok(set(commands) - {"help"} <= set(complete("help", "")), "and what there is help for")
for path, (verbs, options) in TABLES.items():
    if verbs:
        ok(set(verbs) <= set(complete(*path.split(), "")), "and every verb of %s" % path, complete(*path.split(), ""))
    offered = set(complete(*path.split(), "--")) - {"--help"}
    ok(offered == {"--" + o for o in options}, "and every option of %s" % path, offered)
ok(complete("tasks", "") == ["check", "compile", "keygen", "sheet", "show"], "and what tasks can do")
ok(complete("store", "") == ["check", "export", "import", "compact", "forget-nulls", "retire", "purge", "init-cluster"], "and what store can do")
ok(complete("serve", "t") == ["token"] and complete("serve", "token", "r") == ["revoke"] and complete("serve", "token", "add", "x", "--role", "a") == ["analyst"],
   "and what serve can")
ok(complete("account", "s") == ["shuffle"] and complete("account", "g") == ["group"], "and what account can total")
ok(complete("device", "p") == ["policy", "pack"] and complete("device", "consent", "d", "") == ["none", "collect", "send"],
   "and what device can")
ok({"--epsilon"} == set(complete("randomize", "--eps")), "and options")
ok({"grr", "auto", "oue"} <= set(complete("randomize", "--mechanism", "")), "and mechanisms")
ok(complete("estimate", "--format", "j") == ["json"] and complete("estimate", "--density", "e") == ["em", "ems"] and complete("device", "send", "d", "u", "--ta") == ["--take"] and
   "--take" not in complete("device", "pack", "d", "--"), "and values of options")
ok(complete("survey", "") == ["simulate"] and {"--crosswise"} == set(complete("survey", "simulate", "--cro")), "and how a survey is rehearsed")
ok(complete("simulate", "") == ["study", "attack", "fleet", "discover"] and complete("simulate", "discover", "s") == ["sfp"] and complete("simulate", "attack", "d") == ["drift"] and complete("simulate", "fleet", "--dev") == ["--devices"],
   "and what is simulated")

params = open(os.path.join(ROOT, "src", "lib", "scheme", "params.def")).read()
keys = re.findall(r'^PARAMETER\(\w+, "([a-z-]+)"', params, re.M) + "spinner coins channel rappor matrix".split()
ok(len(keys) > 30, "the parameters can be read", keys)
text, source = must("help", "randomize").decode(), open(os.path.join(ROOT, "docs", "man", "hearsay-randomize.1")).read()
unknown = [k for k in keys if b"does not know" in run("randomize", "--yes-no", "--set", k + "=1", stdin=b"yes\n").err.encode()]
ok(not unknown, "--set knows every key of this list", unknown)
ok(not [k for k in keys if not re.search(r"(?<![\w-])%s(?![\w-])" % k, text)], "help has them")
ok(not [k for k in keys if not re.search(r"^\.It Cm (.* , )?%s( |$)" % k, source, re.M)], "the page has them")
ok(set(complete("randomize", "--set", "")) == {k + "=" for k in keys}, "and completion")

for ask in ("--help", "-h", "help"):
    r = run("help", ask)
    ok(r.code == 0 and r.out == must("help"), "help %s is the overview" % ask, r)
# What an error in the options points to is the help of that very command.
for command in ("randomize", "discover", "discover next", "simulate", "simulate attack", "simulate discover pem", "simulate discover sfp", "serve token add"):
    r = run(*command.split(), "--no-such-option")
    pointed = re.findall(r"see 'hearsay (.*) --help'", r.err)
    usage = r.err.splitlines()[1]
    ok(r.code == 2 and pointed == [command] and must(*command.split(), "--help").decode().startswith(usage + "\n"),
       "an unknown option of '%s' points to its own help" % command, r)
done()
