/** The tooltip of the DAG on an item: rows of [name, value], the first is the title. */
import * as format from "../core/format.js";
import * as changes from "./changes.js";
import * as dagData from "./draw/data_edges.js";
/** @import { Overlay } from "./overlay/overlay.js" */
/** @import { Parent } from "./scene/bodies.js" */
/** @import { DagScene } from "./scene/scene.js" */

/** @param {DagScene} scene @param {number} i @param {Overlay|null} [laid] on the graph by its reader */
export function describe(scene, i, laid) {
  const [short, whole] = [scene.nameOf(i), scene.wholeNameOf(i)];
  const rows = [[short], ...(whole === short ? [] : [["name", whole]]), ["kind", scene.kindOf(i)], ...timesOf(scene, i)];
  if (Number.isFinite(scene.share[i])) {
    rows.push(["share of time", format.percent(scene.share[i])]);
  }
  for (const name of scene.described) {
    const overlay = scene.overlay(name);
    if (!overlay.hasValue(i)) continue;
    const words = name === "slack" && scene.bodies.around(i) >= 0 ? "slack, per iteration" : null;
    rows.push([words || overlay.label.toLowerCase(), overlay.describe(i)]);
  }
  if (laid) rows.push([laid.label, laid.describe(i)]);
  rows.push(...changes.rows(scene, i));
  if (scene.header.edges_known) {
    rows.push(["waits for", format.counted(scene.edgesTo(i).length, "node")]);
    rows.push(["awaited by", format.counted(scene.edgesFrom(i).length, "node")]);
    if (scene.uses) rows.push(...dagData.rowsOf(scene, i));
  }
  if (scene.openId(i)) {
    rows.push(["double click", scene.bodies.isOpen(i) ? "closes it (x)" : "opens it (o)"]);
  }
  return rows;
}

/** @param {DagScene} scene @param {number} i */
function timesOf(scene, i) {
  if (scene.isFold(i)) return describeFold(scene, i);
  const parent = scene.bodies.parents.get(i);
  if (parent) return describeParent(scene, parent);
  if (scene.timed(i)) {
    return [
      ["median", format.duration(scene.median[i])],
      ["95th percentile", format.duration(scene.p95[i])],
    ];
  }
  const reason = scene.reason[i];
  return [["not timed", reason < 0 ? "no launch recorded" : scene.header.strings[reason]]];
}

/** @param {DagScene} scene @param {number} i */
function describeFold(scene, i) {
  const rows = [["contains", scene.header.strings[scene.payload.fold_words[i]]]];
  const sum = scene.timed(i) ? format.duration(scene.median[i]) : "not timed";
  rows.push(["sum of medians", sum]);
  const known = Array.from(scene.stripOf(i)).filter((t) => t === t);
  if (known.length < 2) return rows;
  const range = [Math.min(...known), Math.max(...known)].map(format.duration);
  return [...rows, ["one repeat", range.join(" to ")]];
}

/** @param {DagScene} scene @param {Parent} parent */
function describeParent(scene, { item, words, launches, p5, p95, bodies }) {
  const { duration } = format;
  const rows = [["contains", words]];
  for (const body of bodies) if (body.words) rows.push([body.label, body.words]);
  if (!scene.timed(item)) return [...rows, ["times inside", "none recorded"]];
  rows.push(["sum inside, median", duration(scene.median[item])]);
  rows.push(["5th to 95th percentile", `${duration(p5)} to ${duration(p95)}`]);
  return [...rows, ["ran in", `${launches} of ${scene.header.kept_count} launches`]];
}
