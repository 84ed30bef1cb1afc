/** Units of an overlay's values: those of time and of sizes are written as everywhere, others as they are. */
import * as format from "../core/format.js";

/** @typedef {{unit: string, write: (value: number) => string}} Measure */

/** ns of a unit of time, as files and ncu call it. @type {Record<string, number>} */
const TIMES = { ns: 1, nsecond: 1, us: 1e3, "µs": 1e3, usecond: 1e3, ms: 1e6, msecond: 1e6, s: 1e9, second: 1e9 };
/** Bytes of a unit of size. @type {Record<string, number>} */
const SIZES = {
  b: 1, byte: 1, bytes: 1, kbyte: 1e3, kb: 1e3, mbyte: 1e6, mb: 1e6, gbyte: 1e9, gb: 1e9, tbyte: 1e12,
  kib: 1024, mib: 1024 ** 2, gib: 1024 ** 3,
};

/** @param {number} value */
const plain = (value) => (Number.isInteger(value) ? format.integer(value) : format.rounded(value));

/** How values of a unit are written. @param {string} unit @returns {Measure} */
export function measureOf(unit) {
  const name = unit.trim();
  const [ns, bytes] = [TIMES[name.toLowerCase()], SIZES[name.toLowerCase()]];
  if (ns) return { unit: name, write: (value) => format.duration(value * ns) };
  if (bytes) return { unit: name, write: (value) => format.byteSize(value * bytes) };
  if (name === "%") return { unit: name, write: (value) => format.percent(value / 100) };
  return { unit: name, write: (value) => (name ? `${plain(value)} ${name}` : plain(value)) };
}
