// compare.js - two releases or two periods of one question, one over the other,
// and their difference.

import { json, save, settle, taskPath } from "./api.js";
import { Bars } from "./bars.js";
import { Columns } from "./columns.js";
import { cell, choice, fresh, h, numbers, put, table } from "./dom.js";
import { AMONG, cellsOf, edgeLabels, edgesOf, labelOf, legend, levels, lyingOf, markOf, near, numbersOf, shares, targets } from "./estimate.js";
import { chance, count, day, known, unitOf } from "./numbers.js";
import { taskLink } from "./tasks.js";
import { lowEnough } from "./words.js";

// The middle of the days there are: the first guess for two periods.
function halves(days) {
  const list = days.map((d) => d.day);
  const middle = Math.floor(list.length / 2);
  return list.length < 2 ? {} : { from: list[0], to: list[middle - 1], from2: list[middle], to2: list.at(-1) };
}

export class CompareView {
  constructor(app, id, query) {
    const { release, ...kept } = Object.fromEntries(query);
    Object.assign(this, { app, id, release, kept, title: "Compare " + id });
    this.abort = new AbortController();
    this.body = h("div", { class: "page" });
    this.node = h("div", null, this.body);
    this.load();
  }

  close() { this.abort.abort(); }

  async load() {
    const how = { signal: this.abort.signal };
    try {
      const [task, { tasks }] = await Promise.all([json(taskPath(this.id, "", { release: this.release }), how), json("/v1/tasks", how)]);
      this.task = task;
      this.others = tasks.filter((t) => t.task === this.id && t.release !== task.release);
      this.mode = this.kept.from2 ? "period" : this.kept.with || this.others.length ? "release" : "period";
      this.options = { with: this.others.at(-1)?.release, level: "0.95", target: "people", lying: String(this.app.status.lying ?? 0.01), ...halves(task.days ?? []), ...this.kept };
      this.show();
      this.ask();
    } catch (problem) {
      this.failed(problem);
    }
  }

  failed(problem) {
    const node = this.app.failed(this, problem);
    const few = problem.status === 409 && problem.body.min_reports;
    const least = problem.body?.min_reports;
    if (node) put(this.result ?? this.body, few ? h("p", { class: "empty" }, `Too few devices on one side: at least ${count(least)} are needed.`) : node);
  }

  show() {
    const { task } = this;
    this.result = h("div", { class: "page" });
    this.form = h("div", { class: "controls" });
    put(this.node, h("header", { class: "question" },
      h("p", { class: "crumbs" }, h("a", { href: "#/" }, "Tasks"), h("span", { "aria-hidden": "true" }, " / "), h("a", { href: taskLink(task) }, task.task), h("span", { "aria-hidden": "true" }, " / "), "compare"),
      h("h1", { dir: "auto" }, task.question || task.task)), this.form, this.result);
    this.controls();
  }

  controls() {
    const { options } = this;
    const set = (name) => (v) => { options[name] = v; this.remember(); this.ask(); };
    const date = (name, label) => {
      const id = fresh(name);
      return h("span", { class: "choice" }, h("label", { for: id }, label), h("input", { id, type: "date", value: options[name], min: this.task.start, max: this.app.status.day, onchange: (e) => set(name)(e.target.value) }));
    };
    const modes = [...(this.others.length ? [["release", "two releases"]] : []), ...(this.task.by_day ? [["period", "two periods"]] : [])];
    if (!modes.length) return put(this.form, h("p", { class: "soft" }, "There is one release of this question, and its reports are not kept by day: nothing to compare yet."));
    return put(this.form, choice("Compare", modes, this.mode, (v) => { this.mode = v; this.remember(); this.controls(); this.ask(); }),
      this.mode === "release" ? choice(`Release ${this.task.release} with`, this.others.map((t) => [String(t.release), `release ${t.release}`]), String(options.with), set("with"))
        : [date("from", "A: sent from"), date("to", "to"), date("from2", "B: sent from"), date("to2", "to")],
      levels(options.level, set("level")), targets(options.target, set("target")), shares(options.lying, set("lying")), this.task.kept_days ? this.devices(set("devices")) : null);
  }

  // Kept answers of devices that are on both sides are not in the difference:
  // how many are, follows from how many there are in all.
  devices(changed) {
    const id = fresh("devices");
    return h("span", { class: "choice" }, h("label", { for: id }, "Devices in all"), h("input", { id, type: "number", min: 1, step: 1, placeholder: "not known", value: this.options.devices ?? "", onchange: (e) => changed(e.target.value) }));
  }

  names() {
    const o = this.options;
    if (this.mode === "release") return [`Release ${this.task.release}`, `Release ${o.with}`];
    const span = (a, b) => (a === b ? day(a, false) : `${day(a, false)} to ${day(b, false)}`);
    return [span(o.from, o.to), span(o.from2, o.to2)];
  }

  query() {
    const { with: other, level, target, lying, devices, from, to, from2, to2 } = this.options;
    return { release: this.task.release, ...(this.mode === "release" ? { with: other } : { from, to, from2, to2 }), level, target, lying, ...(devices ? { devices } : {}) };
  }

  // The comparison stands in the address.
  remember() { this.app.remember(this, taskLink(this.task, "compare", this.query())); }

  async ask() {
    if (this.mode === "period" && !(this.options.from && this.options.to && this.options.from2 && this.options.to2)) return put(this.result, h("p", { class: "empty" }, "Two periods need a first and a last day each."));
    const mine = (this.turn = (this.turn ?? 0) + 1);
    try {
      const both = await json(taskPath(this.id, "/compare", this.query()), { signal: this.abort.signal });
      settle(both.a);
      settle(both.b);
      return mine === this.turn ? this.draw(both) : null;
    } catch (problem) {
      return mine === this.turn ? this.failed(problem) : null;
    }
  }

