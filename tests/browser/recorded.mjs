// recorded.mjs - the page of recorded answers (web/recorded): every kind of card,
// in light, dark and narrow. tests/e2e/recorded.t serves web/ as it is.

import { BASE, complaints, done, ok, OUT, page, PATIENCE, shot, start, strangers } from "./rig.mjs";

const browser = await start();
const p = await page(browser, ["422", "409"]);
const scenes = await (await fetch(BASE + "/recorded/answers.json")).json();
const tasks = scenes.collector["/v1/tasks"].body.tasks;

// Whether nothing is cut off, or reaches beyond the window; or what does.
function beyond(tell) {
  const all = [...document.querySelectorAll("main *, header *")].filter((n) => {
    const box = n.getBoundingClientRect(), style = getComputedStyle(n);
    if (!box.width || n.closest(".unseen, .scroll, svg, [popover]")) return false;
    const hidden = style.overflowX === "hidden" && n.scrollWidth > n.clientWidth + 1 && !n.closest("[title]");
    return hidden || box.right > innerWidth + 1 || box.left < -1;
  }).map((n) => `${n.tagName}.${n.className}: ${n.textContent.slice(0, 40)}`);
  const wide = document.documentElement.scrollWidth - innerWidth;
  return tell ? [wide, ...all] : wide <= 0 && all.length === 0;
}

async function open(hash, scene = "collector") {
  await p.goto("about:blank");
  await p.goto(`${BASE}/recorded/?scene=${scene}${hash}`);
  await p.locator(".title h1, .question h1").first().waitFor();
  await p.waitForLoadState("networkidle");
}

// Wide in light and narrow in dark; or all four.
const SOME = [["light", 1180], ["dark", 390]], ALL = [...SOME, ["dark", 1180], ["light", 390]];

async function looks(name, ways = SOME) {
  for (const [colorScheme, width] of ways) {
    await p.emulateMedia({ colorScheme });
    await p.setViewportSize({ width, height: 900 });
    const whole = await p.waitForFunction(beyond, null, { timeout: PATIENCE }).then(() => true, () => false); // curves follow the window in a moment
    ok(whole, `${name}, ${colorScheme}, ${width} points: nothing is cut off`, (await p.evaluate(beyond, true)).join("\n"));
    await shot(p, `recorded-${name}-${width}-${colorScheme}`);
  }
  await p.setViewportSize({ width: 1180, height: 900 });
}

async function cards() {
  await open("#/");
  await p.locator(".task .spark").first().waitFor();
  ok((await p.locator(".task").count()) === tasks.length, "there is a card for each task", [await p.locator(".task").count(), tasks.length]);
  const kinds = new Set(tasks.map((t) => t.kind));
  ok(["yes-no", "values", "number", "bins", "strings"].every((k) => kinds.has(k)), "of each kind", [...kinds]);
  for (const state of ["collecting", "few", "soon", "over"]) ok((await p.locator(`.task .state.${state}`).count()) > 0, `and one that is ${state}`);
  ok(await p.getByText("no list of candidates").isVisible(), "what has no figure says why");
  await looks("cards", ALL);
  await p.emulateMedia({ colorScheme: "light" });
  await p.setViewportSize({ width: 1120, height: 896 });
  await p.screenshot({ path: `${OUT}/dashboard.png` });
  await p.setViewportSize({ width: 1180, height: 900 });
}

async function views() {
  for (const t of tasks.filter((x) => x.shown && !["query"].includes(x.task))) {
    await open(`#/task/${t.task}?release=${t.release}`);
    await p.locator(".estimate .hero .number, .estimate .bars, .estimate .columns").first().waitFor();
    await looks(t.task, t.task === "browser" ? ALL : SOME);
  }
  for (const name of ["few", "query"]) {
    await open(`#/task/${name}?release=1`);
    await looks(name);
  }
}

// What a word means is shown where it stands, within the window.
async function words() {
  await open("#/task/browser?release=1");
  await p.setViewportSize({ width: 390, height: 900 });
  await p.locator(".estimate .hero .number").waitFor();
  const said = await p.locator("button.term").allTextContents();
  ok(["Null uploads", "Score", "grr", "\u03b5 = 2", "Devices, at least", "Release"].every((w) => said.includes(w)), "words of the field are terms", said);
  const asked = await p.locator("button.term").all();
  for (const button of asked) {
    const note = p.locator("#" + (await button.getAttribute("popovertarget")));
    await button.click();
    const box = await note.boundingBox();
    ok(box && box.x >= 0 && box.x + box.width <= 390 && (await note.textContent()).length > 20, `${await button.textContent()}: ${await note.textContent()}`, box);
    if ((await button.textContent()) === "grr") await shot(p, "recorded-term");
    await p.keyboard.press("Escape");
    ok(await note.isHidden(), "and goes again");
  }
  await p.setViewportSize({ width: 1180, height: 900 });
}

async function collectors() {
  await open("#/collector", "troubles");
  ok((await p.locator(".card .problem").count()) > 1, "what is wrong with a collector is on its page");
  await looks("troubles");
  await open("#/collector", "cluster");
  ok(await p.getByText("Shard 1: ").isVisible() && (await p.getByText("paris").count()) > 0, "a cluster has its nodes, and a database that is lost");
  await looks("cluster");
}

try {
  await cards();
  await views();
  await words();
  await collectors();
  ok(complaints.length === 0 && strangers.length === 0, "the page complains of nothing, and asks nobody else", [...complaints, ...strangers].join("\n"));
} catch (e) {
  ok(false, "the tests of the recorded page ran to their end", e.stack);
}
await browser.close();
done();
