// dom.js - elements from names, attributes and children.
//
// Children are nodes or text; text is always text, never markup, so that
// nothing that comes from outside (questions, labels, words) can become code.

const SVG = "http://www.w3.org/2000/svg";

// Words come from strangers. A character that nobody sees, or that turns the
// direction of writing, is shown by its number, as in src/lib/bits/utf8.h.
const HIDDEN = /[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2028\u2029\ufff9-\ufffb]/gu;
const number = (c) => (c === "\t" ? "\\t" : c === "\n" ? "\\n" : `\\u{${c.codePointAt(0).toString(16)}}`);
export const visible = (text) => String(text).replace(HIDDEN, number);

// A field of CSV; what a sheet would take for a formula is text.
export function cell(v) {
  if (typeof v === "number") return String(v);
  if (v === null || v === undefined) return "";
  const text = String(v).replace(HIDDEN, (c) => (c < "\x80" ? c : number(c)));
  const formula = /^ *[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20\u2212]/.test(text) && !/^-\d+(\.\d+)?(\.\.-?\d+(\.\d+)?)?$/.test(text);
  return `"${formula ? "'" : ""}${text.replace(/"/g, '""')}"`;
}

const READ = ["title", "aria-label", "label"]; // attributes that people read
const shown = (children) => children.flat(Infinity).map((c) => (typeof c === "string" ? visible(c) : c));

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style") Object.entries(value).forEach(([k, v]) => node.style.setProperty(k, v));
    else node.setAttribute(name, value === true ? "" : READ.includes(name) ? visible(value) : value);
  }
  node.append(...shown(children).filter((c) => c !== undefined && c !== null && c !== false));
  return node;
}

export function h(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function s(name, attributes, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

export const byId = (id) => document.getElementById(id);

// Put other children in; the same node stays, and its place on the page.
export function put(node, ...children) {
  node.replaceChildren(...shown(children).filter(Boolean));
  return node;
}

// Change a text only if it is another one: nothing flickers, nothing is read
// aloud twice.
export function say(node, words) {
  const text = visible(words);
  if (node.textContent !== text) node.textContent = text;
  return node;
}

// What an operator is told, as a sentence.
export const sentence = (text) => text.replace(/^./, (c) => c.toUpperCase()) + ".";

let last = 0;
export const fresh = (what) => `${what}-${++last}`;

// A labelled choice: options are [value, text]; more: what stands after the label.
export function choice(label, options, chosen, changed, more = null) {
  const id = fresh("choice");
  const select = h("select", { id, onchange: () => changed(select.value) },
    options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
  return h("span", { class: "choice" }, h("span", { class: "name" }, h("label", { for: id }, label), more), select);
}

// Rows of text as a table: heads are [text, class, node]; the node, if there is
// one, stands for the text.
export function table(caption, heads, rows, where = "table") {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", { class: where },
      h("caption", { class: "unseen" }, caption),
      h("thead", null, h("tr", null, heads.map(([text, kind, node]) => h("th", { scope: "col", class: kind }, node ?? text)))),
      h("tbody", null, rows.map((row) => h("tr", null, row.map((cell, i) =>
        i === 0 ? h("th", { scope: "row", class: heads[i][1] }, cell) : h("td", { class: heads[i][1], "data-head": heads[i][0] }, cell)))))));
}

// The numbers behind a figure, for those who cannot or would rather not look.
export function numbers(make) {
  const body = h("div");
  const details = h("details", { class: "numbers", ontoggle: () => show() }, h("summary", null, "The numbers"), body);
  let known = false;
  const show = () => {
    if (!details.open || known) return;
    put(body, make());
    known = true;
  };
  details.refresh = () => { known = false; show(); };
  return details;
}
