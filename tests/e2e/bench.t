#!/usr/bin/python3 -B
"""hearsay-bench prints what it says it measures; how fast is not a test's business."""

from e2e import *

BENCH = os.path.join(os.path.dirname(HEARSAY), "hearsay-bench")


def run_bench(*args):
    return subprocess.run([BENCH, *args], capture_output=True)


def bench(*args):
    r = run_bench(*args)
    ok(r.returncode == 0, "hearsay-bench %s" % " ".join(args), r)
    return r.stdout


out = bench("--quick", "--kernel", "[cg]*", "--format", "csv")
ok(out.decode().splitlines()[0] == "kernel,per_second,times_plain,of_limit,limit", "csv has its five columns", out)
table = {row["kernel"]: row for row in rows(out)}
ok({"chacha20", "chacha20@plain", "crc32c", "grr-bulk-1024", "grr-bulk-1024@plain"} <= set(table), "rows at the best level and below", sorted(table))
ok(all(row["per_second"] > 0 for row in table.values()), "every row has a rate", out)
ok(table["grr-bulk-1024@plain"]["times_plain"] == 1, "plain is once plain", out)


def near(a, b):
    return abs(a - b) <= 1e-9 * abs(b)


for name, plain, limit in (("grr-bulk-1024", "grr-bulk-1024@plain", "chacha20"),
                           ("grr-bulk-1024@plain", "grr-bulk-1024@plain", "chacha20@plain")):
    row = table[name]
    ok(row["limit"] == limit and near(row["of_limit"], 16 * row["per_second"] / table[limit]["per_second"]),
       "%s: the share of %s at 16 bytes a report, of the same run" % (name, limit), row)
    ok(near(row["times_plain"], row["per_second"] / table[plain]["per_second"]), "%s: the ratio to plain, of the same run" % name, row)
ok(table["crc32c"]["times_plain"] == "" and table["crc32c"]["limit"] == "", "what does not apply is empty", table["crc32c"])

report = json.loads(bench("--quick", "--kernel", "chacha20*", "--format", "json"))
ok(report["cpu"] in ("portable", "avx2", "avx512") and [k for k in report["kernels"] if k["kernel"] == "chacha20@plain"][0]["limit"] is None,
   "json has the processor and the rows", report)
shown = bench("--quick", "--kernel", "blake2b").decode()
ok(re.search(r"^blake2b +[0-9.]+ [kMG]B\b", shown, re.M) is not None, "a table has units", shown)

table = {row["kernel"]: row for row in rows(bench("--quick", "--kernel", "hpke*", "--format", "csv"))}
ok({k: row["limit"] for k, row in table.items()} == {"hpke-seal": "x25519", "hpke-open": "x25519"} and all(row["of_limit"] > 0 for row in table.values()),
   "sealing is held against X25519", table)

if not SHORT:
    table = {row["kernel"]: row for row in rows(bench("--quick", "--kernel", "*-lh-1024", "--format", "csv"))}
    ok(set(table) == {"randomize-lh-1024", "tally-lh-1024"} and all(row["per_second"] > 0 for row in table.values()),
       "the commands themselves are measured", table)
    alone = rows(bench("--quick", "--kernel", "tally-lh-1024", "--format", "csv"))
    ok(len(alone) == 1 and alone[0]["per_second"] > 0, "tally alone makes its own input", alone)

    table = {row["kernel"]: row for row in rows(bench("--quick", "--kernel", "[rt]*-oue-1024", "--format", "csv"))}
    ok({k: row["limit"] for k, row in table.items()} == {"randomize-oue-1024": "chacha20", "tally-oue-1024": "memory-read"} and
       all(row["of_limit"] > 0 for row in table.values()), "unary commands are held against their stream's limit", table)

for args, words in ((["--quick", "--kernel", "nonesuch"], "nonesuch"), (["file"], "no files"), (["--format", "xml"], "table, csv or json"),
                    (["--nonesuch"], "nonesuch"), (["--kernel"], "requires an argument")):
    r = run_bench(*args)
    ok(r.returncode == 2 and words in r.stderr.decode() and r.stdout == b"", "%s: %s" % (" ".join(args), words), r)
text = bench("--help").decode()
page = open(os.path.join(ROOT, "docs", "bench.md")).read()
options = re.findall(r"^  --([a-z]+)", text, re.M)
ok(len(options) == 3 and all("| `--" + o in page for o in options), "docs/bench.md has every option", text)
ok(all("| `%s` |" % column in page for column in ("kernel", "per_second", "times_plain", "of_limit", "limit")), "and every column")
r = subprocess.run(["bash", "-c", '"$1" --quick --kernel crc32c >/dev/full', "bash", BENCH], capture_output=True)
ok(r.returncode == 1 and b"standard output" in r.stderr, "a full disk is told", r)

done()
