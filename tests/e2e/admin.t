#!/usr/bin/python3 -B
"""What an analyst asks of a collector: the same numbers as the command gives on
the same tally, to the last digit, to whom they may be shown."""

from collector import *
import random

LYING = "0.01"
LEAST = 500
WORDS = ["anna", "bert", "carl", "dora", "emil"]
NAMES = ["red", "dark, blue", 'say "x"', "gr\u00fcn"]
random.seed(7)


def few(name, what):
    return task(name, what, min_reports=LEAST)


TASKS = "".join([
    few("crash", "yes-no: true; epsilon: 1; repeat: daily"),
    few("often", "yes-no: true; epsilon: 1; repeat: daily"),
    few("kept", "yes-no: true; epsilon: 1; permanent: {epsilon: 2}"),
    few("colour", "values: %s; epsilon: 1; mechanism: grr; repeat: daily" % json.dumps(NAMES, ensure_ascii=False)),
    few("many", "values: %s; epsilon: 1; mechanism: oue; repeat: once" % json.dumps(["v%d" % i for i in range(40)])),
    few("minutes", "range: [0, 1440]; epsilon: 1; repeat: daily"),
    few("memory", "range: [0, 96]; bins: 12; epsilon: 2; mechanism: sw; repeat: once"),
    few("age", "range: [0.5, 99.5]; bins: 16; epsilon: 2; mechanism: hh; repeat: once"),
    few("page", "strings: true; epsilon: 2; mechanism: olh; set: {pool-bits: 8}; repeat: daily"),
    few("site", "strings: true; mechanism: rappor; set: {filter-bits: 32, hashes: 2, cohorts: 8, f: 0.25, p: 0.35, q: 0.65}; repeat: once"),
    few("word", "strings: true; epsilon: 4; mechanism: pem; set: {bits: 32, step: 8, pool-bits: 8}; repeat: once"),
    few("piece", "strings: true; epsilon: 6; mechanism: sfp; set: {bits: 32, hashes: 16, width: 256}; repeat: once"),
])
TRUTHS = {
    "crash": ["yes", "no", "no"], "colour": NAMES, "many": ["v1", "v2", "v3"],
    "minutes": ["30", "600", "1440"], "memory": ["8", "16", "17", "64"], "age": ["18", "30.5", "64"],
    "page": WORDS, "site": WORDS, "word": ["anna", "anna", "bert"], "piece": ["anna", "anna", "bert"],
}
CANDIDATES = path("candidates")


def reports(c, name, n, seed):
    """Reports of n people, as a tally file."""
    truths = TRUTHS[name]
    rng = random.Random(seed)
    stream = must("randomize", "--task", "%s:%s" % (os.path.join(c.dir, "tasks.signed"), name),
                  stdin=lines(rng.choice(truths) for _ in range(n)))
    return must("tally", "--round", "0:0", stdin=stream)


def post(c, where, body, token=None, method="POST"):
    status, headers, answer = ask(c.admin, method, where, body, token)
    return status, json.loads(answer) if "json" in headers.get("content-type", "") else answer


def tally_of(c, name, token, query=""):
    status, tally = c.get("/v1/tasks/%s/tally%s" % (name, query), token)
    assert status == 200, tally
    return write(name + ".tally", tally)


def command(name, tally, form):
    """The command's figure of a tally, as the collector asks it."""
    if name in ("word", "piece"):
        return must("discover", "show", tally, "--format", form)
    how = ["--format", form]
    if name in ("page", "site"):
        how += ["--candidates", os.path.join(CANDIDATES, name + ".txt"), "--top", "50"]
    if name not in ("site", "memory", "age"):  # these have no bound
        how += ["--assume-lying", LYING]
    return must("estimate", tally, *how)


def same(figure, printed):
    """What differs between a collector's figure and the command's."""
    wrong = []
    for key, value in printed.items():
        if key in ("releases", "people"):
            continue
        mine = figure.get("estimates" if key == "strings" else key, "missing")
        if key == "notes":  # of days only the collector knows
            mine = [note for note in mine if "of no day" not in note]
        if mine != value:
            wrong.append("%s: %r, printed %r" % (key, mine, value))
    return wrong


SAID = ["first_day", "last_day", "release"]


def sheet(text):
    return list(csv.reader(io.StringIO(text.decode("latin-1"), newline="")))


def cell(value):
    return "" if value is None else repr(value).lower() if isinstance(value, bool) else value if isinstance(value, str) else "%.17g" % value


