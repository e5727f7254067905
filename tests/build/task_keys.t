#!/usr/bin/python3 -B
"""docs/tasks.md says of every key what tasks.def says."""

import os
import shutil
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DEF, PAGE, TOOL = "src/host/tasks/tasks.def", "docs/tasks.md", "tools/task-keys"
count = 0


def ok(good, what, detail=""):
    global count
    count += 1
    print("%sok %d - %s" % ("" if good else "not ", count, what))
    if not good and detail:
        print("# " + str(detail).replace("\n", "\n# "))


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as f:
        return f.read()


def check(changes):
    """What --check says of a copy of the tree with these passages changed."""
    with tempfile.TemporaryDirectory() as copy:
        for name in (DEF, PAGE, TOOL):
            os.makedirs(os.path.dirname(os.path.join(copy, name)), exist_ok=True)
            shutil.copy(os.path.join(ROOT, name), os.path.join(copy, name))
        for name, was, now in changes:
            text = read(name)
            assert text.count(was) == 1, (was, text.count(was))
            with open(os.path.join(copy, name), "w", encoding="utf-8") as f:
                f.write(text.replace(was, now))
        r = subprocess.run([os.path.join(copy, TOOL), "--check"], capture_output=True, text=True)
        return r.returncode, r.stderr


code, said = check([])
ok(code == 0, "the tables are as tasks.def has them", said)
ok(check([(DEF, '"`7d`")', '"`8d`")')])[0] != 0, "another default is seen")
ok(check([(PAGE, "| `oracle` |", "| `orakel` |")])[0] != 0, "another key is")
code, said = check([(DEF, '#undef TASKS_OF_PERMANENT', 'KEY(NONE, "nonesuch", x, "", "")\n#undef TASKS_OF_PERMANENT')])
ok(code != 0 and "nonesuch" in said, "and a key that the page has nowhere", said)
ok(check([(DEF, "TASK_API,", "TASK_FIXED,")])[0] != 0, "that a number needs a release is, too")
print("1..%d" % count)
