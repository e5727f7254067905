#!/usr/bin/python3 -B
"""Words that strangers chose are shown, never obeyed: no formula in a sheet, no
character that nobody sees or that turns the direction of writing; in tables,
CSV, drawings and on the page, by the command and by a collector alike."""

from collector import *

HIDDEN = ["a\u202eb", "\u2066c", "d\u200be", "f\ufeff", "g\u00adh", "i\u200dj", "k\ufe0f", "l\U000e0041", "m\u2028n", "\u061co", "p\u3164", "q\u0085r"]
FORMULAS = ["=1+1", "+49", "-x", "@sum", "\t=1", " =1", "-1+1", "-3..", "\uff1d1", "\u22121", '=HYPERLINK("x","y")']
PLAIN = ["-3", "-3.5", "-3..-1.5", "a;=1", "a=b", "\u65e5\u672c", "e\u0301"]
VALUES = HIDDEN + FORMULAS + PLAIN

everything = [chr(i) for i in range(1, 0x110000) if not 0xd800 <= i < 0xe000 and chr(i) not in "\r\n"]


def hidden(text):
    """What nobody sees, of the few that are used here."""
    return [c for c in text if c in "".join(HIDDEN) and not c.isascii()]


def shown(text):
    return "".join("\\u{%x}" % ord(c) if hidden(c) else c for c in text)


def fields(data):
    """The first field of each row of CSV, as it is written and as it is read."""
    text = data.decode()
    return [row[0] for row in csv.reader(io.StringIO(text, newline=""))][1:], text


def safe(value):
    return ("'" if value in FORMULAS else "") + shown(value)


write("values", "".join(v + "\n" for v in VALUES))
reports = must("randomize", "--values-file", path("values"), "--epsilon", "4", "--mechanism", "grr", "--simulate", "--seed", "1",
               stdin=lines(v for v in VALUES for _ in range(40)))
tally = must("tally", stdin=reports)
got, text = fields(must("estimate", "-", "--format", "csv", stdin=tally))
ok(got == [safe(v) for v in VALUES], "CSV of the command has no formula and nothing hidden", got)
ok('"a;=1"' in text and "\n-3," in text, "what a sheet of another language would cut is in quotes; numbers below 0 stay numbers", text)
data = must("estimate", "-", "--format", "json", stdin=tally).decode()
ok([r["value"] for r in json.loads(data)["estimates"]] == VALUES and not hidden(data), "JSON holds each word exactly, and hides nothing either", data)
table = must("estimate", "-", stdin=tally).decode()
ok(not hidden(table) and "a\\u{202e}b" in table and "d\\u{200b}e" in table, "nor does a table", table)
must("estimate", "-", "--plot", path("command.svg"), stdin=tally)
drawn = open(path("command.svg")).read()
ok(not hidden(drawn) and ">a\\u{202e}b<" in drawn, "nor a drawing", drawn)

# ---- A collector -----------------------------------------------------------------

VALUES = [v for v in VALUES if not set(v) & set("\t\u0085")]  # these no task takes
listed = ", ".join('"%s"' % "".join("\\U%08x" % ord(ch) for ch in v) for v in VALUES)
c = Collector("words", task("odd", "values: [%s]; epsilon: 4; mechanism: grr; repeat: once" % listed))
c.start()
WITH = VALUES + ["other"]
reports = must("randomize", "--task", "%s:odd" % os.path.join(c.dir, "tasks.signed"), "--simulate", "--seed", "1",
               stdin=lines(v for v in VALUES for _ in range(40)))
status, _, body = ask(c.admin, "POST", "/v1/tasks/odd/tally", must("tally", stdin=reports))
ok(status == 200, "a collector takes a tally with such labels", body)
status, body = c.get("/v1/tasks/odd/estimate.csv")
got, text = fields(body)
ok(status == 200 and got == [safe(v) for v in WITH], "its CSV has no formula and nothing hidden", got)
status, _, body = ask(c.admin, "GET", "/v1/tasks/odd/estimate")
ok([r["value"] for r in json.loads(body)["estimates"]] == WITH and not hidden(body.decode()), "its JSON holds each word exactly", body)
drawn = c.get("/v1/tasks/odd/estimate.svg")[1].decode()
ok(not hidden(drawn) and ">a\\u{202e}b<" in drawn, "its drawing shows them by their numbers", drawn)
c.stop()

# ---- The page --------------------------------------------------------------------

every = [everything[i:i + 1000] for i in range(0, len(everything), 1000)]
write("all", "".join("".join(part) + "\n" for part in every))
reports = must("randomize", "--values-file", path("all"), "--epsilon", "1", "--mechanism", "grr", "--simulate", "--seed", "1", stdin="".join(every[0]) + "\n")
got, _ = fields(must("estimate", "-", "--format", "csv", stdin=must("tally", stdin=reports)))
escaped = {int(x, 16) for x in re.findall(r"\\u\{([0-9a-f]+)\}", "".join(got))}
ok({0x85, 0x202e, 0xe0001, 0x10ffff} < escaped and not {9, 0x20, 0xa0, 0x202f, 0x1f31e} & escaped and len(escaped) < 5000,
   "of all characters the command hides %d by their numbers" % len(escaped))
node = shutil.which("node")
if node is None:
    ok(True, "the page hides the same # SKIP there is no node")
else:
    shutil.copytree(os.path.join(ROOT, "web"), path("web"))
    write("web/package.json", '{"type": "module"}')
    write("web/ask.js", """import { cell, visible } from "./dom.js";
const hidden = [];
for (let i = 0; i < 0x110000; i++) if ((i < 0xd800 || i >= 0xe000) && visible(String.fromCodePoint(i)) !== String.fromCodePoint(i)) hidden.push(i);
console.log(JSON.stringify({ hidden, cells: %s.map(cell) }));
""" % json.dumps(VALUES))
    page = json.loads(subprocess.run([node, path("web/ask.js")], stdout=subprocess.PIPE, check=True).stdout)
    ok(set(page["hidden"]) == escaped | {*range(32), 127}, "the page hides the same", sorted(set(page["hidden"]) ^ escaped)[:20])
    ok([next(csv.reader([cell]))[0] for cell in page["cells"]] == [safe(v) for v in VALUES], "its CSV has no formula and nothing hidden", page["cells"])
done()