def same_cell(text, value):
    return text == cell(value) or (isinstance(value, (int, float)) and not isinstance(value, bool) and float(text) == value)


def drawn(svg):
    """The ends of the error bars of a list, and of those behind them, as its axis says."""
    number = r"(-?[0-9.]+)"
    at = [float(x) for x in re.findall(r'class="rule" d="M' + number, svg)]
    text = [float(t.replace("\u2212", "-")) for x in at for t in re.findall(r'x="%.1f"[^>]*text-anchor="middle"[^>]*>([^<]+)<' % x, svg)[:1]]
    scale = (text[-1] - text[0]) / (at[-1] - at[0])
    value = lambda x: (text[0] + (float(x) - at[0]) * scale, 0.051 * scale)
    bars = re.findall(r'class="frame" d="M' + number + " " + number + "v[^H]*H" + number + "m", svg)
    pale = re.findall(r'class="f0 further"[^>]*d="M' + number + " " + number + "H" + number, svg)
    return [[(value(a), value(b)) for a, _, b in which] for which in (bars, pale)]


def near(pair, low, high, by):
    return all(abs(x - by * want) <= error for (x, error), want in zip(pair, (low, high)))


# ---- Who may ask --------------------------------------------------------------------

os.makedirs(CANDIDATES)
for name in ("page", "site"):
    with open(os.path.join(CANDIDATES, name + ".txt"), "w") as f:
        f.write("".join(w + "\n" for w in WORDS + ["nobody"]))

c = Collector("admin", TASKS, admin_open=False, estimate_seconds=1, lying="2%", candidates=CANDIDATES)
os.makedirs(c.data, 0o700)
TOKENS = {role: must("serve", "token", "add", role, "--role", role, "--data", c.data).decode().split()[-1]
          for role in ("scraper", "analyst", "operator")}
c.forwarder()
c.start()
A, O = TOKENS["analyst"], TOKENS["operator"]

document = c.get("/v1/status", A)[1]["document"]
ok((document["issued"], document["expires"]) == (date(DAY - 40), date(DAY + 300)), "the status has the days of the document, as they were written", document)

OPEN = [("GET", "/healthz"), ("GET", "/readyz"), ("GET", "/"), ("GET", "/assets/app.js")]
SCRAPER = [("GET", "/metrics")]
ANALYST = [("GET", "/v1/status"), ("GET", "/v1/tasks"), ("GET", "/v1/tasks/crash"), ("GET", "/v1/tasks/crash/history"),
           ("GET", "/v1/tasks/crash/tally"), ("GET", "/v1/document")]
LATER = [("GET", "/v1/tasks/crash/estimate"), ("GET", "/v1/tasks/crash/estimate.csv"), ("GET", "/v1/tasks/crash/estimate.svg")]
OPERATOR = [("GET", "/v1/tasks/crash/live"), ("POST", "/v1/tasks/crash/tally"), ("PUT", "/v1/document")]


def statuses(routes, token):
    return [ask(c.admin, method, where, b"x" if method != "GET" else None, token)[0] for method, where in routes]


ok(set(statuses(OPEN, None)) == {200}, "health and the page need no token")
for routes, role, least in ((SCRAPER, "scraper", 1), (ANALYST + LATER, "analyst", 2), (OPERATOR + [("POST", "/v1/backup")], "operator", 3)):
    ok(set(statuses(routes, None)) == {401} and set(statuses(routes, "wrong" * 8)) == {401}, "no token, or a wrong one, does not open what the %s may do" % role)
    lower = [r for i, r in enumerate(("scraper", "analyst", "operator"), 1) if i < least]
    ok(all(set(statuses(routes, TOKENS[r])) == {403} for r in lower), "nor does the token of a lesser role")
    ok(not {401, 403, 404} & set(statuses(routes[:1] if role == "operator" else routes, TOKENS[role])), "that of the role itself does")
ok(set(statuses(SCRAPER + ANALYST, O)) == {200, 409}, "an operator may do what the others may")
ok(ask(c.admin, "DELETE", "/v1/tasks", token=O)[0] == 405 and ask(c.admin, "GET", "/v1/nothing", token=O)[0] == 404, "nothing else is there")

headers = ask(c.admin, "GET", "/")[1]
ok("default-src 'none'" in headers.get("content-security-policy", "") and "frame-ancestors 'none'" in headers["content-security-policy"]
   and headers.get("x-content-type-options") == "nosniff" and headers.get("referrer-policy") == "no-referrer"
   and headers.get("cache-control") == "no-store", "the page may run its own script and nothing else", headers)

