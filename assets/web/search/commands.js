/** The palette's commands on a graph's page: its choices, its keys, what it saves, and blocks of the breakdown. */
import { byId } from "../core/dom.js";
/** @import { Blocks } from "../breakdown/blocks.js" */
/** @import { Search } from "./field.js" */
/** @import { Command } from "./palette.js" */

/** Rows of the breakdown whose blocks are places to go to. */
const PLACES = ["phase", "layers", "layer"];
/** Where keys of a group of the help are heard, by how its heading begins. @type {[string, string][]} */
const HEARD = [
  ["Graph", "#dag canvas"], ["Timeline", "#timeline canvas"], ["Memory", "#memory canvas"],
  ["Breakdown", ".gv-block[tabindex='0']"], ["Table", ".gv-rows:not([hidden]) > table"],
];
/** Keys by their names in the help, where these are not their own. @type {Record<string, string>} */
const KEYS = { Esc: "Escape", Enter: "Enter", Home: "Home" };

/** What the controls of a page offer, but for what is chosen. @param {HTMLElement} page @returns {Command[]} */
export function ofChoices(page) {
  const options = Array.from(page.querySelectorAll("select"), (select) =>
    Array.from(select.options).filter((option) => !option.disabled && !option.selected).map((option) => ({
      name: `${select.getAttribute("aria-label")}: ${option.text}`,
      run: () => {
        select.value = option.value;
        select.dispatchEvent(new Event("change", { bubbles: true }));
      },
    })));
  /** @type {NodeListOf<HTMLInputElement>} */
  const inputs = page.querySelectorAll("input[type=radio]:enabled, input[type=checkbox]:enabled");
  const switches = Array.from(inputs).filter((input) => input.type === "checkbox" || !input.checked).map((input) => {
    const group = input.closest("[role=radiogroup]")?.getAttribute("aria-label");
    const label = (input.closest("label")?.textContent ?? "").trim();
    return { name: group ? `${group}: ${label}` : label, run: () => input.click() };
  });
  return [...switches, ...options.flat()];
}

/** What the page saves, and where it leads. @param {HTMLElement} page @returns {Command[]} */
export function ofHead(page) {
  /** @type {NodeListOf<HTMLElement>} */
  const items = page.querySelectorAll(".gv-menu-body button, .gv-graph-ways a");
  return Array.from(items, (item) => ({ name: (item.textContent ?? "").trim(), run: () => item.click() }));
}

/** What the verdict and the findings name, as far as it can be chosen. @param {HTMLElement} page @returns {Command[]} */
export function ofVerdict(page) {
  /** @type {NodeListOf<HTMLElement>} */
  const items = page.querySelectorAll(".gv-said, .gv-path, button.gv-change, .gv-ask[title], .gv-part-gain");
  return Array.from(items, (item) => ({
    name: [item.title.split(".")[0], (item.textContent ?? "").trim()].filter(Boolean).join(": "),
    run: () => item.click(),
  }));
}

/** Whether a key is one that can be pressed for the reader, or else leads where it is heard. @param {string} keys @param {string|undefined} where */
const isCommand = (keys, where) => {
  const [first] = keys.split(" ");
  return where ? !["click", "double"].includes(first) : first.length === 1 || first === "Esc";
};

/** What keys do, as the help says; a key of a view is pressed in it. @returns {Command[]} */
export function ofKeys() {
  return Array.from(document.querySelectorAll("#key-help section"), (section) => {
    const title = section.querySelector("h3")?.textContent ?? "";
    const [, where] = HEARD.find(([start]) => title.startsWith(start)) ?? [];
    const lines = Array.from(section.querySelectorAll("dl > div"), (line) =>
      ["kbd", "dd"].map((part) => line.querySelector(part)?.textContent ?? ""));
    return lines.filter(([key]) => isCommand(key, where)).map(([key, text]) =>
      ({ name: where ? `${title.split(",")[0]}: ${text}` : text, key, run: () => press(where, key) }));
  }).flat();
}

/** Press the first of some keys where it is heard. @param {string|undefined} where @param {string} keys as the help has them */
function press(where, keys) {
  const [name] = keys.split(" ");
  const key = KEYS[name] ?? name;
  /** @type {HTMLElement|null} */
  const target = where ? document.querySelector(where) : document.body;
  target?.focus();
  // Gestures and arrows are for the reader, who stands where they are heard now.
  if (key.length > 1 && !(name in KEYS)) return;
  target?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
}

/**
 * What a text that names no command leads to: the nodes that have it. @param {string} text @param {Search} search
 * @returns {Command[]}
 */
export function ofText(text, search) {
  const wanted = text.trim();
  const run = () => {
    search.find(wanted);
    byId("search").focus();
  };
  return wanted ? [{ name: `Search the nodes: ${wanted}`, key: "/", run }] : [];
}

/**
 * Phases and layers of the launch, each with its nodes.
 * @param {Blocks|undefined} blocks @param {(nodes: number[]) => void} select
 * @returns {Command[]}
 */
export function ofBlocks(blocks, select) {
  if (!blocks) return [];
  return Array.from({ length: blocks.count }, (_, i) => i)
    .filter((i) => blocks.labels[i] && PLACES.includes(blocks.rowKeys[blocks.row[i]]))
    .map((i) => ({
      // In which phase; what is between them says no more.
      name: `${blocks.rowNames[blocks.row[i]]}: ${Array.from(new Set([blocks.pathOf(i)[0], i]), (at) => blocks.labelOf(at)).join(" › ")}`,
      run: () => select(blocks.nodesOf(i)),
    }));
}
