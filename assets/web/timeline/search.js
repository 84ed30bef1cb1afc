/** The place of a thing among sorted ones. */
/** @import { Side, SideSpans } from "./side.js" */

/**
 * First of `count` indices for which `reached` is true; once true it stays so.
 * @param {number} count @param {(at: number) => boolean} reached
 */
export function firstFrom(count, reached) {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (reached(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * First item of a lane that ends after `ns`: items are disjoint, so ends rise with starts.
 * @param {SideSpans} side @param {Int32Array} items @param {number} ns
 */
export function firstAfter(side, items, ns) {
  return firstFrom(items.length, (n) => side.start[items[n]] + side.duration[items[n]] >= ns);
}

/**
 * The launch that a lane of a stacked side belongs to.
 * @param {Side} side @param {number} lane
 */
export function launchOf(side, lane) {
  return side.stacked ? side.facts.launches[Math.floor(lane / side.depth)] : null;
}
