/** The Ranks page: its choices, its selection and its brush in the address. */
import { closest } from "../core/dom.js";
import * as nodeList from "../core/node_list.js";
import * as address from "../page/address.js";
import * as selectionNote from "../page/selection_note.js";
import * as pageHistory from "./history.js";
import { noUpdate, present, propsOf, setPresent } from "./props.js";

const VIEW = "ranks-timeline";

/**
 * Another launch or graph was chosen: another page. What is selected stays with the graph. Or a part
 * of the time was, or none any more.
 * @param {string} launch @param {string} graph @param {import("../page/address.js").Brush|null|undefined} brush undefined: as it was
 */
export function choose(launch, graph, brush) {
  const chosen = window.dash_clientside.callback_context.triggered_id;
  const shown = propsOf("ranks-shown").data;
  const query = new URLSearchParams(window.location.search);
  if (chosen === "ranks-graph" && graph && Number(graph) !== shown?.graph) {
    for (const name of ["launch", "node", "filter"]) query.delete(name);
    query.set("graph", graph);
    go(query);
  } else if (chosen === "ranks-launch" && launch && Number(launch) !== shown?.launch) {
    show(launch);
  } else if (chosen === VIEW && brush !== undefined) {
    query.delete("filter");
    if (brush) query.set("filter", address.filterOf(brush));
    pageHistory.keep(query);
  }
  return noUpdate();
}

/**
 * Another launch of the graph, with what is selected now; what is brushed are times of this one.
 * @param {string} launch
 */
function show(launch) {
  const query = new URLSearchParams(window.location.search);
  query.set("graph", propsOf("ranks-shown").data.graph);
  query.set("launch", launch);
  query.delete("filter");
  go(query);
}

/** @param {URLSearchParams} query */
const text = (query) => query.toString().replaceAll("%2C", ",");
/** @param {URLSearchParams} query */
const go = (query) => pageHistory.go(`${window.location.pathname}?${text(query)}`);

/** A launch came: brush what the address says. */
export function look() {
  setPresent(VIEW, { brush: address.parse(window.location.search).brush ?? null });
  return noUpdate();
}

/** Hear what happens on the page. */
export function listen() {
  document.addEventListener("click", (event) => {
    const step = closest(event, ".gv-ranks-step");
    if (step) show(step.dataset.launch ?? "");
  });
  document.addEventListener("gviz-select", (event) => {
    if (!present("ranks-body")) return;
    const query = new URLSearchParams(window.location.search);
    const { length } = event.detail;
    selectionNote.show(length - nodeList.put(query, event.detail), length);
    pageHistory.keep(query);
  });
}
