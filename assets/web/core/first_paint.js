/**
 * Work that can wait until a page's canvases show something: the table's script and values.
 *
 * A view is expected from its making to its first painting, or until it says why it has none.
 */
import { turn } from "./pace.js";
/** @import { Frame } from "./frame.js" */

/** A page in the background gets no frames: after so long (ms) it goes on without. */
const NO_FRAME = 250;
/** A view that was hidden meanwhile, or whose data take so long (ms), holds up nothing. */
const PATIENCE = 3000;

/** @type {Set<Frame>} */
const expected = new Set();
/** @type {(() => void)[]} */
let waiting = [];

/** Resolves once the browser has put on the screen what was painted before. @returns {Promise<void>} */
export function shown() {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve, 0));
    setTimeout(resolve, NO_FRAME);
  });
}

/** A hidden view paints nothing until it is looked at. @param {Frame} view */
export function expect(view) {
  if (view.box.offsetParent !== null) expected.add(view);
}

/** @param {Frame} view */
export function settle(view) {
  if (!expected.delete(view) || expected.size) return;
  const now = waiting;
  waiting = [];
  // What waited is done one after the other: in one task it would hold up the page.
  shown().then(async () => {
    for (const resolve of now) {
      resolve();
      await turn();
    }
  });
}

/** Resolves once every view of the page shows something; at once on a page without views. */
export async function painted() {
  // Views of the page that is being made are there after this turn.
  await new Promise((resolve) => setTimeout(resolve, 0));
  if (!expected.size) return;
  await /** @type {Promise<void>} */ (new Promise((resolve) => {
    waiting.push(resolve);
    setTimeout(resolve, PATIENCE);
  }));
}
