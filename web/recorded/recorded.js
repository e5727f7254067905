// recorded.js - the dashboard without a collector: what it asks is answered from
// answers.json, which tests/browser/record wrote from a real one.
//
// The page is web/index.html itself, with its files found beside this folder.

(async () => {
  const real = globalThis.fetch;
  const scenes = await (await real("answers.json")).json();
  const name = new URLSearchParams(location.search).get("scene") ?? "collector";
  const scene = { ...scenes.collector, ...scenes[name] };

  // An answer to the whole question, else to the same with fewer parameters.
  const find = (path) => {
    const [where, query] = path.split("?");
    const release = new URLSearchParams(query).get("release");
    return scene[path] ?? (release && scene[`${where}?release=${release}`]) ?? scene[where];
  };
  const problem = (status, title) => ({ status, body: { type: "about:blank", title, status } });

  globalThis.fetch = async (path) => {
    const { status, body } = find(path) ?? problem(404, "This was not recorded");
    return new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } });
  };

  const page = await (await real("../index.html")).text();
  document.open();
  document.write(page.replaceAll("/assets/uPlot", "../vendor/uPlot").replaceAll("/assets/", "../"));
  document.close();
})();
