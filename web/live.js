// live.js - what changes at the collector, as it changes.
//
// Server-sent events read from a fetch, because an EventSource cannot send a
// token. A stream that ends is opened again, later each time; where none can
// be had the page asks every few seconds instead, and goes on trying.

import { ask, json } from "./api.js";

const FIRST_WAIT = 500, LONGEST_WAIT = 30000, ASK_EVERY = 5000, STALE = 180000;

// Events of a text stream: "event:" and "data:" lines up to an empty one.
export function parser(emit) {
  let rest = "", name = "message", data = [];
  return (text) => {
    const lines = (rest + text).split(/\r?\n/);
    rest = lines.pop();
    for (const line of lines) {
      if (line === "") {
        if (data.length) emit(name, data.join("\n"));
        name = "message";
        data = [];
      } else if (line.startsWith("event:")) name = line.slice(6).trim();
      else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
    }
  };
}

export class Live {
  // heard(name, data) for each event, state("live" | "trying" | "asking").
  constructor(heard, state) {
    Object.assign(this, { heard, state, wait: FIRST_WAIT, failed: 0, stopped: false });
  }

  start() {
    this.stopped = false;
    this.open();
  }

  // The network is back, or the page in sight: no need to wait.
  hurry() {
    if (this.stopped || !this.failed) return;
    clearTimeout(this.timer);
    this.wait = FIRST_WAIT;
    this.abort.abort();
    this.open();
  }

  stop() {
    this.stopped = true;
    clearTimeout(this.timer);
    clearTimeout(this.asker);
    clearTimeout(this.watch);
    this.asker = undefined;
    this.abort?.abort();
  }

  async open() {
    const mine = (this.abort = new AbortController());
    try {
      const answer = await ask("/v1/events", { signal: mine.signal, accept: "text/event-stream" });
      this.opened();
      await this.read(answer.body.getReader());
    } catch (problem) {
      if (problem.status === 401) return this.stopped || (this.stop(), this.heard("refused", problem));
    }
    if (!this.stopped && mine === this.abort) this.again();
  }

  opened() {
    clearTimeout(this.asker);
    this.asker = undefined;
    if (this.failed) this.heard("missed", null);
    this.failed = 0;
    this.state("live");
  }

  async read(reader) {
    const words = new TextDecoder();
    const feed = parser((name, data) => {
      this.wait = FIRST_WAIT;
      try { data = JSON.parse(data); } catch { return; }
      this.heard(name, data);
    });
    for (;;) {
      // A peer that vanished without a word is taken for gone after a while.
      clearTimeout(this.watch);
      this.watch = setTimeout(() => this.abort.abort(), STALE);
      const { done, value } = await reader.read();
      if (done) break;
      feed(words.decode(value, { stream: true }));
    }
  }

  again() {
    clearTimeout(this.watch);
    this.failed++;
    this.state(this.failed > 2 ? "asking" : "trying");
    if (this.failed > 2 && this.asker === undefined) this.poll();
    this.timer = setTimeout(() => this.open(), this.wait * (0.75 + 0.5 * Math.random()));
    this.wait = Math.min(LONGEST_WAIT, this.wait * 2);
  }

  // Without a stream: the same news, fetched.
  async poll() {
    try {
      const { tasks } = await json("/v1/tasks");
      if (this.asker === undefined && this.failed <= 2) return;
      for (const t of tasks) this.heard("counts", t);
      this.heard("asked", null);
    } catch (problem) {
      if (problem.status === 401) return this.stop(), this.heard("refused", problem);
    }
    if (!this.stopped && this.failed > 2) this.asker = setTimeout(() => this.poll(), ASK_EVERY);
  }
}
