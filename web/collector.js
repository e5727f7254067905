// collector.js - the collector itself: ready or not, its document, its store; of
// a cluster its nodes and shards.

import { json } from "./api.js";
import { h, put, sentence, table } from "./dom.js";
import { bytes, count, day, percent } from "./numbers.js";
import { term } from "./terms.js";

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

const list = (object) => h("dl", { class: "facts" }, Object.entries(object).map(([name, v]) => h("div", null, h("dt", null, term(words(name))), h("dd", null, value(name, v)))));

const card = (title, ...children) => h("section", { class: "card" }, h("h2", null, title), children);
const row = (title, ...children) => h("section", { class: "card whole-row" }, h("h2", null, title), children);
const state = (good, yes, no) => h("span", { class: "state " + (good ? "collecting" : "few") }, good ? yes : no);
const ago = (seconds) => (seconds < 120 ? `${count(seconds)} s ago` : seconds < 7200 ? `${count(seconds / 60)} min ago` : `${count(seconds / 3600)} h ago`);

function nodesCard(nodes) {
  return row("Nodes", h("p", { class: "soft" }, "Those that were seen in the last day."),
    table("Nodes of the cluster", [["Node", ""], ["State", ""], ["Version", ""], ["Seen", "n"]], nodes.map((n) => [n.name, state(n.alive, "Alive", "Gone"), n.version, ago(n.seen)])));
}

function shardsCard(shards) {
  const heads = [["Shard", ""], ["Database", ""], ["State", ""], ["Standby", ""], ["Timeline", "n"], ["Commits", "n"], ["Uploads", "n"], ["In doubt", "n"], ["Retries", "n"], ["Folded", "n"], ["Waiting", "n"]].map(([name, kind]) => [name, kind, term(name)]);
  const rows = shards.map((s, i) => [String(i), s.server, state(s.reachable, "Used", "Lost"), s.reachable ? state(s.replicated, "Yes", "None") : "\u2013",
    ...[s.timeline, s.commits, s.uploads, s.doubts, s.retries, s.folded, s.waiting].map(count)]);
  return row("Shards", h("p", { class: "soft" }, "As this node sees them; what it has counted there since it started."),
    shards.flatMap((s, i) => (s.reachable && !s.why ? [] : [h("p", { class: "problem" }, `Shard ${i}: ${s.why || "not known why"}.`)])),
    table("Shards of the cluster", heads, rows, "table stack"));
}

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

  show({ version, ready, day: today, admin_open: open, rehearsal, document: doc, store, why, troubles, cluster, ...rest }) {
    put(this.body,
      card("State", h("p", null, h("span", { class: "state " + (ready ? "collecting" : "few") }, ready ? "Takes uploads" : "Not ready")),
        (troubles ?? []).map((t) => h("p", { class: "problem" }, sentence(t.text))),
        rehearsal ? h("p", { class: "problem" }, "A rehearsal: the clock is driven, and nobody is behind these reports.") : null,
        open ? h("p", { class: "problem" }, "Anyone who reaches this page may read it: no token is asked for.") : null,
        list({ version, "day (UTC)": today, ...Object.fromEntries(Object.entries(rest).filter(([, v]) => v !== null)) })),
      doc ? card("Document of tasks", list(doc)) : null,
      store ? card("Store", h("p", { class: "soft" }, "Counts, and one-way ids of uploads until their day closes. No address, no time finer than a day."), list(store)) : null,
      cluster ? [nodesCard(cluster.nodes), shardsCard(cluster.shards)] : null);
  }
}
