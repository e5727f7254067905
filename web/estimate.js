// estimate.js - the figure of a task: bars, mean, distribution or words, with
// errors; how it is asked for, and how it is taken home.

import { download, figure as ask, taskPath } from "./api.js";
import { Bars, reach } from "./bars.js";
import { Columns, sparse } from "./columns.js";
import { choice, fresh, h, numbers, put, say, sentence, table } from "./dom.js";
import { count, day, known, levelText, percent, ticks, unitOf } from "./numbers.js";
import { term } from "./terms.js";
import { headline, liesText, shuffledText } from "./words.js";

const MOST = 25, SOON = 1500;
const LEVELS = [["0.9", "90 %"], ["0.95", "95 %"], ["0.99", "99 %"]];
const LIARS = [0, 0.01, 0.05, 0.1];
const TARGETS = [["people", "those who answered"], ["population", "the population"]];
export const AMONG = {
  people: "What those who answered hold: intervals allow for the devices' noise. ",
  population: "What all people hold of whom those who answered are a random sample: intervals allow for the sampling too. ",
};

// The wider interval of lying devices, where something is assumed of them.
export const lyingOf = (row) => (known(row.low_lying) && known(row.high_lying) ? [row.low_lying, row.high_lying] : null);

// An interval, or why there is none.
export const intervalText = (row, unit) => unit.range(row) || `no interval${row.why ? ": " + row.why : ""}`;

// Whether its rows say if they are more than chance makes.
const tested = (figure) => figure.estimates.some((r) => r.significant !== undefined);

// A word that is no text comes with its bytes.
export const labelOf = (row) => (row.value_hex ? `0x${row.value_hex}` : row.value === "" ? "(empty)" : String(row.value));

function titleOf(figure, row, unit) {
  const lies = lyingOf(row) ? `; with ${percent(figure.assume_lying)} of devices lying ${unit.lying(row)}` : "";
  const interval = known(row.low) ? `${levelText(row.level_selected ?? figure.level)} interval ${unit.range(row)}` : intervalText(row, unit);
  return `${labelOf(row)}: ${unit.of(row.estimate, row.stderr)}; ${interval}${lies}`;
}

export function markOf(row, look = 0) {
  return { estimate: row.estimate, low: row.low, high: row.high, lying: lyingOf(row), look };
}

export const cellsOf = (row, unit) => [{ text: unit.of(row.estimate, row.stderr), kind: "number" }, { text: intervalText(row, unit), kind: "spread" }];

// Edges of the bins: from lo and hi in equal steps.
export function edgesOf(figure) {
  const n = figure.estimates.length;
  const low = Number(figure.lo ?? 0), high = Number(figure.hi ?? n);
  return Array.from({ length: n + 1 }, (_, i) => low + ((high - low) * i) / n);
}

export function edgeLabels(edges) {
  const n = edges.length - 1, shown = sparse(n, 8);
  const { places } = ticks(edges[0], edges.at(-1), n);
  return edges.flatMap((e, i) => (shown(i) ? [{ at: i / n, text: e.toLocaleString("en-GB", { maximumFractionDigits: Math.min(places, 3) }) }] : []));
}

// The level of each interval: rows that were picked have a higher one. Of more
// than two the lowest and the highest.
export function levelsText({ level, estimates = [] }) {
  const all = [...new Set((estimates.length ? estimates.map((r) => r.level_selected ?? level) : [level]).sort((a, b) => a - b).map(levelText))];
  return all.length > 2 ? `${all[0]} to ${all.at(-1)}` : all.join(" or ");
}

// What the two intervals of a mark are.
export const legend = (figure) => [h("span", null, h("span", { class: "key-error" }), `interval of the devices' noise${figure.target === "population" ? " and of sampling" : ""}, ${levelsText(figure)}`), " ", figure.assume_lying ? h("span", null, h("span", { class: "key-whole" }), `and with ${percent(figure.assume_lying)} of devices lying`) : null];

// What the rows shown do not explain, as rows of their own: of a decoder what
// it detected beyond them, and what it did not detect.
const restsOf = (figure) => [
  ...(figure.not_shown ? [{ ...figure.not_shown, value: "(detected, not shown)", rest: true }] : []),
  ...(figure.unexplained ? [{ ...figure.unexplained, value: known(figure.detected) ? "(not detected)" : "(not shown)", rest: true }] : []),
];

/* ---- Pictures: each has a node and takes a figure ------------------------ */