  draw(both) {
    const unit = unitOf(both.a), [a, b] = this.names(), ids = [fresh("over"), fresh("difference")];
    const key = h("p", { class: "key" }, h("span", { class: "swatch look0" }), ` ${a}, ${count(both.a.reports)} reports `, h("span", { class: "swatch look1" }), ` ${b}, ${count(both.b.reports)} reports`);
    const keep = (name, text, type) => h("button", { class: "quiet", type: "button", onclick: () => save(new Blob([text()], { type }), `${this.id}-compare.${name}`) }, name.toUpperCase());
    const shown = h("section", { class: "card", "aria-labelledby": ids[0] }, h("div", { class: "head" }, h("h2", { id: ids[0] }, "Both")), key, both.a.kind === "bins" && !both.a.largest_first ? columns(both, unit) : overlay(both, unit, [a, b]), notesOf(both));
    if (!both.difference) return put(this.result, shown, h("section", { class: "card", "aria-labelledby": ids[1] }, h("h2", { id: ids[1] }, "Difference"), h("p", { class: "soft" }, `There is none: ${both.why}.`)));
    const sure = both.difference.filter((r) => lowEnough(r.p_value)).length, lies = both.difference.some(lyingOf);
    return put(this.result, shown,
      h("section", { class: "card", "aria-labelledby": ids[1] }, h("div", { class: "head" }, h("h2", { id: ids[1] }, "Difference"), h("div", { class: "group", role: "group", "aria-label": "Export" }, keep("csv", () => sheet(both), "text/csv"), keep("json", () => JSON.stringify(both, null, 2), "application/json"))),
        h("p", null, `${a} minus ${b}. `, AMONG[both.a.target] ?? "", both.paired ? "Devices on both sides are compared with themselves. " : "", (both.notes ?? []).map((note) => `${note[0].toUpperCase()}${note.slice(1)}. `), sure ? `${sure} of ${both.difference.length} differ by more than chance (p below 0.05${both.difference.length > 1 ? ", each by itself" : ""}).` : "Nothing differs by more than chance."),
        differences(both, unit), h("p", { class: "key soft small" }, legend({ ...both.a, estimates: [both] })), numbers(() => table("Differences", [["Value", ""], ["Difference", "n"], ["Standard error", "n"], ["Low", "n"], ["High", "n"], ...(lies ? [["Low, lying", "n"], ["High, lying", "n"]] : []), ["p", "n"]],
          both.difference.map((r) => [labelOf(r), unit.number(r.estimate, r.stderr), ...numbersOf(r, unit, lies), chance(r.p_value)])))));
  }
}

// Each sentence about the two figures once.
function notesOf({ a, b }) {
  const notes = [...new Set([...(a.notes ?? []), ...(b.notes ?? [])])];
  return notes.length ? h("ul", { class: "notes soft" }, notes.map((text) => h("li", null, text))) : null;
}

// After the rows' numbers stands what both figures say of themselves.
function sheet({ a, b, difference, ...both }) {
  const names = ["estimate", "stderr", "low", "high", ...(difference.some(lyingOf) ? ["low_lying", "high_lying"] : []), "p_value"];
  const each = ["first_day", "last_day", "release", "devices", "reports"];
  const said = [both.level, a.target, both.assume_lying, ...[a, b].flatMap((f) => each.map((name) => f[name]))];
  const head = ["value", ...names, "level", "target", "assume_lying", ...each.map((n) => "a_" + n), ...each.map((n) => "b_" + n)];
  return [head.join(","), ...difference.map((r) => [labelOf(r), ...names.map((n) => r[n]), ...said].map(cell).join(","))].join("\r\n") + "\r\n";
}

function overlay({ a, b }, unit, names) {
  const dot = a.kind === "number";
  const other = new Map(b.estimates.map((r) => [labelOf(r), r]));
  const rows = a.estimates.filter((r) => other.has(labelOf(r))).map((r) => {
    const o = other.get(labelOf(r));
    return { key: labelOf(r), label: labelOf(r), marks: [{ ...markOf(r), dot }, { ...markOf(o, 1), dot }], cells: [{ text: unit.of(r.estimate, r.stderr), kind: "number" }, { text: unit.of(o.estimate, o.stderr), kind: "number other" }] };
  });
  const bars = new Bars("Both", ["Value", ...names], unit);
  return bars.update(rows, dot ? near(rows.flatMap((r) => r.marks)) : undefined).node;
}

function columns({ a, b }, unit) {
  const mark = (r, look) => ({ value: r.estimate, low: r.low, high: r.high, lying: lyingOf(r), look, title: `${labelOf(r)}: ${unit.of(r.estimate, r.stderr)}` });
  return new Columns("Shares of each bin, of both. The numbers are in the table below.", unit, 260).update(a.estimates.map((r, i) => ({ marks: [mark(r, 0), ...(b.estimates[i] ? [mark(b.estimates[i], 1)] : [])] })), edgeLabels(edgesOf(a))).node;
}

function differences({ difference }, unit) {
  const points = { ...unit, sign: unit.difference };
  points.of = (x, e) => (x > 0 ? "+" : "") + points.number(x, e) + points.sign;
  const rows = difference.map((r) => ({
    key: labelOf(r), label: labelOf(r), faint: !lowEnough(r.p_value), marks: [{ ...markOf(r), dot: true }],
    cells: [...cellsOf(r, points), { text: `p ${chance(r.p_value)}`, kind: lowEnough(r.p_value) ? "sure" : "doubt" }],
  }));
  return h("div", { class: "words" }, new Bars("Differences", ["Value", "Difference", "Interval", "Chance"], points).update(rows).node);
}
