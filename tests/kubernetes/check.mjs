// Objects of Kubernetes, JSON on standard input: what their schemas say is wrong with
// each, as JSON. A field that the schema of its object never looks at is wrong too:
// Kubernetes refuses it, or forgets it.
import {createRequire} from "node:module";
import {readFileSync} from "node:fs";

const require = createRequire(import.meta.url);
const groups = {"v1": "CoreV1", "apps/v1": "AppsV1", "batch/v1": "BatchV1", "policy/v1": "PolicyV1", "networking.k8s.io/v1": "NetworkingV1"};

// The same object, that remembers which of its fields were read.
function watched(value, at, fields) {
  if (value === null || typeof value !== "object") return value;
  const parts = new Map();
  for (const key of Object.keys(value)) {
    const place = `${at}/${key}`;
    fields.set(place, Array.isArray(value));
    parts.set(key, watched(value[key], place, fields));
  }
  return new Proxy(value, {
    get(target, key) {
      fields.set(`${at}/${String(key)}`, true);
      return parts.has(key) ? parts.get(key) : target[key];
    },
  });
}

function problems(object) {
  const group = groups[object.apiVersion];
  if (group === undefined) return [`no schema of ${object.apiVersion}`];
  let validate;
  try {
    ({validate} = require(`./node_modules/kubernetes-models/_schemas/IoK8sApi${group}${object.kind}.js`));
  } catch (e) {
    return [`no schema of ${object.apiVersion} ${object.kind}`];
  }
  const fields = new Map();
  const good = validate(watched(object, "", fields));
  const found = good ? [] : validate.errors.map(e => `${e.instancePath} ${e.message ?? `${e.keyword} ${JSON.stringify(e.params)}`}`);
  // Below a field that is unknown all are: name the first.
  const unknown = [...fields].filter(([, read]) => !read).map(([place]) => place);
  return found.concat(unknown.filter(place => !unknown.some(other => place.startsWith(other + "/"))).map(place => `${place} unknown`));
}

console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(problems)));
