// task.js - one task: its figure, its time, its privacy.

import { json, taskPath } from "./api.js";
import { choice, h, put, say } from "./dom.js";
import { EstimateCard } from "./estimate.js";
import { count, day, unitOf } from "./numbers.js";
import { DaysCard, OverTimeCard } from "./overtime.js";
import { privacyCard } from "./privacy.js";
import { taskLink } from "./tasks.js";
import { term } from "./terms.js";
import { headline, kindName, stateOf } from "./words.js";

export class TaskView {
  constructor(app, id, query) {
    const { release, ...kept } = Object.fromEntries(query);
    Object.assign(this, { app, id, release, kept, title: id, cards: [] });
    this.abort = new AbortController();
    this.node = h("div", null, h("p", { class: "soft", role: "status" }, "Loading"));
    this.load();
  }

  // What the address says of these, else what is usual.
  asked(usual) { return Object.fromEntries(Object.entries(usual).map(([name, value]) => [name, this.kept[name] ?? value])); }

  remember(values, usual) {
    for (const [name, value] of Object.entries(values)) {
      if (value === usual[name]) delete this.kept[name];
      else this.kept[name] = value;
    }
    this.app.remember(this, taskLink(this.task, "task", this.kept));
  }

  close() {
    this.abort.abort();
    for (const card of this.cards) card.close?.();
  }

  async load() {
    const how = { signal: this.abort.signal };
    try {
      const [task, { tasks }] = await Promise.all([json(taskPath(this.id, "", { release: this.release }), how), json("/v1/tasks", how)]);
      this.show(task, tasks.filter((t) => t.task === this.id));
    } catch (problem) {
      const node = this.app.failed(this, problem);
      if (node) put(this.node, h("header", { class: "question" }, h("p", { class: "crumbs" }, h("a", { href: "#/" }, "Tasks")), h("h1", null, this.id)), node);
    }
  }

  show(task, releases) {
    this.task = task;
    this.state = h("span");
    this.reports = h("dd");
    this.today = h("dd");
    this.nulls = h("dd");
    this.devices = h("dd");
    this.estimate = new EstimateCard(this, task);
    this.time = new OverTimeCard(this, task);
    this.days = new DaysCard(task, this.app.status.day);
    this.cards = [this.estimate, this.time];
    put(this.node, this.head(task, releases), h("div", { class: "page" }, this.estimate.node, this.time.node, this.days.node, privacyCard(task)));
    this.app.name(this, task.question || task.task);
    this.counts();
    this.estimate.load();
  }

  head(task, releases) {
    const others = releases.length > 1 ? choice("Release", releases.map((t) => [String(t.release), `${t.release}${t.current ? " (current)" : ""}`]), String(task.release), (v) => { location.hash = taskLink({ task: task.task, release: v }, "task", this.kept); }) : null;
    const fact = (name, node) => h("div", null, h("dt", null, term(name)), node);
    return h("header", { class: "question" },
      h("p", { class: "crumbs" }, h("a", { href: "#/" }, "Tasks"), h("span", { "aria-hidden": "true" }, " / "), h("span", null, task.task)),
      h("h1", { dir: "auto" }, task.question || task.task),
      task.frozen ? h("p", { class: "soft" }, `The first answer of a device is kept for ${count(task.kept_days)} days and sent again with new noise: if it changes, what is sent does not.`) : null,
      h("p", { class: "tags" }, h("span", { class: "tag" }, kindName(task.kind)), this.state, task.enrolled ? h("span", { class: "tag" }, term("Enrolled devices")) : null, others, h("a", { class: "button", href: taskLink(task, "compare") }, "Compare")),
      h("dl", { class: "facts line" }, fact("Reports", this.reports), fact("Devices, at least", this.devices), fact("Today", this.today), fact("Null uploads", this.nulls), fact("Asked", h("dd", null, task.start === task.end ? day(task.start) : `${day(task.start)} to ${day(task.end)}`)), fact("Release", h("dd", null, task.release))));
  }

  counts() {
    const [look, text] = stateOf(this.task, this.app.status.day);
    this.state.className = "state " + look;
    say(this.state, text);
    this.reports.dataset.reports = this.task.reports;
    say(this.reports, count(this.task.reports));
    say(this.nulls, count(this.task.nulls));
    say(this.devices, count(this.task.devices));
    say(this.today, this.task.by_day === false ? "\u2013" : count(this.days.days.find((d) => d.day === this.app.status.day)?.reports ?? 0));
  }

  // The estimate's card has a new figure.
  figured(figure) {
    this.time.know(figure);
    const top = headline(figure, unitOf(figure));
    this.app.speak(`${count(figure.reports)} reports. ${top.text}: ${top.value}${top.spread ? `, interval ${top.spread}` : ""}`);
  }

  mine(data) { return this.task && data && data.task === this.id && data.release === this.task.release; }

  heard(name, data) {
    if (!this.task) return;
    if (name === "missed") { this.estimate.refresh(); this.time.load(); return; }
    if (!this.mine(data)) return;
    if (name === "counts") {
      const more = data.reports - this.task.reports;
      this.days.add(this.app.status.day, more);
      Object.assign(this.task, { reports: data.reports, nulls: data.nulls ?? this.task.nulls });
      const shown = this.task.shown;
      this.task.shown = data.shown ?? data.reports >= this.task.min_reports;
      if (data.devices !== undefined) this.task.devices = data.devices;
      this.counts();
      if (more !== 0 || shown !== this.task.shown) { this.estimate.refresh(); this.time.load(); }
    }
  }

  themed() { this.time?.draw(); }
}
