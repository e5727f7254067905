"""A page in a real browser: the scripts of tests/browser (playwright-core, Debian's
chromium). Screenshots are left in build/browser/. Where there is no node, npm,
chromium or no way to playwright-core, they are skipped, and it is said."""

import signal

from e2e import *

BROWSER = os.path.join(ROOT, "tests", "browser")
SHOTS = os.path.join(os.environ.get("B") or os.path.join(ROOT, "build"), "browser")


def lacking():
    """Why there can be no browser; None if there can."""
    for command in ("node", "npm", "chromium"):
        if shutil.which(command) is None:
            return "there is no %s" % command
    r = subprocess.run([os.path.join(BROWSER, "fetch")], capture_output=True)
    return r.stderr.decode("utf-8", "replace").strip() or "no playwright-core" if r.returncode else None


def browse(address, token, script, answers):
    """Run the browser's tests; theirs are lines of TAP like ours. answers: what
    each thing is that they may want."""
    why = "in a short run" if SHORT else lacking()
    if why:
        return ok(True, "the dashboard in a browser # SKIP " + why)
    scratch = tempfile.mkdtemp(prefix="hearsay-browser-", dir=os.environ.get("TMPDIR") or "/tmp")
    atexit.register(shutil.rmtree, scratch, True)
    env = {**os.environ, "HOME": scratch, "TMPDIR": scratch, "BASE": "http://%s:%d" % address, "TOKEN": token, "OUT": SHOTS, "CHROMIUM": shutil.which("chromium")}
    node = subprocess.Popen(["node", os.path.join(BROWSER, script)], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
    atexit.register(lambda: node.poll() is None and os.killpg(node.pid, signal.SIGKILL))
    for line in node.stdout:
        said = re.match(r"(not )?ok \d+ - (.*)", line)
        if said:
            ok(not said[1], said[2])
        elif line.startswith("# want "):
            word, *rest = line.split()[2:]
            answers[word](*rest)
            node.stdin.write("done\n")
            node.stdin.flush()
        elif not line.startswith("1.."):
            print(line, end="", flush=True)
    return ok(node.wait() == 0, "the browser's tests came to their end")
