// bars.js - rows of bars or dots with their intervals on one axis.
//
// The figure is a table at the same time: a row has its label, its picture
// (which nobody is read aloud) and its numbers. A mark is {estimate, low, high,
// lying, look, dot}: low to high is the interval, null where there is none;
// lying = [low, high] the wider one of lying devices, or null; look is 0 or 1,
// the colour.

import { h, s, say, visible } from "./dom.js";
import { fixed, known, ticks } from "./numbers.js";

const HEIGHT = 34, TWO = 46;

// Everything that a mark shows.
export const reach = (m) => [m.estimate, m.low, m.high, ...(m.lying ?? [])].filter(known);

// The axis that holds zero and all intervals, with a little air.
export function axisOf(marks, count = 5) {
  const low = Math.min(0, ...marks.flatMap(reach));
  const high = Math.max(0, ...marks.flatMap(reach));
  const air = (high - low) * 0.02 || 1;
  const from = low < 0 ? low - air : 0;
  const to = high > 0 ? high + air : 0;
  return { from, to, ...ticks(from, to, count) };
}

const place = (axis, x) => `${((100 * (x - axis.from)) / (axis.to - axis.from)).toFixed(3)}%`;
const wide = (axis, a, b) => `${((100 * Math.max(0, b - a)) / (axis.to - axis.from)).toFixed(3)}%`;

function set(node, values) {
  for (const [name, value] of Object.entries(values)) if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

// One mark: bar or dot, what liars could do, noise with its caps.
class Mark {
  constructor(look, dot) {
    this.bar = s(dot ? "circle" : "rect", { class: `mark look${look}` });
    this.whole = s("rect", { class: `whole look${look}` });
    this.line = s("rect", { class: "error" });
    this.caps = [s("rect", { class: "error" }), s("rect", { class: "error" })];
    this.node = s("g", null, dot ? [this.whole, this.line, this.caps, this.bar] : [this.bar, this.whole, this.line, this.caps]);
    this.dot = dot;
  }

  draw(axis, m, y, height) {
    const middle = y + height / 2;
    const ends = known(m.low) && known(m.high) ? [m.low, m.high] : null;
    if (this.dot) set(this.bar, { cx: place(axis, m.estimate), cy: middle, r: 5 });
    else set(this.bar, { x: place(axis, Math.min(0, m.estimate)), width: wide(axis, Math.min(0, m.estimate), Math.max(0, m.estimate)), y, height, rx: 2 });
    const shown = (node, yes) => node.classList.toggle("gone", !yes);
    shown(this.whole, m.lying);
    for (const part of [this.line, ...this.caps]) shown(part, ends);
    if (m.lying) set(this.whole, { x: place(axis, m.lying[0]), width: wide(axis, ...m.lying), y: middle - 5, height: 10, rx: 5 });
    if (ends) set(this.line, { x: place(axis, ends[0]), width: wide(axis, ...ends), y: middle - 0.75, height: 1.5 });
    if (ends) this.caps.forEach((cap, i) => set(cap, { x: place(axis, ends[i]), width: 1.5, y: middle - 4.5, height: 9, transform: "translate(-0.75 0)" }));
    for (const [name, value] of Object.entries({ estimate: m.estimate, low: m.low, high: m.high, lyingLow: m.lying?.[0], lyingHigh: m.lying?.[1] })) this.node.dataset[name] = value ?? "";
  }
}

class Row {
  constructor(row) {
    this.label = h("span", { role: "rowheader", class: "label", dir: "auto" });
    this.grid = s("g", { class: "grid" });
    this.marks = row.marks.map((m) => new Mark(m.look ?? 0, m.dot));
    this.height = row.marks.length > 1 ? TWO : HEIGHT;
    this.picture = s("svg", { class: "track", height: this.height, "aria-hidden": "true", focusable: "false" }, this.grid, this.marks.map((m) => m.node));
    this.cells = row.cells.map(() => h("span", { role: "cell" }));
    this.node = h("div", { role: "row", class: "row" }, this.label, this.picture, this.cells);
  }

  draw(row, axis) {
    say(this.label, row.label);
    this.node.classList.toggle("faint", Boolean(row.faint));
    if (row.title) this.node.title = visible(row.title);
    row.cells.forEach(({ text, kind }, i) => {
      say(this.cells[i], text);
      this.cells[i].className = "cell " + (kind ?? "");
    });
    this.lines(axis);
    const step = this.height / row.marks.length;
    row.marks.forEach((m, i) => this.marks[i].draw(axis, m, row.marks.length > 1 ? i * step + (i ? 1 : 5) : 7, row.marks.length > 1 ? step - 6 : this.height - 14));
  }

  lines(axis) {
    const key = axis.at.join();
    if (this.grid.dataset.key === key + axis.from + axis.to) return;
    this.grid.dataset.key = key + axis.from + axis.to;
    this.grid.replaceChildren(...axis.at.map((x) => s("line", { x1: place(axis, x), x2: place(axis, x), y1: 0, y2: "100%", class: Math.abs(x) < 1e-12 ? "zero" : null })));
  }
}

// rows: {key, label, title, faint, marks, cells: [{text, kind}]}; heads name
// the cells; unit writes the axis.
export class Bars {
  constructor(caption, heads, unit) {
    this.unit = unit;
    this.body = h("div", { role: "rowgroup", class: "rows" });
    this.axis = h("div", { class: "axis", "aria-hidden": "true" });
    this.node = h("div", { class: "bars", role: "table", "aria-label": caption },
      h("div", { role: "rowgroup", class: "unseen" }, h("div", { role: "row" }, heads.map((text) => h("span", { role: "columnheader" }, text)))),
      this.body, h("div", { class: "row axis-row", "aria-hidden": "true" }, h("span", { class: "label" }), this.axis, heads.slice(1).map(() => h("span", { class: "cell" }))));
    this.known = new Map();
  }

  update(rows, axis = axisOf(rows.flatMap((r) => r.marks))) {
    const keep = new Map();
    for (const row of rows) {
      const shape = row.key + "\n" + row.marks.length;
      const drawn = this.known.get(shape) ?? new Row(row);
      drawn.draw(row, axis);
      keep.set(shape, drawn);
    }
    this.known = keep;
    const nodes = [...keep.values()].map((r) => r.node);
    if (nodes.length !== this.body.children.length || nodes.some((n, i) => n !== this.body.children[i])) this.body.replaceChildren(...nodes);
    this.scale(axis);
    return this;
  }

  scale(axis) {
    const { unit } = this;
    const shown = ticks(axis.from * unit.scale, axis.to * unit.scale, 5);
    this.axis.replaceChildren(...axis.at.map((x) => h("span", { style: { left: place(axis, x) } }, fixed(x * unit.scale, shown.places) + unit.sign)));
  }
}
