/** Files dropped on the page: a veil says what is done with them while they are over it. */
import { element } from "../core/parts.js";
/** @import { Side } from "./overlays.js" */

/** @param {DragEvent} event */
const carriesFiles = (event) => Array.from(event.dataTransfer?.types || []).includes("Files");

/**
 * Take files that are dropped.
 * @param {() => string[]} words what is done with them: a part of the page, from left to right, for each
 * @param {(files: File[], part: number) => void} take
 */
export function listen(words, take) {
  /** Entered elements less those left: the drag is over the page while there are any. */
  let entered = 0;
  /** @param {boolean} on */
  const veil = (on) => {
    const sign = document.getElementById("drop-veil");
    if (!on) sign?.remove();
    else if (!sign) {
      const parts = words().map((text) => element("div", { class: "gv-drop-part" }, text));
      document.body.append(element("div", { id: "drop-veil", class: "gv-drop-veil" }, ...parts));
    }
  };
  /** The part that the pointer is over. @param {DragEvent} event */
  const partOf = ({ clientX }) => {
    const parts = document.querySelectorAll(".gv-drop-part");
    const at = Math.min(parts.length - 1, Math.floor((clientX / window.innerWidth) * parts.length));
    parts.forEach((part, n) => part.classList.toggle("gv-drop-here", n === at));
    return Math.max(0, at);
  };
  document.addEventListener("dragenter", (event) => {
    if (!carriesFiles(event)) return;
    entered += 1;
    veil(true);
  });
  document.addEventListener("dragleave", (event) => {
    if (!carriesFiles(event)) return;
    entered -= 1;
    if (entered <= 0) veil(false);
  });
  document.addEventListener("dragover", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    partOf(event);
  });
  document.addEventListener("drop", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    const part = partOf(event);
    entered = 0;
    veil(false);
    take(Array.from(event.dataTransfer?.files ?? []), part);
  });
}

/** What a table is laid on, in words. @param {Side} side */
export const nameOf = (side) => (side ? `graph ${side}, ${side === "A" ? "before" : "after"}` : "this graph");
