/** The part of a page that its reader last clicked or typed in: it shows already what is picked there. */
import { closest } from "../core/dom.js";

/** @param {string[]} ids of the parts @returns {() => string|null} the id of the part, or null */
export function lastTouched(ids) {
  const parts = ids.map((id) => `#${id}`).join();
  /** @type {string|null} */
  let touched = null;
  for (const name of ["pointerdown", "keydown"]) {
    document.addEventListener(name, (event) => (touched = closest(event, parts)?.id ?? null), true);
  }
  return () => touched;
}
