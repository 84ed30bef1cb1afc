/** A note over the page: the address holds a part of what is selected only, or names what is not there. */
import { counted } from "../core/format.js";

const ID = "selection-note";

/**
 * Say what of a selection and a filter the address does not hold.
 * @param {number} left nodes selected that it has no room for @param {number} count nodes selected
 * @param {boolean} [isUnfiltered] whether it has no room for the filter
 */
export function show(left, count, isUnfiltered = false) {
  const words = [...(left ? [wordsOf(count - left, count)] : []), ...(isUnfiltered ? [NO_FILTER] : [])];
  if (words.length || !missed) say(words.join(" "));
}

export const NO_FILTER = "The address has no room for the nodes that the filter leaves: a reload and a copied link show all.";

/** Names of an address that led to nothing; said until something else is selected. */
let missed = false;

/** @param {string[]} names of what an address asks for, and what is not there */
export function miss(names) {
  missed = true;
  say(missingOf(names));
}

/** Something was selected. */
export function forget() {
  missed = false;
}

/** @param {string[]} names */
export const missingOf = (names) =>
  `This graph has nothing that is called ${names.map((name) => `“${name.replace(/^[a-z]+:/, "")}”`).join(" or ")}, which the address names.`;

/** Say nothing. */
export function clear() {
  missed = false;
  say("");
}

/** @param {number} kept @param {number} count */
export function wordsOf(kept, count) {
  return `The address has room for ${counted(kept, "node")} of ${counted(count, "node")} selected: ` +
    "a reload and a copied link select those only.";
}

/** @param {string} text "": none */
function say(text) {
  const box = document.getElementById(ID) ?? (text ? build() : null);
  if (!box) return;
  if (box.textContent !== text) box.textContent = text;
  box.hidden = !text;
}

function build() {
  const box = document.createElement("div");
  box.id = ID;
  box.className = "gv-selection-note";
  box.setAttribute("role", "status");
  document.body.append(box);
  return box;
}
