#!/usr/bin/python3 -B
"""One column of a CSV: randomize takes its truths, tally its reports, and further columns are passed over."""

import csv
import io
import json

from e2e import *

SEED = ["--simulate", "--seed", "7"]
KINDS = [(["--yes-no", "--epsilon", "1"], ["yes", "no", "no"]),
         (["--values", 'rome,"par,is",oslo', "--epsilon", "2"], ["par,is", "rome", "oslo", "rome"]),
         (["--range", "0:100", "--epsilon", "1"], ["12.5", "99", "0"]),
         (["--strings", "--epsilon", "1", "--mechanism", "cms"], ["tea", 'so-called "tea"', "tea; milk"]),
         (["--domain", "300", "--epsilon", "1", "--mechanism", "oue"], ["0", "299", "7"])]


def table(values, name, separator=",", mark="", end="\n", after=""):
    out = io.StringIO()
    rows = csv.writer(out, delimiter=separator, lineterminator=end)
    rows.writerow(["id", name, "a note"])
    rows.writerows([i, v, 'x,"y";z'] for i, v in enumerate(values))
    return (mark + out.getvalue() + after).encode()


def twin_reports(stream):
    return [json.loads(line)["report"] for line in stream.splitlines() if b'"report"' in line]


for options, truths in KINDS:
    words = " ".join(options)
    plain = "".join(t + "\n" for t in truths)
    want = must("randomize", *options, *SEED, stdin=plain)
    got = must("randomize", *options, *SEED, "--column", "what they said", stdin=table(truths, "what they said"))
    ok(got == want, "a column is read as its truths one a line: %s" % words)
    got = must("randomize", *options, *SEED, "--column", "said",
               stdin=table(truths, "said", ";", "\ufeff", "\r\n", "\r\n\r\n"))
    ok(got == want, "with semicolons, a byte-order mark and empty lines at the end too")
    rows = twin_reports(must("randomize", *options, *SEED, "--json", stdin=plain))
    ok(must("tally", *options, "--column", "report", stdin=table(rows, "report")) == must("tally", stdin=want),
       "and tally counts a column of reports as the stream of them")
    ok(must("tally", *options, "--column", "report", stdin=table(rows, "report", ";", "\ufeff", "\r\n", "\r\n"))
       == must("tally", stdin=want), "with semicolons, a byte-order mark and an empty line at the end too")

numbers = ["--range", "0:100", "--epsilon", "1"]
ok(must("randomize", *numbers, *SEED, "--column", "kg", stdin="kg;cm\n70,5;180\n3;90\n") ==
   must("randomize", *numbers, *SEED, stdin="70.5\n3\n"), "who separates by semicolons may write 70,5")
two = [write("a.csv", "report\n0\n1\n"), write("b.csv", "id,report\n1,1\n")]
ok(must("tally", "--yes-no", "--epsilon", "1", "--column", "report", *two) ==
   must("tally", "--yes-no", "--epsilon", "1", "--column", "report", stdin="report\n0\n1\n1\n"),
   "several files, each with a header of its own, become one tally")
r = run("randomize", "--yes-no", "--epsilon", "1", "--column", "said", stdin="id,said\n")
ok(r.code == 0 and "a header and no rows" in r.err, "a header alone is said to be that", r)
r = run("randomize", "--yes-no", "--epsilon", "1", "--column", "said", stdin="")
ok(r.code == 0 and "is empty" in r.err, "and an empty file too", r)

UNIT = ["--yes-no", "--epsilon", "1"]
BAD = {
    "line 1, said: the header has no column of this name; did you mean column 2?": "id,sayd\n1,yes\n",
    "line 1, said: the header has no column of this name\n": "atlantis,quux\n1,yes\n",
    "line 1, said: the header has this column twice": "said,said\nyes,no\n",
    "line 3, said: empty; write one truth per line": "id,said\n1,yes\n2,\n",
    "line 3: empty; only the last lines may be": "id,said\n1,yes\n\n2,no\n",
    "line 2, said: must be yes or no": "id,said\n1,atlantis\n",
    "line 2: the number of fields differs": "id,said\n1\n",
    "line 3: the number of fields differs": "id,said\n1,yes\n1,no,atlantis\n",
    "line 2: a quote is out of place": 'id,said\n1,"yes\n',
    "line 2: longer than 65536 bytes": "id,said\n1," + 70000 * "atlantis" + "\n",
}
for message, text in BAD.items():
    r = run("randomize", *UNIT, "--column", "said", stdin=text)
    ok(r.code == 1 and message in r.err and r.out == b"" and "atlantis" not in r.err and "sayd" not in r.err,
       "randomize refuses: %s" % message.strip(), r)
r = run("randomize", "--strings", "--epsilon", "1", "--mechanism", "pem", "--set", "bits=16", "--column", "said",
        stdin="id,said\n1,ab\n2,atlantis\n")
ok(r.code == 1 and "line 3, said: the string is too long" in r.err and "atlantis" not in r.err,
   "randomize says where a value is too long, not the value", r)
for message, text in {"line 2, said: not a report of the scheme": "id,said\n1,yes\n",
                      "line 3, said: not a report": "id,said\n1,1\n2,2\n",
                      "line 2, said: not a report of": "id,said\n1,\n",
                      "line 1, said: the header has no": "id,quux\n1,1\n",
                      "line 3: empty; only": "id,said\n1,1\n\n1,0\n"}.items():
    r = run("tally", *UNIT, "--column", "said", stdin=text)
    ok(r.code == 1 and message in r.err and r.out == b"", "tally refuses: %s" % message, r)
r = run("tally", *UNIT, stdin="said\n1\n")
ok(r.code == 2 and "--yes-no needs --column" in r.err, "tally's question goes with a column", r)
r = run("tally", "--column", "said", stdin="said\n1\n")
ok(r.code == 2 and "missing question" in r.err, "and a column with a question", r)
r = run("randomize", "--attribute", "a=yes-no", "--attribute", "b=yes-no", "--epsilon", "1", "--column", "a", stdin="a,b\n")
ok(r.code == 2 and "--column cannot be used with --attribute" in r.err, "a column is one question", r)

TWO = ["--attribute", "smoker=yes-no", "--attribute", "city=rome,oslo", "--epsilon", "3", *SEED]
bare = must("randomize", *TWO, stdin="smoker,city\nyes,rome\nno,oslo\n")
ok(must("randomize", *TWO, "--ignore-columns",
        stdin='id,city,"a, note",smoker,x\n1,rome,"b, c",yes,\n2,oslo,,no,y\n') == bare,
   "--ignore-columns passes over what no --attribute names")
ok(must("randomize", *TWO, stdin="\ufeffcity;smoker\r\nrome;yes\r\noslo;no\r\n\r\n") == bare,
   "attributes may be separated by semicolons, begin with a mark and end in an empty line")
r = run("randomize", *TWO, stdin="smoker,cety\nyes,rome\n")
ok(r.code == 1 and "line 1, column 2: not a declared attribute" in r.err and "--ignore-columns" in r.err and
   "is it meant as 'city'?" in r.err and "cety" not in r.err, "without it the message names it, and the attribute meant", r)
r = run("randomize", *TWO, "--ignore-columns", stdin="smoker,cety\nyes,rome\n")
ok(r.code == 1 and "line 1, city: the header has no column of this name; did you mean column 2?" in r.err,
   "with it an attribute that is lacking is still missed", r)
r = run("randomize", *UNIT, "--ignore-columns", stdin="yes\n")
ok(r.code == 2 and "--ignore-columns needs --attribute" in r.err, "--ignore-columns is for attributes", r)

done()
