/** The arrays of visible items: what nodes and folds are, chosen from what a DAG has of all. Python side: gviz.app.views.dag.folding. */
import { pathOf } from "./critical.js";
import { openId } from "./levels.js";
/** @import { OpenLevel, WholeDag } from "./levels.js" */
/** @import { Strings } from "./strings.js" */
/** @import { Ran } from "../place/timed.js" */

/** Arrays of places of strings, one a node or a fold. */
const TEXTS = new Set(["name", "reason", "nvtx", "device", "family", "phase", "module", "difference"]);

/** @typedef {Record<string, any>} Arrays */

/** One value an item of all levels, from those of nodes and of folds. @param {WholeDag} whole @param {OpenLevel[]} levels @param {string|null} folding @param {string} name @param {Strings} strings */
function chosen(whole, levels, folding, name, strings) {
  const nodes = whole.arrays[name], folds = folding === null ? nodes : whole.arrays[`${folding}_${name}`];
  const found = new nodes.constructor(countItems(levels));
  const isText = TEXTS.has(name);
  for (const { level, seen, first } of levels) {
    const begin = folding === null ? 0 : level.folds[folding][0];
    for (let i = 0; i < seen.node.length; i++) {
      const value = seen.node[i] >= 0 ? nodes[level.first + seen.node[i]] : folds[begin + seen.fold[i]];
      found[first + i] = isText ? strings.take(value) : value;
    }
  }
  return found;
}

/** @param {OpenLevel[]} levels */
export function countItems(levels) {
  const last = levels[levels.length - 1];
  return last.first + last.seen.node.length;
}

/** What every item has. @param {WholeDag} whole @param {OpenLevel[]} levels @param {string|null} folding @param {Strings} strings */
export function itemArrays(whole, levels, folding, strings) {
  /** @type {Arrays} */ const found = {};
  for (const name of whole.header.node_arrays) found[name] = chosen(whole, levels, folding, name, strings);
  if (found.slack_ns) addSlackAround(levels, found.slack_ns);
  return found;
}

/**
 * Count slack in bodies up to the longest path of the level shown: beyond a node's own it may use what its parent node
 * has, shared among the iterations.
 * @param {OpenLevel[]} levels @param {Float32Array} slack
 */
function addSlackAround(levels, slack) {
  for (const { level, seen, first, parent } of levels) {
    if (!parent || level.iterations === null) continue;
    const around = slack[levels[parent[0]].first + parent[1]];
    const more = Math.fround(around / Math.fround(level.iterations)) || 0;
    for (let i = first; i < first + seen.node.length; i++) slack[i] += more;
  }
}

/** What folds add: what they hold, what is open around items, the strips of repeats and the families in them. @param {WholeDag} whole @param {OpenLevel[]} levels @param {string} folding @param {Strings} strings */
export function foldArrays(whole, levels, folding, strings) {
  const count = countItems(levels), { arrays } = whole;
  /** @type {Arrays} */ const found = {
    fold: new Int32Array(count).fill(-1), inside: new Int32Array(count).fill(-1), fold_words: new Int32Array(count).fill(-1),
    open_name: new Int32Array(count).fill(-1), open_of: new Int32Array(count).fill(-1),
    ...members(whole, levels, folding),
  };
  for (const { at, level, seen, first, prefix } of levels) {
    const tree = whole.tree(at, folding), begin = level.folds[folding][0];
    const [around, name, of] = [0, 0, 0].map(() => new Int32Array(level.end - level.first).fill(-1));
    /** @param {number} fold */
    const called = (fold) => (fold < 0 ? -1 : strings.take(arrays[`${folding}_name`][begin + fold]));
    for (const { id, fold, whole: repeat } of seen.open) {
      const from = tree.start[fold], end = from + tree.size[fold];
      around.fill(strings.add(prefix + id), from, end);
      name.fill(called(fold), from, end);
      of.fill(called(repeat), from, end);
    }
    let place = 0;
    seen.node.forEach((node, i) => {
      const fold = seen.fold[i];
      found.inside[first + i] = around[place];
      found.open_name[first + i] = name[place];
      found.open_of[first + i] = of[place];
      place += node >= 0 ? 1 : tree.size[fold];
      if (node >= 0) return;
      found.fold[first + i] = strings.add(prefix + tree.ids[fold]);
      found.fold_words[first + i] = strings.take(arrays[`${folding}_fold_words`][begin + fold]);
    });
  }
  return { ...found, ...cutArrays(whole, levels, folding, "strip", ["strip_ns"], strings),
    ...cutArrays(whole, levels, folding, "mix", ["mix_family", "mix_part"], strings) };
}

