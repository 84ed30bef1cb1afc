/** The best findings on a graph as a list; each selects its nodes. */
import { element } from "../core/parts.js";
/** @import { Finding } from "./breakdown.js" */

/**
 * @param {Finding[]} findings @param {number} more that are not among them
 * @param {(nodes: number[]) => void} select
 */
export function listFindings(findings, more, select) {
  if (!findings.length) return document.createDocumentFragment();
  const items = findings.map(({ gain, reason, fix, title, nodes, count }) => {
    const text = [element("b", {}, gain), element("span", {}, reason, element("small", {}, fix))];
    if (!nodes.length) return element("li", { title }, element("div", { class: "gv-change" }, ...text));
    const some = nodes.length < count ? `Select the first ${nodes.length} of its ${count} nodes. ` : "";
    const button = element("button", { type: "button", class: "gv-change", title: some + title }, ...text);
    button.addEventListener("click", () => select(nodes));
    return element("li", {}, button);
  });
  const rest = more ? [element("p", { class: "gv-muted" }, `and ${more} more in the Report`)] : [];
  return element("section", { class: "gv-inspector-section" },
    element("h3", {}, "What to change first"), element("ul", { class: "gv-to-change" }, ...items), ...rest);
}
