/** A page of a recording that grows: whether it is still the same page, and what of its head is new. */
import * as choices from "./choices.js";

/** Parts that a page may have or not; with other ones it is another page. */
const OPTIONAL = ["dag", "timeline", "graph-choice", "baseline"];
/** Choices of which there are more by then, or of which more can be chosen. */
const GROWING = ["launch", "stream-launch", "graph-choice", "baseline", "colour"];

/** Whether the page shown has the parts of one that was made anew. @param {HTMLElement} fresh */
export function isSame(fresh) {
  return OPTIONAL.every((id) => (document.getElementById(id) === null) === (fresh.querySelector(`#${id}`) === null));
}

/** Take in what the head and the choices have by now. @param {HTMLElement} fresh a page made anew */
export function takeIn(fresh) {
  const there = fresh.querySelector("#graph-about");
  if (there) document.getElementById("graph-about")?.replaceChildren(...there.childNodes);
  for (const id of GROWING) choices.renew(id, fresh);
  choices.enable("layout", fresh);
}
