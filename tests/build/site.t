#!/usr/bin/python3 -B
"""The pages of the website, as far as that can be seen without making it:
docs/index.md lists every page once, links and anchors lead somewhere, lists and
tables come through, the OpenAPI files make tables, and manual pages of files are
made of the tables in docs. `make site-check` has a
browser walk the site itself."""

import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, "tests/e2e")
sys.path.insert(0, "tools")
from e2e import ROOT, done, ok  # noqa: E402
import site_markdown  # noqa: E402
import site_openapi  # noqa: E402


def read(name):
    return open(os.path.join(ROOT, name), encoding="utf-8").read()


PAGES = [*sorted(glob.glob("docs/**/*.md", root_dir=ROOT, recursive=True)), "README.md", "SECURITY.md", "CONTRIBUTING.md"]

# ---- The index ----------------------------------------------------------------

index = read("docs/index.md")
listed = [page for item in re.findall(r"^\d+\. .*(?:\n +.*)*", index, re.M) for page in re.findall(r"\]\(([^)]*)\)", item)]
there = {os.path.basename(p) for p in glob.glob(os.path.join(ROOT, "docs/*.md"))} - {"index.md"} | {"mechanisms/index.md"}
ok(len(listed) == len(set(listed)) and set(listed) == there, "docs/index.md lists every page once", sorted(set(listed) ^ there))
numbers = [int(n) for n in re.findall(r"^(\d+)\. ", index, re.M)]
ok(numbers == list(range(1, len(numbers) + 1)), "and counts them", numbers)
table = set(re.findall(r"\(([a-z]+\.md)\)", read("docs/mechanisms/index.md")))
own = {os.path.basename(p) for p in glob.glob(os.path.join(ROOT, "docs/mechanisms/*.md"))} - {"index.md"}
ok(table == own, "docs/mechanisms/index.md has every mechanism's page", sorted(table ^ own))

# ---- Links and anchors --------------------------------------------------------

dead, links = [], 0
for page in PAGES:
    def follow(link):
        global links
        to, _, anchor = link.partition("#")
        there_ = os.path.normpath(os.path.join(os.path.dirname(page), to)) if to else page
        if re.match(r"[a-z]+:", link):
            return link
        links += 1
        if not os.path.exists(os.path.join(ROOT, there_)) or anchor and anchor not in site_markdown.headings(read(there_)):
            dead.append("%s: %s" % (page, link))
        return link
    site_markdown.relink(read(page), follow)
ok(links > 300 and not dead, "no link of a page leads nowhere", "\n".join(dead))
ok(site_markdown.headings("# A b\n```\n# no\n```\n## `x` y: z\n## A b\n") == ["a-b", "x-y-z", "a-b-1"], "headings have the anchors that GitHub gives them")

# ---- Markdown of two dialects ---------------------------------------------------

for text, want, what in (
        ("1. a\n   b\n\n       code\n\n2. c\n", "1. a\n    b\n\n        code\n\n2. c\n", "what belongs to an item is indented by four"),
        ("- a\n  - b\n    c\n- d\n", "- a\n    - b\n        c\n- d\n", "a list in a list too"),
        ("word\n- a\n", "word\n\n- a\n", "a list stands apart from the paragraph before"),
        ("word\n| a |\n|---|\n| b |\n", "word\n\n| a |\n|---|\n| b |\n", "so does a table"),
        ("a\n\n    - code\n", "a\n\n    - code\n", "code is left as it is"),
        ("```\n1. a\n   b\n```\n", "```\n1. a\n   b\n```\n", "also between fences"),
        ("- a\nlazy\n\nafter\n", "- a\n    lazy\n\nafter\n", "a list ends where a paragraph begins")):
    ok(site_markdown.reindent(text) == want, what, site_markdown.reindent(text))

# ---- Manual pages of files ---------------------------------------------------------

made = subprocess.run(["tools/man5", "--check"], cwd=ROOT, capture_output=True, text=True)
ok(made.returncode == 0, "tasks.yaml(5) and hearsay.yaml(5) are made of the tables in docs", made.stderr)

# ---- OpenAPI --------------------------------------------------------------------

for file in sorted(glob.glob("docs/openapi*.yaml", root_dir=ROOT)):
    page = site_openapi.page(read(file), os.path.basename(file), lambda name: read("docs/" + name))
    paths = set(re.findall(r"^  (/\S*):", read(file), re.M))
    shown = set(re.findall(r"^## `[A-Z]+ (/\S*)`", page, re.M))
    anchors = set(re.findall(r"\{: #(\S+) \}", page))
    wanted = set(re.findall(r"\]\(#([^)]*)\)", page))
    ok(paths == shown, "%s: the page has every route" % file, paths ^ shown)
    ok(wanted <= anchors, "and every schema that it names", wanted - anchors)
done()
