/** Positions of a layered layout's items: each near its kin, in order, with the gaps kept. Python side: gviz.layout.layers. */
import { roundEven } from "./order.js";
import { LANE_GAP } from "./sizes.js";
/** @import { Items } from "./layers.js" */

/**
 * @typedef {[number, number][]} Links  items, and how strongly they pull or how far away they stay
 * @typedef {{links: Links, weight: number}} Pull  of one item, and of all of them together
 */

const POSITION_SWEEPS = 14;
const CHAIN_SWEEPS = 9;
/** The last sweeps look both ways. */
const BOTH_WAYS = 4;
/** Pull of a link by how many of its ends are dummies, and of the only link between two nodes. */
const PULL = [1, 0.05, 8];
const PULL_CHAIN = 4;
/** Of an item without kin: it stays, but yields. */
const PULL_ALONE = 0.05;
/** Chains are rounded to this grid where they have the room. */
const SNAP = 17;

/** x of every item. @param {Items} items @param {number[][]} rows */
export function positions(items, rows) {
  const x = new Float64Array(items.row.length);
  const offsets = rows.map((members) => offsetsOf(members, items));
  rows.forEach((members, r) => {
    const middle = (offsets[r].at(-1) ?? 0) / 2;
    members.forEach((item, k) => (x[item] = offsets[r][k] - middle));
  });
  const { above, below, both } = pulls(items);
  for (let sweep = 0; sweep < POSITION_SWEEPS; sweep++) {
    const down = sweep % 2 === 0;
    const towards = sweep >= POSITION_SWEEPS - BOTH_WAYS ? both : down ? above : below;
    for (let k = 0; k < rows.length; k++) {
      const r = down ? k : rows.length - 1 - k;
      settle(rows[r], offsets[r], x, towards);
    }
  }
  straighten(items, rows, x);
  return x;
}

/** How many of a link's ends are dummies. @param {Items} items @param {number} upper @param {number} lower */
const dummies = ({ nodeCount }, upper, lower) => Number(upper >= nodeCount) + Number(lower >= nodeCount);

/** @param {Items} items @param {number} upper @param {number} lower */
function pullOf(items, upper, lower) {
  const count = dummies(items, upper, lower);
  if (!count && items.below[upper].length === 1 && items.above[lower].length === 1) return PULL_CHAIN;
  return PULL[count];
}

/** @param {Links} links */
function weightOf(links) {
  let sum = 0;
  for (const [, weight] of links) sum += weight;
  return sum;
}

/** @param {Items} items */
function pulls(items) {
  /** @type {Links[]} */ const up = items.above.map((near, i) => near.map((n) => [n, pullOf(items, n, i)]));
  /** @type {Links[]} */ const down = items.below.map((near, i) => near.map((n) => [n, pullOf(items, i, n)]));
  /** @param {Links} links @returns {Pull} */
  const weighed = (links) => ({ links, weight: weightOf(links) });
  return {
    above: up.map(weighed), below: down.map(weighed),
    both: up.map((links, i) => weighed(links.concat(down[i]))),
  };
}

/** Where some links pull to, on average. @param {Links} links @param {number} weight @param {Float64Array} x */
function wishOf(links, weight, x) {
  let sum = 0;
  for (const [n, pull] of links) sum += x[n] * pull;
  return sum / weight;
}

/** The least distance of the centres of two neighbours in a row. @param {Items} items @param {number} left @param {number} right */
function distance({ width, nodeCount }, left, right) {
  const gap = Math.max(left, right) < nodeCount ? LANE_GAP : LANE_GAP / 2;
  return (width[left] + width[right]) / 2 + gap;
}

/** @param {number[]} members @param {Items} items */
function offsetsOf(members, items) {
  let at = 0;
  return members.map((item, k) => (k ? (at += distance(items, members[k - 1], item)) : 0));
}

/**
 * Move a row's items to where they are pulled, as near as order and gaps allow.
 * @param {number[]} members @param {number[]} offset @param {Float64Array} x @param {Pull[]} pulled
 */
