// live.js - what changes at the collector, asked for every few seconds; less
// often while the collector does not answer.

import { ask } from "./api.js";

const EVERY = 5000, LONGEST_WAIT = 30000;

export class Live {
  // heard("status" | "counts" | "missed" | "refused", data), state("live" | "trying").
  constructor(heard, state) {
    Object.assign(this, { heard, state, wait: EVERY, stopped: true });
  }

  start() {
    this.stopped = false;
    this.wait = EVERY;
    this.known = new Map(); // path: { tag, value } of its last answer
    this.poll();
  }

  // The network is back, or the page in sight: no need to wait.
  hurry() {
    if (!this.stopped && this.wait > EVERY) this.poll();
  }

  stop() {
    this.stopped = true;
    clearTimeout(this.timer);
    this.abort?.abort();
  }

  async json(path, signal) {
    const last = this.known.get(path), answer = await ask(path, { signal, tag: last?.tag });
    if (answer.status === 304) return last.value;
    const value = await answer.json();
    this.known.set(path, { tag: answer.headers.get("ETag"), value });
    return value;
  }

  async poll() {
    clearTimeout(this.timer);
    this.abort?.abort();
    const { signal } = (this.abort = new AbortController());
    try {
      const [status, { tasks }] = await Promise.all([this.json("/v1/status", signal), this.json("/v1/tasks", signal)]);
      if (signal.aborted) return;
      if (this.wait > EVERY) this.heard("missed", null);
      this.wait = EVERY;
      this.state("live");
      this.heard("status", status);
      for (const t of tasks) this.heard("counts", t);
    } catch (problem) {
      if (signal.aborted) return;
      if (problem.status === 401) return this.stop(), this.heard("refused", problem);
      this.wait = Math.min(LONGEST_WAIT, this.wait * 2);
      this.state("trying");
    }
    if (!this.stopped) this.timer = setTimeout(() => this.poll(), this.wait * (0.75 + 0.5 * Math.random()));
  }
}
