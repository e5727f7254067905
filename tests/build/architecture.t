#!/usr/bin/python3 -B
"""architecture.t - docs/architecture.md names only files that are there, in each
row only functions that stand in the row's file, and every module and table."""

import os
import re

count = failed = 0


def ok(good, sentence, why=""):
    global count, failed
    count += 1
    failed += not good
    print("%sok %d - %s%s" % ("" if good else "not ", count, sentence, "" if good else "\n# " + str(why)))


page = open("docs/architecture.md").read()
roots = ("src/", "include/", "tests/", "tools/", "docs/", "web/")
paths = sorted({p for p in re.findall(r"`([^`\s]+)`", page) if p.startswith(roots)})
gone = [p for p in paths if not os.path.exists(p)]
ok(len(paths) > 40 and not gone, "all %d paths are there" % len(paths), gone)

wrong, rows = [], 0
for row in page.splitlines():
    cells = re.findall(r"`([^`\s]+)`", row) if row.startswith("|") else []
    files = [c for c in cells if c.endswith((".c", ".h")) and os.path.isfile(c)]
    names = [c for c in cells if re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)+", c) and not os.path.exists(c)]
    if len(files) == 1 and names:
        rows += 1
        text = open(files[0]).read()
        wrong += ["%s: %s" % (files[0], n) for n in names if not re.search(r"\b%s\b" % n, text)]
ok(rows > 35 and not wrong, "every function stands in its file (%d rows)" % rows, wrong)

modules = [line.split(":")[0].split()[0] for line in open("tools/layers") if line[:1].isalpha() and not line.startswith(("except", "cli/"))]
unnamed = [m for m in modules if "`%s`" % m.split("/")[-1] not in page and "`src/%s`" % m not in page]
ok(len(modules) > 40 and not unnamed, "all %d modules are named" % len(modules), unnamed)

listed = set(re.findall(r"`([a-z_]+)`", page))
tables = set(re.findall(r"CREATE TABLE (\w+)", open("src/server/store/tables.c").read() + open("src/server/store/book_kinds.c").read()))
many = set(re.findall(r"create table (\w+)\(", open("src/server/cluster/schema.c").read()))
ok(len(many) > 15 and many <= listed, "every table of a cluster is named", sorted(many - listed))
ok(len(tables) > 12 and tables <= listed, "every table of the store is named", sorted(tables - listed))
print("1..%d" % count)
raise SystemExit(failed != 0)
