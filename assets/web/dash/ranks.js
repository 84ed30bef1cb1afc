/** The Ranks page: its choices and its selection in the address, the theme of its timeline. */
import { closest } from "../core/dom.js";
import * as nodeList from "../core/node_list.js";
import * as selectionNote from "../page/selection_note.js";
import * as pageHistory from "./history.js";
import { noUpdate, present, propsOf, setPresent } from "./props.js";

const VIEW = "ranks-timeline";

/**
 * Another launch or graph was chosen: another page. What is selected stays with the graph.
 * @param {string} launch @param {string} graph
 */
export function choose(launch, graph) {
  const chosen = window.dash_clientside.callback_context.triggered_id;
  const shown = propsOf("ranks-shown").data;
  const query = new URLSearchParams(window.location.search);
  if (chosen === "ranks-graph" && graph && Number(graph) !== shown?.graph) {
    for (const name of ["launch", "node"]) query.delete(name);
    query.set("graph", graph);
    go(query);
  } else if (chosen === "ranks-launch" && launch && Number(launch) !== shown?.launch) {
    show(launch);
  }
  return noUpdate();
}

/**
 * Another launch of the graph, with what is selected now.
 * @param {string} launch
 */
function show(launch) {
  const query = new URLSearchParams(window.location.search);
  query.set("graph", propsOf("ranks-shown").data.graph);
  query.set("launch", launch);
  go(query);
}

/** @param {URLSearchParams} query */
const text = (query) => query.toString().replaceAll("%2C", ",");
/** @param {URLSearchParams} query */
const go = (query) => pageHistory.go(`${window.location.pathname}?${text(query)}`);

export function look() {
  const dark = document.documentElement.getAttribute("data-mantine-color-scheme") === "dark";
  setPresent(VIEW, { theme: dark ? "dark" : "light" });
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
