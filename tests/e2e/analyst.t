#!/usr/bin/python3 -B
"""The walk of docs/collector-api.md, against a collector that runs."""

from collector import *

page = open(os.path.join(ROOT, "docs", "collector-api.md")).read()
c = Collector("page", re.search(r"```yaml\n(.*?)```", page, re.S).group(1), admin_open=False, checkpoint_seconds=3600)
os.makedirs(c.data, 0o700)
os.environ["TOKEN"] = must("serve", "token", "add", "page", "--role", "operator", "--data", c.data).decode().split()[-1]
c.start()
os.environ["ADMIN"] = "http://%s:%d" % c.admin
os.symlink(os.path.join(c.dir, "tasks.signed"), path("tasks.signed"))
ok(runs_in_a_shell("collector-api.md") == 13, "docs/collector-api.md has its examples")
ok(c.stop() == 0, "the collector stops")
done()