function settle(members, offset, x, pulled) {
  if (members.length === 1) { // nothing is in its way
    const { links, weight } = pulled[members[0]];
    if (weight) x[members[0]] = wishOf(links, weight, x);
    return;
  }
  /** Sum of weight times wish, weight, members. @type {[number, number, number][]} */ const blocks = [];
  members.forEach((item, k) => {
    const { links, weight: own } = pulled[item];
    const wish = own ? wishOf(links, own, x) : x[item], weight = own || PULL_ALONE;
    let [total, sum, size] = [(wish - offset[k]) * weight, weight, 1];
    for (let before = blocks.at(-1); before && before[0] * sum >= total * before[1]; before = blocks.at(-1)) {
      [total, sum, size] = [before[0] + total, before[1] + sum, before[2] + size];
      blocks.pop();
    }
    blocks.push([total, sum, size]);
  });
  let at = 0;
  for (const [total, weight, size] of blocks) {
    for (const end = at + size; at < end; at++) x[members[at]] = total / weight + offset[at];
  }
}

/** Move chains as a whole: each to its kin's middle, as far as its neighbours let it. @param {Items} items @param {number[][]} rows @param {Float64Array} x */
function straighten(items, rows, x) {
  const limits = neighboursOf(items, rows);
  const chains = chainsOf(items).map((chain) => moved(items, limits, chain));
  for (let sweep = 0; sweep < CHAIN_SWEEPS; sweep++) {
    for (let k = 0; k < chains.length; k++) {
      const { members, left, right, links, weight } = chains[sweep % 2 === 0 ? k : chains.length - 1 - k];
      let low = -Infinity, high = Infinity;
      for (const [n, gap] of left) low = Math.max(low, x[n] + gap);
      for (const [n, gap] of right) high = Math.min(high, x[n] - gap);
      if (low > high) continue;
      let wish = weight ? wishOf(links, weight, x) : x[members[0]];
      if (sweep === CHAIN_SWEEPS - 1) wish = roundEven(wish / SNAP) * SNAP;
      const place = Math.min(Math.max(wish, low), high);
      for (const i of members) x[i] = place;
    }
  }
}

/** A chain, what limits it on either side, and what pulls it. @param {Items} items @param {{left: Links, right: Links}[]} limits @param {number[]} members */
function moved(items, limits, members) {
  const inside = new Set(members);
  /** @type {Links} */ const links = [];
  for (const i of members) for (const n of items.above[i]) if (!inside.has(n)) links.push([n, pullOf(items, n, i)]);
  for (const i of members) for (const n of items.below[i]) if (!inside.has(n)) links.push([n, pullOf(items, i, n)]);
  return {
    members, links, weight: weightOf(links),
    left: members.flatMap((i) => limits[i].left), right: members.flatMap((i) => limits[i].right),
  };
}

/** Runs of items that are linked only to each other, from top to bottom. @param {Items} items */
function chainsOf(items) {
  const { row, above, below } = items;
  /** @param {number} upper @param {number} lower */
  const isChained = (upper, lower) =>
    below[upper].length === 1 && above[lower].length === 1 && dummies(items, upper, lower) !== 1;
  /** @type {number[][]} */ const found = [];
  for (const item of row.map((_, i) => i).sort((a, b) => row[a] - row[b])) {
    if (above[item].length === 1 && isChained(above[item][0], item)) continue;
    const run = [item];
    for (let next = below[item][0]; next !== undefined && isChained(run[run.length - 1], next); next = below[next][0]) run.push(next);
    found.push(run);
  }
  return found;
}

/** For each item the one to its left and to its right, with the least distance. @param {Items} items @param {number[][]} rows */
function neighboursOf(items, rows) {
  /** @type {{left: Links, right: Links}[]} */
  const found = items.row.map(() => ({ left: [], right: [] }));
  for (const members of rows) {
    for (let k = 1; k < members.length; k++) {
      const gap = distance(items, members[k - 1], members[k]);
      found[members[k - 1]].right.push([members[k], gap]);
      found[members[k]].left.push([members[k - 1], gap]);
    }
  }
  return found;
}