strict = ask(c.admin, "GET", "/v1/tasks", token=A)[1]
ok("default-src 'none'" in strict["content-security-policy"] and "script-src" not in strict["content-security-policy"], "data may run nothing", strict)
for headers in ({"Origin": "http://elsewhere.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):
    ok(ask(c.admin, "POST", "/v1/backup", token=O, **headers)[0] == 403, "a page of another site changes nothing: %s" % headers)
ok(ask(c.admin, "POST", "/v1/tasks/crash/tally", b"x", O, Origin="http://%s:%d" % c.admin, **{"Sec-Fetch-Site": "same-origin"})[0] == 400, "our own may ask")

# ---- Below the least number nothing is shown ----------------------------------------

small = reports(c, "crash", LEAST - 1, 1)
status, merged = post(c, "/v1/tasks/crash/tally", small, O)
ok(status == 200 and merged["reports"] == LEAST - 1, "a tally is merged in", merged)
status, again = post(c, "/v1/tasks/crash/tally", small, O)
ok(status == 409 and again["title"] == "Merged before", "the same tally again is refused", again)
ok(json.loads(must("estimate", write("live.tally", c.get("/v1/tasks/crash/live", O)[1]), "--format", "json"))["reports"] == LEAST - 1, "and counted once")
ok(c.get("/v1/tasks/crash/tally", A)[0] == c.get("/v1/tasks/crash/tally", O)[0] == 409, "one report too few: no tally but the live one, which is an operator's")
for end in ("", ".csv", ".svg"):
    status, why = c.get("/v1/tasks/crash/estimate" + end, A)
    ok(status == 409 and why["title"] == "too few reports" and why["reports"] == 0 and why["min_reports"] == LEAST and "estimates" not in why,
       "one report too few: no estimate%s" % end, why)
status, row = c.get("/v1/tasks/crash", A)
ok(row["shown"] is False and row["reports"] == 0 and "live" not in row, "the task says so, and not how many")
ok(c.get("/v1/tasks/crash", O)[1]["live"] == {"reports": LEAST - 1, "nulls": 0, "devices": LEAST - 1, "days": []}, "but to an operator")
ok(post(c, "/v1/tasks/colour/tally", small, O)[0] == 409, "a tally of another scheme is refused")
ok(post(c, "/v1/tasks/colour/tally", b"not a tally", O)[0] == 400, "what is no tally is refused")
cut = post(c, "/v1/tasks/crash/tally", small[:-20], O)
ok(cut[0] == 400, "a tally that was cut is refused", cut)

# ---- The same numbers ---------------------------------------------------------------

SIZES = {"piece": 6000, "word": 4000}
for seed, name in enumerate(TRUTHS):
    status, answer = post(c, "/v1/tasks/%s/tally" % name, reports(c, name, SIZES.get(name, 1500), 100 + seed), O)
    assert status == 200, (name, answer)
for name in TRUTHS:
    total = c.get("/v1/tasks/" + name, A)[1]["reports"]
    c.settled(name, total, token=A)
    status, figure = c.get("/v1/tasks/%s/estimate?lying=%s" % (name, LYING), A)
    ok(status == 200, "%s: there is an estimate" % name, figure)
    if status != 200:
        continue
    tally = tally_of(c, name, A)
    printed = json.loads(command(name, tally, "json"))
    wrong = same(figure, printed)
    ok(not wrong and figure["reports"] == total and figure["task"] == name and len(figure["estimates"]) > 0,
       "%s: every number is the command's on the downloaded tally" % name, "\n".join(wrong))
    csv_ = c.get("/v1/tasks/%s/estimate.csv?lying=%s" % (name, LYING), A)[1]
    lines_, theirs = sheet(csv_), sheet(command(name, tally, "csv"))
    found = name in ("word", "piece")  # discover's CSV says other things of itself
    wide = theirs[0].index("level") if found and "level" in theirs[0] else len(theirs[0])
    if "assume_lying" not in theirs[0]:  # there is no bound: the command is not asked for one, the collector's cell is empty
        no = lines_[0].index("assume_lying")
        lines_ = [l[:no] + l[no + 1:] for l in lines_ if l[no] in ("assume_lying", "")]
    ok([l[:wide] for l in lines_] == [l[:wide] for l in theirs] and lines_[0][-3:] == SAID, "%s: the CSV begins with the command's, cell by cell" % name, csv_)
    ok(all(same_cell(text, figure.get(key)) for l in lines_[1:] for key, text in zip(SAID, l[-3:])), "%s: and its columns say of the figure what JSON says" % name, csv_)
    ok(all(same_cell(l[lines_[0].index(k)], v) for l, r in zip(lines_[1:], figure["estimates"]) for k, v in r.items() if k not in ("value", "value_hex")), "%s: each number is JSON's" % name, csv_)
    status, svg = c.get("/v1/tasks/%s/estimate.svg?lying=%s" % (name, LYING), A)
    ok(status == 200 and svg.startswith(b"<svg") and b"</svg>" in svg and b"<script" not in svg, "%s: it is drawn" % name)
    svg, about = svg.decode(), "%.14g %% intervals%s; %s, epsilon %.9g, %d reports" % (100 * figure["level"], ", adjusted for selection" if figure["level_selected"] > figure["level"] or len(figure["estimates"]) > 40 else "", figure["mechanism"], figure["epsilon"], figure["reports"])
    said = "Release %d, target: %s, devices: at least %d" % (figure["release"], figure["target"], figure["devices"])
    ok(about in svg and said in svg and ("pale: wider for 1 % of lying devices" in svg) == bool(figure["assume_lying"]), "%s: level, epsilon and reports in it are JSON's" % name, about)
    if figure["kind"] != "bins" and len(figure["estimates"]) <= 40:
        (bars, pale), by = drawn(svg), 1 if figure["kind"] == "number" else 100
        rows_ = figure["estimates"]
        if name == "colour":  # of names the largest comes first
            rows_ = sorted(rows_, key=lambda r: -r["estimate"])
        ok(len(bars) == len(rows_) and all(near(bar, r["low"], r["high"], by) for bar, r in zip(bars, rows_)), "%s: and so are its error bars" % name, (bars, rows_))
        ok(len(pale) == (len(rows_) if figure["assume_lying"] else 0) and all(near(bar, r["low_lying"], r["high_lying"], by) for bar, r in zip(pale, rows_)), "%s: with those of liars apart" % name, (pale, rows_))

ok(c.get("/v1/tasks/crash/estimate", A)[1]["assume_lying"] == 0.02, "where nothing else is asked, as many lie as the configuration says")
found = {r["value"] for r in c.get("/v1/tasks/word/estimate", A)[1]["estimates"] if r["significant"]}
ok("anna" in found, "a word that nobody listed is found", found)
words = lambda: [r for point in c.get("/v1/tasks/word/history", A)[1]["live"] for r in point["estimates"]]
ok(c.until(lambda: words()) and all(0.95 < r["level_selected"] < 1 for r in words()), "its history has the level of intervals that allow for the selection", words()[:2])
status, figure = c.get("/v1/tasks/age/estimate", A)
quantiles = json.loads(must("estimate", tally_of(c, "age", A), "--quantile", "0.1,0.25,0.5,0.75,0.9", "--format", "json"))["estimates"]
ok([{k: q[k] for k in ("estimate", "stderr", "low", "high")} for q in figure["quantiles"]] == [{k: q[k] for k in ("estimate", "stderr", "low", "high")} for q in quantiles],
   "quantiles of a range are the command's", figure["quantiles"])
ok((figure["lo"], figure["hi"]) == (0.5, 99.5), "and its ends are said")

status, figure = c.get("/v1/tasks/many/estimate?level=0.9&lying=0.05&top=3", A)
printed = json.loads(must("estimate", tally_of(c, "many", A), "--format", "json", "--level", "0.9", "--assume-lying", "0.05", "--top", "3"))
ok(not same(figure, printed) and len(figure["estimates"]) == 3 and figure["values"] == 41 and figure["lying_p"] is not None,
   "level, lying and top are as the command's", "\n".join(same(figure, printed)))
status, figure = c.get("/v1/tasks/many/estimate?lying=0", A)
printed = json.loads(must("estimate", tally_of(c, "many", A), "--format", "json"))
ok(not same(figure, printed) and figure["assume_lying"] == figure["lying_up"] == 0 and "low_lying" not in figure["estimates"][0], "without liars there is one interval", "\n".join(same(figure, printed)))
for name in ("many", "crash", "minutes", "age", "word"):
    asked, others = (c.get("/v1/tasks/%s/estimate?target=%s&lying=0" % (name, target), A)[1] for target in ("population", "people"))
    ok(asked["target"] == "population" and others["target"] == "people" and all(a["stderr"] > b["stderr"] or not 0 < a["estimate"] < 1 for a, b in zip(asked["estimates"], others["estimates"])),
       "%s: standard errors for the population are larger than those for who answered" % name, (asked, others))
    if name != "word":  # discover has the people who answered alone
        wrong = same(asked, json.loads(must("estimate", "--target", "population", tally_of(c, name, A), "--format", "json")))
        ok(not wrong, "%s: and they are those of 'hearsay estimate --target population'" % name, "\n".join(wrong))
about = rows(c.get("/v1/tasks/many/estimate.csv?target=population", A)[1])
ok({r["target"] for r in about} == {"population"} and "in the population" in c.get("/v1/tasks/many/estimate.svg?target=population", A)[1].decode(), "csv and svg say whom they are about", about)
liars = c.get("/v1/tasks/many/estimate?lying=0.3", A)[1]["estimates"]
ok(all({k: r[k] for k in ("value", "estimate", "stderr", "low", "high")} == r0 and r["low_lying"] < r["low"] and r["high_lying"] > r["high"] for r, r0 in zip(liars, figure["estimates"])),
   "liars change neither low nor high: they have an interval of their own", liars)
for query in ("level=2", "level=0", "level=1", "level=100", "level=100%25", "level=%25", "level=9%255", "level=95%25%25", "to=%s&from=%s" % (date(DAY + 30), date(DAY - 1)), "from=%s&to=%s" % (date(DAY + 9), date(DAY + 9)), "target=users", "target=", "level=x", "level=nan", "level=1e-3", "lying=1", "top=0", "top=99999999999", "top=-1", "release=0", "release=x", "from=2026-11-16",
              "from=2026-13-01&to=2026-13-01", "from=2026-11-17&to=2026-11-16", "from=20261116&to=20261116", "level="):
    status, why = c.get("/v1/tasks/many/estimate?" + query, A)
    ok(status == 400 and why["detail"].startswith(query.split("=")[0]), "%s is refused, by name" % query, (status, why))
ok(c.get("/v1/tasks/many/estimate?level=90%25", A)[1] == c.get("/v1/tasks/many/estimate?level=0.9", A)[1], "a level may be said as 90 %, as to the command")
status, why = c.get("/v1/tasks/crash/estimate?lying=2", A)
ok(status == 400 and "from 0 to below 1 is wanted, as 0.01" in why["detail"], "what is wrong with a share is said of a share", why)
for query in ("levle=0.9", "level=0.9&post=x", "=1", "level=0.9&level=0.8", "release=1&release=1"):
    status, why = c.get("/v1/tasks/many/estimate?" + query, A)
    ok(status == 400 and "what can be said" in why["detail"], "?%s is not passed over" % query, why)
ok(c.get("/v1/tasks/many/estimate?release=9", A)[0] == 404 and c.get("/v1/tasks/none/estimate", A)[0] == 404, "an unknown task or release is not found")

# ---- Days, compared -----------------------------------------------------------------

with open(os.path.join(CANDIDATES, "page.txt"), "a") as f:
    f.write("anna\n")
status, why = c.get("/v1/tasks/page/estimate", A)
ok(status == 400 and "candidates, line 7" in why["detail"], "a candidate that stands there twice is named", why)
os.remove(os.path.join(CANDIDATES, "page.txt"))
status, why = c.get("/v1/tasks/page/estimate", A)
ok(status == 422 and "candidates" in why["detail"], "strings without candidates have no estimate", why)

yesterday = DAY - 1
for day, seed in ((yesterday, 3), (DAY, 4)):
    rng = random.Random(seed)
    status, answer = c.bring([c.task["colour"].upload([rng.choice([0, 0, 1, seed]) for _ in range(LEAST)], epoch=day)])
    assert status == 204, answer
c.settled("colour", c.get("/v1/tasks/colour", A)[1]["reports"], token=A)
status, row = c.get("/v1/tasks/colour", A)
ok(row["days"] == [{"day": date(d), "reports": LEAST, "nulls": 0} for d in (yesterday, DAY)] and row["by_day"], "days are counted", row["days"])
day = "from=%s&to=%s" % (date(yesterday), date(yesterday))
status, figure = c.get("/v1/tasks/colour/estimate?" + day, A)
ok(status == 200 and figure["reports"] == LEAST, "one day has its own estimate", figure)
status, why = c.get("/v1/tasks/colour/estimate?from=%s&to=%s" % (date(DAY - 20), date(DAY - 20)), A)
ok(status == 409 and why["devices"] == 0, "a day without reports has none", why)
ok(c.get("/v1/tasks/colour/estimate?from=%s&to=%s" % (date(DAY - 40), date(DAY - 40)), A)[0] == 404, "nor one that is no longer kept")
ok((figure["first_day"], figure["last_day"]) == (date(yesterday), date(yesterday)), "and says which", figure)
whole = c.get("/v1/tasks/colour/estimate", A)[1]
ok((whole["first_day"], whole["last_day"]) == (date(yesterday), date(DAY)), "as does that of all days", whole)
status, why = c.get("/v1/tasks/colour/compare?%s&from2=%s&to2=%s" % (day, date(DAY + 5), date(DAY + 5)), A)
ok(status == 400 and why["detail"].startswith("from2"), "days to come are no days to compare", why)
assert c.bring([c.task["colour"].upload([0] * 10, epoch=DAY - 2)])[0] == 204
assert c.bring([c.task["colour"].upload([0] * LEAST, epoch=DAY)])[0] == 204
days = lambda: c.get("/v1/tasks/colour/history", A)[1]["days"]
c.until(lambda: sum("own" in d for d in days()) == 2 and days()[-1].get("reports") == whole["reports"] + LEAST)
past = days()
last = past[-1]  # of today, or tomorrow if this runs over midnight
ok([d["day"] for d in past][:2] == [date(yesterday), date(DAY)] and c.get("/v1/tasks/colour", A)[1]["reports"] == whole["reports"] + LEAST, "a few reports of an earlier day are held back", past)
ok([past[0]["own"][k] for k in ("reports", "estimates")] == [figure[k] for k in ("reports", "estimates")], "a day's own figure is that of its reports alone", past[0])
now = c.get("/v1/tasks/colour/estimate", A)[1]
ok(last["reports"] == now["reports"] == whole["reports"] + LEAST and last["estimates"] == now["estimates"] and past[1]["own"]["estimates"] != now["estimates"],
   "beside that of all reports so far", past[1])
status, both = c.get("/v1/tasks/colour/compare?%s&from2=%s&to2=%s" % (day, date(DAY), date(DAY)), A)
ok(status == 200 and both["a"] == figure and both["b"]["reports"] == 2 * LEAST and len(both["difference"]) == 5, "two days are compared", both)
wider = c.get("/v1/tasks/colour/compare?%s&from2=%s&to2=%s&target=population" % (day, date(DAY), date(DAY)), A)[1]
errors = [[r["stderr"] for r in figures["difference"]] for figures in (wider, both)]
ok(wider["a"]["target"] == wider["b"]["target"] == "population" and max(a - b for a, b in zip(*errors)) > 0 <= min(a - b for a, b in zip(*errors)),
   "and for the population, with larger standard errors", errors)
ok(c.get("/v1/tasks/colour/compare?" + day, A)[0] == 400, "a comparison wants two")
status, why = c.get("/v1/tasks/crash/compare?from=%s&to=%s&from2=%s&to2=%s" % ((date(DAY),) * 4), A)
ok(status in (404, 409) and "difference" not in why, "too few reports of a day are not compared", why)

# ---- Releases, and documents --------------------------------------------------------

second = c.document(TASKS.replace("    question: Which one is it?\n    values: [\"red\"", "    release: 2\n    question: Which one is it?\n    values: [\"red\"", 1)
                    .replace("mechanism: grr", "mechanism: olh", 1), name="next")
old = open(os.path.join(c.dir, "tasks.signed"), "rb").read()
new = open(second, "rb").read()
status, why = post(c, "/v1/document", new[:-1] + bytes([new[-1] ^ 1]), O, "PUT")
ok(status == 403, "a document that is not signed is refused", why)
signed = os.path.join(c.dir, "changed.signed")
with open(os.path.join(c.dir, "changed.yaml"), "w") as f:
    f.write(open(os.path.join(c.dir, "next.yaml")).read().replace("yes-no: true\n    epsilon: 1", "yes-no: true\n    epsilon: 2", 1))
must("tasks", "compile", f.name, "--key", os.path.join(c.dir, "key.secret"), "-o", signed)
status, why = post(c, "/v1/document", open(signed, "rb").read(), O, "PUT")
ok(status == 400 and why["detail"].startswith("crash: this release"), "a task that changes needs a new release, and is named", why)
status, said = post(c, "/v1/document", new, O, "PUT")
ok(status == 200 and said["version"] == 2, "the next document is taken", said)
told = c.said().count("note document version=2")
status, again = post(c, "/v1/document", new, O, "PUT")
ok(status == 200 and again == said and told == 1 == c.said().count("note document version=2"), "again it changes nothing, and the log does not say that it came", (again, c.said()))
status, why = post(c, "/v1/document", old, O, "PUT")
ok(status == 409, "an older one is refused", why)
ok(c.get("/v1/document", A) == (200, new), "the document in force is shown")
tasks = {(t["task"], t["release"]): t for t in c.get("/v1/tasks", A)[1]["tasks"]}
ok(tasks["colour", 2]["current"] and not tasks["colour", 1]["current"] and tasks["colour", 2]["mechanism"] == "olh", "both releases are known, one is in force")
os.rename(second, os.path.join(c.dir, "tasks.signed"))
status, answer = post(c, "/v1/tasks/colour/tally", reports(c, "colour", 2000, 9), O)
assert status == 200, answer
c.settled("colour", 2000, release=2, token=A)
a, b = (write("r%d.tally" % r, c.get("/v1/tasks/colour/tally?release=%d" % r, A)[1]) for r in (1, 2))
status, both = c.get("/v1/tasks/colour/compare?release=1&with=2&lying=" + LYING, A)
printed = json.loads(must("estimate", a, "--against", b, "--format", "json", "--assume-lying", LYING))
ok(status == 200 and both["difference"] == printed["estimates"] and both["lying_up"] == printed["lying_up"]
   and both["a"]["mechanism"] == "grr" and both["b"]["mechanism"] == "olh",
   "two releases are compared as by --against", both)
ok(c.get("/v1/tasks/memory/compare?release=1&with=1", A)[1]["difference"] is None, "shares by EM have no difference that could be tested")

# ---- Time ---------------------------------------------------------------------------


WANTED = LEAST - 1 + 1500 + 700
assert c.bring([c.task["crash"].upload([1] * 700)])[0] == 204
c.until(lambda: [p["reports"] for p in c.get("/v1/tasks/crash/history", A)[1]["live"]][-1:] == [WANTED])
listed = next(t for t in c.get("/v1/tasks", A)[1]["tasks"] if t["task"] == "crash")
ok({key: listed[key] for key in ("release", "reports", "nulls", "devices", "shown")} == {"release": 1, "reports": WANTED, "nulls": 0, "devices": WANTED - 700, "shown": True}, "the list of tasks has what was counted", listed)
status = c.get("/v1/status", A)[1]
ok(status["ready"] is True and status["store"]["commits"] >= 0, "the status says how the collector is", status)
status, past = c.get("/v1/tasks/crash/history", A)
now = c.get("/v1/tasks/crash/estimate", A)[1]
ok(past["live"][-1]["reports"] == now["reports"] and past["live"][-1]["estimates"] == now["estimates"]
   and abs(past["live"][-1]["time"] - time.time()) < DEADLINE, "the history has the last figure", past["live"][-1:])
ok([d["day"] for d in past["days"]][-1] in (date(DAY), date(DAY + 1)) and past["days"][-1]["reports"] == now["reports"], "and that of the day")

# ---- Metrics ------------------------------------------------------------------------

text = ask(c.admin, "GET", "/metrics", token=O)[2].decode()
SAMPLE = re.compile(r'^[a-z_]+(\{([a-z]+="[^"\\\n]*",?)*\})? -?[0-9.e+]+$')
bad = [l for l in text.splitlines() if not l.startswith("#") and not SAMPLE.match(l)]
ok(not bad and text.endswith("\n"), "metrics are in Prometheus' format", bad)
typed = {l.split()[2] for l in text.splitlines() if l.startswith("# TYPE")}
ok(all(re.sub(r"(_bucket|_count|_sum)$", "", re.split(r"[{ ]", l)[0]) in typed or re.split(r"[{ ]", l)[0] in typed for l in text.splitlines() if not l.startswith("#")),
   "each has a type")
labels = set(re.findall(r'([a-z]+)="', text))
ok(labels <= {"verdict", "listener", "status", "le", "name", "reason", "version", "fate"}, "no label could name a device, or a task", labels)
value = {l.rsplit(" ", 1)[0]: float(l.rsplit(" ", 1)[1]) for l in text.splitlines() if not l.startswith("#")}
ok(value['hearsay_uploads_total{verdict="counted"}'] == 5 and value["hearsay_reports_total"] == 3 * LEAST + 10 + 700 and value["hearsay_clock_jumped"] == 0,
   "they count what was counted")
buckets = [v for k, v in value.items() if k.startswith("hearsay_wait_seconds_bucket")]
ok(buckets == sorted(buckets) and buckets[-1] == value["hearsay_wait_seconds_count"] == 5, "waits are a histogram", buckets)
text = ask(c.admin, "GET", "/metrics", token=TOKENS["scraper"])[2].decode()
value = {l.rsplit(" ", 1)[0]: float(l.rsplit(" ", 1)[1]) for l in text.splitlines() if not l.startswith("#")}
ok(value['hearsay_uploads_total{verdict="counted"}'] == value["hearsay_wait_seconds_count"] == 0 and value["hearsay_reports_total"] == 2000 and value["hearsay_open_epochs"] == 5,
   "who is no operator sees them in steps", value)

# ---- Devices, not reports -----------------------------------------------------------

for day in (yesterday, DAY):
    assert c.bring([c.task["often"].upload([0] * 300, epoch=day)])[0] == 204
row = c.get("/v1/tasks/often", A)[1]
live = c.get("/v1/tasks/often", O)[1]["live"]
ok((live["reports"], live["devices"], row["reports"], row["shown"]) == (600, 300, 0, False), "devices that answer daily are counted once: 600 reports are not %d devices" % LEAST, row)
for end in ("", ".csv", ".svg", "?from=%s&to=%s" % (date(yesterday), date(DAY))):
    status, why = c.get("/v1/tasks/often/estimate" + end, A)
    ok(status == 409 and (why["devices"], why["min_reports"]) == (0, LEAST) and "estimates" not in why, "so that no figure is shown: estimate%s" % end, why)
assert c.bring([c.task["often"].upload([0] * (LEAST - 300))])[0] == 204
c.settled("often", 300 + LEAST, token=A)
status, figure = c.get("/v1/tasks/often/estimate", A)
ok(status == 200 and (figure["reports"], figure["devices"], figure["rounds"]) == (300 + LEAST, LEAST, 2) and c.get("/v1/tasks/often", A)[1]["shown"], "until a round has as many", figure)
table = sheet(c.get("/v1/tasks/often/estimate.csv", A)[1])
ok(table[0][-4:] == ["notes"] + SAID and all(l[-4] == "; ".join(figure["notes"]) for l in table[1:]), "the CSV has its notes", table)
ok(any("person-rounds" in text for text in figure["notes"]), "and the figure says what it is a share of", figure["notes"])
ok("person-rounds" in must("estimate", tally_of(c, "often", A)).decode() and all(t in must("estimate", tally_of(c, "often", A)).decode() for t in figure["notes"]), "in the words of the command")
for day in (yesterday, DAY):
    assert c.bring([c.task["kept"].upload([0] * LEAST, epoch=day)])[0] == 204
c.settled("kept", 2 * LEAST, token=A)
notes = c.get("/v1/tasks/kept/estimate", A)[1]["notes"]
ok(len(notes) == 2 and any("more days do not" in text for text in notes), "of kept answers also that more days do not sharpen it", notes)
notes = c.get("/v1/tasks/many/estimate", A)[1]["notes"]
ok(not any("rounds" in text or "more days" in text for text in notes), "of a task that is asked once there is nothing to say about rounds", notes)

# ---- A backup, and the next start ---------------------------------------------------

names = [post(c, "/v1/backup", b"", O) for _ in range(2)]
ok([s for s, _ in names] == [201, 201] and names[0][1]["directory"] != names[1][1]["directory"]
   and all(os.path.isdir(os.path.join(c.data, n["directory"])) for _, n in names), "a backup is made while it runs, each in a new directory", names)
ok(c.stop() == 0, "it stops")
c.start()
status, later = c.get("/v1/tasks/crash/history", A)
c.until(lambda: c.get("/v1/tasks/crash/history", A)[1]["days"] != [])
later = c.get("/v1/tasks/crash/history", A)[1]
ok(later["days"] == past["days"] and c.get("/v1/tasks/crash/estimate", A)[1]["estimates"] == now["estimates"], "days and estimates outlive it", later)
moments = [b for b in open(c.log, "rb").read().splitlines() if re.search(rb"\d\d:\d\d", b)]
ok(not moments, "its log tells no time of day", moments)
c.stop()
done()
