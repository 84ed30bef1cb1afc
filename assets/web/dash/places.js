/**
 * The places of pages where links were followed: Back leads there again, in view and with the focus.
 *
 * The place is kept in the state of the entry of the browser's history that is left. Parts of a page
 * come later than the page, and charts grow: until its user moves, the link is held where it was.
 *
 * @typedef {{href: string, nth: number, top: number}} Place  which link, and how far below the page's top
 */

/** Where places are kept: pages of text. A graph's page keeps its state in the address. */
const SHEET = "#page .gv-sheet";
/** So long (ms) a link is waited for and held. */
const PATIENCE = 15000;

/** @param {string} href @returns {HTMLElement[]} */
const linksTo = (href) =>
  Array.from(document.querySelectorAll(`${SHEET} a[href]`), (link) => /** @type {HTMLElement} */ (link))
    .filter((link) => link.getAttribute("href") === href);

/** @param {Element} element how far it is below the top of the page */
const topOf = (element) => element.getBoundingClientRect().top - (document.getElementById("page")?.getBoundingClientRect().top ?? 0);

/** Before the link is followed: in the capturing phase. @param {any} event */
function keep(event) {
  const link = event.target.closest?.(`${SHEET} a[href]`);
  const href = link?.getAttribute("href");
  if (!href?.startsWith("/")) return;
  /** @type {Place} */
  const place = { href, nth: linksTo(href).indexOf(link), top: topOf(link) };
  window.history.replaceState({ ...window.history.state, place }, "");
}

/** Stops what holds a link where it was. */
let letGo = () => {};

/** Lead to the place that the entry of the history names; false: it names none. */
export function restore() {
  letGo();
  const place = /** @type {Place|undefined} */ (window.history.state?.place);
  const page = document.getElementById("page");
  if (!place || !page) return false;
  let isFound = false;
  const hold = () => {
    const link = linksTo(place.href)[place.nth];
    if (!link) return;
    for (let around = link.closest("details"); around; around = around.parentElement?.closest("details") ?? null) around.open = true;
    page.scrollTop += topOf(link) - place.top;
    if (!isFound) link.focus({ preventScroll: true });
    isFound = true;
  };
  const built = new MutationObserver(hold);
  built.observe(page, { childList: true, subtree: true, attributes: true, attributeFilter: ["style", "class"] });
  const moves = ["wheel", "pointerdown", "keydown", "touchmove"];
  const stop = () => {
    built.disconnect();
    clearTimeout(timer);
    for (const move of moves) window.removeEventListener(move, stop, true);
  };
  const timer = setTimeout(stop, PATIENCE);
  for (const move of moves) window.addEventListener(move, stop, true);
  letGo = stop;
  hold();
  return true;
}

/** Hear what happens on the page. */
export function listen() {
  document.addEventListener("click", keep, true);
}
