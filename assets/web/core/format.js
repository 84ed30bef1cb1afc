/**
 * Durations, sizes, counts and shares as a person reads them: the same text as gviz.text.quantity.
 *
 * tests/quantities.json is the table of cases that both are held against.
 */

/** Stands where there is no value. */
export const MISSING = "–";

/** @type {[number, string][]} */
const TIMES = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];
const SIZES = ["B", "KiB", "MiB", "GiB", "TiB"];

/** A number with its unit: lines are not broken between them. */
const QUANTITY = new RegExp(`([<>]?[+−±]?\\d[\\d.,]* (?:${[...TIMES.map(([, unit]) => unit), ...SIZES].join("|")})(?![\\wµ]))`);

/** @typedef {number|null|undefined} Maybe */

/** @param {Maybe} value @returns {value is number} */
const isKnown = (value) => Number.isFinite(value);

/** `places` digits behind the point, commas between groups of three. @param {number} value @param {number} places */
export function fixed(value, places) {
  const [whole, part] = Math.abs(value).toFixed(places).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  const text = part === undefined ? grouped : `${grouped}.${part}`;
  return value < 0 && /[1-9]/.test(text) ? `−${text}` : text;
}

/** Three significant digits, all of those before the point. @param {Maybe} value */
export function rounded(value) {
  if (!isKnown(value)) return MISSING;
  if (value === 0) return "0";
  const exponent = Number(Math.abs(value).toExponential(2).split("e")[1]);
  return fixed(value, Math.max(0, 2 - exponent));
}

/** Commas between groups of three digits. @param {Maybe} count */
export function integer(count) {
  return isKnown(count) ? fixed(count, 0) : MISSING;
}

/** A count with its noun. @param {number} count @param {string} noun @param {string} [plural] */
export function counted(count, noun, plural = `${noun}s`) {
  return `${integer(count)} ${count === 1 ? noun : plural}`;
}

/** Three significant digits in the unit that suits the size. @param {Maybe} ns */
export function duration(ns) {
  if (!isKnown(ns)) return MISSING;
  // What rounds up to a thousand of a unit is one of the next.
  const [size, unit] = TIMES.find(([least]) => Math.abs(ns) >= least * 0.9995) || TIMES[3];
  return `${unit === "ns" ? fixed(ns, 0) : rounded(ns / size)} ${unit}`;
}

/** Without the unit: a cell of a column that names it. @param {Maybe} ns */
export function microseconds(ns) {
  return isKnown(ns) ? rounded(ns / 1e3) : MISSING;
}

/** The unit for an axis whose ticks are `step` ns apart. @param {number} step @returns {[number, string]} */
export function axisUnit(step) {
  return TIMES.find(([size]) => step >= size * 0.999) || TIMES[3];
}

/** Binary units; exact below 1 KiB. @param {Maybe} count */
export function byteSize(count) {
  if (!isKnown(count)) return MISSING;
  let [value, unit] = [count, 0];
  for (; value >= 1024 && unit < SIZES.length - 1; unit++) value /= 1024;
  return `${unit ? rounded(value) : fixed(value, 0)} ${SIZES[unit]}`;
}

/** A fraction (1: all), one digit behind the point below 100. @param {Maybe} fraction */
export function percent(fraction) {
  if (!isKnown(fraction)) return MISSING;
  const value = 100 * fraction;
  if (value === 0) return "0%";
  if (Math.abs(value) < 0.05) return value > 0 ? "<0.1%" : ">−0.1%";
  return `${fixed(value, Math.abs(value) < 99.95 ? 1 : 0)}%`;
}

/** How many times as much. @param {Maybe} value */
export function multiple(value) {
  return isKnown(value) ? `${rounded(value)}×` : MISSING;
}

/** @param {number} value */
const sign = (value) => (value < 0 ? "−" : "+");

/** The text of a change without its sign, with it. @param {number} value @param {string} text */
const signed = (value, text) => (/[1-9]/.test(text) ? sign(value) : "±") + text;

/** A change of a duration with its sign. @param {Maybe} ns */
export function signedDuration(ns) {
  return isKnown(ns) ? signed(ns, duration(Math.abs(ns))) : MISSING;
}

/** A change of a duration with its sign: a cell of a column that names µs. @param {Maybe} ns */
export function signedMicroseconds(ns) {
  return isKnown(ns) ? signed(ns, microseconds(Math.abs(ns))) : MISSING;
}

/** A change (0: none) in percent with its sign. @param {Maybe} fraction */
export function signedPercent(fraction) {
  if (!isKnown(fraction)) return MISSING;
  return Math.abs(100 * fraction) < 0.05 ? "±0%" : sign(fraction) + percent(Math.abs(fraction));
}

/** A text in parts: every other one, from the second on, is a number with its unit. @param {string} text */
export function atQuantities(text) {
  return text.split(QUANTITY);
}
