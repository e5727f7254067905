// dashboard.mjs - clicks through the dashboard of a running collector.
//
// tests/e2e/dashboard.t starts the collector, gives it reports, and more of
// them when a line "# want ..." asks for them.

import { readFileSync } from "node:fs";
import { api, at, BASE, complaints, done, marks, ok, OUT, page, PATIENCE, shot, start, straight, strangers, TOKEN, want } from "./rig.mjs";

const browser = await start();
const desk = await page(browser, ["/v1/tasks/%25E0"]); // most tests look at one page
const { tasks } = await api("/v1/tasks");
const shown = tasks.filter((t) => t.shown);
const hash = (t, view = "task") => `#/${view}/${t.task}?release=${t.release}`;
const byKind = (kind) => shown.find((t) => t.kind === kind && t.current);
const twice = shown.find((t) => t.current && shown.some((x) => x.task === t.task && x.release !== t.release));
const picture = { bins: ".estimate .columns", any: ".estimate .bars" };
const where = (t) => picture[t.kind] ?? picture.any;

async function door() {
  const p = await page(browser, ["401"]);
  await p.goto(BASE + "/");
  await p.getByLabel("Token").waitFor();
  ok((await p.content()).includes(tasks[0].question) === false, "without a token the page has no data");
  await shot(p, "door");
  await p.getByLabel("Token").fill("no-such-token");
  await p.getByRole("button", { name: "Open" }).click();
  await p.getByText("not known here").waitFor();
  ok(await p.getByRole("alert").isVisible(), "a wrong token is called wrong");
  await p.getByLabel("Token").fill(TOKEN);
  await p.keyboard.press("Enter");
  await p.getByRole("heading", { name: "Tasks" }).waitFor();
  ok(true, "the right one opens");
  await p.getByRole("button", { name: "Sign out" }).click();
  await p.getByLabel("Token").waitFor();
  ok(await p.evaluate(() => sessionStorage.length === 0), "signing out forgets it");
  await p.goto("about:blank");
  await p.goto(`${BASE}/#token=${TOKEN}`);
  await p.locator(".task").first().waitFor();
  const held = await p.evaluate(() => [location.href, Object.values(sessionStorage).join(), JSON.stringify(localStorage), document.cookie]);
  ok(!held[0].includes(TOKEN) && held[1] === TOKEN && !held[2].includes(TOKEN) && held[3] === "", "a token from the address leaves it at once, and is kept in the tab alone", held[0]);
  await p.context().close();
}

async function list() {
  const p = desk;
  await at(p, "#/", ".glance .number");
  const cards = await p.locator(".task").count();
  ok(cards === tasks.length, "the list has every task", [cards, tasks.length]);
  for (const t of tasks) ok((await p.locator(".task", { hasText: t.question }).count()) > 0, `as it is asked: ${t.task}`);
  ok((await p.locator(".state.few").count()) === tasks.filter((t) => !t.shown).length, "what has too few reports says so");
  ok(await p.evaluate(() => globalThis.pwned === undefined && !document.querySelector("main img, main script, main iframe")), "questions, labels and words are text, whatever they hold");
  await p.waitForFunction((n) => document.querySelectorAll(".task .glance .number").length >= n, shown.length - shown.filter((t) => t.kind === "bins").length, { timeout: PATIENCE });
}

