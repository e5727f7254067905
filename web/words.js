// words.js - what numbers and states mean, in plain words.

import { count, day, exact, fixed, known, percent, unitOf } from "./numbers.js";

const KINDS = {
  "yes-no": "Yes or no", values: "One of a list", number: "Mean of a number", bins: "Distribution", strings: "Words", tuple: "Several questions",
};
export const kindName = (kind) => KINDS[kind] ?? kind;

// Where a task stands: [class, text].
export function stateOf(task, today) {
  if (task.retired) return ["over", "Retired: its tally is deleted"];
  // The last uploads of a task, or all of them, come when its last day is over.
  if (!task.current || (task.sent_until && today && task.sent_until < today)) return ["over", "Over"];
  if (task.start && today && task.start > today) return ["soon", `Starts ${day(task.start, false)}`];
  if (task.reports < task.min_reports || !task.shown) return ["few", "Too few reports"];
  return ["collecting", "Collecting"];
}

// Above this a bound on the odds is none: a guess becomes as good as known.
export const TELLS_ALL = 1e6;

// The collector rounds the factor up, to the digits that the device's own text
// has: nothing is rounded here.
export const times = (odds) => (odds < 100 ? fixed(odds, 1) : count(odds));

// After a report, a guess that was believed with this chance is believed with
// at most that: the odds move by at most the factor e^epsilon.
export const believed = (before, odds) => (odds * before) / (1 - before + odds * before);

export const oddsText = (odds) => `\u00d7\u202f${times(odds)}`;

export function believedText(before, odds) {
  const after = believed(before, odds);
  const by = after < 0.1 || after > 0.99 ? 10 : 1; // at most is rounded up
  const text = after > 0.999 ? "almost certain" : `at most ${fixed(Math.ceil(after * 100 * by - 1e-9) / by, by === 10 ? 1 : 0)}\u202f%`;
  return [`believed ${percent(before)}`, text];
}

export const epsilonText = (e) => `\u03b5 = ${exact(e, 9)}`;

// What lying devices could do to this figure.
export function liesText(figure, unit) {
  if (figure.kind === "strings" && figure.assume_lying === null) return "What lying devices could do here has no known bound: enough of them can make a word appear.";
  if (!figure.assume_lying) return "";
  const share = percent(figure.assume_lying);
  const amount = (x) => exact(x * unit.scale, 4) + (unit.share ? " percentage points" : "");
  return `If ${share} of the devices lied, and lied as well as they could, a number here could be up to ${amount(figure.lying_up)} too large or ${amount(figure.lying_down)} too small.`;
}

// What shuffling was worth: both epsilons, for how many, unless who colludes.
// Upwards: an epsilon is a bound.
export function shuffledText({ shuffled }) {
  if (!shuffled) return "";
  const up = (e) => exact(Math.ceil(e * 1e4) / 1e4, 9);
  const { batches, min_batch: least, n, promised, kept, reports_each: each } = shuffled;
  const all = `The reports came in ${count(batches)} shuffled ${batches === 1 ? "batch" : "batches"}`;
  const size = least > 1 ? `, the smallest of ${count(least)} real reports, of which ${count(n)} are taken for honest` : ", the smallest of too few reports to say how many";
  const promise = known(promised) ? ` Promised: \u03b5 = ${up(promised)}${kept ? "" : ", which is not kept"}.` : "";
  const more = each > 1 && known(shuffled.epsilon_each) ? ` A device that sent ${count(each)} reports, each in another batch, tells at most \u03b5 = ${up(shuffled.epsilon_each)}.` : "";
  return `${all}${size}. A report tells at most \u03b5 = ${up(shuffled.epsilon_central)} (\u03b4 = ${shuffled.delta}), unless ${shuffled.unless}; then \u03b5 = ${up(shuffled.epsilon_report)}.${promise}${more}`;
}

// The figure in one sentence: for the head of the page, and for being read out.
export function headline(figure, unit) {
  const rows = figure.estimates.filter((r) => r.significant !== false);
  if (!rows.length) return { value: "\u2013", spread: "", text: figure.kind === "strings" ? "No word stands out from chance yet." : "" };
  const show = (row, text) => ({ value: unit.of(row.estimate, row.stderr), spread: unit.range(row), text });
  if (figure.kind === "bins" && !figure.largest_first) {
    const middle = figure.quantiles?.find((q) => q.quantile === 0.5);
    const plain = unitOf({ kind: "number" });
    return middle ? { value: plain.of(middle.estimate, middle.stderr), spread: plain.range(middle), text: "is the median" } : { value: "", spread: "", text: "" };
  }
  if (figure.kind === "number") return show(rows[0], "on average");
  if (figure.kind === "yes-no") return show(rows.find((r) => r.value === "yes") ?? rows[0], "say yes");
  const [first, second] = [...rows].sort((a, b) => b.estimate - a.estimate);
  if (second && known(second.high) && known(first.low) && second.high > first.low) return show(first, `${first.value}, too close to ${second.value} to call`);
  return show(first, first.value);
}

export const lowEnough = (p) => p !== null && p !== undefined && p < 0.05;
