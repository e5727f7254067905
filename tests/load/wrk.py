"""wrk.py - what measurements of load share: wrk, an nginx to hold it against, and
what processors and disks did meanwhile. To be imported first: it chooses the
disk."""

import os
import statistics
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
import quick_disk
tempfile.tempdir = None  # a real disk: what is durable is what is measured
from collector import *
from collector import _die_with_us

NGINX = """daemon off; pid {dir}/pid; error_log stderr error; worker_processes {cores}; worker_rlimit_nofile 4096;
events {{ worker_connections 2048; }}
http {{ access_log off; keepalive_requests 1000000000; client_body_temp_path {dir}; proxy_temp_path {dir}; fastcgi_temp_path {dir};
  uwsgi_temp_path {dir}; scgi_temp_path {dir}; client_body_buffer_size 64k;
  upstream gateway {{ server 127.0.0.1:{port}; keepalive 128; keepalive_requests 1000000000; }}
  server {{ listen 127.0.0.1:{port} reuseport; location / {{ return 204; }}
            location /v1/ohttp {{ default_type message/ohttp-res; return 200 "{answer}"; }} }}
  server {{ listen 127.0.0.1:{relay} reuseport; client_max_body_size 65591; location / {{
    proxy_pass http://gateway/v1/ohttp; proxy_http_version 1.1; proxy_pass_request_headers off; proxy_set_header Host load; proxy_set_header Connection "";
    proxy_set_header Content-Type message/ohttp-req; proxy_set_header Content-Length $content_length; }} }} }}
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Nginx:
    def __init__(self):
        self.dir = path("nginx")
        os.mkdir(self.dir)
        atexit.register(self.stop)
        for _ in range(20):  # a port that was free may be taken when nginx comes to it
            self.port, self.relay = free_port(), free_port()
            with open(os.path.join(self.dir, "conf"), "w") as f:
                f.write(NGINX.format(dir=self.dir, cores=os.cpu_count(), port=self.port, relay=self.relay, answer="x" * 304))
            self.process = subprocess.Popen(["nginx", "-p", self.dir, "-e", "stderr", "-c", os.path.join(self.dir, "conf")], preexec_fn=_die_with_us)
            if self.answers():
                return
        raise SystemExit("nginx does not start")

    def answers(self):
        while self.process.poll() is None:
            try:
                return ask(("127.0.0.1", self.port), "GET", "/")[0] == 204
            except Gone:
                time.sleep(0.01)
        return False

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Wrk:
    """One run of wrk; result() waits for it."""

    def __init__(self, port, upload, connections, seconds, token="", script="upload.lua", host="127.0.0.1", **env):
        self.upload = upload
        self.process = subprocess.Popen(["wrk", "-t", "2", "-c", str(connections), "-d", "%ds" % seconds, "--timeout", "60s", "-s", os.path.join(HERE, script),
                                         "http://%s:%d" % (host, port)], env={**os.environ, "UPLOAD": upload, "TOKEN": token, **env},
                                        stdout=subprocess.PIPE, text=True, preexec_fn=_die_with_us)

    def result(self):
        said = self.process.communicate()[0]
        n, us, p50, p99, p999, bad = map(int, re.search(r"^RESULT" + 6 * r" (\d+)", said, re.M).groups())
        return {"n": n, "rate": n / us * 1e6, "p50": p50 / 1000, "p99": p99 / 1000, "p999": p999 / 1000, "bad": bad}


def cpu(pid, ended=False):
    """Seconds of processor a process and its threads have used; ended: and its
    children that are no more."""
    with open("/proc/%d/stat" % pid) as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:15 if ended else 13])) / os.sysconf("SC_CLK_TCK")


def file(name, data):
    with open(path(name), "wb") as f:
        f.write(data)
    return path(name)


def median(rows, key):
    return statistics.median(row[key] for row in rows)


def most(rows, key):
    return max(row[key] for row in rows)


def disk(seconds):
    """What a sync costs here: a plain writer of 16 KiB at a time; its p99.9 in ms."""
    took, end = [], time.monotonic() + seconds
    with open(path("plain"), "wb", buffering=0) as f:
        while time.monotonic() < end:
            begin = time.monotonic()
            f.write(bytes(16384))
            os.fdatasync(f.fileno())
            took.append((time.monotonic() - begin) * 1000)
    took.sort()
    print("a plain writer's syncs: p50 %.2f p99 %.2f p99.9 %.2f, longest %.2f ms"
          % (took[len(took) // 2], took[len(took) * 99 // 100], took[len(took) * 999 // 1000], took[-1]), flush=True)
    return took[len(took) * 999 // 1000]
