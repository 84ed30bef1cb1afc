/** The views of a page, by the names that Dash's components have. */
import { Frame } from "../core/frame.js";
import { Dag } from "../dag/dag.js";
import { Memory } from "../memory/memory.js";
import { Timeline } from "../timeline/timeline.js";

/** @typedef {import("../core/frame.js").ViewKind} ViewKind */

/** @type {Record<string, ViewKind["make"]>} */
const MAKERS = {
  Dag: (frame) => new Dag(frame),
  Timeline: (frame) => new Timeline(frame),
  Memory: (frame) => new Memory(frame),
};

/**
 * Put a view into a box.
 * @param {HTMLElement} box @param {string} name @param {import("../core/frame.js").Props} props
 */
export function openView(box, name, props) {
  return new Frame(box, { name, make: MAKERS[name] }, props);
}
