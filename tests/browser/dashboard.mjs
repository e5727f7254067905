// dashboard.mjs - clicks through the dashboard of a running collector.
//
// tests/e2e/dashboard.t starts the collector, gives it reports, and more of
// them when a line "# want ..." asks for them.

import { readFileSync } from "node:fs";
import { agrees, api, at, BASE, complaints, done, marks, ok, OUT, page, PATIENCE, shot, start, straight, strangers, TOKEN, want } from "./rig.mjs";

const browser = await start();
const provoked = ["/v1/tasks/%25E0", "&level=1&", "from2=2099-01-01"];
const desk = await page(browser, provoked); // most tests look at one page
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
    const numbers = (r) => JSON.stringify([r.estimate, r.low, r.high, r.low_lying, r.high_lying]);
    const known = [...figure.estimates, ...(figure.unexplained ? [figure.unexplained] : [])].map(numbers);
    const want = figure.kind === "strings" ? figure.estimates.filter((r) => r.significant !== false).length : Math.min(25, figure.estimates.length);
    ok(drawn.length >= want && drawn.every((m) => known.includes(numbers(m))), `${t.task}: estimates and intervals are the API's`, drawn);
    const up = t.kind === "bins";
    const ends = drawn.flatMap((m) => (up ? [[m.low, m.error.bottom], [m.high, m.error.top]] : [[m.low, m.error.left], [m.high, m.error.right]]));
    ok(straight(ends), `${t.task}: and error bars are drawn where they say`, ends);
    const pale = drawn.filter((m) => m.whole).flatMap((m) => (up ? [[m.low_lying, m.whole.bottom], [m.high_lying, m.whole.top]] : [[m.low_lying, m.whole.left], [m.high_lying, m.whole.right]]));
    ok((pale.length > 0) === Boolean(figure.assume_lying) && (pale.length === 0 || straight([...pale, ...ends])), `${t.task}: what liars could do is drawn apart`, pale);
    await told(p, t, figure);
    await worth(p, t, figure);
    ok((await p.locator(".lies").textContent()).includes(figure.assume_lying ? "If 1" : "no known bound"), `${t.task}: what liars could do is beside it`);
    ok(await p.getByText("One report", { exact: true }).isVisible() && (await p.getByText(t.privacy.slice(0, 40)).count()) > 0, `${t.task}: and what it says about a person`);
    await shot(p, "task-" + t.task);
  }
}

// What shuffling was worth, for how many, and unless who works together.
async function worth(p, t, { shuffled: said }) {
  const text = (await p.locator(".estimate .shuffled").textContent()) ?? "", hidden = await p.locator(".estimate .shuffled").isHidden();
  if (!said) return ok(hidden && text === "", `${t.task}: nothing is said of batches that there are not`, text);
  const up = (e) => String(Math.ceil(e * 1e4) / 1e4), parts = [`${said.batches} shuffled`, said.min_batch.toLocaleString("en-GB"), said.n.toLocaleString("en-GB"), up(said.epsilon_central), up(said.epsilon_report), up(said.promised), String(said.delta), `unless ${said.unless}`];
  return ok(!hidden && parts.every((part) => text.includes(part)), `${t.task}: both epsilons, n and unless who colludes are the API's`, [text, parts]);
}

