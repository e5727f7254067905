#!/usr/bin/python3 -B
"""man.t - every public header has its page in section 3, with the prototypes of
all its functions, and no page names what no header has."""

import glob
import os
import re

count = failed = 0


def ok(good, sentence, why=""):
    global count, failed
    count += 1
    failed += not good
    print("%sok %d - %s%s" % ("" if good else "not ", count, sentence, "" if good else "\n# " + str(why)))


def read(path):
    return open(path).read() if os.path.exists(path) else ""


def page_of(header):
    return "docs/man/%s.3" % ("libhearsay-host" if header == "host" else "hearsay_" + header)


def prototypes(text):
    """Each HSY_API function of a header as (type, name, arguments)."""
    text = " ".join(re.sub(r"/\*.*?\*/", "", text, flags=re.S).split())
    found = re.findall(r"HSY_API ([^;(]*?)(hsy_\w+)\(([^;]*)\);", text)
    return [(kind.strip(), name, tuple(re.split(r", ?", args))) for kind, name, args in found]


def synopsis(page):
    """The same of a page."""
    rows, kind = [], ""
    for line in re.split(r"^\.Sh ", page, flags=re.M)[1:]:
        for macro in line.splitlines() if line.startswith("SYNOPSIS") else []:
            words = [a or b for a, b in re.findall(r'"([^"]*)"|(\S+)', macro)]
            if words[:1] == [".Ft"]:
                kind = " ".join(words[1:])
            elif words[:1] == [".Fn"]:
                rows.append((kind, words[1], tuple(words[2:])))
    return rows


headers = {os.path.basename(h)[:-2]: read(h) for h in sorted(glob.glob("include/hearsay/*.h"))}
public = {name for text in headers.values() for _, name, _ in prototypes(text)}
raw = sum(len(re.findall(r"^HSY_API ", text, re.M)) for text in headers.values())
ok(len(public) == raw > 250, "the headers have %d functions" % raw, len(public))

for name, text in headers.items():
    page, path, want = read(page_of(name)), page_of(name), prototypes(text)
    have = synopsis(page)
    wrong = ["missing or wrong: %s %s(%s)" % (t, n, ", ".join(a)) for t, n, a in want if (t, n, a) not in have]
    wrong += ["not in the header: " + n for _, n, _ in have if n not in {w[1] for w in want}]
    ok(want and not wrong, "%s has all %d prototypes of %s.h" % (path, len(want), name), "\n# ".join(wrong))
    told = set(re.findall(r"^\.Fn (hsy_\w+)", page.partition(".Sh DESCRIPTION")[2], re.M))
    ok(page and not {w[1] for w in want} - told, "and says what each is for", sorted({w[1] for w in want} - told))
    include = ".In hearsay/%s.h" % name
    ok(include in page and "Xr %s 3" % os.path.basename(path)[:-2] in read("docs/man/libhearsay.3"),
       "it names its header, and libhearsay(3) names it")

words = set(re.findall(r"\b(?:hsy|HSY)_\w+", " ".join(headers.values())))
words |= {"HSY_FIELD_" + f for f in re.findall(r"\bX\((\w+),", headers["base"])} | {"HSY_UNSTABLE"}
wrong, seen = [], 0
for path in sorted(glob.glob("docs/man/*.[13]")):
    page = read(path)
    calls = set(re.findall(r"^\.Fn (\w+)", page, re.M))
    named = set(re.findall(r"\b(?:hsy|HSY)_\w+", page))
    seen += len(calls)
    wrong += ["%s: %s" % (path, n) for n in sorted({c for c in calls if c.startswith("hsy_")} - public | named - words)]
ok(seen > 250 and not wrong, "no page names what no header has", wrong)
ok("HSY_UNSTABLE" in read(page_of("advanced")), "hearsay_advanced(3) says what it takes")
print("1..%d" % count)
raise SystemExit(failed != 0)
