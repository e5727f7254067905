// cluster.mjs - the dashboard of a cluster's node: its nodes and shards.
//
// tests/e2e/dashboard.t starts it, and takes a database away when a line
// "# want lost" asks for that.

import { api, at, complaints, done, ok, page, shot, start, strangers, want } from "./rig.mjs";

const browser = await start();
const p = await page(browser);
const rows = (caption) => p.evaluate((c) => [...document.querySelectorAll("table")].filter((t) => t.caption.textContent === c).flatMap((t) => [...t.tBodies[0].rows].map((r) => [...r.cells].map((x) => x.textContent))), caption);
const spill = () => p.evaluate(() => document.documentElement.scrollWidth - innerWidth);

async function tables() {
  const { cluster } = await api("/v1/status");
  await at(p, "#/collector", "table");
  const nodes = await rows("Nodes of the cluster"), shards = await rows("Shards of the cluster");
  ok(nodes.length === cluster.nodes.length && nodes.every(([name, state, version], i) => name === cluster.nodes[i].name && state === "Alive" && version === cluster.nodes[i].version), "the page lists the nodes of a cluster", nodes);
  ok(shards.length === 2 && shards.every(([n, server, state, standby, timeline, , uploads], i) => n === String(i) && server === cluster.shards[i].server && state === "Used" && standby === "None" && timeline === "1" && uploads === String(cluster.shards[i].uploads)), "and its shards", shards);
  ok(await p.getByText("databases have no synchronous standby").isVisible(), "and that there is no standby");
}

async function looks() {
  for (const colorScheme of ["light", "dark"]) {
    await p.emulateMedia({ colorScheme });
    await p.setViewportSize({ width: 1180, height: 900 });
    await shot(p, `cluster-${colorScheme}`);
    await p.setViewportSize({ width: 390, height: 844 });
    ok((await spill()) <= 0, `nothing is wider than a screen of 390 points (${colorScheme})`, await spill());
    await shot(p, `cluster-narrow-${colorScheme}`);
  }
  await p.setViewportSize({ width: 1180, height: 900 });
}

async function lost() {
  await want("lost");
  await p.reload();
  await p.getByText("Shard 1: ").waitFor();
  const shards = await rows("Shards of the cluster");
  ok(shards[0][2] === "Used" && shards[1][2] === "Lost" && shards[1][3] === "\u2013", "a database that is lost is marked", shards);
  ok(await p.getByText("some databases cannot be used").isVisible() && await p.getByText("Takes uploads").isVisible(), "and said where the collector's state is");
  await shot(p, "cluster-lost");
}

try {
  await tables();
  await looks();
  await lost();
  ok(complaints.length === 0 && strangers.length === 0, "the page complains of nothing, and asks nobody else", [...complaints, ...strangers].join("\n"));
} catch (e) {
  ok(false, "the tests of the cluster's page ran to their end", e.stack);
}
await browser.close();
done();
