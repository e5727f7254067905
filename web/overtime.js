// overtime.js - how estimates moved: live since the collector started, and of
// each day of sending, its own figure beside that of all reports so far; and how
// many reports each day brought.

import { json, taskPath } from "./api.js";
import { Columns, sparse } from "./columns.js";
import { choice, fresh, h, numbers, put, table } from "./dom.js";
import { count, day, dayTime, everyDay, known, unitOf } from "./numbers.js";
import { intervalText, labelOf, levelsText } from "./estimate.js";
import { COLOURS, Series } from "./series.js";

const FIRST = { values: 3, strings: 3 }, LIVE_MOST = 2000;

const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString("en-GB");

export class OverTimeCard {
  constructor(view, task) {
    Object.assign(this, { view, task, mode: view.asked({ time: "" }).time, live: [], days: [], chosen: null });
    const id = fresh("time");
    this.unit = unitOf(task);
    this.series = new Series("Estimates against time with their intervals. The numbers are in the table below.", this.unit);
    this.picker = h("div", { class: "picker", role: "group", "aria-label": "Values shown" });
    this.modes = h("div");
    this.empty = h("p", { class: "soft" });
    this.numbers = numbers(() => this.table());
    this.node = h("section", { class: "card", "aria-labelledby": id }, h("div", { class: "head" }, h("h2", { id }, "Over time"), this.modes), this.picker, this.empty, this.series.node, this.numbers);
    this.load();
  }

  close() { this.series.watch.disconnect(); this.series.close(); }

  async load() {
    try {
      const past = await json(taskPath(this.task.task, "/history", { release: this.task.release }), { signal: this.view.abort.signal });
      this.live = past.live ?? [];
      this.days = (past.days ?? []).map(dayOf);
      if (!["live", "day"].includes(this.mode)) this.mode = this.live.length < 2 && this.days.length > 1 ? "day" : "live";
      put(this.modes, choice("Show", [["live", "live"], ["day", "by day of sending"]], this.mode, (v) => { this.mode = v; this.view.remember({ time: v }, {}); this.draw(); }));
      this.draw();
    } catch (problem) {
      const node = this.view.app.failed(this.view, problem);
      if (node) put(this.empty, node);
    }
  }

  // Words that may be chance are no curve; the figure knows which they are.
  know(figure) {
    const sure = figure.kind === "strings" ? figure.estimates.filter((r) => r.significant !== false).map((r) => r.value) : undefined;
    const key = JSON.stringify(sure);
    if (key === this.known) return;
    Object.assign(this, { known: key, sure });
    if (sure && this.chosen) this.chosen = this.chosen.filter((v) => sure.includes(v));
    if (!this.chosen?.length) this.chosen = null;
    this.draw();
  }

  get points() { return this.mode === "live" ? this.live : this.days; }

  // The largest of the last figure; of yes and no only yes.
  pick(rows) {
    if (this.task.kind === "yes-no") return ["yes"];
    return rows.filter((r) => this.sure?.includes(r.value) ?? true).sort((a, b) => b.estimate - a.estimate).slice(0, FIRST[this.task.kind] ?? 1).map((r) => r.value);
  }

  // The rows of the last point that has some: of a day its own, or all until
  // then.
  last() {
    const rows = (p) => (p.estimates.length ? p.estimates : p.totals ?? []);
    return rows(this.points.findLast((p) => rows(p).length) ?? { estimates: [] });
  }

  draw() {
    const last = this.last(), names = last.map((r) => r.value);
    if (last.length && !this.chosen) this.chosen = this.pick([...last]);
    this.choose(last.filter((r) => this.sure?.includes(r.value) ?? true));
    const none = this.mode === "live" ? "Live figures are kept in memory only, and begin when the collector does." : "A day's figure is kept once the task has enough reports.";
    const what = this.mode === "live" ? "Of all reports so far." : "Lines and bands: of what was sent on each day alone. Dashed: of all reports until then.";
    put(this.empty, this.points.length ? `${what} Bands: ${this.levels()}intervals for those who answered, without lying devices.` : none);
    this.series.show(this.points, (this.chosen ?? []).filter((v) => names.includes(v)), (v) => this.look(v), this.mode === "day");
    this.numbers.refresh();
  }

  // The levels that the bands have, as the collector says them with each row.
  // Words kept by an earlier version have one that is not known here.
  levels() {
    const drawn = this.points.flatMap((p) => p.estimates).filter((r) => this.chosen?.includes(r.value) && known(r.low) && (this.task.kind !== "strings" || r.level_selected));
    return drawn.length ? `${levelsText({ level: 0.95, estimates: drawn })} ` : "";
  }

