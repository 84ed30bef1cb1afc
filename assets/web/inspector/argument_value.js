/** Bytes of a kernel argument: hexadecimal always, guesses at their meaning marked as such. */
import * as format from "../core/format.js";
import { address } from "./node_facts.js";
/** @import { Row } from "./records.js" */

/** Longest argument shown in full; a struct passed by value may have up to 32,764 bytes. */
const SHOWN_BYTES = 32;
/** As gviz.cuda.argument_number. */
const LIKELY_INTEGER = 1 << 26;
const LIKELY_FLOAT = [1e-7, 1e9];
/** Integers from here on are hardly meant as such. */
const LARGEST = 2 ** 40;
const SIZES = [1, 2, 4, 8];

/** The bytes of a text of hexadecimal digits, first to last. @param {string} digits */
const bytesOf = (digits) => Uint8Array.from(digits.match(/../g) ?? [], (two) => parseInt(two, 16));

/** Little endian. @param {Uint8Array} bytes */
const unsigned = (bytes) => bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);

/** Groups of four bytes, counted from the last. @param {string} digits */
const grouped = (digits) => digits.replace(/(?!^)(?=(?:.{8})+$)/g, " ");

/** The value in hexadecimal: a number up to 8 bytes, else its first bytes in order. @param {Row} argument */
export function hexadecimal({ size_bytes: size, value }) {
  if (size <= 8 && value) return `0x${unsigned(bytesOf(value)).toString(16).padStart(value.length, "0")}`;
  return grouped(value.slice(0, 2 * SHOWN_BYTES)) + (value.length > 2 * SHOWN_BYTES ? " …" : "");
}

/** A float of two bytes. @param {number} bits */
function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return exponent ? sign * 2 ** (exponent - 15) * (1 + fraction / 1024) : sign * 2 ** -14 * (fraction / 1024);
}

/** @param {Uint8Array} bytes */
function floatOf(bytes) {
  const view = new DataView(bytes.buffer);
  if (bytes.length === 2) return half(view.getUint16(0, true));
  if (bytes.length === 4) return view.getFloat32(0, true);
  return bytes.length === 8 ? view.getFloat64(0, true) : NaN;
}

/** Six significant digits, as C's %.6g. @param {number} value */
export function sixDigits(value) {
  const [mantissa, power] = value.toExponential(5).split("e");
  const exponent = Number(power);
  /** @param {string} text */
  const plain = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  if (exponent >= -4 && exponent < 6) return plain(value.toFixed(5 - exponent));
  return `${plain(mantissa)}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

/** What the value probably is, by its bytes; null without a guess. @param {Row} argument */
export function guess({ allocation_address: points, value }) {
  const bytes = bytesOf(value);
  if (points !== undefined || !SIZES.includes(bytes.length)) return null;
  const number = Number(BigInt.asIntN(8 * bytes.length, unsigned(bytes)));
  const float = floatOf(bytes), size = Math.abs(float);
  if (Math.abs(number) > LIKELY_INTEGER && size >= LIKELY_FLOAT[0] && size <= LIKELY_FLOAT[1]) {
    return `${sixDigits(float)} (${8 * bytes.length}-bit float)`;
  }
  return Math.abs(number) < LARGEST ? format.integer(number) : null;
}

/** The allocation that a pointer falls in; null when it points into none. @param {Row} argument */
export function allocation({ allocation_address: base, allocation_bytes: bytes, value }) {
  if (base === undefined) return null;
  const offset = Number(unsigned(bytesOf(value.slice(0, 16))) - BigInt(base));
  const where = offset === 0 ? "start of" : `${format.byteSize(offset)} into`;
  return `${where} ${format.byteSize(bytes)} at ${address(base)}`;
}
