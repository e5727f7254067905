// numbers.js - numbers in as many digits as their error lets them have.

const MINUS = "\u2212";

// Decimals for an error: two digits of it if it begins with a 1 or a 2, else
// one. The estimate beside it gets as many.
export function decimals(error) {
  if (!(error > 0) || !Number.isFinite(error)) return 2;
  const power = Math.floor(Math.log10(error));
  const lead = Number((error / 10 ** power).toPrecision(2));
  return Math.min(8, Math.max(0, (lead < 3 ? 1 : 0) - power));
}

export function fixed(x, places) {
  const text = Math.abs(x).toLocaleString("en-GB", { minimumFractionDigits: places, maximumFractionDigits: places });
  return x < 0 && /[1-9]/.test(text) ? MINUS + text : text;
}

export const count = (n) => (Number.isFinite(n) ? n.toLocaleString("en-GB", { maximumFractionDigits: 0 }) : "\u2013");

// How a kind of figure writes its numbers: shares in percent, means as they are.
export function unitOf(figure) {
  const share = figure.kind !== "number";
  const by = share ? 100 : 1;
  const sign = share ? "\u202f%" : "";
  return {
    share,
    sign,
    difference: share ? "\u202fpp" : "",
    scale: by,
    number: (x, error) => fixed(x * by, decimals(error * by)),
    of(x, error) { return this.number(x, error) + sign; },
    // The collector's own ends, never ones made here; and those for liars.
    range(row) { return this.ends(row.low, row.high, row.stderr); },
    lying(row) { return this.ends(row.low_lying, row.high_lying, row.stderr); },
    ends(low, high, error) { return known(low) && known(high) ? `${this.number(low, error)} to ${this.number(high, error)}${this.sign}` : ""; },
  };
}

export const known = (x) => x !== null && x !== undefined;

// A number in all its digits, up to so many: as CSV, SVG and the command have it.
export const exact = (x, digits) => fixedAsIs(Number(x.toPrecision(digits)));
const fixedAsIs = (x) => x.toLocaleString("en-GB", { maximumFractionDigits: 20 });
// A level that was adjusted has many digits: of those only what tells it from 1.
export const levelText = (level) => `${exact(100 * level, level < 0.999 ? 12 : Math.ceil(-Math.log10(1 - level)) + 1)}\u202f%`;

// Round steps for an axis from low to high, about n of them.
export function ticks(low, high, n) {
  const span = high - low || 1;
  const rough = span / Math.max(1, n);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((m) => m >= rough * 0.999);
  const first = Math.ceil(low / step - 1e-9);
  const out = [];
  for (let i = first; i * step <= high + step * 1e-9; i++) out.push(i * step);
  return { step, at: out, places: Math.max(0, Math.min(8, -Math.floor(Math.log10(step) + 1e-9) + (Math.abs(step / power - 2.5) < 1e-9 ? 1 : 0))) };
}

export const percent = (share) => `${exact(100 * share, 6)}\u202f%`;

// A chance as small as it is worth telling.
export const chance = (p) => (p === null || p === undefined ? "\u2013" : p < 0.001 ? "below 0.001" : fixed(p, p < 0.1 ? 3 : 2));

const DAY = 86400000;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

// "2026-11-16" as "16 Nov 2026", and without the year.
export function day(iso, year = true) {
  const part = /^(\d{4})-(\d{2})-(\d{2})/.exec(iso ?? "");
  if (!part) return iso || "\u2013";
  return `${Number(part[3])} ${MONTHS[Number(part[2]) - 1]}${year ? " " + part[1] : ""}`;
}

// Every day from the first to the last, those without reports too; at least two
// weeks of them, unless the task is younger.
export function everyDay(days, start, today) {
  const known = new Map(days.map((d) => [d.day, d]));
  const name = (t) => new Date(t).toISOString().slice(0, 10);
  const last = [today, ...known.keys()].sort().at(-1), early = name(Date.parse(last) - 13 * DAY);
  const first = [...known.keys(), early < start ? start : early].sort()[0];
  const out = [];
  for (let t = Date.parse(first); t <= Date.parse(last); t += DAY) out.push(known.get(name(t)) ?? { day: name(t), reports: 0, nulls: 0 });
  return out;
}

export const dayTime = (iso) => Date.parse(iso + "T00:00:00Z") / 1000;

export function bytes(n) {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let i = 0;
  for (; n >= 1000 && i < units.length - 1; i++) n /= 1000;
  return `${fixed(n, n < 10 && i ? 1 : 0)} ${units[i]}`;
}