// Error bars: the values are the API's, the pixels are the values.
async function figures() {
  const p = desk;
  for (const t of shown.filter((x) => x.current)) {
    await at(p, hash(t), where(t) + " g[data-low]");
    const figure = await api(`/v1/tasks/${t.task}/estimate?release=${t.release}&level=0.95&lying=0.01`);
    await p.waitForFunction(() => document.getAnimations().every((a) => a.playState !== "running" || a.animationName));
    const drawn = await marks(p, where(t));
    const known = figure.estimates.map((r) => JSON.stringify([r.estimate, r.low, r.high]));
    const want = figure.kind === "strings" ? figure.estimates.filter((r) => r.significant !== false).length : Math.min(25, figure.estimates.length);
    ok(drawn.length >= want && drawn.every((m) => known.includes(JSON.stringify([m.estimate, m.low, m.high]))), `${t.task}: estimates and intervals are the API's`, drawn);
    const up = t.kind === "bins";
    const ends = drawn.flatMap((m) => (up ? [[m.low, m.whole.bottom], [m.high, m.whole.top]] : [[m.low, m.whole.left], [m.high, m.whole.right]]));
    ok(straight(ends), `${t.task}: and error bars are drawn where they say`, ends);
    ok((await p.locator(".lies").textContent()).includes(figure.assume_lying ? "If 1" : "no known bound"), `${t.task}: what liars could do is beside it`);
    ok(await p.getByText("One report", { exact: true }).isVisible() && (await p.getByText(t.privacy.slice(0, 40)).count()) > 0, `${t.task}: and what it says about a person`);
    await shot(p, "task-" + t.task);
  }
}

// Levels, liars and days change what is asked for.
async function options() {
  const p = desk, t = twice, read = async () => (await marks(p, where(t)))[0];
  await at(p, hash(t), where(t) + " g[data-low]");
  const until = (low) => p.waitForFunction(([w, x]) => [...document.querySelectorAll(w + " g[data-low]")].some((g) => Number(g.dataset.low) === x), [where(t), low], { timeout: PATIENCE });
  const ask = async (more) => Math.max(...(await api(`/v1/tasks/${t.task}/estimate?release=${t.release}&${more}`)).estimates.map((r) => r.low));
  await p.getByLabel("Lying devices").selectOption("0");
  await until(await ask("lying=0"));
  ok((await p.locator(".lies").isHidden()) && (await p.getByLabel("Lying devices").isVisible()), "without liars the interval is that of noise alone");
  await p.getByLabel("Level").selectOption("0.99");
  await until(await ask("lying=0&level=0.99"));
  const wide = await read();
  const days = t.days ?? (await api(`/v1/tasks/${t.task}?release=${t.release}`)).days;
  await p.getByLabel("From").fill(days[0].day);
  await p.getByLabel("to", { exact: true }).fill(days[0].day);
  await until(await ask(`lying=0&level=0.99&from=${days[0].day}&to=${days[0].day}`));
  const one = await read();
  ok(one.high - one.low > wide.high - wide.low, "and one day's is wider than that of all", [one, wide]);
  await p.reload();
}

async function exports() {
  const p = desk, t = byKind("values");
  await at(p, hash(t), where(t) + " g[data-low]");
  for (const ending of ["csv", "json", "svg"]) {
    const [file] = await Promise.all([p.waitForEvent("download"), p.locator(`[data-export=${ending}]`).click()]);
    await file.saveAs(`${OUT}/export.${ending}`);
    const text = readFileSync(`${OUT}/export.${ending}`, "utf8");
    ok(file.suggestedFilename() === `${t.task}-${t.release}.${ending}` && { csv: /^value,estimate/, json: /"estimates"/, svg: /<svg/ }[ending].test(text), `the figure can be taken home as ${ending.toUpperCase()}`, text.slice(0, 200));
  }
}

const reportsOf = (p) => p.locator("dd[data-reports]").evaluate((n) => Number(n.dataset.reports));
const moved = (p, before) => p.waitForFunction((n) => Number(document.querySelector("dd[data-reports]").dataset.reports) > n, before, { timeout: PATIENCE });

