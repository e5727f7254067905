// collector.js - the collector itself: ready or not, its document, its store.

import { json } from "./api.js";
import { h, put } from "./dom.js";
import { bytes, count, day, percent } from "./numbers.js";

const EVERY = 10000;
const NAMES = { lying: "lying devices assumed", min_level: "least level", waiting_bytes: "waiting", ids_bytes: "memory for ids", tally_bytes: "memory for tallies", ids: "upload ids of open days", reports: "reports since the start", nulls: "null uploads since the start" };

// "open_epochs" as "Open epochs".
const words = (name) => (NAMES[name] ?? name).replace(/_/g, " ").replace(/^./, (c) => c.toUpperCase());

function value(name, v) {
  if (typeof v === "boolean") return v ? "yes" : "no";
  if (name === "lying") return percent(v);
  if (typeof v === "number") return /bytes$/.test(name) ? bytes(v) : count(v);
  if (Array.isArray(v)) return v.length ? v.map((x) => value(name, x)).join(", ") : "none";
  if (v !== null && typeof v === "object") return list(v);
  return v === null || v === "" ? "\u2013" : /^\d{4}-\d\d-\d\d$/.test(v) ? day(v) : String(v);
}

const list = (object) => h("dl", { class: "facts" }, Object.entries(object).map(([name, v]) => h("div", null, h("dt", null, words(name)), h("dd", null, value(name, v)))));

export class CollectorView {
  constructor(app) {
    Object.assign(this, { app, title: "Collector" });
    this.body = h("div", { class: "two" });
    this.node = h("div", null, h("div", { class: "title" }, h("h1", null, "Collector")), this.body);
    this.show(app.status);
    this.load();
  }

  close() { clearTimeout(this.timer); this.closed = true; }

  async load() {
    try {
      this.app.status = await json("/v1/status");
      if (!this.closed) this.show(this.app.status);
    } catch (problem) {
      const node = this.app.failed(this, problem);
      if (node) put(this.body, node);
    }
    if (!this.closed) this.timer = setTimeout(() => this.load(), EVERY);
  }

  heard(name) { if (name === "status") this.show(this.app.status); }

  show({ version, ready, day: today, admin_open: open, rehearsal, document: doc, store, why, troubles, ...rest }) {
    const card = (title, ...children) => h("section", { class: "card" }, h("h2", null, title), children);
    put(this.body,
      card("State", h("p", null, h("span", { class: "state " + (ready ? "collecting" : "few") }, ready ? "Takes uploads" : "Not ready")),
        (troubles ?? []).map((t) => h("p", { class: "problem" }, t.text + ".")),
        rehearsal ? h("p", { class: "problem" }, "A rehearsal: the clock is driven, and nobody is behind these reports.") : null,
        open ? h("p", { class: "problem" }, "Anyone who reaches this page may read it: no token is asked for.") : null,
        list({ version, "day (UTC)": today, ...Object.fromEntries(Object.entries(rest).filter(([, v]) => v !== null)) })),
      doc ? card("Document of tasks", list(doc)) : null,
      store ? card("Store", h("p", { class: "soft" }, "Counts, and one-way ids of uploads until their day closes. No address, no time finer than a day."), list(store)) : null);
  }
}