  look(value) { return Math.max(0, this.chosen.indexOf(value)) % COLOURS; }

  choose(rows) {
    const names = rows.map((r) => r.value);
    const key = JSON.stringify([names, this.chosen]);
    if (key === this.key || rows.length < 2) return;
    this.key = key;
    const flip = (v) => {
      this.chosen = this.chosen.includes(v) ? this.chosen.filter((x) => x !== v) : [...this.chosen, v].slice(-COLOURS);
      this.draw();
      [...this.picker.children].find((b) => b.dataset.value === v)?.focus();
    };
    this.picker.classList.toggle("long", rows.length > 12);
    put(this.picker, rows.map((r) => h("button", { class: this.chosen.includes(r.value) ? `pick line${this.look(r.value)}` : "pick", type: "button", dir: "auto", "data-value": r.value, "aria-pressed": String(this.chosen.includes(r.value)), onclick: () => flip(r.value) }, labelOf(r))));
  }

  table() {
    if (!this.chosen) return h("p", { class: "soft" }, "Not there yet.");
    const both = (name) => this.chosen.flatMap((v) => [[name(v), "n"], ["interval", "n"]]);
    const cells = (rows, none) => this.chosen.flatMap((v) => {
      const r = rows?.find((e) => e.value === v);
      return r ? [this.unit.of(r.estimate, r.stderr), intervalText(r, this.unit)] : [none, "\u2013"];
    });
    const points = this.points.slice(-60).reverse();
    if (this.mode === "live")
      return table("Estimates against time, newest first", [["Time", ""], ["Reports", "n"], ...both((v) => v)], points.map((p) => [clock(p.time), count(p.reports), ...cells(p.estimates, "\u2013")]));
    return table("Estimates of each day of sending, newest first", [["Day of sending", ""], ["Reports", "n"], ...both((v) => v), ["All so far", "n"], ...both((v) => `${v}, all so far`)],
      points.map((p) => [p.first ? `${day(p.first)} \u2013 ${day(p.day)}` : day(p.day), count(p.reports), ...cells(p.estimates, p.few), count(p.all), ...cells(p.totals, "\u2013")]));
  }
}

// A day has two figures: its own, or why there is none, and that of all reports
// until then.
function dayOf({ day: name, reports, estimates, own }) {
  // Points of earlier versions may have few; those of joined days their first.
  const few = own?.few ? `too few (${count(own.devices ?? own.reports)} of ${count(own.min_reports)})` : own?.estimates ? "\u2013" : "none by itself";
  return { day: name, first: own?.first_day, time: dayTime(name), reports: own?.reports, estimates: own?.estimates ?? [], few, all: reports, totals: estimates ?? [] };
}

export class DaysCard {
  constructor(task, today) {
    const id = fresh("days");
    this.days = task.days?.length ? everyDay(task.days, task.start, today < task.end ? today : task.end) : [];
    this.columns = new Columns("Reports of each day of sending. The numbers are in the table below.", { scale: 1, sign: "" }, 150);
    this.numbers = numbers(() => table("Reports of each day of sending", [["Day of sending", ""], ["Reports", "n"], ["Null uploads", "n"]], [...this.days].reverse().map((d) => [day(d.day), count(d.reports), count(d.nulls)])));
    this.empty = h("p", { class: "soft" }, task.by_day === false && task.reports > 0 ? "This task has too many counters to be kept by day: all its reports are counted together." : "No reports yet.");
    this.node = h("section", { class: "card", "aria-labelledby": id }, h("div", { class: "head" }, h("h2", { id }, "Reports by day of sending")), this.empty, this.columns.node, this.numbers);
    this.draw();
  }

  add(today, more) {
    if (!(more > 0)) return;
    let now = this.days.find((d) => d.day === today);
    if (!now) this.days.push((now = { day: today, reports: 0, nulls: 0 }));
    now.reports += more;
    this.draw();
  }

  draw() {
    const shown = sparse(this.days.length, 7), n = this.days.length;
    this.empty.hidden = n > 0;
    this.columns.node.hidden = this.numbers.hidden = n === 0;
    if (n === 0) return;
    this.columns.update(this.days.map((d) => ({ marks: [{ value: d.reports, title: `${day(d.day)}: ${count(d.reports)} reports` }] })),
      this.days.flatMap((d, i) => (shown(n - 1 - i) ? [{ at: (i + 0.5) / n, text: day(d.day, false) }] : [])));
    this.numbers.refresh();
  }
}
