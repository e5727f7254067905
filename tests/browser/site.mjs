// site.mjs - every page of the website in a real browser: each link and anchor
// leads somewhere, nothing is asked of another host, search finds words, and
// pages fit a narrow screen, light and dark. tests/browser/site.t starts it.

import { BASE, complaints, done, ok, page, shot, start, strangers } from "./rig.mjs";

const browser = await start();
const p = await page(browser);
const pages = new Map(); // path -> {ids, links}
const files = new Map(); // path -> status, of what is no page
const waiting = ["/index.html"];
const wide = [];

// What a page links to and shows, and where one can jump to in it.
const look = () => ({
  title: document.querySelector("h1")?.textContent ?? "",
  ids: [...document.querySelectorAll("[id]")].map((e) => e.id),
  links: [...document.querySelectorAll("a[href]")].map((a) => a.href),
  listed: [...document.querySelectorAll("article ol a:not(.headerlink)")].map((a) => new URL(a.href).pathname),
  next: document.querySelector(".md-footer__link--next")?.href ?? "",
  shown: [...document.images].map((i) => ({ src: i.src, drawn: i.complete && i.naturalWidth > 0 })),
});

const bad = [], untitled = [], undrawn = [], elsewhere = new Set();
while (waiting.length > 0) {
  const path = waiting.shift();
  if (pages.has(path)) continue;
  const answer = await p.goto(BASE + path, { waitUntil: "load" });
  if (answer.status() !== 200) { bad.push(`${path}: ${answer.status()}`); pages.set(path, { ids: new Set(), links: [] }); continue; }
  const seen = await p.evaluate(look);
  pages.set(path, { ids: new Set(seen.ids), links: seen.links, listed: seen.listed, next: seen.next && new URL(seen.next).pathname });
  if (!seen.title) untitled.push(path);
  undrawn.push(...seen.shown.filter((i) => !i.drawn).map((i) => `${path}: ${i.src}`));
  for (const link of seen.links) {
    const url = new URL(link);
    if (url.origin !== BASE) { elsewhere.add(url.href); continue; }
    const to = url.pathname.endsWith("/") ? url.pathname + "index.html" : url.pathname;
    if (to.endsWith(".html")) waiting.push(to);
    else if (!files.has(to)) files.set(to, (await fetch(BASE + to)).status);
  }
}
console.log(`# ${pages.size} pages, ${[...pages.values()].reduce((n, x) => n + x.links.length, 0)} links, ${files.size} other files, ${elsewhere.size} links to other hosts`);
ok(pages.size > 100, "the site is there", pages.size);
ok(bad.length === 0, "no link leads nowhere", bad.join("\n"));
ok([...files].every(([, status]) => status === 200), "nor to a file that is missing", [...files].filter(([, status]) => status !== 200).join("\n"));
ok(untitled.length === 0, "every page has a title", untitled.join("\n"));
ok(undrawn.length === 0, "every picture is drawn", undrawn.join("\n"));

const dead = [];
for (const [path, { links }] of pages) {
  for (const link of links) {
    const url = new URL(link);
    const to = url.pathname.endsWith("/") ? url.pathname + "index.html" : url.pathname;
    if (url.origin === BASE && url.hash && !pages.get(to)?.ids.has(decodeURIComponent(url.hash.slice(1)))) dead.push(`${path}: ${to}${url.hash}`);
  }
}
ok(dead.length === 0, "no anchor leads nowhere", dead.join("\n"));

// From page to page in the order of the index. The mechanisms are a book in the book.
const order = pages.get("/index.html").listed, mechanisms = order.indexOf("/mechanisms/index.html");
const astray = order.filter((path, i) => i + 1 < order.length && i !== mechanisms && pages.get(path).next !== order[i + 1]);
ok(order.length > 30 && pages.get("/start.html").next === order[0] && astray.length === 0, "pages follow each other as the index lists them", astray.map((path) => `${path} -> ${pages.get(path).next}`).join("\n"));

// Search answers from the site itself.
for (const [word, wanted] of [["averaging", "attacks.html"], ["checkpoint_seconds", "collector.html"], ["hearsay-tasks", "man/hearsay-tasks.1.html"]]) {
  await p.goto(BASE + "/index.html");
  await p.locator(".md-search__input").fill(word);
  await p.locator(".md-search-result__link").first().waitFor();
  await p.waitForFunction((w) => [...document.querySelectorAll(".md-search-result__link")].some((a) => a.href.includes(w)), wanted).catch(() => {});
  const found = await p.evaluate(() => [...document.querySelectorAll(".md-search-result__link")].map((a) => a.href));
  ok(found.some((href) => href.includes(wanted)), `search finds ${word} in ${wanted}`, found.join("\n"));
}

// Light and dark, and a narrow screen.
const scheme = () => p.evaluate(() => document.body.dataset.mdColorScheme);
await p.emulateMedia({ colorScheme: "light" });
await p.goto(BASE + "/start.html");
ok(await scheme() === "default", "who likes light gets light");
await shot(p, "site-light");
await p.locator("label[title=Dark]").click();
ok(await scheme() === "slate", "and can have dark");
await shot(p, "site-dark");
await p.locator("label[title=Light]").click();
ok(await scheme() === "default", "and light again");
await p.setViewportSize({ width: 390, height: 844 });
for (const path of ["/index.html", "/start.html", "/collector.html", "/man/hearsay-serve.1.html", "/openapi.html", "/mechanisms/index.html", "/deployment-sheet.html"]) {
  await p.goto(BASE + path);
  const width = await p.evaluate(() => document.documentElement.scrollWidth);
  if (width > 390) wide.push(`${path}: ${width}`);
  if (path === "/start.html" || path === "/openapi.html") await shot(p, "site-narrow-" + path.slice(1, -5));
}
ok(wide.length === 0, "pages fit a screen of 390 pixels", wide.join("\n"));

ok(strangers.length === 0, "no page asks another host for anything", strangers.join("\n"));
ok(complaints.length === 0, "and none complains", complaints.join("\n"));
await browser.close();
done();
