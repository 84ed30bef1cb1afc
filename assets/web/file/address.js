/**
 * The state of a saved file's page in the fragment of its address, by the names that the
 * application uses in its query.
 *
 * @typedef {{graph: number, node: number[], launch: string, colour: string, layout: string,
 *   fold: string, open: string[], edges: string, buffer: string|null,
 *   panel: string}} State
 */
import * as nodeList from "../core/node_list.js";
import * as selectionNote from "../page/selection_note.js";

/** The fields of the address; absent where it has none. */
export function read() {
  return parse(window.location.hash.slice(1));
}

/** Write a state; replaced, not pushed: the back button leads to the graph before. @param {State} state */
export function write(state) {
  // In full: inside a notebook the file is a frame whose base is the notebook's address.
  const [page] = window.location.href.split("#");
  window.history.replaceState(null, "", `${page}#${textOf(state)}`);
  selectionNote.show(nodeList.write(state.node).kept, state.node.length);
}

/** What a fragment asks for. @param {string} fragment @returns {Partial<State>} */
export function parse(fragment) {
  const query = new URLSearchParams(fragment);
  /** @type {Record<string, unknown>} */
  const found = {};
  for (const name of ["launch", "colour", "layout", "fold", "edges", "panel"]) {
    if (query.has(name)) found[name] = query.get(name);
  }
  const [graph, node, buffer, open] = ["graph", "node", "buffer", "open"].map((name) => query.get(name));
  if (graph !== null && /^\d{1,15}$/.test(graph)) found.graph = Number(graph);
  if (node !== null) found.node = nodeList.read(node);
  if (buffer !== null && /^[0-9a-f]{1,16}(\.[0-9a-f]{1,16})?$/.test(buffer)) found.buffer = buffer;
  if (open !== null) found.open = open.split(",").filter(Boolean);
  return found;
}

/** A state as a fragment. @param {State} state */
export function textOf(state) {
  const query = new URLSearchParams({ graph: String(state.graph) });
  nodeList.put(query, state.node);
  for (const name of /** @type {const} */ (["launch", "colour", "layout"])) {
    if (state[name]) query.set(name, state[name]);
  }
  if (state.fold !== "none") query.set("fold", state.fold);
  if (state.edges === "data") query.set("edges", "data");
  if (state.edges === "data" && state.buffer) query.set("buffer", state.buffer);
  if (state.panel === "memory") query.set("panel", "memory");
  if (state.open.length) query.set("open", state.open.join(","));
  return query.toString().replaceAll("%2C", ",");
}
