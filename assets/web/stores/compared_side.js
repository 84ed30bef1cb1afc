/** Nodes and layers that rows of a table can be about on one side of two graphs, by their numbers on the page of both. */
import { Blocks } from "../breakdown/blocks.js";
/** @import { Payload } from "../core/payload.js" */
/** @import { About, Side } from "../overlay/overlays.js" */
/** @import { Nodes } from "../table/nodes.js" */

/**
 * @param {Side} side @param {Nodes} both all nodes of both graphs, as gviz.app.pages.compare.table_rows has them
 * @param {Nodes} own those of the side, as its own page has them @param {Payload} breakdown of the side
 * @returns {About}
 */
export function aboutSide(side, both, own, breakdown) {
  const { key, key_a: before, node_b: after } = both.columns;
  /** The number of each on the page of both. @type {Map<number, number>} */
  const numbers = new Map();
  key.forEach((/** @type {number} */ number, /** @type {number} */ place) => {
    // Nodes after keep their numbers: gviz.app.pages.compare.union_keys.
    const mine = side === "A" ? before?.[place] : (after?.[place] ?? null) === null ? null : number;
    if (mine !== null && mine !== undefined) numbers.set(mine, number);
  });
  const places = new Map(Array.from(numbers, ([mine, number]) => [number, own.place(mine)]));
  const groups = new Blocks(breakdown, "whole").named();
  return {
    nodes: { columns: own.columns, places },
    groups: groups.map(({ label, nodes }) => ({ label, nodes: nodes.flatMap((mine) => numbers.get(mine) ?? []) })),
  };
}