// Every number that is written is the API's in the digits shown.
async function told(p, t, figure) {
  const by = figure.kind === "number" ? 1 : 100, hero = await p.locator(".estimate .hero").innerText(), top = hero.split("\n").slice(0, 2).join(" ");
  const row = figure.quantiles?.find((q) => q.quantile === 0.5) ?? (figure.kind === "yes-no" ? figure.estimates[0] : [...figure.estimates].filter((r) => r.significant !== false).sort((a, b) => b.estimate - a.estimate)[0]);
  const scale = figure.quantiles ? 1 : by;
  ok(agrees(top, [row.estimate, row.low, row.high].map((x) => x * scale)), `${t.task}: the number on top is the API's, and its interval`, [top, row]);
  await p.locator(".estimate details.numbers summary").click();
  await p.locator(".estimate details.numbers tbody tr").first().waitFor();
  const cells = await p.locator(".estimate details.numbers tbody tr").evaluateAll((rows) => rows.map((r) => [...r.children].map((c) => c.textContent)));
  const names = ["estimate", "stderr", "low", "high", ...(figure.assume_lying ? ["low_lying", "high_lying"] : [])];
  ok(cells.length >= figure.estimates.length && figure.estimates.every((r, i) => names.every((n, k) => agrees(cells[i][k + 1], [r[n] * by]))), `${t.task}: so is every number of the table`, cells.slice(0, 4));
  const about = await p.locator(".estimate .about").textContent();
  ok(about.includes(figure.reports.toLocaleString("en-GB")) && about.includes("95\u202f%") && about.includes("sent "), `${t.task}: reports, level and days of sending are said`, about);
  if (figure.kind === "number") ok(about.includes("on a range from 0 to 480, "), `${t.task}: the ends of the range are those of the task`, about);
  await bands(p, t);
  ok(JSON.stringify(await p.locator(".estimate .notes li").allTextContents()) === JSON.stringify(figure.notes) && (figure.rounds < 2 || figure.notes.length > 0), `${t.task}: and what it is a share of`, figure.notes);
  const promise = await p.locator(".promise .number").first().textContent(), spelled = t.odds < 100 ? t.odds.toFixed(1) : String(t.odds);
  ok(promise.includes(spelled) && t.privacy.includes(`at most ${spelled} times`) && (await p.locator(".promise .spread .term").first().textContent()) === `\u03b5 = ${t.epsilon}`, `${t.task}: epsilon and the factor are those that the device shows`, [promise, t.odds, t.privacy]);
}

// Words are picked from many: their bands have a higher level than 95 %.
async function bands(p, t) {
  const { live } = await api(`/v1/tasks/${t.task}/history?release=${t.release}`), levels = new Set(live.flatMap((point) => point.estimates.map((r) => r.level_selected ?? 0.95)));
  const text = await p.locator(".card", { has: p.locator(".series") }).locator("p.soft").first().textContent(), said = /Bands: (.*)\u202f% intervals/.exec(text)?.[1] ?? "";
  const shown = said.split(/\u202f% (?:or|to) /).map((x) => Number(x) / 100);
  ok(shown.every((x) => [...levels].some((level) => Math.abs(x - level) <= 0.1 * (1 - level))) && (t.kind !== "strings" || !shown.includes(0.95)), `${t.task}: the bands over time have the level that is said`, [text, [...levels]]);
}

