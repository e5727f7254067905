#!/usr/bin/python3 -B
"""The alert rules: Prometheus' own tool takes them, every metric that they name
is one that a collector has, or a shuffler, each comes when it should and not
otherwise."""

import yaml

from chain import *

PROMETHEUS = os.path.join(ROOT, "packaging", "prometheus")


def shown(party):
    """The metrics of one that runs."""
    party.start()
    text = party.get("/metrics")[1].decode()
    ok(party.stop() == 0, "it shows its metrics: " + os.path.basename(party.dir))
    return text


class Rules:
    """A file of rules, and the metrics of whom they are for."""

    def __init__(self, name, text, least):
        self.file, self.text = os.path.join(PROMETHEUS, name), text
        self.rules = yaml.safe_load(open(self.file))["groups"][0]["rules"]
        self.alerts = [r["alert"] for r in self.rules]
        ok(len(set(self.alerts)) == len(self.alerts) > least, "there are rules: " + name, self.alerts)
        known = set(re.findall(r"^([a-z_]+)(?:\{| )", text, re.M))
        used = set(re.findall(r"\b(?:hearsay|process)_[a-z_]+\b", " ".join(r["expr"] for r in self.rules)))
        ok(used and used <= known, "every metric in one is there", used - known)
        for label, value in re.findall(r'(\w+)=~?"([^"]*)"', " ".join(r["expr"] for r in self.rules)):
            if label in ("reason", "verdict", "state"):
                ok(all('%s="%s"' % (label, v) in text for v in value.split("|")), "so is every label: %s" % value)


both = [Rules("hearsay.rules.yml", shown(Collector()), 10),
        Rules("hearsay-shuffle.rules.yml", shown(Chain(shufflers=1, start=False).shufflers[0]), 6)]
page = open(os.path.join(ROOT, "docs", "run-a-shuffler.md")).read()
ok(re.findall(r"^\| `(HearsayShuffle\w+)` \|", page, re.M) == both[1].alerts, "every alert of a shuffler is on its page", both[1].alerts)

if shutil.which("promtool") is None:
    ok(True, "# SKIP no promtool (of Debian's package prometheus, 96 MB)")
    done()
for r_ in both:
    r = subprocess.run(["promtool", "check", "rules", r_.file], capture_output=True, text=True)
    ok(r.returncode == 0 and "%d rules found" % len(r_.alerts) in r.stdout, "promtool finds nothing wrong", r.stdout + r.stderr)

