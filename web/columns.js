// columns.js - upright bars in order: bins of a range, days. Each column has
// one or two marks {value, low, high, lying, look}, as in bars.js.

import { h, s } from "./dom.js";
import { fixed, known, ticks } from "./numbers.js";

const at = (share) => `${(100 * share).toFixed(3)}%`;

function axisOf(columns) {
  const marks = columns.flatMap((c) => c.marks);
  const ends = marks.flatMap((m) => [m.value, m.low, m.high, ...(m.lying ?? [])].filter(known));
  const low = Math.min(0, ...ends), high = Math.max(0, ...ends);
  const air = (high - low) * 0.03 || 1;
  const from = low < 0 ? low - air : 0;
  const to = high > 0 ? high + air : from + 1;
  return { from, to, ...ticks(from, to, 4) };
}

// The place of a mark within its column: alone, or beside another.
function slot(column, i, n, many) {
  const width = 1 / many, gap = many > 40 ? 0.08 : 0.16;
  const inner = width * (1 - gap);
  return { x: column * width + (width - inner) / 2 + (i * inner) / n, width: inner / n };
}

// Both intervals; of many thin columns without caps, and no wider than they are.
function interval(y, m, where) {
  const middle = at(where.x + where.width / 2), thin = where.width < 0.01;
  const upright = (kind, [low, high], wide) => s("rect", { class: kind, x: middle, width: wide, y: at(y(high)), height: at(y(low) - y(high)), rx: wide / 2, transform: `translate(${-wide / 2} 0)` });
  const cap = (end) => s("rect", { class: "error", x: middle, width: 7, y: at(y(end)), height: 1.5, transform: "translate(-3.5 -0.75)" });
  const whole = m.lying ? [upright(`whole look${m.look ?? 0}`, m.lying, thin ? 2 : 6)] : [];
  const error = known(m.low) && known(m.high) ? [upright("error", [m.low, m.high], thin ? 0.5 : 1.5), ...(thin ? [] : [m.low, m.high].map(cap))] : [];
  return [...whole, ...error];
}

function mark(axis, m, where) {
  const y = (v) => 1 - (v - axis.from) / (axis.to - axis.from);
  const parts = [s("rect", { class: `mark look${m.look ?? 0}`, x: at(where.x), width: at(where.width), y: at(y(Math.max(0, m.value))), height: at(Math.abs(y(0) - y(m.value))), rx: 1.5 })];
  parts.push(...interval(y, m, where));
  const node = s("g", { class: "column" }, m.title ? s("title", null, m.title) : null, parts);
  Object.assign(node.dataset, { estimate: m.value, low: m.low ?? "", high: m.high ?? "", lyingLow: m.lying?.[0] ?? "", lyingHigh: m.lying?.[1] ?? "" });
  return node;
}

// columns: {label, marks}; labels: {text, at} along the x axis, at from 0 to 1.
export class Columns {
  constructor(about, unit, height = 220) {
    Object.assign(this, { unit, about });
    this.plot = s("svg", { class: "plot", height, role: "img", "aria-label": about });
    this.left = h("div", { class: "left", "aria-hidden": "true" });
    this.below = h("div", { class: "below", "aria-hidden": "true" });
    this.node = h("div", { class: "columns" }, this.left, this.plot, this.below);
  }

  update(columns, labels) {
    const axis = axisOf(columns);
    const { unit } = this;
    const y = (v) => at(1 - (v - axis.from) / (axis.to - axis.from));
    const shown = ticks(axis.from * unit.scale, axis.to * unit.scale, 4);
    this.plot.replaceChildren(
      s("g", { class: "grid" }, axis.at.map((v) => s("line", { x1: 0, x2: "100%", y1: y(v), y2: y(v), class: Math.abs(v) < 1e-12 ? "zero" : null }))),
      ...columns.flatMap((c, i) => c.marks.map((m, j) => mark(axis, m, slot(i, j, c.marks.length, columns.length)))));
    this.left.replaceChildren(...axis.at.map((v) => h("span", { style: { top: y(v) } }, fixed(v * unit.scale, shown.places) + unit.sign)));
    this.below.replaceChildren(...labels.map((l) => h("span", { style: { left: at(l.at) } }, l.text)));
    return this;
  }
}

// As many labels as fit, evenly: every first, second, fifth ... of n.
export function sparse(n, most = 8) {
  const step = [1, 2, 3, 4, 5, 7, 10, 14, 20, 30, 50, 100, 200, 500, 1000].find((k) => n / k <= most) ?? n;
  return (i) => i % step === 0;
}
