/** The critical paths and the best findings on a graph; each selects its nodes, and lights them while it is pointed at. */
import { element } from "../core/parts.js";
/** @import { Group } from "../core/bus.js" */
/** @import { Finding, Path } from "./breakdown.js" */

/**
 * The critical paths in one line; one where both have the same nodes.
 * @param {Path[]} paths @param {Group} group @param {(nodes: number[]) => void} select
 */
export function listPaths(paths, group, select) {
  if (!paths.length) return document.createDocumentFragment();
  const buttons = paths.map(({ name, text, nodes }) => {
    const button = element("button", { type: "button", class: "gv-path", title: name }, text);
    button.addEventListener("click", () => {
      group.light(null);
      select(nodes);
    });
    light(button, group, () => nodes);
    return button;
  });
  const [structural, observed] = buttons;
  return element("p", { class: "gv-paths" }, "Critical path ", structural, ...(observed ? [", as it ran ", observed] : []));
}

/**
 * @param {Finding[]} findings @param {number} more that are not among them
 * @param {Group} group @param {(nodes: number[]) => void} select
 */
export function listFindings(findings, more, group, select) {
  if (!findings.length) return document.createDocumentFragment();
  const items = findings.map(({ gain, reason, fix, title, nodes }) => {
    const text = [element("b", {}, gain), element("span", {}, reason, element("small", {}, fix))];
    if (!nodes.length) return element("li", { title }, element("div", { class: "gv-change" }, ...text));
    const button = element("button", { type: "button", class: "gv-change", title }, ...text);
    button.addEventListener("click", () => {
      group.light(null);
      select(nodes);
    });
    light(button, group, () => nodes);
    return element("li", {}, button);
  });
  const rest = more ? [element("p", { class: "gv-muted" }, `and ${more} more in the Report`)] : [];
  return element("section", { class: "gv-inspector-section" },
    element("h3", {}, "What to change first"), element("ul", { class: "gv-to-change" }, ...items), ...rest);
}

/**
 * Light nodes in every view while an element is pointed at, by the pointer or the keyboard.
 * @param {HTMLElement} box @param {Group} group @param {() => number[]} nodesOf
 */
export function light(box, group, nodesOf) {
  const begin = () => group.light(nodesOf());
  const end = () => group.light(null);
  for (const event of ["pointerenter", "focus"]) box.addEventListener(event, begin);
  for (const event of ["pointerleave", "blur"]) box.addEventListener(event, end);
}
