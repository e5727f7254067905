// api.js - questions to the collector, with the reader's token.

const KEY = "hearsay-token";

// "#token=..." hands a token over, and leaves the address at once: it must not
// stay in the history or be copied along. Anybody can make such a link: one that
// would replace the session that is open asks first.
export function takeToken(agreed = (words) => confirm(words)) {
  const found = /^#token=([^&]*)/.exec(location.hash);
  if (!found) return;
  const next = decode(found[1]);
  history.replaceState(null, "", location.pathname + "#/");
  if (!token() || token() === next || agreed("This link brings another token. Sign in with it, and leave the session that is open?")) setToken(next);
}

// What an address spells wrongly is taken as it stands.
export function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const token = () => sessionStorage.getItem(KEY) ?? "";

export function setToken(text) {
  if (text) sessionStorage.setItem(KEY, text);
  else sessionStorage.removeItem(KEY);
}

// What the collector answered instead: its status, and its problem in words.
export class Problem extends Error {
  constructor(status, body) {
    super(body?.title || (status ? `The collector answered ${status}` : "The collector does not answer"));
    this.status = status;
    this.body = body ?? {};
  }
}

// With the tag of an earlier answer the status is 304 if nothing has changed.
export async function ask(path, { signal, accept = "application/json", tag } = {}) {
  const headers = { Accept: accept };
  if (tag) headers["If-None-Match"] = tag;
  if (token()) headers.Authorization = "Bearer " + token();
  let answer;
  try {
    answer = await fetch(path, { headers, signal, cache: "no-store", credentials: "omit", redirect: "error" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0);
  }
  if (!answer.ok && !(tag && answer.status === 304)) throw new Problem(answer.status, await answer.json().catch(() => null));
  return answer;
}

export const json = async (path, how) => (await ask(path, how)).json();

// A figure; what a decoder calls detected is what a search calls significant,
// and why there are no intervals is each row's reason.
export const figure = async (path, how) => settle(await json(path, how));
export function settle(got) {
  for (const row of got.estimates) {
    row.significant ??= row.detected;
    if (got.why && row.low === null) row.why ??= got.why;
  }
  return got;
}

export function query(values) {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(values))
    if (value !== undefined && value !== null && value !== "") q.set(name, value);
  const text = q.toString();
  return text ? "?" + text : "";
}

export const taskPath = (id, rest = "", values = {}) => `/v1/tasks/${encodeURIComponent(id)}${rest}${query(values)}`;

// A file for the reader: links cannot carry a token, so it is fetched first.
export async function download(path, name) {
  save(await (await ask(path, { accept: "*/*" })).blob(), name);
}

export function save(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