// Numbers move while the page stays.
async function live() {
  const p = desk, t = byKind("yes-no");
  await at(p, hash(t), where(t) + " g[data-low]");
  await p.locator(".link.live").waitFor();
  await p.evaluate(() => {
    globalThis.same = true;
    globalThis.said = 0;
    new MutationObserver(() => globalThis.said++).observe(document.getElementById("voice"), { childList: true, characterData: true, subtree: true });
  });
  const before = await reportsOf(p), bar = (await marks(p, where(t)))[0];
  await want("more " + t.task);
  await moved(p, before);
  ok(true, "the number of reports moves when reports arrive");
  // Twice the reports may give the same share, but never the same interval.
  await p.waitForFunction((was) => Number(document.querySelector(".estimate g[data-low]").dataset.low) !== was, bar.low, { timeout: PATIENCE });
  await p.waitForFunction((was) => { const r = document.querySelector(".estimate .whole").getBoundingClientRect(); return r.right - r.left !== was; }, bar.whole.right - bar.whole.left, { timeout: PATIENCE });
  ok(await p.evaluate(() => globalThis.same), "and the estimate and its error bar with it, without loading anew");
  ok((await p.evaluate(() => globalThis.said)) <= 2, "but it is not read aloud each time");
}

// Where events are blocked, the page asks.
async function asks() {
  const p = await page(browser, ["/v1/events", "ERR_FAILED"]), t = byKind("yes-no");
  await p.route("**/v1/events", (route) => route.abort());
  await at(p, hash(t), where(t) + " g[data-low]");
  const before = await reportsOf(p);
  await want("more " + t.task);
  await moved(p, before);
  ok(await p.locator(".link.asking").isVisible(), "without events it asks every few seconds");
  await p.unroute("**/v1/events");
  await p.evaluate(() => dispatchEvent(new Event("online")));
  await p.locator(".link.live").waitFor();
  ok(true, "and is live again once it can be");
  await p.context().close();
}

async function compare() {
  const p = desk, t = twice;
  await at(p, hash(t), where(t));
  await p.getByRole("link", { name: "Compare" }).click();
  await p.locator(".page .words g[data-low]").first().waitFor();
  const other = tasks.find((x) => x.task === t.task && x.release !== t.release);
  const both = await api(`/v1/tasks/${t.task}/compare?release=${t.release}&with=${other.release}`);
  const drawn = await marks(p, ".page .words"), over = await marks(p, ".page .card:first-child");
  ok(drawn.length === both.difference.length && drawn.every((m, i) => m.estimate === both.difference[i].estimate && m.low === both.difference[i].low), "two releases: the difference is the API's", drawn);
  ok(over.length === 2 * both.difference.length && straight(over.flatMap((m) => [[m.low, m.whole.left], [m.high, m.whole.right]])), "and both lie over one another on one axis");
  await shot(p, "compare-releases");
  await p.getByLabel("Compare").selectOption("period");
  await p.getByLabel("A: from").waitFor();
  await p.locator(".key", { hasText: " to " }).or(p.locator(".key", { hasText: /\d [A-Z]/ })).first().waitFor();
  ok((await marks(p, ".page .words")).length > 0, "two periods of one release can be compared too");
  await shot(p, "compare-periods");
}

async function few() {
  const p = desk, t = tasks.find((x) => !x.shown);
  await at(p, hash(t), "progress");
  ok(await p.getByText("Too few reports yet").isVisible() && (await p.locator(".estimate g[data-low]").count()) === 0, "below its least number of reports a task shows how far it is, and no estimate");
  ok(t.frozen && await p.getByText(`kept for ${t.kept_days} days and sent again with new noise`).isVisible(), "a question whose first answer is kept says so");
  await shot(p, "few");
  await at(p, "#/task/%E0%A4", ".problem");
  ok(await p.getByRole("alert").isVisible(), "an address of nothing says so");
  await at(p, "#/collector", ".facts");
  ok(await p.getByText("Document of tasks").isVisible() && await p.getByRole("heading", { name: "Store" }).isVisible(), "the collector's own state is there");
  await shot(p, "collector");
}

/* ---- Who reads, and how -------------------------------------------------- */

