/** Lists of nodes in the inspector: a click selects one (page/inspector.js). */
import * as format from "../core/format.js";
import { element, pick } from "../core/parts.js";
/** @import { Nodes } from "../table/nodes.js" */

/**
 * The first of some nodes as buttons that select them.
 * @param {Nodes} nodes of the table, whose names they have @param {number[]} keys @param {number} [count] of all
 */
export function picks(nodes, keys, count = keys.length) {
  const lines = keys.filter((key) => nodes.has(key)).map((key) => {
    const { name, label, kind, median_ns: median } = nodes.row(key);
    return pick(key, label, median === null ? kind : format.duration(median), name);
  });
  const more = count - keys.length;
  if (more > 0) lines.push(element("li", { class: "gv-muted" }, `and ${format.counted(more, "more", "more")}`));
  return element("ul", { class: "gv-picks" }, ...lines);
}