class BarsPicture {
  constructor(figure, order) {
    this.unit = unitOf(figure);
    this.words = tested(figure);
    this.order = order;
    this.bars = new Bars("Estimates", ["Value", "Share", "Interval", ...(this.words ? ["Significance"] : [])], this.unit);
    this.more = h("button", { class: "quiet", type: "button", hidden: true, onclick: () => { this.all = !this.all; this.update(this.figure); } });
    this.node = h("div", { class: this.words ? "words" : null }, this.bars.node, this.more);
  }

  update(figure) {
    this.figure = figure;
    const rows = [...figure.estimates];
    if (this.order() === "size") rows.sort((a, b) => b.estimate - a.estimate);
    const few = this.words ? rows.filter((r) => r.significant !== false).slice(0, MOST) : rows.slice(0, MOST);
    const hidden = rows.length - few.length;
    this.more.hidden = hidden === 0;
    say(this.more, this.all ? "Show fewer" : this.words ? `Show ${hidden} more that may be chance` : `Show all ${rows.length}`);
    this.bars.update([...(this.all ? rows : few), ...restsOf(figure)].map((r) => ({
      key: r.rest ? `\n${r.value}` : labelOf(r), label: labelOf(r), title: titleOf(figure, r, this.unit), faint: r.rest || r.significant === false, marks: [markOf(r)],
      cells: [...cellsOf(r, this.unit), ...(this.words ? [r.rest ? { text: "" } : { text: r.significant === false ? "may be chance" : "\u2713 significant", kind: r.significant === false ? "doubt" : "sure" }] : [])],
    })));
  }
}

class MeanPicture {
  constructor(figure) {
    this.unit = unitOf(figure);
    this.bars = new Bars("Estimate", ["Value", "Mean", "Interval"], this.unit);
    this.node = this.bars.node;
  }

  update(figure) {
    const rows = figure.estimates.map((r) => ({ key: r.value, label: labelOf(r), title: titleOf(figure, r, this.unit), marks: [{ ...markOf(r), dot: true }], cells: cellsOf(r, this.unit) }));
    this.bars.update(rows, near(rows.flatMap((r) => r.marks)));
  }
}

// An axis around what is there, for marks that need no zero.
export function near(marks) {
  const low = Math.min(...marks.flatMap(reach)), high = Math.max(...marks.flatMap(reach));
  const air = (high - low) * 0.4 || 1;
  return { from: low - air, to: high + air, ...ticks(low - air, high + air, 5) };
}

class BinsPicture {
  constructor(figure) {
    this.unit = unitOf(figure);
    this.columns = new Columns("Share of each bin, with error bars. The numbers are in the table below.", this.unit, 260);
    this.node = this.columns.node;
  }

  update(figure) {
    const columns = figure.estimates.map((r) => ({ marks: [{ value: r.estimate, low: r.low, high: r.high, lying: lyingOf(r), title: titleOf(figure, r, this.unit) }] }));
    this.columns.update(columns, edgeLabels(edgesOf(figure)));
  }
}

const PICTURES = { number: MeanPicture, bins: BinsPicture };

/* ---- The card ------------------------------------------------------------ */

export class EstimateCard {
  constructor(view, task) {
    this.usual = { level: "0.95", target: "people", lying: String(view.app.status.lying ?? 0.01), from: "", to: "", order: task.kind === "values" || task.kind === "strings" ? "size" : "asked" };
    const { order, ...options } = view.asked(this.usual);
    Object.assign(this, { view, task, options, order });
    const id = fresh("estimate");
    this.big = h("p", { class: "hero" });
    this.about = h("p", { class: "soft about" });
    this.notes = h("ul", { class: "notes soft" });
    this.lies = h("p", { class: "lies" });
    this.shuffled = h("p", { class: "shuffled" });
    this.picture = h("div", { class: "picture" });
    this.numbers = numbers(() => this.table());
    this.message = h("div");
    this.key = h("p", { class: "key soft small" });
    this.node = h("section", { class: "card estimate", "aria-labelledby": id },
      h("div", { class: "head" }, h("h2", { id }, "Estimate"), this.exports()), this.message, this.big, this.about, this.notes, this.controls(), this.picture, this.key, this.lies, this.shuffled, this.numbers);
  }

