#!/usr/bin/python3 -B
"""Long work tells a terminal how far it is and how long it will take, and tells a pipe nothing."""

from e2e import *


truths = write("truths", "yes\nno\n" * 3000)
plain, tally, numbers = path("reports"), path("tally"), write("numbers", "1\n2\n" * 3000)
table = write("table.csv", "id,said\n" + "1,yes\n2,no\n" * 3000)
must("randomize", "--yes-no", "--epsilon", "1", truths, "-o", plain)
must("tally", plain, "-o", tally)
csv_reports = write("reports.csv", "report\n" + "0\n1\n" * 3000)
words = write("words", "".join(w + "\n" for w in ["aa"] * 3000 + ["bb"] * 2000))
must("randomize", "--strings", "--mechanism", "pem", "--set", "bits=16", "--epsilon", "4", words, "-o", path("words.reports"))
must("tally", path("words.reports"), "-o", path("words.tally"))
UNIT = ["--yes-no", "--epsilon", "1"]
FEW = ["--devices", "60", "--seed", "3"]
LONG = {
    "randomize": (["randomize", *UNIT, truths], "6000 reports"),
    "randomize --column": (["randomize", *UNIT, "--column", "said", table], "6000 reports"),
    "tally": (["tally", plain], "6000 reports"),
    "tally of several files": (["tally", plain, plain + ".2", tally], "12000 reports"),
    "tally --column": (["tally", *UNIT, "--column", "report", csv_reports], "6000 reports"),
    "estimate": (["estimate", plain], "6000 reports"),
    "release": (["release", *UNIT, truths], "6000 people"),
    "audit": (["audit", *UNIT, "--samples", "4000"], "4000 samples"),
    "audit of several": (["audit", "--domain", "4", "--epsilon", "1,2", "--mechanism", "grr", "--samples", "4000"], "8000 samples"),
    "discover show": (["discover", "show", path("words.tally")], " stages"),
    "survey simulate": (["survey", "simulate", "--spinner", "0.7", "--share", "0.3", "--n", "50", "--runs", "20"], "20 surveys"),
    "simulate study": (["simulate", "study", "--data", "uniform", "--domain", "4", "--users", "500", "--runs", "3"], " people"),
    "simulate averaging": (["simulate", "attack", "averaging", "--days", "5", *FEW], "60 devices"),
    "simulate change": (["simulate", "attack", "change", "--days", "8", *FEW], "60 devices"),
    "simulate fingerprint": (["simulate", "attack", "fingerprint", *FEW], "420 devices"),
    "simulate drift": (["simulate", "attack", "drift", "--days", "20", *FEW], "240 devices"),
    "simulate poisoning": (["simulate", "attack", "poisoning", "--devices", "1000"], "80000 devices"),
    "simulate discover": (["simulate", "discover", "pem", "--data", "zipf:1", "--domain", "64", "--bits", "12", "--users", "2000", "--runs", "2"],
                          "4000 people"),
}
shutil.copy(plain, plain + ".2")


def complete(what, code, told):
    """Whether a terminal was shown how far it was, up to the end."""
    shown = [line for line in re.split(r"[\r\n]", told) if re.match(r"[0-9]+ %, ", line)]
    return code == 0 and shown and shown[-1] == "100 %%, %s, 0 s left\x1b[K" % shown[-1].split(", ")[1] and what in shown[-1] and told.count("\r\x1b[K") >= 1


for name, (args, what) in LONG.items():
    on_terminal(lambda code, told: complete(what, code, told), "%s shows a terminal how far it is" % name, *args)
    r = run(*args)
    ok(r.code == 0 and "left" not in r.err and "\r" not in r.err and " %," not in r.err, "%s shows nothing in a pipe" % name, r)

on_terminal(lambda code, told: code == 0 and "100 %, 6000 reports" in told, "shows a terminal how far it is with standard input from a file",
            "randomize", *UNIT, stdin=truths)
on_terminal(lambda code, told: code == 1 and "\r\x1b[Khearsay: " in told and told.endswith("\n"), "an error message replaces the progress line",
            "randomize", *UNIT, write("bad", "yes\n" * 40000 + "maybe\n"))

done()
