/**
 * Fills the inspector of the graph page. It hears of a selection where it is made and requests from the
 * server itself: through Dash a click would take several times as long.
 */
import * as bus from "../core/bus.js";
import * as parts from "../core/parts.js";
import * as payloads from "../core/payload.js";
import { Inspector } from "../page/inspector.js";
import * as dashProps from "./props.js";

const SILENT = "gviz does not answer: it was stopped, or the connection is gone.";

/** Of the page shown; a new page has a new box. @type {Inspector|null} */
let inspector = null;
/** @type {Promise<void>} */
let lastFilling = Promise.resolve();

function current() {
  const box = document.getElementById("inspector-body");
  if (!box) return null;
  if (inspector?.box !== box) {
    inspector = new Inspector(box, (ids) => bus.group(bus.PAGE).select(ids));
  }
  return inspector;
}

/** @param {string} source @param {number[]} ids */
export async function show(source, ids) {
  const shown = current();
  if (!shown || !source) return;
  const body = JSON.stringify(ids);
  try {
    await shown.show(`${source} ${body}`, async () => {
      const answer = await payloads.loadJson(source, undefined, body);
      return parts.make(answer.parts, answer.place);
    });
  } catch (error) {
    shown.say(error instanceof payloads.Refusal ? error.message : SILENT);
  }
}

/** @param {string} text why nothing is shown */
export function say(text) {
  current()?.say(text);
}

/** Settled once the inspector shows the last selection, or why it does not. */
export const filling = () => lastFilling;

/** Hear what is clicked and selected. */
export function listen() {
  document.addEventListener("gviz-select", ({ detail }) => {
    // Other pages have selections too.
    if (!document.getElementById("inspector-body")) return;
    const source = dashProps.propsOf("inspector-source").data;
    lastFilling = show(source, detail);
  });
}
