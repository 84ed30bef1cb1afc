/** Sections of a graph that stand side by side: the rows at which they begin. Python side: gviz.layout.sections. */
/** @import { Ints } from "./order.js" */

/**
 * The first row of each section but the first, where one ends before the next begins.
 * @param {Ints} row one a node @param {ArrayLike<number>} section one a node; -1: it is in none
 */
export function sectionBreaks(row, section) {
  /** @type {Map<number, {first: number, last: number}>} */ const found = new Map();
  for (let n = 0; n < row.length; n++) {
    if (section[n] < 0) continue;
    const known = found.get(section[n]);
    if (!known) found.set(section[n], { first: row[n], last: row[n] });
    else [known.first, known.last] = [Math.min(known.first, row[n]), Math.max(known.last, row[n])];
  }
  /** @type {number[]} */ const breaks = [];
  let reached = -1;
  for (const { first, last } of Array.from(found.values()).sort((a, b) => a.first - b.first)) {
    if (reached >= 0 && first > reached) breaks.push(first);
    reached = Math.max(reached, last);
  }
  return breaks;
}
