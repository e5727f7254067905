// tasks.js - the list of tasks: what is asked, how far it is, what it says.

import { figure, json, query, taskPath } from "./api.js";
import { Columns } from "./columns.js";
import { h, put, s, say } from "./dom.js";
import { count, day, everyDay, known, unitOf } from "./numbers.js";
import { headline, kindName, stateOf } from "./words.js";

const GROUPS = [["collecting", "Collecting"], ["few", "Too few reports yet"], ["soon", "Not yet asked"], ["over", "Over"]];
const keyOf = (t) => `${t.task}\n${t.release}`;
export const taskLink = (t, view = "task", more = {}) => `#/${view}/${encodeURIComponent(t.task)}${query({ release: t.release, ...more })}`;

// Reports of the last days, small.
function spark(days) {
  const most = Math.max(1, ...days.map((d) => d.reports));
  const wide = 100 / Math.max(14, days.length), skip = Math.max(0, 14 - days.length);
  return s("svg", { class: "spark", "aria-hidden": "true" }, days.map((d, i) =>
    s("rect", { x: `${(skip + i) * wide + wide * 0.12}%`, width: `${wide * 0.76}%`, y: `${100 - (96 * d.reports) / most}%`, height: `${(96 * d.reports) / most}%`, rx: 1 })));
}

// Where the mean lies in its range, with its interval.
function scale({ lo, hi, estimates: [row] }) {
  if (lo === undefined || hi === undefined || !row) return null;
  const at = (x) => `${Math.min(100, Math.max(0, (100 * (x - lo)) / (hi - lo)))}%`;
  const wide = `${Math.max(0.5, (100 * (Math.min(hi, row.high) - Math.max(lo, row.low))) / (hi - lo))}%`;
  const whole = known(row.low) && known(row.high) ? s("rect", { class: "whole look0", x: at(row.low), width: wide, y: 2, height: 10, rx: 5 }) : null;
  return h("div", { class: "mini scale", "aria-hidden": "true" }, h("span", null, String(lo)),
    s("svg", null, s("rect", { class: "back", y: 4, width: "100%", height: 6, rx: 3 }), whole, s("circle", { class: "mark look0", cx: at(row.estimate), cy: 7, r: 6 })),
    h("span", null, String(hi)));
}

// A few bars, each as long as its share of the whole, or the shape of a
// distribution, without axes.
function miniature(figure) {
  const unit = unitOf(figure);
  if (figure.kind === "bins" && !figure.largest_first) {
    const columns = new Columns("", unit, 104).update(figure.estimates.map((r) => ({ marks: [{ value: Math.max(0, r.estimate) }] })), []);
    return put(h("div", { class: "mini shape", "aria-hidden": "true" }), columns.plot);
  }
  if (figure.kind === "number") return scale(figure);
  const rows = figure.estimates.filter((r) => r.significant !== false).sort((a, b) => (figure.kind === "yes-no" ? 0 : b.estimate - a.estimate)).slice(0, 4);
  return h("ul", { class: "mini" }, rows.map((r) => h("li", null,
    h("span", { class: "label", dir: "auto" }, r.value),
    s("svg", { class: "thin", "aria-hidden": "true" }, s("rect", { class: "back", width: "100%", height: "100%", rx: 3 }), s("rect", { class: "mark look0", width: `${Math.min(100, Math.max(0, 100 * r.estimate))}%`, height: "100%", rx: 3 })),
    h("span", { class: "number" }, unit.of(r.estimate, r.stderr)))));
}

class Card {
  constructor(task, today) {
    this.state = h("span");
    this.reports = h("dd");
    this.today = h("dd", null, "\u2013");
    this.glance = h("div", { class: "glance" });
    this.days = h("div", { class: "days" });
    this.node = h("li", { class: "card task" },
      h("p", { class: "tags" }, h("span", { class: "tag" }, kindName(task.kind)), this.state, task.enrolled ? h("span", { class: "tag" }, "Enrolled devices") : null),
      h("h3", { dir: "auto" }, h("a", { href: taskLink(task) }, task.question || task.task)),
      this.glance, h("div", { class: "foot" }, h("dl", null, h("div", null, h("dt", null, "Reports"), this.reports), h("div", null, h("dt", null, "Today"), this.today)), this.days));
    this.update(task, today);
  }