// The least contrast of text on what is behind it, by WCAG's formula.
const contrast = (p) => p.evaluate(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (c) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const light = (c) => c.slice(0, 3).map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4)).reduce((a, v, i) => a + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (n) => { for (; n; n = n.parentElement) { const c = rgb(getComputedStyle(n).backgroundColor); if (c[3] === 255) return c; } return [255, 255, 255, 255]; };
  let worst = [99, ""];
  for (const n of document.querySelectorAll("body *")) {
    if (![...n.childNodes].some((c) => c.nodeType === 3 && c.textContent.trim()) || !n.checkVisibility() || n.closest("svg") || n.matches(".unseen, .unseen *, option")) continue;
    const [a, b] = [light(rgb(getComputedStyle(n).color)), light(behind(n))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < worst[0]) worst = [(a + 0.05) / (b + 0.05), n.className + ": " + n.textContent.slice(0, 40)];
  }
  return worst;
});

async function themes() {
  for (const dark of [false, true]) {
    const p = desk, name = dark ? "dark" : "light", t = byKind("values");
    await p.emulateMedia({ colorScheme: name });
    await at(p, "#/", ".glance .number");
    const list = await contrast(p);
    await shot(p, "tasks-" + name);
    await at(p, hash(t), ".series canvas");
    const one = await contrast(p);
    ok(list[0] >= 4.5 && one[0] >= 4.5, `${name}: text stands out from its ground by 4.5 or more`, [list, one]);
    await shot(p, "task-" + name);
    const paper = () => p.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const was = await paper(), button = p.locator("#theme");
    for (let i = 0; i < 3 && (await button.getAttribute("data-now")) !== (dark ? "light" : "dark"); i++) await button.click();
    ok((await paper()) !== was, `${name}: the reader may have it the other way`);
    while ((await button.getAttribute("data-now")) !== "system") await button.click();
  }
}

async function narrow() {
  const p = desk;
  await p.setViewportSize({ width: 360, height: 740 });
  await p.emulateMedia({ reducedMotion: "reduce" });
  const spill = () => p.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  const views = ["#/", ...shown.map((t) => hash(t)), hash(twice, "compare"), "#/collector"];
  const wide = [];
  for (const [i, view] of views.entries()) {
    await at(p, view, view === "#/" ? ".task" : view === "#/collector" ? ".facts" : "g[data-low]");
    if ((await spill()) > 0) wide.push([view, await spill()]);
    if (i % 5 === 0) await shot(p, "narrow-" + i);
  }
  ok(wide.length === 0, "nothing is wider than a screen of 360 points", wide);
  ok(await p.evaluate(() => [...document.querySelectorAll("*")].every((n) => getComputedStyle(n).transitionDuration.split(",").every((d) => parseFloat(d) === 0) && getComputedStyle(n).animationName === "none")), "nothing moves for those who asked for stillness");
  await p.setViewportSize({ width: 1180, height: 900 });
  await p.emulateMedia({ reducedMotion: "no-preference", colorScheme: "light" });
}

async function keyboard() {
  const p = desk, focus = () => p.evaluate(() => { const n = document.activeElement; return { tag: n.tagName, text: n.textContent.trim().slice(0, 60), id: n.id, ring: getComputedStyle(n).outlineStyle !== "none" || getComputedStyle(n, "::after").outlineStyle !== "none" }; });
  await at(p, "#/", ".task");
  await p.reload();
  await p.locator(".task").first().waitFor();
  await p.keyboard.press("Tab");
  ok((await focus()).text.startsWith("Skip"), "the first key press offers to skip to the content", await focus());
  await p.keyboard.press("Enter");
  ok((await focus()).id === "main", "and does");
  let seen = await focus();
  for (let i = 0; i < 6 && seen.tag !== "A"; i++) { await p.keyboard.press("Tab"); seen = await focus(); }
  ok(seen.tag === "A" && seen.ring, "the next stops at a task, and can be seen to", seen);
  await p.keyboard.press("Enter");
  await p.locator(".question h1").waitFor();
  ok((await p.locator("h1").textContent()).startsWith(seen.text) && (await focus()).id === "main", "which opens by Enter, with the focus at its content", seen);
  const stops = new Set(), blind = [];
  for (let i = 0; i < 60; i++) {
    await p.keyboard.press("Tab");
    const f = await focus();
    if (f.tag === "BODY") break;
    stops.add(f.text || f.id);
    if (!f.ring) blind.push(f);
  }
  ok(["CSV", "JSON", "SVG", "The numbers", "Compare"].every((w) => stops.has(w)) && blind.length === 0, "every control can be reached, and shows that it is", [[...stops], blind]);
}

