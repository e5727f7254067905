#!/usr/bin/python3 -B
"""The website that `make site` has made, walked by a browser (site.mjs). SITE is
its directory. `make site-check` runs this; it takes a minute or two, so ./check
does not: tests/build/site.t there looks at the pages' links."""

import functools
import http.server
import os
import shutil
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
SITE = os.environ.get("SITE")
if SITE is None:
    sys.exit(print("1..0 # SKIP SITE names no site (make site-check)"))


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        pass  # a browser that goes on before it has everything


subprocess.run([os.path.join(HERE, "fetch")], check=True)
server = Server(("127.0.0.1", 0), functools.partial(Quiet, directory=SITE))
threading.Thread(target=server.serve_forever, daemon=True).start()
with tempfile.TemporaryDirectory(prefix="hearsay-site-") as scratch:
    # Chromium keeps what it makes in its home.
    env = {**os.environ, "HOME": scratch, "TMPDIR": scratch, "BASE": "http://127.0.0.1:%d" % server.server_address[1], "CHROMIUM": shutil.which("chromium"),
           "OUT": os.path.join(os.path.dirname(SITE), "shots")}
    code = subprocess.Popen(["node", os.path.join(HERE, "site.mjs")], env=env, stdin=subprocess.PIPE).wait()  # it ends when its input does
sys.exit(code)
