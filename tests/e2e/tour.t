#!/usr/bin/python3 -B
"""docs/tour.md: its commands, in order and as they stand, print what the page
says and draw the figures it shows; its twenty steps are one command each."""

from e2e import *

if SHORT:
    skip_all("a short run leaves the tour out")

os.symlink(os.path.join(ROOT, "examples"), path("examples"))
ok(runs_in_a_shell("tour.md") == 25, "the town has five files, the tour twenty steps")

page = open(os.path.join(ROOT, "docs", "tour.md")).read()
steps = re.split(r"^### ", page.split("\n## Words\n")[0], flags=re.M)[1:]
ok([s.split(".")[0] for s in steps] == [str(i + 1) for i in range(20)], "the steps are numbered")
ok(all(len(re.findall(r"^    \$ ", s, re.M)) == 1 for s in steps), "and each is one command")
for name in sorted(set(re.findall(r"\]\(([^)#]+)\)", page))):
    ok(os.path.exists(os.path.join(ROOT, "docs", name)), "the link to " + name + " leads somewhere")
done()