  exports() {
    const get = (ending) => async () => {
      const rest = ending === "json" ? "/estimate" : `/estimate.${ending}`;
      try {
        await download(taskPath(this.task.task, rest, this.query()), `${this.task.task}-${this.task.release}.${ending}`);
      } catch (problem) {
        this.failed(problem);
      }
    };
    this.taken = ["csv", "json", "svg"].map((e) => h("button", { class: "quiet", type: "button", disabled: true, onclick: get(e), "data-export": e }, e.toUpperCase()));
    return h("div", { class: "group", role: "group", "aria-label": "Export" }, this.taken);
  }

  controls() {
    const change = (name) => (value) => { this.options[name] = value; this.remember(); this.load(); };
    const date = (name, label) => {
      const id = fresh(name);
      return h("span", { class: "choice" }, h("label", { for: id }, label), h("input", { id, type: "date", value: this.options[name], min: this.task.start, max: this.view.app.status.day, onchange: (e) => change(name)(e.target.value) }));
    };
    const ordered = this.task.kind === "values" ? choice("Order", [["size", "largest first"], ["asked", "as asked"]], this.order, (v) => { this.order = v; this.remember(); this.draw(); }) : null;
    return h("div", { class: "controls" }, ordered, levels(this.options.level, change("level")), targets(this.options.target, change("target")), this.liars(change("lying")), this.task.by_day ? [date("from", "Sent from"), date("to", "to")] : null);
  }

  // What differs from the usual stands in the address.
  remember() { this.view.remember({ ...this.options, order: this.order }, this.usual); }

  // Hidden where no bound on what liars can do is known.
  liars(change) {
    this.lying = shares(this.options.lying, change);
    return this.lying;
  }

  // A period has two ends; one that is not given is the task's own.
  query() {
    const { from, to, ...rest } = this.options;
    const period = from || to ? { from: from || this.task.start, to: to || this.view.app.status.day } : {};
    return { release: this.task.release, ...rest, ...period };
  }

  // At most one question at a time, and not too soon after the last.
  refresh() {
    if (this.later) return;
    this.later = setTimeout(() => { this.later = undefined; this.load(); }, Math.max(0, SOON - (Date.now() - (this.asked ?? 0))));
  }

  close() { clearTimeout(this.later); }

  async load() {
    if (this.task.shown === false) return this.few(this.task);
    const mine = (this.turn = (this.turn ?? 0) + 1);
    this.asked = Date.now();
    try {
      const figure = await ask(taskPath(this.task.task, "/estimate", this.query()), { signal: this.view.abort.signal });
      if (mine !== this.turn) return;
      this.figure = figure;
      this.draw();
      this.view.figured(figure);
    } catch (problem) {
      if (mine === this.turn) this.failed(problem);
    }
  }

  failed(problem) {
    if (problem.status === 409 && problem.body.min_reports) return this.few(problem.body);
    const node = this.view.app.failed(this.view, problem);
    if (node === null) return null;
    // What was refused leaves no older figure below the message.
    this.none();
    return put(this.message, node);
  }

  // How many there are only an operator is told.
  few({ min_reports: least }) {
    const some = this.options.from || this.options.to, there = some ? undefined : this.task.live?.devices;
    this.none();
    put(this.message, h("div", { class: "empty" }, h("p", null, h("strong", null, some ? "Too few reports on these days" : "Too few reports yet")),
      h("p", { class: "soft" }, `${known(there) ? `${count(there)} of` : "It takes at least"} ${count(least)} devices. With fewer, an estimate would be mostly noise, and say too much about the few who answered.`),
      known(there) ? h("progress", { max: least, value: there, "aria-label": "Devices before an estimate is shown" }) : null));
  }

  // Nothing is shown: nothing older is read out, or taken home.
  none() {
    this.hide(true);
    this.figure = undefined;
    this.view.app.hush();
  }

  hide(yes) {
    for (const button of this.taken) button.disabled = yes;
    for (const node of [this.big, this.about, this.notes, this.picture, this.key, this.lies, this.shuffled, this.numbers]) node.hidden = yes;
  }

