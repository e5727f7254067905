// overtime.js - how estimates moved: live since the collector started, and as
// they stood at the end of each day; and how many reports each day brought.

import { json, taskPath } from "./api.js";
import { Columns, sparse } from "./columns.js";
import { choice, fresh, h, numbers, put, table } from "./dom.js";
import { count, day, dayTime, everyDay, percent, unitOf } from "./numbers.js";
import { labelOf } from "./estimate.js";
import { COLOURS, Series } from "./series.js";

const FIRST = { values: 3, strings: 3 }, LIVE_MOST = 2000;

const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString("en-GB");

export class OverTimeCard {
  constructor(view, task) {
    Object.assign(this, { view, task, mode: "live", live: [], days: [], chosen: null });
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
      this.days = (past.days ?? []).map((d) => ({ ...d, time: dayTime(d.day) }));
      if (this.live.length < 2 && this.days.length > 1) this.mode = "day";
      put(this.modes, choice("Show", [["live", "live"], ["day", "by day"]], this.mode, (v) => { this.mode = v; this.draw(); }));
      this.draw();
    } catch (problem) {
      const node = this.view.app.failed(this.view, problem);
      if (node) put(this.empty, node);
    }
  }

  // Words that may be chance are no curve; the figure knows which they are.
  know(figure) {
    const sure = figure.kind === "strings" ? figure.estimates.filter((r) => r.significant !== false).map((r) => r.value) : undefined;
    const key = JSON.stringify([figure.assume_lying, sure]);
    if (key === this.known) return;
    Object.assign(this, { known: key, lying: figure.assume_lying, sure });
    if (sure && this.chosen) this.chosen = this.chosen.filter((v) => sure.includes(v));
    if (!this.chosen?.length) this.chosen = null;
    this.draw();
  }

  // One more moment, from an event.
  add(data) {
    const time = Math.floor(Date.now() / 1000);
    if (time === this.live.at(-1)?.time) this.live.pop();
    this.live.push({ time, reports: data.reports, estimates: data.estimates });
    if (this.live.length > LIVE_MOST) this.live.shift();
    if (this.mode === "live") this.draw();
  }

  get points() { return this.mode === "live" ? this.live : this.days; }

  // The largest of the last figure; of yes and no only yes.
  pick(rows) {
    if (this.task.kind === "yes-no") return ["yes"];
    return rows.filter((r) => this.sure?.includes(r.value) ?? true).sort((a, b) => b.estimate - a.estimate).slice(0, FIRST[this.task.kind] ?? 1).map((r) => r.value);
  }

  draw() {
    const last = this.points.at(-1);
    const names = last ? last.estimates.map((r) => r.value) : [];
    if (last && !this.chosen) this.chosen = this.pick(last.estimates);
    this.choose((last?.estimates ?? []).filter((r) => this.sure?.includes(r.value) ?? true));
    const say = this.mode === "live" ? "Live figures are kept in memory only, and begin when the collector does." : "A day's figure is kept once the day has enough reports.";
    const liars = this.lying ? `, with ${percent(this.view.app.status.lying ?? 0.01)} of devices lying` : "";
    put(this.empty, this.points.length ? `Of all reports so far. Bands: 95 % intervals${liars}.` : say);
    this.series.show(this.points, (this.chosen ?? []).filter((v) => names.includes(v)), (v) => this.look(v), this.mode === "day");
    this.numbers.refresh();
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
    put(this.picker, rows.map((r) => h("button", { class: this.chosen.includes(r.value) ? `pick line${this.look(r.value)}` : "pick", type: "button", dir: "auto", "data-value": r.value, "aria-pressed": String(this.chosen.includes(r.value)), onclick: () => flip(r.value) }, labelOf(r))));
  }

  table() {
    if (!this.chosen) return h("p", { class: "soft" }, "Not there yet.");
    const heads = [[this.mode === "live" ? "Time" : "Day", ""], ["Reports", "n"], ...this.chosen.flatMap((v) => [[v, "n"], ["interval", "n"]])];
    const rows = this.points.slice(-60).reverse().map((p) => [this.mode === "live" ? clock(p.time) : day(p.day), count(p.reports), ...this.chosen.flatMap((v) => {
      const r = p.estimates.find((e) => e.value === v);
      return r ? [this.unit.of(r.estimate, r.stderr), this.unit.range(r)] : ["\u2013", "\u2013"];
    })]);
    return table("Estimates against time, newest first", heads, rows);
  }
}

export class DaysCard {
  constructor(task, today) {
    const id = fresh("days");
    this.days = task.days?.length ? everyDay(task.days, task.start, today < task.end ? today : task.end) : [];
    this.columns = new Columns("Reports of each day. The numbers are in the table below.", { scale: 1, sign: "" }, 150);
    this.numbers = numbers(() => table("Reports of each day", [["Day", ""], ["Reports", "n"], ["Null uploads", "n"]], [...this.days].reverse().map((d) => [day(d.day), count(d.reports), count(d.nulls)])));
    this.empty = h("p", { class: "soft" }, "No reports yet.");
    this.node = h("section", { class: "card", "aria-labelledby": id }, h("div", { class: "head" }, h("h2", { id }, "Reports per day")), this.empty, this.columns.node, this.numbers);
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