/** The nodes that each item holds, block after block where it is a repeat. @param {WholeDag} whole @param {OpenLevel[]} levels @param {string} folding */
function members(whole, levels, folding) {
  const offset = [0];
  /** @type {number[]} */ const nodes = [];
  for (const { at, level, seen } of levels) {
    /** @type {number[][]} */ const held = Array.from(seen.node, () => []);
    for (const node of whole.tree(at, folding).order) held[seen.itemOf[node]].push(whole.arrays.node_id[level.first + node]);
    for (const some of held) {
      for (const one of some) nodes.push(one);
      offset.push(nodes.length);
    }
  }
  return { item_offset: Uint32Array.from(offset), item_nodes: Uint32Array.from(nodes) };
}

/**
 * Arrays that an offset cuts up, of folds; nodes have none.
 * @param {WholeDag} whole @param {OpenLevel[]} levels @param {string} folding @param {string} about @param {string[]} names @param {Strings} strings
 */
function cutArrays({ arrays }, levels, folding, about, names, strings) {
  const cut = arrays[`${folding}_${about}_offset`];
  const offset = [0];
  /** @type {number[]} */ const places = [];
  for (const { level, seen } of levels) {
    const begin = level.folds[folding][0];
    seen.fold.forEach((fold) => {
      if (fold >= 0) for (let k = cut[begin + fold]; k < cut[begin + fold + 1]; k++) places.push(k);
      offset.push(places.length);
    });
  }
  /** @type {Arrays} */ const found = { [`${about}_offset`]: Uint32Array.from(offset) };
  for (const name of names) {
    const values = arrays[`${folding}_${name}`];
    const isText = values instanceof Int32Array;
    found[name] = values.constructor.from(places, (/** @type {number} */ k) => (isText ? strings.take(values[k]) : values[k]));
  }
  return found;
}

/** The open node around each item, and the innermost that is open around it. @param {OpenLevel[]} levels @param {Int32Array|undefined} inside @param {Int32Array|Uint32Array} ids @param {Strings} strings */
export function frameArrays(levels, inside, ids, strings) {
  const within = new Int32Array(countItems(levels)).fill(-1), around = inside ?? within.slice();
  for (const { seen, first, parent } of levels) {
    if (!parent) continue;
    const item = levels[parent[0]].first + parent[1], name = strings.add(openId(ids[item]));
    for (let i = first; i < first + seen.node.length; i++) {
      within[i] = item;
      if (around[i] < 0) around[i] = name;
    }
  }
  return { within, inside: around };
}

/** Nodes in closed bodies of what is visible, and the items that hold them. @param {WholeDag} whole @param {OpenLevel[]} levels */
export function hiddenArrays(whole, levels) {
  const item = new Int32Array(whole.arrays.node_id.length).fill(-1);
  for (const { level, seen, first } of levels) seen.itemOf.forEach((own, node) => (item[level.first + node] = first + own));
  const shown = new Set(levels.map(({ at }) => at));
  /** @type {number[]} */ const hidden = [];
  whole.levels.forEach(({ first, end, parent }, at) => {
    if (shown.has(at) || parent < 0 || item[parent] < 0) return;
    for (let node = first; node < end; node++) {
      item[node] = item[parent];
      hidden.push(node);
    }
  });
  return {
    hidden_node: Uint32Array.from(hidden, (node) => whole.arrays.node_id[node]),
    hidden_item: Uint32Array.from(hidden, (node) => item[node]),
  };
}

