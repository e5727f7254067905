// words.js - what numbers and states mean, in plain words.

import { count, day, fixed, percent, unitOf } from "./numbers.js";

const KINDS = {
  "yes-no": "Yes or no", values: "One of a list", number: "Mean of a number", bins: "Distribution", strings: "Words", tuple: "Several questions",
};
export const kindName = (kind) => KINDS[kind] ?? kind;

// Where a task stands: [class, text].
export function stateOf(task, today) {
  // The last uploads of a task, or all of them, come when its last day is over.
  if (!task.current || (task.sent_until && today && task.sent_until < today)) return ["over", "Over"];
  if (task.start && today && task.start > today) return ["soon", `Starts ${day(task.start, false)}`];
  if (task.reports < task.min_reports || !task.shown) return ["few", "Too few reports"];
  return ["collecting", "Collecting"];
}

// Above this a bound on the odds is none: a guess becomes as good as known.
export const TELLS_ALL = Math.log(1e6);

const times = (x) => (x < 10 ? fixed(x, 2) : x < 1000 ? fixed(x, 0) : count(x));

// After a report, a guess that was believed with this chance is believed with
// at most that: the odds move by at most the factor e^epsilon.
export const believed = (before, odds) => (odds * before) / (1 - before + odds * before);

export const oddsText = (odds) => `\u00d7\u202f${times(odds)}`;

export function believedText(before, odds) {
  const after = believed(before, odds);
  const text = after > 0.9995 ? "almost certain" : `at most ${fixed(after * 100, after < 0.1 || after > 0.99 ? 1 : 0)}\u202f%`;
  return [`believed ${percent(before)}`, text];
}

export const epsilonText = (e) => `\u03b5 = ${fixed(e, Math.abs(e - Math.round(e)) < 1e-6 ? 0 : 2)}`;

// What lying devices could do to this figure.
export function liesText(figure, unit) {
  if (figure.kind === "strings" && figure.assume_lying === null) return "What lying devices could do here has no known bound: enough of them can make a word appear.";
  if (!figure.assume_lying) return "";
  const share = percent(figure.assume_lying);
  const amount = (x) => fixed(x * unit.scale, x * unit.scale < 1 ? 2 : 1) + (unit.share ? " percentage points" : "");
  return `If ${share} of the devices lied, and lied as well as they could, a number here could be up to ${amount(figure.lying_up)} too large or ${amount(figure.lying_down)} too small.`;
}

// The figure in one sentence: for the head of the page, and for being read out.
export function headline(figure, unit, reach) {
  const rows = figure.estimates.filter((r) => r.significant !== false);
  if (!rows.length) return { value: "\u2013", spread: "", text: figure.kind === "strings" ? "No word stands out from chance yet." : "" };
  const show = (row, text) => ({ value: unit.of(row.estimate, row.stderr), spread: unit.spread(reach * row.stderr, row.stderr), text });
  if (figure.kind === "bins" && !figure.largest_first) {
    const middle = figure.quantiles?.find((q) => q.quantile === 0.5);
    const plain = unitOf({ kind: "number" });
    return middle ? { value: plain.of(middle.estimate, middle.stderr), spread: plain.spread(reach * middle.stderr, middle.stderr), text: "is the median" } : { value: "", spread: "", text: "" };
  }
  if (figure.kind === "number") return show(rows[0], "on average");
  if (figure.kind === "yes-no") return show(rows.find((r) => r.value === "yes") ?? rows[0], "say yes");
  const [first, second] = [...rows].sort((a, b) => b.estimate - a.estimate);
  if (second && first.estimate - second.estimate < reach * Math.hypot(first.stderr, second.stderr)) return show(first, `${first.value}, too close to ${second.value} to call`);
  return show(first, first.value);
}

export const lowEnough = (p) => p !== null && p !== undefined && p < 0.05;
