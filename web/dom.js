// dom.js - elements from names, attributes and children.
//
// Children are nodes or text; text is always text, never markup, so that
// nothing that comes from outside (questions, labels, words) can become code.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style") Object.entries(value).forEach(([k, v]) => node.style.setProperty(k, v));
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((c) => c !== undefined && c !== null && c !== false));
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
  node.replaceChildren(...children.flat(Infinity).filter(Boolean));
  return node;
}

// Change a text only if it is another one: nothing flickers, nothing is read
// aloud twice.
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
  return node;
}

let last = 0;
export const fresh = (what) => `${what}-${++last}`;

// A labelled choice: options are [value, text].
export function choice(label, options, chosen, changed) {
  const id = fresh("choice");
  const select = h("select", { id, onchange: () => changed(select.value) },
    options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
  return h("span", { class: "choice" }, h("label", { for: id }, label), select);
}

// Rows of text as a table: heads are [text, class].
export function table(caption, heads, rows, where = "table") {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", { class: where },
      h("caption", { class: "unseen" }, caption),
      h("thead", null, h("tr", null, heads.map(([text, kind]) => h("th", { scope: "col", class: kind }, text)))),
      h("tbody", null, rows.map((row) => h("tr", null, row.map((cell, i) =>
        i === 0 ? h("th", { scope: "row", class: heads[i][1] }, cell) : h("td", { class: heads[i][1] }, cell)))))));
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
