/** Sums over several nodes of two graphs, as the inspector says them. */
import * as format from "../core/format.js";
import { element, facts, pick, section } from "../core/parts.js";
/** @import { NodeRow, Nodes } from "../table/nodes.js" */

/** Nodes listed of a selection of many. */
const MOST = 8;

/** @param {NodeRow[]} rows of nodes of one side @param {"a_ns"|"b_ns"} time */
function whole(rows, time) {
  const known = rows.filter((row) => Number.isFinite(row[time]));
  const taken = known.length ? format.duration(known.reduce((sum, row) => sum + row[time], 0)) : "not timed";
  return `${format.counted(rows.length, "node")}, ${taken}`;
}

/**
 * Sums over nodes: what partners changed, and what one side alone has.
 * @param {NodeRow[]} rows of gviz.app.pages.compare.table_rows
 * @returns {[string, string, string][]} what, how much, how it was derived
 */
export function sumsOf(rows) {
  const [removed, added] = ["removed", "added"].map((what) => rows.filter((row) => row.what === what));
  const both = rows.filter((row) => !removed.includes(row) && !added.includes(row) && Number.isFinite(row.change_ns));
  const [before, change] = ["a_ns", "change_ns"].map((name) => both.reduce((sum, row) => sum + (row[name] ?? 0), 0));
  const share = before ? `, ${format.signedPercent(change / before)}` : "";
  /** @type {[string, string, string][]} */
  const sums = [];
  if (both.length) {
    sums.push(["Change of both", format.signedDuration(change) + share,
      `Derived: medians of ${format.counted(both.length, "node")} timed on both sides`]);
  }
  const why = "Sum of medians; part of replacements where they are in one";
  if (removed.length) sums.push(["Removed", whole(removed, "a_ns"), why]);
  if (added.length) sums.push(["Added", whole(added, "b_ns"), why]);
  return sums;
}

/** What is said of several nodes. @param {Nodes} nodes all nodes of both graphs @param {number[]} ids */
export function changeSums(nodes, ids) {
  const rows = ids.map((id) => nodes.row(id));
  const sums = sumsOf(rows);
  const most = rows.filter((row) => row.change_ns).toSorted((one, other) => Math.abs(other.change_ns) - Math.abs(one.change_ns));
  return element("div", {},
    element("div", { class: "gv-inspector-head" },
      element("h2", {}, `${format.counted(rows.length, "node")} selected`)),
    ...(sums.length ? [section("Sums", facts(sums))] : []),
    ...(most.length ? [section("Changed most", element("ul", { class: "gv-picks" }, ...most.slice(0, MOST).map(({ key, label, change_ns: change }) =>
      pick(key, label, format.signedDuration(change)))))] : []));
}
