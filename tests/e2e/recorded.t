#!/usr/bin/python3 -B
"""The page of recorded answers (web/recorded), from a server of files alone: the
answers are what docs/openapi.yaml says, and a browser looks at every card and view
(tests/browser/recorded.mjs). It leaves pictures in build/browser/; dashboard.png
there is the one in docs/figures."""

import functools
import http.server
import threading

from browser import *
from schema import breaks

try:
    import yaml
except ImportError:
    skip_all("needs python3-yaml")

WEB = os.path.join(ROOT, "web")
FILE = yaml.safe_load(open(os.path.join(ROOT, "docs", "openapi.yaml")))


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        pass  # a browser that goes on before it has everything


def described(where, status):
    """The schema of an answer to GET."""
    for path_, item in FILE["paths"].items():
        if re.fullmatch(re.sub(r"\\\{[a-z]+\\\}", "[^/]+", re.escape(path_)), where.split("?")[0]) and "get" in item:
            answer = item["get"]["responses"][str(status)]
            if "$ref" in answer:
                answer = FILE["components"]["responses"][answer["$ref"].rpartition("/")[2]]
            (content,) = answer["content"].values()
            return content["schema"]
    return None


scenes = json.load(open(os.path.join(WEB, "recorded", "answers.json")))
for scene, answers in scenes.items():
    wrong = {where: breaks(FILE, described(where, a["status"]), a["body"]) for where, a in answers.items()}
    wrong = {where: why for where, why in wrong.items() if why}
    ok(len(answers) > 1 and not wrong, "%s: its %d answers are as the API says; else run tests/browser/record" % (scene, len(answers)), wrong)
names = re.search(r"analysis_interval_names\[\] = \{(.*?)NULL", open(os.path.join(ROOT, "src/host/analysis/cells.c")).read(), re.S).group(1)
said = open(os.path.join(WEB, "terms.js")).read()
lacking_ = [n for n in re.findall(r'"([a-z]+)"', names) if n != "auto" and "  %s: " % n not in said]
ok(not lacking_ and "  linear: " in said, "the page explains every sort of interval", lacking_)
server = Server(("127.0.0.1", 0), functools.partial(Quiet, directory=WEB))
threading.Thread(target=server.serve_forever, daemon=True).start()
browse(server.server_address, "", "recorded.mjs", {})
server.shutdown()
done()
