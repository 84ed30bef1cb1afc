/** Files dropped on the page: a veil says what is done with them while they are over it. */
import { element } from "../core/parts.js";

/** @param {DragEvent} event */
const carriesFiles = (event) => Array.from(event.dataTransfer?.types || []).includes("Files");

/**
 * Take files that are dropped.
 * @param {() => string} words what is done with them @param {(files: File[]) => void} take
 */
export function listen(words, take) {
  /** Entered elements less those left: the drag is over the page while there are any. */
  let entered = 0;
  /** @param {boolean} on */
  const veil = (on) => {
    const sign = document.getElementById("drop-veil");
    if (!on) sign?.remove();
    else if (!sign) document.body.append(element("div", { id: "drop-veil", class: "gv-drop-veil" }, words()));
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
    if (carriesFiles(event)) event.preventDefault();
  });
  document.addEventListener("drop", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    entered = 0;
    veil(false);
    take(Array.from(event.dataTransfer?.files ?? []));
  });
}
