/** The data that edges of visible levels carry. Python side: gviz.model.memory.edge_data, gviz.app.views.dag.data_overlay. */
/** @import { Payload } from "../../core/payload.js" */
/** @import { Strings } from "./strings.js" */
/** @import { Visible } from "./tree.js" */

/**
 * @typedef {[number, number]} Range  from, to before
 * @typedef {{meetings: Range, allocations: Range, uses: Range, places: Range}} Memory  the parts of a level in the arrays of all
 */

/** Stands for "none" among places. */
const NONE = 0xffffffff;
/** Common memory: nothing, an allocation; see gviz.model.memory.edge_data.Common. */
const NOTHING = 0, ALLOCATION = 1;
/** Arrays of uses, of places and of allocations, and what is added to their values. */
const USES = ["use_node", "use_order", "use_place", "use_reach", "use_access", "use_bytes", "use_position", "use_offset", "use_extent", "use_how"];
const PLACES = ["place_low", "place_high", "place_allocation", "place_name"];
const ALLOCATIONS = ["allocation_low", "allocation_high", "allocation_bytes", "allocation_node"];

/**
 * The arrays of data on edges and of what uses memory; each level has places and allocations of its own.
 * @param {Payload} whole @param {{memory: Memory, seen: Visible, edges: Range}[]} levels
 * @param {Strings} strings
 */
export function carriedArrays(whole, levels, strings) {
  /** @type {Record<string, number[]>} */ const edges = { common: [], count: [], bytes: [], place: [], allocation: [], source: [], target: [] };
  /** @type {Record<string, any>} */ const found = {};
  let place = 0, allocation = 0;
  for (const { memory, seen, edges: [begin] } of levels) {
    gather(whole, memory, seen, begin, place, allocation, edges);
    append(whole, USES, memory.uses, found, { use_place: place });
    append(whole, PLACES, memory.places, found, { place_allocation: allocation });
    append(whole, ALLOCATIONS, memory.allocations, found, {});
    place += memory.places[1] - memory.places[0];
    allocation += memory.allocations[1] - memory.allocations[0];
  }
  return {
    ...found,
    place_name: found.place_name.map((/** @type {number} */ at) => strings.take(at)),
    data_common: Uint8Array.from(edges.common), data_count: Uint32Array.from(edges.count), data_bytes: Float64Array.from(edges.bytes),
    data_place: Uint32Array.from(edges.place), data_allocation: Int32Array.from(edges.allocation),
    data_source: Uint8Array.from(edges.source), data_target: Uint8Array.from(edges.target),
  };
}

/** @param {Payload} whole @param {string[]} names @param {Range} range @param {Record<string, any>} found @param {Record<string, number>} added */
function append(whole, names, [from, to], found, added) {
  for (const name of names) {
    const part = whole[name].slice(from, to), before = found[name], more = added[name];
    if (more) for (let k = 0; k < part.length; k++) if (part[k] >= 0) part[k] += more;
    if (!before) {
      found[name] = part;
      continue;
    }
    found[name] = new part.constructor(before.length + part.length);
    found[name].set(before);
    found[name].set(part, before.length);
  }
}

/**
 * Add what the edges between items of a level carry: of joined ones what they do together.
 * @param {Payload} whole @param {Memory} memory @param {Visible} seen @param {number} begin of the level's edges
 * @param {number} firstPlace @param {number} firstAllocation @param {Record<string, number[]>} to
 */
function gather(whole, { meetings: [from, end], places: [places] }, seen, begin, firstPlace, firstAllocation, to) {
  const count = seen.edges.from.length;
  const groups = Array.from({ length: count }, () => ({
    common: NOTHING, place: Infinity, allocation: Infinity, bytes: NaN, source: 0, target: 0,
    places: new Set(), moved: new Map(),
  }));
  seen.group.forEach((at, e) => {
    const allocation = whole.edge_allocation[begin + e];
    if (at < 0 || allocation < 0) return;
    groups[at].common = Math.max(groups[at].common, ALLOCATION);
    groups[at].allocation = Math.min(groups[at].allocation, allocation);
  });
  for (let k = from; k < end; k++) {
    const group = groups[seen.group[whole.meeting_edge[k]]];
    if (!group) continue;
    group.common = Math.max(group.common, whole.meeting_common[k]);
    group.place = Math.min(group.place, whole.meeting_place[k]);
    group.places.add(whole.meeting_place[k]);
    group.source |= whole.meeting_source[k];
    group.target |= whole.meeting_target[k];
    const mover = whole.meeting_mover[k];
    if (mover >= 0) group.moved.set(mover, Math.max(group.moved.get(mover) ?? 0, whole.meeting_bytes[k]));
  }
  for (const group of groups) {
    const hasPlace = group.place < Infinity;
    const of = hasPlace ? whole.place_allocation[places + group.place] : -1;
    const allocation = of >= 0 ? of : group.allocation;
    to.common.push(group.common);
    to.count.push(group.places.size);
    to.bytes.push(group.moved.size ? Array.from(group.moved.values()).reduce((sum, bytes) => sum + bytes, 0) : NaN);
    to.place.push(hasPlace ? firstPlace + group.place : NONE);
    to.allocation.push(allocation < Infinity ? firstAllocation + allocation : -1);
    to.source.push(group.source);
    to.target.push(group.target);
  }
}