  draw() {
    const { figure } = this;
    if (!figure) return;
    const unit = unitOf(figure), top = headline(figure, unit);
    this.hide(false);
    put(this.big, h("span", { class: "number", "data-hero": true }, top.value), h("span", { class: "spread" }, top.spread), h("span", { class: "what", dir: "auto" }, top.text));
    this.big.hidden = top.value === "";
    put(this.message, figure.warning ? h("p", { class: "problem", role: "alert" }, h("strong", null, "These may not be honest reports"), ": " + figure.warning + ".") : null);
    const range = figure.kind === "number" && figure.lo !== undefined ? `, on a range from ${figure.lo} to ${figure.hi}` : "";
    const some = figure.values > figure.estimates.length ? `; the ${figure.estimates.length} largest of ${count(figure.values)} values` : "";
    const sort = figure.interval === "none" ? "" : [term(figure.interval, undefined, figure.interval.replace(/^./, (c) => c.toUpperCase())), ` intervals of level ${levelText(figure.level)}${chosenOf(figure)}, `];
    const said = `From ${count(figure.reports)} reports${of(figure)}${range}${some}${sentOf(figure)}. ${AMONG[figure.target] ?? ""}`;
    if (!this.about.textContent.startsWith(said)) put(this.about, said, sort, "mechanism ", term(figure.mechanism, sentence(this.task.mechanism_title)), ".");
    put(this.notes, (figure.notes ?? []).map((text) => h("li", null, text)));
    this.notes.hidden = !figure.notes?.length;
    // Bins of which only the largest came are no histogram.
    if (!this.drawn) put(this.picture, (this.drawn = new ((!figure.largest_first && PICTURES[figure.kind]) || BarsPicture)(figure, () => this.order)).node);
    this.drawn.update(figure);
    put(this.key, legend(figure));
    say(this.lies, liesText(figure, unit));
    this.lies.hidden = this.lies.textContent === "";
    say(this.shuffled, shuffledText(figure));
    this.shuffled.hidden = this.shuffled.textContent === "";
    this.lying.hidden = !figure.assume_lying && this.options.lying !== "0";
    this.numbers.refresh();
  }

  table() {
    const { figure } = this;
    if (!figure) return h("p", { class: "soft" }, "Not there yet.");
    const unit = unitOf(figure);
    const words = tested(figure), rows = [...figure.estimates, ...restsOf(figure)];
    const lies = rows.some(lyingOf), share = percent(figure.assume_lying ?? 0);
    return table("Estimates with their errors", [["Value", ""], ["Estimate", "n"], ["Standard error", "n"], ["Low", "n"], ["High", "n"], ...(lies ? [[`Low, ${share} lying`, "n"], [`High, ${share} lying`, "n"]] : []), ...(words ? [["Significant", ""]] : [])],
      rows.map((r) => [labelOf(r), unit.of(r.estimate, r.stderr), ...numbersOf(r, unit, lies), ...(words ? [r.rest ? "" : r.significant === false ? "no" : "yes"] : [])]));
  }
}

// Standard error, interval and that of liars as cells; a dash where there is
// none, or why.
export function numbersOf(row, unit, lies) {
  const cell = (x) => (known(x) ? unit.number(x, row.stderr) : "\u2013");
  const ends = known(row.low) || !row.why ? [cell(row.low), cell(row.high)] : ["no interval", row.why];
  return [cell(row.stderr), ...ends, ...(lies ? [cell(row.low_lying), cell(row.high_lying)] : [])];
}

// Rows that were picked for being large have wider intervals.
const chosenOf = ({ level, level_selected: each, selected, of: all }) => (known(each) && each !== level ? `, intervals of ${levelText(each)} each for the ${count(selected)} picked from ${count(all)}` : "");

// Who sent them, and when.
const of = (figure) => (known(figure.devices) && figure.devices < figure.reports ? ` of ${count(figure.devices)} devices or more` : "");
const sentOf = ({ first_day: first, last_day: last }) => (!first ? "" : first === last ? `, sent on ${day(first)}` : `, sent from ${day(first)} to ${day(last)}`);

// Choices that others have too; a level or a share from the address is one of
// them.
// A choice whose name is a term: what it means stands beside it.
const explained = (name, ...rest) => choice(name, ...rest, term(name, undefined, "?"));

export const levels = (chosen, changed) => explained("Level", LEVELS.some(([v]) => v === chosen) ? LEVELS : [...LEVELS, [chosen, chosen]], chosen, changed);
export const targets = (chosen, changed) => explained("About", TARGETS, chosen, changed);
export function shares(chosen, changed) {
  const some = LIARS.map(String), all = some.includes(chosen) ? some : [...some, chosen];
  return explained("Lying devices", all.sort((a, b) => a - b).map((v) => [v, v === "0" ? "none" : Number.isFinite(Number(v)) ? percent(Number(v)) : v]), chosen, changed);
}