// Levels, liars and days change what is asked for.
async function options() {
  const p = desk, t = twice, read = async () => (await marks(p, where(t)))[0];
  await at(p, hash(t), where(t) + " g[data-low]");
  const until = (low) => p.waitForFunction(([w, x]) => [...document.querySelectorAll(w + " g[data-low]")].some((g) => Number(g.dataset.low) === x), [where(t), low], { timeout: PATIENCE });
  const ask = async (more) => Math.max(...(await api(`/v1/tasks/${t.task}/estimate?release=${t.release}&${more}`)).estimates.map((r) => r.low));
  await p.getByLabel("Lying devices").selectOption("0");
  await p.waitForFunction((w) => [...document.querySelectorAll(w + " g[data-low]")].every((g) => g.dataset.lyingLow === ""), where(t), { timeout: PATIENCE });
  ok((await read()).low === (await ask("lying=0")), "the interval does not depend on liars");
  ok((await p.locator(".lies").isHidden()) && (await p.getByLabel("Lying devices").isVisible()), "without liars the interval is that of noise alone");
  await p.getByLabel("About", { exact: true }).selectOption("population");
  await until(await ask("lying=0&target=population"));
  ok(/What all people hold/.test(await p.locator(".estimate .about").textContent()) && /of sampling/.test(await p.locator(".estimate .key").textContent()), "intervals for the population are said to be");
  ok((await p.evaluate(() => location.hash)).includes("target=population"), "the target is in the address");
  await p.getByLabel("About", { exact: true }).selectOption("people");
  await until(await ask("lying=0"));
  ok(/What those who answered hold/.test(await p.locator(".estimate .about").textContent()), "intervals for those who answered are said to be");
  await p.getByLabel("Level").selectOption("0.99");
  await until(await ask("lying=0&level=0.99"));
  const wide = await read();
  const days = t.days ?? (await api(`/v1/tasks/${t.task}?release=${t.release}`)).days;
  const last = days.at(-1).day, lonely = new Date(Date.parse(days[0].first_day ?? days[0].day) - 86400000).toISOString().slice(0, 10);
  await p.getByLabel("Sent from").fill(last);
  await p.getByLabel("to", { exact: true }).fill(last);
  const low = await ask(`lying=0&level=0.99&from=${last}&to=${last}`);
  await until(low);
  const one = await read();
  ok(one.high - one.low > wide.high - wide.low, "and one day's is wider than that of all", [one, wide]);
  ok((await p.locator(".estimate .about").textContent()).includes("sent on "), "and says the day of sending");

  // The view is in the address, the token is not.
  const state = await p.evaluate(() => location.hash);
  ok(["level=0.99", "lying=0", `from=${last}`, `to=${last}`].every((part) => state.includes(part)) && !state.includes(TOKEN), "level, liars and days are in the address", state);
  await p.reload();
  await until(low);
  ok((await p.getByLabel("Level").inputValue()) === "0.99" && (await p.getByLabel("Sent from").inputValue()) === last, "so that they outlive a reload");

  // What is refused leaves nothing behind.
  provoked.push(`from=${last}&to=${days[0].day}`, `from=${lonely}&to=${lonely}`);
  await p.getByLabel("to", { exact: true }).fill(days[0].day);
  await p.locator(".estimate .problem").waitFor();
  ok(/from and to/.test(await p.locator(".estimate .problem").textContent()) && (await p.locator(".estimate .hero, .estimate .picture, .estimate .about, .estimate .key, .estimate .numbers").evaluateAll((all) => all.every((n) => !n.checkVisibility()))), "days the wrong way round: the message alone, no older figure below it");
  ok((await p.locator("#voice").textContent()) === "" && (await p.locator("[data-export]").evaluateAll((all) => all.length === 3 && all.every((b) => b.disabled))), "nothing older is read out, and nothing can be exported");
  await shot(p, "refused");
  await p.goBack();
  await until(low);
  ok((await p.evaluate(() => location.hash)) === state && (await p.locator(".estimate .problem").count()) === 0 && (await p.locator("[data-export]:enabled").count()) === 3, "back leads to the figure before");
  await p.goForward();
  await p.locator(".estimate .problem").waitFor();
  await at(p, `${hash(t)}&level=1`, ".estimate .problem");
  ok(/level/.test(await p.locator(".estimate .problem").textContent()) && (await p.locator(".estimate g[data-low]:visible").count()) === 0, "a level of 100 % is refused, by name");
  await at(p, `${hash(t)}&from=${lonely}&to=${lonely}`, ".estimate .empty");
  ok(await p.getByText("Too few reports on these days").isVisible() && (await p.locator(".estimate .hero").isHidden()), "days of too few reports show no figure");
}

