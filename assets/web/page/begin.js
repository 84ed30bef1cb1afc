/** The state that a page begins with: what is requested, where there is that. */
import { isOverlay } from "../overlay/overlays.js";
import { MOST_SEARCHED } from "../search/field.js";
import * as choices from "./choices.js";
import { PANES } from "./panes.js";
/** @import { State } from "./address.js" */
/** @import { Store } from "./store.js" */

/** The layouts that can be chosen. */
export function layoutsOf() {
  /** @type {NodeListOf<HTMLInputElement>} */
  const inputs = document.querySelectorAll("#layout input:enabled");
  return Array.from(inputs, (input) => input.value);
}

/**
 * @param {Store} store @param {Partial<State>} requested
 * @returns {State}
 */
export function begin(store, requested) {
  const { graph } = store;
  const launches = store.launches();
  const fold = choices.oneOf([graph.fold, "none", ...choices.offered("folding")], requested.fold);
  // What is folded at first is open in part; who asks for it by name says what is open.
  const open = requested.open ?? (requested.fold === undefined && fold === graph.fold ? graph.open : []);
  return {
    node: requested.node || [],
    // Named by what is selected, and by what is asked for and not there yet.
    select: [],
    filter: [],
    brush: requested.brush ?? null,
    launch: choices.oneOf([choices.choiceOf("launch")?.value ?? launches[0] ?? "", ...(launches.length ? launches : choices.offered("launch"))], requested.launch),
    stream: choices.oneOf([choices.choiceOf("stream-launch")?.value ?? "", ...choices.offered("stream-launch")], requested.stream),
    order: choices.oneOf(["ordinal", ...choices.offered("order")], requested.order),
    // An overlay may be on its way.
    colour: isOverlay(requested.colour) ? requested.colour ?? "" : choices.oneOf([graph.colour, ...choices.offered("colour")], requested.colour),
    layout: choices.oneOf([graph.layout, ...layoutsOf()], requested.layout),
    fold,
    open,
    edges: choices.oneOf(["all", ...(graph.compares ? [] : ["data"])], requested.edges),
    buffer: requested.buffer || null,
    time: requested.time ?? null,
    search: (requested.search ?? "").slice(0, MOST_SEARCHED),
    pane: choices.oneOf(["", ...PANES], requested.pane),
    shares: requested.shares ?? null,
    // Blocks are as wide as time where an overlay does not come.
    measure: isOverlay(requested.measure) ? requested.measure ?? "" : "",
    panel: choices.oneOf(["timeline", "memory"], requested.panel),
    eager: choices.oneOf(["closed", "open"], requested.eager),
    table: choices.oneOf(Object.keys(graph.tables), requested.table),
    sort: requested.sort ?? "",
    families: requested.families ?? [],
    only: choices.oneOf(["all", "selected"], requested.only),
    level: choices.oneOf(["0", ...choices.offered("level")], requested.level),
  };
}