# A metric, values of it (one a minute) of which the alert comes and some of which
# it does not, and the minute at which that is looked at, from 1970 on.
WELL = "0x300"
SERIES = {
    "HearsayDown": ('up{job="hearsay"}', WELL, "1x300", 5),
    "HearsayNotReady": ("hearsay_ready", WELL, "1x300", 5),
    "HearsayTrouble": ('hearsay_trouble{name="disk-low"}', "1x300", WELL, 20),
    "HearsayDocumentExpires": ("hearsay_document_expires_timestamp_seconds", "1000000x300", "2000000x300", 70),
    "HearsayUploadsRefused": ('hearsay_uploads_total{verdict="full"}', "0+1x300", "7x300", 20),
    "HearsayRequestsRefused": ('hearsay_requests_refused_total{reason="busy"}', "0+1x300", "7x300", 20),
    "HearsayDiskFills": ("hearsay_disk_free_bytes", "1000000-2000x300", "1000000x300", 120),
    "HearsayLogGrows": ("hearsay_log_bytes", "2000000000x300", "200000000x300", 20),
    "HearsayNotFolded": ("hearsay_unfolded_seconds", "0+60x300", "1x300", 20),
    "HearsayNoCheckpoint": ("hearsay_last_checkpoint_timestamp_seconds", WELL, "0+60x300", 60),
    "HearsayNoBackup": ("hearsay_last_backup_timestamp_seconds", "-172800x300", "0x300", 70),
    "HearsaySlow": ("hearsay_wait_seconds_bucket", "0+1x300", "0+100x300", 20),
    "HearsayClockStepped": ("hearsay_clock_step_seconds", "0x30 900x200", "0x30 1x200", 35),
    "HearsayTallyMemory": ("hearsay_tally_bytes", "900x300", "700x300", 70),
    "HearsayDescriptors": ('process_open_fds{job="hearsay"}', "950x300", "900x300", 10),
    "HearsayRestarts": ('process_start_time_seconds{job="hearsay"}', "0+60x300", "7x300", 10),
    "HearsayShuffleDown": ('up{job="hearsay-shuffle"}', WELL, "1x300", 5),
    "HearsayShuffleNotReady": ('hearsay_ready{job="hearsay-shuffle"}', WELL, "1x300", 5),
    "HearsayShuffleTrouble": ('hearsay_trouble{job="hearsay-shuffle",name="batch-refused"}', "1x300", WELL, 20),
    "HearsayShuffleWaits": ("hearsay_shuffle_waits_seconds", "30000x300", "3600x300", 5),
    "HearsayShuffleRefused": ("hearsay_shuffle_refused", "1x300", WELL, 20),
    "HearsayShuffleErased": ("hearsay_shuffle_erased_total", "0+1x300", "7x300", 20),
    "HearsayShuffleDiskFills": ('hearsay_disk_free_bytes{job="hearsay-shuffle"}', "1000000-2000x300", "1000000x300", 120),
}
BESIDE = {"HearsayDocumentExpires": ("hearsay_document_version", "3x300"), "HearsayTallyMemory": ("hearsay_tally_limit_bytes", "1000x300"),
          "HearsayDescriptors": ('process_max_fds{job="hearsay"}', "1000x300")}
alerts = [a for r_ in both for a in r_.alerts]
ok(list(SERIES) == alerts, "there is a case for each alert", set(SERIES) ^ set(alerts))


def series(name, more=""):
    """A name with its labels, and the instance."""
    return "%s,%s%s" % (name[:-1], more, 'instance="i"}') if name.endswith("}") else "%s{%s%s" % (name, more, 'instance="i"}')


def inputs(name, values, beside):
    if "bucket" in name:  # so many are below a quarter of a second, of 100
        rows_ = [(series(name, 'le="%s",' % le), v) for le, v in (("0.262144", values), ("2.097152", "0+100x300"), ("+Inf", "0+100x300"))]
    else:
        rows_ = [(series(name), values)]
    rows_ += [(series(beside[0]), beside[1])] if beside else []
    return [{"series": s, "values": v} for s, v in rows_]


def case(rule, values, comes):
    """A test of promtool's: these values, and the alert or none."""
    name, minutes = SERIES[rule["alert"]][0], SERIES[rule["alert"]][3]
    labels = {"instance": "i", **dict(re.findall(r'(\w+)="([^"]*)"', name)), **rule["labels"]}
    says = re.sub(r"{{ \$labels\.(\w+) }}", lambda m: labels[m.group(1)], rule["annotations"]["summary"])
    return {"interval": "1m", "input_series": inputs(name, values, BESIDE.get(rule["alert"])),
            "alert_rule_test": [{"eval_time": "%dm" % minutes, "alertname": rule["alert"],
                                 "exp_alerts": [{"exp_labels": labels, "exp_annotations": {"summary": says}}] if comes else []}]}


for r_ in both:
    tests = [case(rule, SERIES[rule["alert"]][which], which == 1) for rule in r_.rules for which in (1, 2)]
    with open(path("rules.test.yml"), "w") as f:
        yaml.safe_dump({"rule_files": [r_.file], "evaluation_interval": "1m", "tests": tests}, f)
    r = subprocess.run(["promtool", "test", "rules", path("rules.test.yml")], capture_output=True, text=True)
    ok(r.returncode == 0, "each comes when it should, and only then", r.stdout + r.stderr)
    r = subprocess.run(["promtool", "check", "metrics"], input=r_.text, capture_output=True, text=True)
    ok(r.returncode == 0, "promtool takes the metrics too", r.stdout + r.stderr)
done()