// Each day's own figure beside the running total.
async function byDay() {
  const p = desk, t = twice;
  const past = async () => (await api(`/v1/tasks/${t.task}/history?release=${t.release}`)).days;
  const own = async () => (await past()).filter((d) => d.own).length;
  for (const end = Date.now() + PATIENCE; (await own()) < 3 && Date.now() < end;) await p.waitForTimeout(100);
  ok((await own()) >= 3, "three days have figures of their own", await past());
  await at(p, `${hash(t)}&time=day`, ".series canvas");
  const card = p.locator(".card", { has: p.locator(".series") });
  await card.locator("summary").click();
  await card.locator("tbody tr").first().waitFor();
  const heads = await card.locator("thead th").allTextContents(), rows = await card.locator("tbody tr").evaluateAll((all) => all.map((r) => [...r.children].map((c) => c.textContent)));
  const days = (await past()).reverse(), value = heads[2], day = days[0].own.estimates.find((r) => r.value === value), all = days[0].estimates.find((r) => r.value === value), at2 = heads.indexOf("All so far");
  ok(heads[0] === "Day of sending" && rows.length === days.length, "days are days of sending", heads);
  ok(agrees(rows[0][2], [100 * day.estimate]) && agrees(rows[0][3], [100 * day.low, 100 * day.high]), "each day has its own figure and interval", rows[0]);
  ok(agrees(rows[0][at2], [days[0].reports]) && agrees(rows[0][at2 + 1], [100 * all.estimate]) && agrees(rows[0][at2 + 2], [100 * all.low, 100 * all.high]), "beside that of all reports so far", rows[0]);
  ok(rows.length >= 3 && rows.every((r) => agrees(r[1], [days[rows.indexOf(r)].own?.reports ?? NaN]) || !days[rows.indexOf(r)].own), "each says its reports", rows);
  await shot(p, "by-day");
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

// A figure without intervals says why; what rows do not explain is a row.
async function lacking() {
  const p = await page(browser);
  await p.route(/\/estimate\?/, async (route) => {
    const response = await route.fetch(), figure = await response.json();
    figure.estimates = figure.estimates.map(({ value, estimate }) => ({ value, estimate, stderr: null, low: null, high: null }));
    await route.fulfill({ response, json: { ...figure, assume_lying: null, why: "a reason", unexplained: { estimate: 0.25, stderr: 0.01, low: 0.2, high: 0.3 } } });
  });
  for (const t of [byKind("values"), byKind("bins"), byKind("number")]) {
    await at(p, hash(t), where(t) + " .mark");
    const html = await p.locator(".estimate").innerHTML();
    ok(!/NaN|undefined|null/.test(html.replace(/<details[^]*/, "")) && (await p.locator(".estimate .error:visible, .estimate .whole:visible").count()) === (t.kind === "values" ? 3 : 0), `${t.task}: no interval is drawn where there is none`, html.slice(0, 2000));
    await p.locator(".estimate details.numbers summary").click();
    await p.locator(".estimate details.numbers tbody tr").first().waitFor();
    ok((await p.locator(".estimate details.numbers").innerText()).includes("a reason"), `${t.task}: and the reason is said`);
    if (t.kind === "values") ok(agrees(await p.locator(".rows .row", { hasText: "(not shown)" }).locator(".spread").innerText(), [20, 30]), "what is not shown has a row and an interval");
  }
  await p.unrouteAll({ behavior: "ignoreErrors" });
  await p.context().close();
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

// While the collector does not answer, the page goes on asking.
async function asks() {
  const p = await page(browser, ["ERR_FAILED"]), t = byKind("yes-no");
  await at(p, hash(t), where(t) + " g[data-low]");
  await p.locator(".link.live").waitFor();
  await p.route("**/v1/status", (route) => route.abort());
  await p.locator(".link.trying").waitFor({ timeout: PATIENCE });
  ok(true, "says that the collector does not answer");
  const before = await reportsOf(p);
  await want("more " + t.task);
  await p.unroute("**/v1/status");
  await p.evaluate(() => dispatchEvent(new Event("online")));
  await p.locator(".link.live").waitFor();
  await moved(p, before);
  ok(true, "asks again once the network is back");
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
  ok(over.length === 2 * both.difference.length && straight(over.flatMap((m) => [[m.low, m.error.left], [m.high, m.error.right], [m.low_lying, m.whole.left], [m.high_lying, m.whole.right]])), "and both lie over one another on one axis");
  ok((await p.getByText("What those who answered hold:").count()) === 1, "a comparison says whom its intervals are about");
  await shot(p, "compare-releases");
  await p.getByLabel("Compare").selectOption("period");
  await p.getByLabel("A: sent from").waitFor();
  await p.locator(".key", { hasText: " to " }).or(p.locator(".key", { hasText: /\d [A-Z]/ })).first().waitFor();
  ok((await marks(p, ".page .words")).length > 0, "two periods of one release can be compared too");
  await shot(p, "compare-periods");
  await p.getByLabel("Level").selectOption("0.9");
  await p.waitForFunction(() => /from2=/.test(location.hash) && /level=0.9/.test(location.hash));
  await p.reload();
  await p.getByLabel("A: sent from").waitFor();
  ok((await p.getByLabel("Level").inputValue()) === "0.9" && (await p.getByLabel("Compare").inputValue()) === "period", "and the address keeps the comparison");
  ok((await p.getByLabel("Devices in all").count()) === 0, "fresh coins share nothing: nobody asks for devices");
  const kept = tasks.find((x) => x.task === "kept");
  await at(p, hash(kept, "compare"), ".page .words");
  await p.getByLabel("Devices in all").fill("3500");
  await p.getByLabel("Devices in all").blur();
  await p.getByText("compared with themselves").waitFor();
  const [paired] = await marks(p, ".page .words"), days = new URLSearchParams((await p.evaluate(() => location.hash)).split("?")[1]);
  const alone = await api(`/v1/tasks/kept/compare?from=${days.get("from")}&to=${days.get("to")}&from2=${days.get("from2")}&to2=${days.get("to2")}`);
  ok(days.get("devices") === "3500" && paired.high - paired.low < alone.difference[0].high - alone.difference[0].low, "kept answers: with the number of devices the difference is that of pairs", [paired, alone.difference]);
  await at(p, hash(t, "compare"), ".page .words");
  await p.getByLabel("Compare").selectOption("period");
  await p.getByLabel("B: sent from").waitFor();
  await p.getByLabel("B: sent from").fill("2099-01-01");
  await p.locator(".problem").waitFor();
  ok((await p.locator("g[data-low]").count()) === 0, "a comparison that is refused leaves no older one below");
}

async function few() {
  const p = desk, t = tasks.find((x) => !x.shown);
  await at(p, hash(t), ".estimate .empty");
  ok(await p.getByText("Too few reports yet").isVisible() && (await p.locator(".estimate g[data-low], .estimate progress").count()) === 0, "below its least number of reports a task shows neither an estimate nor how far it is");
  ok(t.frozen && await p.getByText(`kept for ${t.kept_days} days and sent again with new noise`).isVisible(), "a question whose first answer is kept says so");
  await shot(p, "few");
  await at(p, "#/task/%E0%A4", ".problem");
  ok(await p.getByRole("alert").isVisible(), "an address of nothing says so");
  await at(p, "#/collector", ".facts");
  ok(await p.getByText("Document of tasks").isVisible() && await p.getByRole("heading", { name: "Store" }).isVisible(), "the collector's own state is there");
  ok(await p.getByText("Reports since the start", { exact: true }).isVisible(), "and says since when it counts reports");
  await shot(p, "collector");
}

// A document that expires is said on every view.
async function warned() {
  const p = await page(browser, ["ERR_FAILED"]), text = "the document of tasks expires";
  const troubles = [{ name: "document-expires", grave: false, text }, { name: "disk-low", grave: false, text: "the disk is nearly full" }];
  await p.route("**/v1/status", async (route) => { const a = await route.fetch({ headers: { ...route.request().headers(), "if-none-match": "" } }); await route.fulfill({ response: a, json: { ...await a.json(), troubles } }); });
  await p.goto(`${BASE}/#token=${TOKEN}`);
  await p.locator("#trouble").waitFor({ timeout: PATIENCE });
  ok((await p.locator("#trouble").textContent()) === "The document of tasks expires.", "a document that expires is said above the list", await p.locator("#trouble").textContent());
  await at(p, "#/collector", ".facts");
  ok(await p.getByText("the disk is nearly full").isVisible(), "and all troubles where the collector's state is");
  ok(!(await desk.locator("#trouble").isVisible()), "where there is none nothing is said");
  await p.unrouteAll({ behavior: "ignoreErrors" });
  await p.context().close();
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
  await p.locator("[data-export=svg]:enabled").waitFor(); // its figure has come
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
  for (const part of [door, list, figures, options, byDay, lacking, exports, live, asks, compare, few, warned, themes, narrow, keyboard, aloud, locked]) {
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
