// series.js - estimates against time, with the band of their intervals (uPlot);
// of days each day's own, and the running total as a dashed line beside it.

import { h, put } from "./dom.js";
import { fixed, ticks, day } from "./numbers.js";

export const COLOURS = 6;
const HEIGHT = 250;

// A canvas knows no variables: the colour that one has now.
const probe = document.createElement("i");
probe.hidden = true;
document.body.append(probe);
function css(name) {
  probe.style.setProperty("color", `var(${name})`);
  return getComputedStyle(probe).color;
}

const clear = (colour, share) => `color-mix(in srgb, ${colour} ${share}%, transparent)`;

// Data of uPlot: times, then estimate, low and high of each value, then of days
// the running total of each.
function dataOf(points, values, daily) {
  const rowsOf = (name) => points.map((p) => new Map((p[name] ?? []).map((e) => [e.value, e])));
  const rows = rowsOf("estimates"), totals = rowsOf("totals");
  const get = (from, value, part) => from.map((r) => r.get(value)?.[part] ?? null);
  return [points.map((p) => p.time), ...values.flatMap((v) => ["estimate", "low", "high"].map((part) => get(rows, v, part))), ...(daily ? values.map((v) => get(totals, v, "estimate")) : [])];
}

function axes(unit, daily) {
  const style = { stroke: css("--soft"), font: "12px system-ui, sans-serif", grid: { stroke: css("--rule"), width: 1 }, ticks: { show: false } };
  const y = (u, at) => {
    const places = at.length > 1 ? ticks(at[0] * unit.scale, at.at(-1) * unit.scale, at.length - 1).places : 1;
    return at.map((v) => fixed(v * unit.scale, places) + unit.sign);
  };
  const x = { ...style, space: 70, size: 34 };
  if (daily) Object.assign(x, { incrs: [86400, 2 * 86400, 7 * 86400, 14 * 86400, 28 * 86400, 91 * 86400, 364 * 86400], values: (u, at) => at.map((t) => day(new Date(t * 1000).toISOString(), false)) });
  else x.values = (u, at, i, space, step) => at.map((t) => new Date(t * 1000).toLocaleTimeString("en-GB", step < 60 ? { timeStyle: "medium" } : { timeStyle: "short" }));
  return [x, { ...style, values: y, size: 62 }];
}

function seriesOf(values, look, daily) {
  const total = (value) => ({ label: value + ", all so far", stroke: css(`--line${look(value)}`), width: 1.25, dash: [6, 4], spanGaps: true, points: { show: false } });
  return [...values.flatMap((value) => {
    const colour = css(`--line${look(value)}`);
    const edge = { stroke: "transparent", width: 0, points: { show: false } };
    return [
      { label: value, stroke: colour, width: 2, spanGaps: true, points: { show: (u) => u.data[0].length < 40, size: 5, fill: colour, stroke: colour } },
      { label: value + " low", ...edge, spanGaps: true }, { label: value + " high", ...edge, spanGaps: true }];
  }), ...(daily ? values.map(total) : [])];
}

// A few points close together do not fill the width.
function around(first, last, least) {
  const air = Math.max(0, 2 * least - (last - first)) / 2;
  return [first - air, last + air];
}

export class Series {
  constructor(about, unit) {
    Object.assign(this, { unit, about });
    this.box = h("div", { class: "series", role: "img", "aria-label": about });
    this.node = this.box;
    this.watch = new ResizeObserver(() => this.fit());
    this.watch.observe(this.box);
  }

  // look(value) is the number of its colour.
  show(points, values, look, daily) {
    this.points = points;
    const shape = JSON.stringify([values, daily, values.map(look)]) + css("--paper");
    if (this.chart && shape === this.shape) return this.chart.setData(dataOf(points, values, daily));
    this.close();
    this.shape = shape;
    if (!points.length) return put(this.box);
    const bands = values.map((v, i) => ({ series: [3 * i + 3, 3 * i + 2], fill: clear(css(`--line${look(v)}`), 16) }));
    this.chart = new globalThis.uPlot({
      width: Math.max(200, this.box.clientWidth), height: HEIGHT, padding: [12, 28, 0, 0], legend: { show: false }, cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      scales: { x: { time: true, range: (u) => around(u.data[0][0], u.data[0].at(-1), daily ? 86400 : 30) }, y: { range: (u, low, high) => this.range(low, high) } },
      tzDate: daily ? (t) => globalThis.uPlot.tzDate(new Date(t * 1000), "Etc/UTC") : undefined,
      axes: axes(this.unit, daily), series: [{}, ...seriesOf(values, look, daily)], bands,
    }, dataOf(points, values, daily), this.box);
  }

  range(low, high) {
    if (low === null || high === null) return [0, 1];
    const air = (high - low) * 0.08 || Math.abs(high) * 0.1 || 1;
    return [low - air, high + air];
  }

  fit() {
    if (this.chart && this.box.clientWidth > 0) this.chart.setSize({ width: this.box.clientWidth, height: HEIGHT });
  }

  close() {
    this.chart?.destroy();
    this.chart = undefined;
  }
}
