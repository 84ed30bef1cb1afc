/**
 * The state of a saved file's page in the fragment of its address, by the names that the
 * application uses in its query.
 *
 * @typedef {{graph: number, node: number[], launch: string, colour: string, layout: string,
 *   fold: string, open: string[], edges: "data"|"all", buffer: string|null,
 *   panel: "memory"|"timeline"}} State
 */

/** More selected nodes would make an address that nobody can send. */
const MOST_NODES = 100;

/** What the address asks for; absent where it says nothing. @returns {Partial<State>} */
export function read() {
  const query = new URLSearchParams(window.location.hash.slice(1));
  const found = {};
  for (const name of ["launch", "colour", "layout", "fold", "edges", "panel"]) {
    if (query.has(name)) found[name] = query.get(name);
  }
  if (/^\d{1,15}$/.test(query.get("graph"))) found.graph = Number(query.get("graph"));
  if (query.has("node")) {
    found.node = query.get("node").split(",").filter((id) => /^\d{1,15}$/.test(id)).map(Number);
  }
  if (/^[0-9a-f]{1,16}(\.[0-9a-f]{1,16})?$/.test(query.get("buffer"))) found.buffer = query.get("buffer");
  if (query.has("open")) found.open = query.get("open").split(",").filter(Boolean);
  return found;
}

/** Write a state; replaced, not pushed: the back button leads to the graph before. */
export function write(state) {
  const query = new URLSearchParams({ graph: state.graph });
  if (state.node.length) query.set("node", state.node.slice(0, MOST_NODES).join(","));
  for (const name of ["launch", "colour", "layout"]) if (state[name]) query.set(name, state[name]);
  if (state.fold !== "none") query.set("fold", state.fold);
  if (state.edges === "data") query.set("edges", "data");
  if (state.edges === "data" && state.buffer) query.set("buffer", state.buffer);
  if (state.panel === "memory") query.set("panel", "memory");
  if (state.open.length) query.set("open", state.open.join(","));
  // In full: inside a notebook the file is a frame whose base is the notebook's address.
  const [page] = window.location.href.split("#");
  window.history.replaceState(null, "", `${page}#${query.toString().replaceAll("%2C", ",")}`);
}
