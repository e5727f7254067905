// rig.mjs - a browser, TAP, and a few looks at a page that tests share.
//
// Everything that a page asks for must come from the collector under test: any
// other address is blocked and counted as a failure. So is anything that the
// page complains of on its console.

import { mkdirSync } from "node:fs";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

export const BASE = process.env.BASE;
export const TOKEN = process.env.TOKEN;
export const OUT = process.env.OUT;
export const PATIENCE = 120000; // milliseconds
mkdirSync(OUT, { recursive: true });

let count = 0, failed = 0;
export function ok(passed, sentence, detail) {
  console.log(`${passed ? "" : "not "}ok ${++count} - ${sentence}`);
  if (passed) return true;
  failed++;
  if (detail !== undefined) for (const line of String(typeof detail === "object" ? JSON.stringify(detail) : detail).split("\n").slice(0, 12)) console.log("#   " + line);
  return false;
}
export function done() {
  over = true;
  console.log(`1..${count}`);
  process.exitCode = failed ? 1 : 0;
  process.stdin.destroy();
}

// Ask whoever started us for something, and wait for the answer.
const input = createInterface({ input: process.stdin });
const answers = input[Symbol.asyncIterator]();
let over = false;
input.on("close", () => over || process.exit(1)); // nobody listens any more
export async function want(what) {
  console.log("# want " + what);
  return (await answers.next()).value;
}

export const api = async (path) => {
  const answer = await fetch(BASE + path, { headers: { Authorization: "Bearer " + TOKEN } });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
};

export async function start() {
  return chromium.launch({ executablePath: process.env.CHROMIUM, timeout: PATIENCE, args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"] });
}

export const complaints = [], strangers = [];

// A page of its own, watched. allowed: complaints that a test provokes.
export async function page(browser, allowed = []) {
  const context = await browser.newContext({ viewport: { width: 1180, height: 900 }, acceptDownloads: true });
  await context.route("**/*", (route) => {
    const url = route.request().url();
    if (url.startsWith(BASE + "/")) return route.continue().catch(() => {}); // of a page that closes
    strangers.push(url);
    return route.abort();
  });
  const p = await context.newPage();
  p.setDefaultTimeout(PATIENCE);
  p.on("console", (m) => {
    const said = `${m.text()} ${m.location().url}`;
    if (["error", "warning"].includes(m.type()) && !allowed.some((a) => said.includes(a))) complaints.push(said);
  });
  p.on("pageerror", (e) => complaints.push(e.stack));
  p.on("dialog", (d) => { complaints.push("dialog: " + d.message()); d.dismiss(); });
  return p;
}

// Sign in by the address, and be at a view.
export async function at(p, hash, ready) {
  if (p.url() === "about:blank") await p.goto(`${BASE}/#token=${TOKEN}`);
  await p.locator(".title h1, .question h1").first().waitFor();
  await p.evaluate((h) => { location.hash = h; }, hash);
  if (ready) await p.locator(ready).first().waitFor();
}

export const shot = (p, name) => p.screenshot({ path: `${OUT}/${name}.png`, fullPage: true });

// Where marks say they are, and where they are drawn.
export const marks = (p, where) => p.evaluate((selector) => [...document.querySelectorAll(selector + " g[data-low]")].map((g) => {
  const box = (n) => { const r = g.querySelector(n)?.getBoundingClientRect(); return r ? { left: r.left, right: r.right, top: r.top, bottom: r.bottom } : null; };
  const number = (text) => (text === "" ? undefined : Number(text));
  return { estimate: number(g.dataset.estimate), low: number(g.dataset.low), high: number(g.dataset.high), low_lying: number(g.dataset.lyingLow), high_lying: number(g.dataset.lyingHigh), error: box(".error"), whole: box(".whole:not(.gone)"), mark: box(".mark") };
}), where);

// Whether numbers in a text are these, in the digits that it shows.
export function agrees(text, numbers) {
  const shown = text.replace(/[\u2212]/g, "-").match(/-?[\d,]+(\.\d+)?/g) ?? [];
  return shown.length === numbers.length && shown.every((t, i) => {
    const places = (t.split(".")[1] ?? "").length;
    return Math.abs(Number(t.replace(/,/g, "")) - numbers[i]) <= 0.5000001 * 10 ** -places;
  });
}

// Pixels are a straight line of the values, up to a pixel.
export function straight(pairs) {
  const [[x0, y0], [x1, y1]] = [pairs.reduce((a, b) => (b[0] < a[0] ? b : a)), pairs.reduce((a, b) => (b[0] > a[0] ? b : a))];
  return pairs.every(([x, y]) => Math.abs(y0 + ((y1 - y0) * (x - x0)) / (x1 - x0 || 1) - y) <= 1);
}
