/** Times and names as text. */

/** @type {[number, string][]} */
const UNITS = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];

/** Three significant digits and a unit. @param {number} ns */
export function time(ns) {
  if (!Number.isFinite(ns)) return "not timed";
  const [size, unit] = UNITS.find(([least]) => Math.abs(ns) >= least * 0.9995) || UNITS[3];
  const value = ns / size;
  const digits = unit === "ns" || Math.abs(value) >= 99.95 ? 0 : Math.abs(value) >= 9.995 ? 1 : 2;
  return `${value.toFixed(digits)} ${unit}`;
}

/** The unit for an axis whose ticks are `step` ns apart. @param {number} step @returns {[number, string]} */
export function axisUnit(step) {
  return UNITS.find(([size]) => step >= size * 0.999) || UNITS[3];
}

/** @param {number} fraction */
export function percent(fraction) {
  const value = 100 * fraction;
  if (value > 0 && value < 0.1) return "< 0.1 %";
  return `${value.toFixed(value < 10 ? 1 : 0)} %`;
}

/** @param {number} value */
const sign = (value) => (value > 0 ? "+" : value < 0 ? "−" : "±");

/** A change with its sign. @param {number} ns */
export function signedTime(ns) {
  return sign(ns) + time(Math.abs(ns));
}

/** A ratio as a change in percent, with its sign. @param {number} log2 of the ratio */
export function signedRatio(log2) {
  const change = 2 ** log2 - 1;
  return sign(change) + percent(Math.abs(change));
}

/** @param {number} count @param {string} noun @param {string} [plural] */
export function counted(count, noun, plural = `${noun}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : plural}`;
}

const SIZES = ["B", "KiB", "MiB", "GiB", "TiB"];

/** Three significant digits and a binary unit, as gviz.app.components.quantity. @param {number} count */
export function bytes(count) {
  let [value, unit] = [count, 0];
  for (; value >= 1024 && unit < SIZES.length - 1; unit++) value /= 1024;
  if (!unit) return `${count} B`;
  const digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return `${value.toFixed(digits)} ${SIZES[unit]}`;
}

/**
 * Three significant digits, no exponent, thin spaces between groups: as gviz.app.components.quantity.
 * @param {number} value
 */
function threeDigits(value) {
  if (value === 0) return "0";
  const rounded = Number(value.toPrecision(3));
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(rounded))));
  if (digits > 0) return rounded.toFixed(digits);
  return rounded.toLocaleString("en").replaceAll(",", "\u202f");
}

/** Cells of the table: "" without a value. @param {number|null} ns */
export function microseconds(ns) {
  return ns === null || ns === undefined ? "" : threeDigits(ns / 1e3);
}

/** @param {number|null} fraction */
export function share(fraction) {
  return fraction === null || fraction === undefined ? "" : `${threeDigits(fraction * 100)}\u202f%`;
}

/**
 * A cell with a change: three digits, `places` of them at most behind the point; "" without.
 * @param {number|null|undefined} value @param {number} places
 */
function signed(value, places) {
  if (value === null || value === undefined) return "";
  const rounded = Number(value.toFixed(places));
  return sign(rounded) + Number(Math.abs(rounded).toPrecision(3));
}

/** @param {number} ns */
export const signedMicroseconds = (ns) => signed(ns === null || ns === undefined ? ns : ns / 1e3, 3);

/** @param {number|null} fraction */
export function signedShare(fraction) {
  if (fraction === null || fraction === undefined) return "";
  return `${signed(fraction * 100, 1)}\u202f%`;
}