  update(task, today) {
    this.task = { ...this.task, ...task };
    const [look, text] = stateOf(this.task, today);
    this.look = look;
    this.state.className = "state " + look;
    say(this.state, text);
    say(this.reports, count(this.task.reports));
    if (look === "few") {
      const there = this.task.live?.devices, share = Math.min(1, (there ?? 0) / Math.max(1, this.task.min_reports));
      put(this.glance, h("p", { class: "soft" }, there === undefined ? `Nothing is shown before ${count(this.task.min_reports)} devices have answered` : `${count(there)} of the ${count(this.task.min_reports)} devices before anything is shown`),
        there !== undefined && s("svg", { class: "thin", "aria-hidden": "true" }, s("rect", { class: "back", width: "100%", height: "100%", rx: 3 }), s("rect", { class: "wait", width: `${100 * share}%`, height: "100%", rx: 3 })));
    } else if (look === "over") say(this.days, this.task.retired ? "retired" : this.task.sent_until < today ? `until ${day(this.task.end)}` : "no longer asked");
  }

  show(figure) {
    this.figure = figure;
    const top = headline(figure, unitOf(figure));
    put(this.glance, top.value === "" ? null : h("p", { class: "big" }, h("span", { class: "number" }, top.value), h("span", { class: "spread" }, top.spread), h("span", { class: "what", dir: "auto" }, top.text)), miniature(figure));
  }

  showDays(days, today) {
    this.list = days;
    say(this.today, this.task.by_day === false ? "\u2013" : count(days.find((d) => d.day === today)?.reports ?? 0));
    if (this.look !== "over" && days.length) put(this.days, spark(everyDay(days, this.task.start, today).slice(-28)));
  }

  // Reports that came since the days were read are of today.
  counted(reports, today) {
    const before = this.task.reports;
    if (this.list && reports > before) {
      const now = this.list.find((d) => d.day === today) ?? (this.list.push({ day: today, reports: 0 }), this.list.at(-1));
      now.reports += reports - before;
      this.showDays(this.list, today);
    }
  }
}

export class TasksView {
  constructor(app) {
    Object.assign(this, { app, cards: new Map(), title: "Tasks" });
    this.abort = new AbortController();
    this.lists = h("div");
    this.search = h("input", { id: "search", type: "search", oninput: () => this.arrange() });
    this.finder = h("p", { class: "finder", hidden: true }, h("label", { for: "search" }, "Find"), this.search);
    this.node = h("div", null, h("div", { class: "title" }, h("h1", null, "Tasks"), this.finder), this.lists);
    this.load();
  }

  close() { this.abort.abort(); }

  async load() {
    try {
      const { tasks } = await json("/v1/tasks", { signal: this.abort.signal });
      for (const t of tasks) if (!this.cards.has(keyOf(t))) this.cards.set(keyOf(t), new Card(t, this.app.status.day));
      this.finder.hidden = tasks.length < 9;
      this.arrange();
      await Promise.all([0, 1].map((part) => this.detail(tasks.filter((t, i) => i % 2 === part))));
    } catch (problem) {
      const node = this.app.failed(this, problem);
      if (node) put(this.lists, node);
    }
  }

  // Two at a time: what each task says, and its days.
  async detail(tasks) {
    const how = { signal: this.abort.signal };
    for (const t of tasks) {
      const card = this.cards.get(keyOf(t));
      try {
        card.showDays((await json(taskPath(t.task, "", { release: t.release }), how)).days ?? [], this.app.status.day);
        if (t.shown) card.show(await figure(taskPath(t.task, "/estimate", { release: t.release }), how));
      } catch (problem) {
        if (problem.status === 401 || problem.name === "AbortError") throw problem;
        if (problem.status !== 409) put(card.glance, h("p", { class: "soft" }, problem.body.detail ?? problem.message));
      }
    }
  }

  arrange() {
    const wanted = this.search.value.trim().toLowerCase();
    const cards = [...this.cards.values()].filter((c) => !wanted || `${c.task.question} ${c.task.task}`.toLowerCase().includes(wanted));
    const groups = GROUPS.map(([look, name]) => [name, cards.filter((c) => c.look === look)]).filter(([, list]) => list.length);
    put(this.lists, groups.length ? groups.map(([name, list]) => h("section", { "aria-label": name }, h("h2", null, name, " ", h("span", { class: "soft" }, list.length)), h("ul", { class: "cards" }, list.map((c) => c.node))))
      : h("p", { class: "empty" }, wanted ? "No task has these words." : "No tasks yet. An operator brings them with a signed document: see hearsay tasks compile."));
  }

  heard(name, data) {
    if (name === "missed") return this.load();
    const card = data && this.cards.get(keyOf(data));
    if (!card) return name === "counts" ? this.load() : null;
    if (name === "counts") {
      const look = card.look, more = data.reports - card.task.reports;
      card.counted(data.reports, this.app.status.day);
      card.update({ ...data, shown: data.shown ?? data.reports >= card.task.min_reports }, this.app.status.day);
      if (look !== card.look) this.arrange();
      if (more !== 0 || look !== card.look) {
        this.detail([card.task]).catch((problem) => this.app.failed(this, problem));
        this.app.speak(`${count(data.reports)} reports: ${card.task.question}`);
      }
    }
    return null;
  }
}
