/** Two graphs of the Runs page picked to be compared. */
import { closest } from "../core/dom.js";
import * as pageHistory from "./history.js";

/** @returns {HTMLElement[]} */
const picks = () => Array.from(document.querySelectorAll(".gv-compare-pick"));

/**
 * The first one pressed is before, the second after; pressed again it is none.
 * @param {HTMLElement} button
 */
function pick(button) {
  const first = picks().find((other) => other.getAttribute("aria-pressed") === "true");
  if (first && first !== button) {
    const [a, b] = [first.dataset, button.dataset];
    const query = new URLSearchParams({ a: a.file ?? "", b: b.file ?? "", graph: `${a.graph}:${b.graph}` });
    const runs = document.querySelector(".gv-header .gv-brand")?.getAttribute("href");
    pageHistory.go(`${runs}compare?${query.toString().replaceAll("%3A", ":")}`);
    return;
  }
  const pressed = !first;
  button.setAttribute("aria-pressed", String(pressed));
  for (const other of picks()) {
    if (other === button) other.textContent = pressed ? "Before ✓" : "Compare";
    else other.textContent = pressed ? "… with this" : "Compare";
  }
}

/** Hear what is picked. */
export function listen() {
  document.addEventListener("click", (event) => {
    const picked = closest(event, ".gv-compare-pick");
    if (picked) pick(picked);
  });
}
