// app.js - the page: who may read, which view is open, what is new.

import { decode, json, setToken, takeToken, token, Problem } from "./api.js";
import { byId, h, put, say, sentence, visible } from "./dom.js";
import { Live } from "./live.js";
import { startTheme } from "./theme.js";
import { CollectorView } from "./collector.js";
import { CompareView } from "./compare.js";
import { SignInView } from "./signin.js";
import { TaskView } from "./task.js";
import { TasksView } from "./tasks.js";

const VOICE_EVERY = 20000;

class App {
  constructor() {
    this.main = byId("main");
    this.live = new Live((name, data) => this.heard(name, data), (state) => this.linkState(state));
    this.spoken = 0;
    addEventListener("hashchange", () => this.route(true));
    addEventListener("online", () => this.live.hurry());
    document.addEventListener("visibilitychange", () => document.hidden || this.live.hurry());
    byId("leave").addEventListener("click", () => this.leave());
    document.querySelector(".skip").addEventListener("click", (e) => { e.preventDefault(); this.main.focus(); });
  }

  async begin() {
    takeToken();
    startTheme(() => this.view?.themed?.());
    await this.enter();
  }

  // Ask who we are; a collector may also be open to all.
  async enter() {
    try {
      this.status = await json("/v1/status");
    } catch (problem) {
      return this.refused(problem);
    }
    byId("leave").hidden = !token();
    this.trouble();
    say(byId("version"), `hearsay ${this.status.version ?? ""}`);
    this.live.stop();
    this.live.start();
    this.route(false);
    return null;
  }

  // The collector's day may have become another.
  known(status) {
    const before = this.status.day;
    this.status = status;
    this.trouble();
    if (status.day !== before) this.view?.heard?.("missed", null);
  }

  // What the collector's operator should know, whatever view is open.
  trouble() {
    const said = (this.status?.troubles ?? []).filter((t) => t.grave || t.name === "document-expires");
    byId("trouble").hidden = said.length === 0;
    say(byId("trouble"), said.map((t) => sentence(t.text)).join(" "));
  }

  refused(problem) {
    const wrong = token() !== "";
    this.live.stop();
    byId("link").hidden = true;
    byId("leave").hidden = true;
    byId("trouble").hidden = true;
    if (problem.status === 401 || problem.status === 403) setToken("");
    this.open(new SignInView(this, problem, wrong));
    return problem;
  }

  leave() {
    setToken("");
    this.refused(new Problem(401));
    this.main.querySelector("input")?.focus();
  }

  // "#/", "#/task/ID?release=2", "#/compare/ID?...", "#/collector".
  route(moved) {
    if (/^#token=/.test(location.hash)) { takeToken(); this.enter(); return; }
    if (!this.status) return;
    const [path, values] = location.hash.replace(/^#\/?/, "").split("?");
    const [name, id] = path.split("/").map(decode);
    const query = new URLSearchParams(values ?? "");
    const views = { "": () => new TasksView(this), task: () => new TaskView(this, id, query), compare: () => new CompareView(this, id, query), collector: () => new CollectorView(this) };
    for (const link of document.querySelectorAll("[data-nav]")) {
      const here = link.dataset.nav === (name === "collector" ? "collector" : "tasks");
      if (here) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    this.open((views[name] ?? views[""])(), moved);
  }

  // What a view is set to stands in the address: reload, back and forward find
  // it again. Never the token.
  remember(view, hash) {
    if (this.view === view && location.hash !== hash) history.pushState(null, "", location.pathname + location.search + hash);
  }

  open(view, moved) {
    this.view?.close?.();
    this.view = view;
    put(this.main, view.node);
    document.title = view.title ? `${visible(view.title)} \u00b7 hearsay` : "hearsay";
    if (!moved) return;
    scrollTo(0, 0);
    this.main.focus({ preventScroll: true });
  }

  // A view that learns its title late, as from a question.
  name(view, title) {
    if (this.view === view) document.title = `${visible(title)} \u00b7 hearsay`;
  }

  // What went wrong while a view asked; a token that ended leads to the door.
  failed(view, problem) {
    if (problem.name === "AbortError" || this.view !== view) return null;
    if (problem.status === 401) return this.refused(problem), null;
    return h("p", { class: "problem", role: "alert" }, h("strong", null, problem.message), problem.body?.detail ? ": " + problem.body.detail : "");
  }

  heard(name, data) {
    if (name === "refused") this.refused(data);
    else if (name === "status") this.known(data);
    this.view?.heard?.(name, data);
  }

  linkState(state) {
    const words = { live: "Live", trying: "Reconnecting" };
    const node = byId("link");
    node.hidden = false;
    node.className = "link " + state;
    node.title = { live: "The page asks every five seconds.", trying: "The collector does not answer." }[state];
    say(node, words[state]);
  }

  // What was said holds no more.
  hush() {
    this.spoken = 0;
    say(byId("voice"), "");
  }

  // For those who listen: rarely, and only what is new.
  speak(text) {
    const now = Date.now();
    if (now - this.spoken < VOICE_EVERY) return;
    this.spoken = now;
    say(byId("voice"), text);
  }
}

new App().begin();