/** Visible nodes with bodies, and these, in words. @param {WholeDag} whole @param {OpenLevel[]} levels @param {Strings} strings */
export function parentArrays(whole, levels, strings) {
  const { arrays } = whole, opened = new Map(levels.map(({ at }, number) => [at, number - 1]));
  /** @type {[number, number][]} */ const shown = [];
  for (const { level, seen, first } of levels) {
    for (const [node, place] of whole.parents) {
      if (node < level.first || node >= level.end) continue;
      const item = seen.itemOf[node - level.first];
      if (seen.node[item] === node - level.first) shown.push([first + item, place]);
    }
  }
  const bodies = shown.flatMap(([, place], at) => Array.from(arrays.body_parent, (parent, k) => ({ parent, k, at }))
    .filter(({ parent }) => parent === place));
  /** @param {string} name */
  const floats = (name) => Float32Array.from(shown, ([, place]) => arrays[name][place]);
  return {
    parent_item: Uint32Array.from(shown, ([item]) => item),
    parent_words: Uint32Array.from(shown, ([, place]) => strings.take(arrays.parent_words[place])),
    parent_launches: Uint32Array.from(shown, ([, place]) => arrays.parent_launches[place]),
    parent_p5_ns: floats("parent_p5_ns"), parent_p95_ns: floats("parent_p95_ns"),
    body_parent: Uint32Array.from(bodies, ({ at }) => at),
    body_label: Uint32Array.from(bodies, ({ k }) => strings.take(arrays.body_label[k])),
    body_words: Uint32Array.from(bodies, ({ k }) => strings.take(arrays.body_words[k])),
    body_open: Int32Array.from(bodies, ({ k }) => opened.get(arrays.body_level[k]) ?? -1),
  };
}

/** The critical path of a level, by items. @param {WholeDag} whole @param {OpenLevel} open */
export function ownPath({ arrays }, { level: { critical: [from, to] }, seen }) {
  return pathOf(arrays.critical.subarray(from, to), seen.itemOf);
}

/**
 * When the items of a level ran in a launch; of a fold from the first to the last of what it holds. Python side: gviz.app.views.dag.intervals.
 * @param {WholeDag} whole @param {string} launch prefix of its arrays @param {OpenLevel} open
 * @returns {Ran}
 */
export function ranOf({ arrays }, launch, { level, seen }) {
  const count = seen.node.length;
  const start = new Float64Array(count).fill(Infinity), end = new Float64Array(count).fill(-Infinity), busy = new Float64Array(count);
  for (let node = level.first; node < level.end; node++) {
    const item = seen.itemOf[node - level.first], begin = arrays[`${launch}start`][node];
    if (Number.isNaN(begin)) continue;
    start[item] = Math.min(start[item], begin);
    end[item] = Math.max(end[item], arrays[`${launch}end`][node]);
    busy[item] += arrays[`${launch}busy`][node];
  }
  for (let i = 0; i < count; i++) if (start[i] === Infinity) start[i] = end[i] = busy[i] = NaN;
  /** @type {number[]} */ const kept = [];
  arrays[`${launch}node`].forEach((/** @type {number} */ node, /** @type {number} */ k) => {
    if (node >= level.first && node < level.end && seen.node[seen.itemOf[node - level.first]] >= 0) kept.push(k);
  });
  const itemAt = (/** @type {number} */ k) => seen.itemOf[arrays[`${launch}node`][k] - level.first];
  const begins = arrays[`${launch}begin`], stops = arrays[`${launch}stop`];
  kept.sort((a, b) => itemAt(a) - itemAt(b) || begins[a] - begins[b]);
  const iterations = { node: Uint32Array.from(kept, itemAt), start: Float64Array.from(kept, (k) => begins[k]), end: Float64Array.from(kept, (k) => stops[k]) };
  return { start, end, busy, iterations };
}
