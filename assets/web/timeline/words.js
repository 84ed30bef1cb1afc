/** The timeline in words: what it shows, and what is selected. */
import * as announce from "../core/announce.js";
import * as format from "../core/format.js";
import { SENTENCE as CHANGES } from "./changes.js";
import * as timelineRows from "./rows.js";
import * as timelineTips from "./tips.js";
import * as timelineWaits from "./waits.js";
/** @import { Payload } from "../core/payload.js" */
/** @import { TimelineScene } from "./scene.js" */
/** @import { Timeline } from "./timeline.js" */

/** @param {TimelineScene} scene @param {Payload} payload */
export function caption(scene, payload) {
  const counts = scene.sides.map((s) =>
    scene.named(s.name)
      ? `${scene.named(s.name)?.letter} ${format.counted(s.facts.count, "span")}`
      : format.counted(s.facts.count, s.name === "graph" ? "graph span" : "stream operation")
  );
  const missing = scene.names.filter((name) => !scene.side(name));
  const words = missing.map((name) => timelineRows.missing(scene, name));
  const what = counts.length ? ` ${counts.join(", ")}.` : "";
  const graph = scene.side("graph");
  const over = graph ? graph.facts.launch_count : 0;
  /** @type {Record<string, string|undefined>} */
  const shown = { median: `The median of ${over} launches.`, all: `All ${over} launches, stacked.` };
  const mode = graph && !payload.header.sides && shown[graph.facts.mode];
  if (mode) words.unshift(mode);
  words.push(...timelineWaits.sentences(scene));
  if (scene.changes?.has("change")) words.push(CHANGES);
  return [`Timeline of ${payload.header.graph_name}.${what}`, ...words].join(" ");
}

/**
 * What is selected, as a sentence.
 * @param {Timeline} view @param {number[]} ids
 */
export function selection(view, ids) {
  const side = ids.length === 1 ? view.find(ids[0]) : null;
  if (!ids.length) return "Nothing selected.";
  if (!side) return `${format.counted(ids.length, "node")} selected.`;
  const hit = { side, i: side.itemsOf(ids[0])[0] };
  return announce.wordsOf(timelineTips.describe(view.scene, hit));
}
