/** A note over the page: the address holds a part of the selection only. */
import { counted } from "../core/format.js";

const ID = "selection-note";

/**
 * Say how much of a selection the address holds, unless that is all of it.
 * @param {number} kept @param {number} count nodes selected
 */
export function show(kept, count) {
  say(kept === count ? "" : wordsOf(kept, count));
}

/** Say nothing. */
export function clear() {
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
