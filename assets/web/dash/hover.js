// Hover between canvases and what is no canvas: a row of the table of nodes, a node named in the
// inspector. What has the keyboard's focus there counts like what the mouse is over.
import * as bus from "../core/bus.js";
import { closest } from "../core/dom.js";

const NAMED = "#nodes .ag-row[row-id], #inspector button[data-node]";

/**
 * The node that an element is about, or null.
 * @param {any} element
 */
function nodeOf(element) {
  const named = element && element.closest ? element.closest(NAMED) : null;
  if (!named) return null;
  return Number(named.getAttribute("row-id") ?? named.dataset.node);
}

/**
 * Elements that are about a node.
 * @param {number} node
 */
function elementsOf(node) {
  const rows = Array.from(document.querySelectorAll(`#nodes .ag-row[row-id="${node}"]`));
  const picks = Array.from(document.querySelectorAll(`#inspector button[data-node="${node}"]`));
  return [...rows, ...picks];
}

/** @param {any} element */
function point(element) {
  const group = bus.group(bus.PAGE);
  const node = nodeOf(element);
  if (node !== null || group.hovered !== null) group.hover(node);
}

/** Hear what happens on the page. */
export function listen() {
  for (const type of ["mouseover", "focusin"]) {
    // A canvas reports its own.
    document.addEventListener(type, (event) => {
      if (!closest(event, ".gviz-canvas-box")) point(event.target);
    });
  }
  document.addEventListener("focusout", () => point(null));
  document.addEventListener("gviz-hover", ({ detail }) => {
    for (const element of document.querySelectorAll(".gv-pointed")) element.classList.remove("gv-pointed");
    if (detail === null) return;
    for (const element of elementsOf(detail)) element.classList.add("gv-pointed");
  });
}
