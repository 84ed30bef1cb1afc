/** The payload of a DAG as it is requested, as gviz.app.views.payload.dag_payload makes it, or gviz.app.pages.compare.union_dag, out of one with all that is in it. */
import { carriedArrays } from "./fold/carried.js";
import { criticalArrays } from "./fold/critical.js";
import { countItems, foldArrays, frameArrays, hiddenArrays, itemArrays, ownPath, parentArrays, ranOf } from "./fold/items.js";
import { describeOverlays } from "./fold/scales.js";
import { Strings } from "./fold/strings.js";
import { joinTypes } from "./fold/tree.js";
import { isUnion, joinGraphs } from "./fold/union.js";
import { placeItems } from "./place/dag_places.js";
import { sectionBreaks } from "./place/sections.js";
/** @import { Payload } from "../core/payload.js" */
/** @import { OpenLevel, WholeDag } from "./fold/levels.js" */
/** @import { Ran } from "./place/timed.js" */

/**
 * @typedef {{layout: string|null, launch: number|null, folding: string|null, open: string[], data: boolean, level: number}} Request  as
 *   gviz.app.views.payload.DagRequest; `launch` one of those there are, null: the first; `level` the outermost that is shown: of one graph 0
 */

/** @param {WholeDag} whole @param {Request} request @returns {Payload} */
export function answer(whole, { layout, launch, folding, open, data, level: outermost }) {
  const strings = new Strings(whole.header.strings);
  const levels = whole.open(folding, open, outermost);
  const ran = whole.launch(launch);
  const times = ran && levels.map((level) => ranOf(whole, ran.prefix, level));
  const arrays = itemArrays(whole, levels, folding, strings);
  if (times) arrays.launch_ns = launchTimes(times, levels);
  if (folding !== null) Object.assign(arrays, foldArrays(whole, levels, folding, strings));
  Object.assign(arrays, edgeArrays(whole, levels),
    criticalArrays(levels.map((level) => ({ first: level.first, parent: level.parent, edges: level.seen.edges, path: ownPath(whole, level) }))),
    hiddenArrays(whole, levels), parentArrays(whole, levels, strings));
  if (levels.length > 1) Object.assign(arrays, frameArrays(levels, arrays.inside, arrays.node_id, strings));
  if (data) Object.assign(arrays, carriedArrays(whole.arrays, levels.map(({ level, seen }) => ({ memory: level.memory, seen, edges: level.edges })), strings));
  if (folding !== null) levels[0].cover.breaks = sectionBreaks(levels[0].cover.row, arrays.phase.subarray(0, levels[0].seen.node.length));
  const places = placeItems(levels.map(({ seen, cover, parent }, at) => ({ graph: seen.edges, cover, ran: times && times[at], parent })), layout, whole.header.notes);
  const frames = new Set(levels.flatMap(({ parent }) => (parent ? [levels[parent[0]].first + parent[1]] : [])));
  const found = {
    header: {
      ...whole.header.shown, ...levels[0].level.shown, ...textsOf(whole, arrays.name, strings), folding,
      launch_requested: launch !== null, launch_ordinal: ran && ran.ordinal,
      folded: folding === null ? 0 : levels.reduce((sum, { seen }) => sum + seen.fold.filter((fold) => fold >= 0).length, 0),
      fold_count: folding === null ? 0 : levels.reduce((sum, { at }) => sum + whole.tree(at, folding).count, 0),
      overlays: describeOverlays(whole.header, arrays, frames),
      ...places.header,
    },
    ...arrays, ...places.arrays,
  };
  return isUnion(whole) ? joinGraphs(whole, levels, found, frames) : found;
}

/** @param {Ran[]} times @param {OpenLevel[]} levels */
function launchTimes(times, levels) {
  const found = new Float32Array(countItems(levels));
  levels.forEach(({ first }, at) => found.set(times[at].busy, first));
  return found;
}

/** The edges of all levels, and a lane for each item: those of different levels differ. @param {WholeDag} whole @param {OpenLevel[]} levels */
function edgeArrays(whole, levels) {
  const count = levels.reduce((sum, { seen }) => sum + seen.edges.from.length, 0);
  const from = new Uint32Array(count), to = new Uint32Array(count), type = new Uint8Array(count), lane = new Uint32Array(countItems(levels));
  let at = 0, above = 0;
  for (const { level, seen, cover, first } of levels) {
    from.set(seen.edges.from.map((i) => first + i), at);
    to.set(seen.edges.to.map((i) => first + i), at);
    type.set(joinTypes(whole.arrays.edge_type.subarray(...level.edges), seen), at);
    at += seen.edges.from.length;
    let most = -1;
    cover.chain.forEach((chain, i) => {
      lane[first + i] = above + chain;
      most = Math.max(most, chain);
    });
    above += most + 1;
  }
  return { edge_from: from, edge_to: to, edge_type: type, lane };
}

/** The strings that are used, and what is told of some of them. @param {WholeDag} whole @param {ArrayLike<number>} names @param {Strings} strings */
function textsOf({ header }, names, strings) {
  const slots = Object.fromEntries(Object.entries(header.family_slots).map(([place, slot]) => [strings.take(Number(place)), slot]));
  /** @type {Record<number, string>} */ const labels = {};
  for (const [place, label] of Object.entries(header.labels)) {
    const own = strings.taken.get(Number(place));
    if (own !== undefined) labels[own] = label;
  }
  const used = new Set(Array.from(names));
  for (const place of Object.keys(labels)) if (!used.has(Number(place))) delete labels[Number(place)];
  return { strings: strings.list, labels, family_slots: slots };
}
