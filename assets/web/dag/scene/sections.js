/**
 * Sections of the folded DAG, which stand side by side: its phases, or all of it, each with its repeat of most nodes.
 *
 * @typedef {{name: string, block: string, item: number, times: number[], nodes: number}} Repeat  of which one block is open:
 *   what the repeat and this block are called, the first item of that, the times of all blocks, the open one first
 *   (ns, NaN: none), and nodes of a block
 * @typedef {{name: string, items: number[], left: number, right: number, bottom: number, ns: number, repeat: Repeat|null, others: Repeat[]}} Section
 *   `ns`: the sum over its items; NaN: none is timed; `repeat`: that of most nodes
 */
/** @import { DagScene } from "./scene.js" */

/** The sections of a scene; none where they do not stand side by side. @param {DagScene} scene @returns {Section[]} */
export function sectionsOf(scene) {
  const { open_of: whole } = scene.payload;
  if (!whole || scene.along || scene.header.layout === "table") return [];
  const phases = itemsByPhase(scene);
  if (phases.size > 1) {
    const found = Array.from(phases, ([name, items]) => sectionOf(scene, scene.header.strings[name], items));
    return areApart(found) ? found.sort((a, b) => a.left - b.left) : [];
  }
  const all = sectionOf(scene, "", outerItems(scene));
  return all.repeat ? [all] : [];
}

/** The items of the level shown, in the order of the folds. @param {DagScene} scene */
function outerItems(scene) {
  return Array.from({ length: scene.count }, (_, i) => i).filter((i) => scene.bodies.around(i) < 0);
}

/** @param {DagScene} scene */
function itemsByPhase(scene) {
  /** @type {Map<number, number[]>} */ const found = new Map();
  const { phase } = scene.payload;
  for (const i of outerItems(scene)) {
    if (phase[i] < 0) continue;
    const known = found.get(phase[i]);
    if (known) known.push(i);
    else found.set(phase[i], [i]);
  }
  return found;
}

/** @param {Section[]} sections */
function areApart(sections) {
  const inOrder = sections.toSorted((a, b) => a.left - b.left);
  return inOrder.every((one, n) => !n || inOrder[n - 1].right <= one.left);
}

/** @param {DagScene} scene @param {string} name @param {number[]} items @returns {Section} */
function sectionOf(scene, name, items) {
  let left = Infinity, right = -Infinity, bottom = -Infinity;
  for (const i of items) {
    const box = scene.boxOf(i);
    [left, right, bottom] = [Math.min(left, box.left), Math.max(right, box.right), Math.max(bottom, box.bottom)];
  }
  const repeats = repeatsOf(scene, items), repeat = largest(repeats);
  return { name, items, left, right, bottom, ns: sumOf(scene, items), repeat, others: repeats.filter((one) => one !== repeat) };
}

/** @param {DagScene} scene @param {number[]} items */
function sumOf(scene, items) {
  const timed = items.filter((i) => scene.timed(i));
  return timed.length ? timed.reduce((sum, i) => sum + scene.median[i], 0) : NaN;
}

/** @param {Repeat[]} repeats */
const largest = (repeats) =>
  repeats.reduce((/** @type {Repeat|null} */ most, one) => (!most || sizeOf(one) > sizeOf(most) ? one : most), null);
/** @param {Repeat} repeat */
const sizeOf = ({ times, nodes }) => times.length * nodes;

/**
 * Repeats of which the first block alone is open: its items stand before that of all others.
 * @param {DagScene} scene @param {number[]} items @returns {Repeat[]}
 */
function repeatsOf(scene, items) {
  const { open_of: whole, open_name: open } = scene.payload;
  const { strings } = scene.header;
  /** @type {Repeat[]} */ const found = [];
  /** @type {number[]} */ let block = [];
  for (const i of items) {
    const before = block.at(-1);
    if (whole[i] >= 0 && (before === undefined || whole[before] === whole[i])) {
      block.push(i);
      continue;
    }
    if (before !== undefined && scene.isFold(i)) {
      const times = [sumOf(scene, block), ...scene.stripOf(i)];
      const nodes = block.reduce((sum, one) => sum + scene.nodesOf(one).length, 0);
      if (times.length > 2 || scene.nodesOf(i).length === nodes) found.push({ name: strings[whole[before]], block: strings[open[before]], item: block[0], times, nodes });
    }
    block = whole[i] >= 0 ? [i] : [];
  }
  return found;
}
