/**
 * Columns whose values repeat: each stands once. Python side: gviz.app.components.coded.
 *
 * @typedef {{same?: any, values?: any[], codes?: number[], large?: boolean}} Coded  one value of all, a value each, or values
 *   that codes point to; `large`: integers are texts of digits
 */

/** The value of a column at a place; null where it has none. @param {Coded|undefined} column @param {number} at */
export function valueOf(column, at) {
  if (!column) return null;
  const { same, values, codes, large } = column;
  const value = values === undefined ? same : values[codes === undefined ? at : codes[at]];
  return large && value !== null ? BigInt(value) : value;
}

/** All values of a column. @param {any[]|Coded} column @param {number} count @returns {any[]} */
export function listOf(column, count) {
  if (Array.isArray(column)) return column;
  const { same, values, codes } = column;
  if (values === undefined) return Array(count).fill(same);
  return codes === undefined ? values : codes.map((code) => values[code]);
}

/**
 * The different texts of a column, in lower case, and which of them each place has.
 * @param {any[]} list
 * @returns {{texts: string[], codes: number[]}}
 */
export function textsOf(list) {
  /** @type {Map<any, number>} */ const known = new Map();
  const codes = list.map((value) => {
    const code = known.get(value) ?? known.size;
    if (code === known.size) known.set(value, code);
    return code;
  });
  return { texts: Array.from(known.keys(), (value) => String(value ?? "").toLowerCase()), codes };
}
