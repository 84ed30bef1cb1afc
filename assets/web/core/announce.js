/**
 * Announcements for screen readers: one live region a page, the element "said" of
 * gviz.app.pages.graph. Views speak for themselves while they have the focus; else the DAG does.
 */

/** A key that is held down is announced once it rests (ms). */
const REST = 150;
let timer = 0;

/** @param {string} text one sentence or a few */
export function say(text) {
  clearTimeout(timer);
  timer = window.setTimeout(() => {
    const region = document.getElementById("said");
    if (region && region.textContent !== text) region.textContent = text;
  }, REST);
}

/**
 * What a tooltip says, as a sentence.
 * @param {Array<string[]>} rows title first, then name and value
 */
export function wordsOf([title, ...rows]) {
  return [title[0], ...rows.map(([name, value]) => `${name} ${value}`)].join(", ") + ".";
}

/**
 * Whether a view is the one that speaks now.
 * @param {HTMLCanvasElement} canvas @param {boolean} isDag
 */
export function isSpeaker(canvas, isDag) {
  const focused = document.activeElement;
  const elsewhere = !focused || !focused.classList.contains("gviz-canvas");
  return focused === canvas || (isDag && elsewhere);
}