// What a screen reader is given.
async function aloud() {
  const p = desk, t = byKind("bins") ?? byKind("values");
  await at(p, hash(t), ".series canvas");
  await p.locator(where(t) + " g[data-low]").first().waitFor();
  const faults = await p.evaluate(() => {
    const out = [];
    for (const n of document.querySelectorAll("svg, canvas")) if (!n.closest("[aria-hidden=true], [role=img][aria-label]")) out.push("a picture without words: " + n.outerHTML.slice(0, 80));
    for (const n of document.querySelectorAll("input, select")) if (!n.labels?.length) out.push("a field without a label: " + n.outerHTML.slice(0, 80));
    for (const n of document.querySelectorAll("button, a")) if (!(n.getAttribute("aria-label") ?? n.textContent).trim()) out.push("nothing to say: " + n.outerHTML.slice(0, 80));
    for (const name of ["header", "main", "nav", "footer"]) if (!document.querySelector(name)) out.push("no landmark " + name);
    if (document.querySelectorAll("h1").length !== 1) out.push("not one h1");
    let level = 1;
    for (const n of document.querySelectorAll("h1, h2, h3")) { if (Number(n.tagName[1]) > level + 1) out.push("a heading too deep: " + n.textContent); level = Number(n.tagName[1]); }
    const ids = [...document.querySelectorAll("[id]")].map((n) => n.id);
    if (new Set(ids).size !== ids.length) out.push("an id twice");
    for (const n of document.querySelectorAll(".columns, .series")) if (!n.closest(".card").querySelector("details.numbers")) out.push("a figure without a table");
    return out;
  });
  ok(faults.length === 0, "pictures, fields and headings can be read aloud", faults.join("\n"));
  for (const d of await p.locator("details.numbers summary").all()) await d.click();
  const rows = await p.locator("details.numbers tbody tr").count();
  ok(rows >= (await api(`/v1/tasks/${t.task}/estimate?release=${t.release}`)).estimates.length, "and every figure is a table too", rows);
  ok((await p.locator("#voice").getAttribute("aria-live")) === "polite", "news is told politely");
}

async function locked() {
  const p = await page(browser, ["Content Security Policy", "401"]);
  const answer = await p.goto(BASE + "/");
  const policy = answer.headers()["content-security-policy"] ?? "";
  ok(/default-src 'none'/.test(policy) && /script-src 'self'/.test(policy) && !/unsafe/.test(policy), "the page may run nothing but its own", policy);
  await p.evaluate(() => { const n = document.createElement("script"); n.textContent = "globalThis.pwned = 1"; document.body.append(n); });
  ok(await p.evaluate(() => globalThis.pwned === undefined), "so that a script in the page does not run");
  await p.context().close();
}

try {
  for (const part of [door, list, figures, options, exports, live, asks, compare, few, themes, narrow, keyboard, aloud, locked]) {
    const from = Date.now();
    await part();
    if (process.env.HSY_TIMES) console.log(`# ${part.name} ${Date.now() - from} ms`);
  }
  ok(complaints.length === 0, "no page complained", complaints.join("\n"));
  ok(strangers.length === 0, "no request left the collector", strangers.join("\n"));
} catch (error) {
  ok(false, "the browser did what it was asked", error.stack);
} finally {
  await browser.close();
  done();
}
