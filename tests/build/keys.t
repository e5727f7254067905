#!/usr/bin/python3 -B
"""keys.t - every key of hearsay.yaml is set by a test that starts a collector or
a shuffler with it: of a key that none sets, nobody knows what it does."""

import ast
import os
import re
import sys

count = failed = 0


def ok(good, sentence, why=""):
    global count, failed
    count += 1
    failed += not good
    print("%sok %d - %s" % ("" if good else "not ", count, sentence))
    for line in str(why).splitlines() if not good else []:
        print("#   " + line)


# What writes a hearsay.yaml (tests/e2e/collector.py, chain.py).
WRITERS = {"Collector", "Chain", "configure"}


def called(node):
    return getattr(node.func, "attr", getattr(node.func, "id", None))


def keys(tree):
    """Words that a script passes to a writer, by name or in a dict; and those of a
    hearsay.yaml that it spells out."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.count("\n") > 1:
            spelled = [line.split(": ")[0] for line in node.value.splitlines()]
            yield from spelled if set(spelled) <= set(known) else ()
        if isinstance(node, ast.Call) and called(node) in WRITERS:
            for word in node.keywords:
                if word.arg is not None:
                    yield word.arg
            for inner in ast.walk(node):
                if isinstance(inner, ast.Dict):
                    yield from (k.value for k in inner.keys if isinstance(k, ast.Constant))


def scripts():
    for where in ("tests/e2e", "tests/fault"):
        for name in sorted(os.listdir(where)):
            path = os.path.join(where, name)
            if name.endswith(".py") or (name.endswith(".t") and "python3" in open(path).readline()):
                yield path


source = open("src/server/process/config.c").read()
table = source[source.index("config_rows[] = {"):source.index("{.key = NULL}")]
known = re.findall(r'CONFIG_(?:NUMBER|FIELD|DIVIDED)\((\w+),|\.key = "(\w+)"', table)
known = [a or b for a, b in known]
counted = int(re.search(r"CONFIG_ROWS (\d+)", open("src/server/process/config.h").read()).group(1))
ok(len(known) == counted == len(set(known)), "the table is read: %d keys" % counted, known)
where = {}
for path in scripts():
    for key in keys(ast.parse(open(path).read(), path)):
        where.setdefault(key, path)
for key in known:
    ok(key in where, "%s is set by %s" % (key, where.get(key, "a test")), "no call of %s in tests/e2e or tests/fault sets it" % ", ".join(sorted(WRITERS)))
gone = " ".join(re.findall(r'CONFIG_DIVIDED\([^)]*"([a-z_ ]+)"\)', table)).split()
ok(gone and not set(gone) & set(known), "what a key is suggested for is no key itself", gone)
print("1..%d" % count)
sys.exit(failed != 0)
