/** The breakdown on a served graph page: made anew for each graph, out of what the server has. */
import { Breakdown } from "../breakdown/breakdown.js";
import * as bus from "../core/bus.js";
import * as firstPaint from "../core/first_paint.js";
import * as payloads from "../core/payload.js";
/** @import { Verdict } from "../breakdown/breakdown.js" */

/** The server is asked again for a verdict that it has not made yet after so long (ms). */
const AGAIN = 700;

/** @type {Breakdown|null} */
let shown = null;

/**
 * Show the breakdown of a graph, or none.
 * @param {{breakdown: string, verdict: string}|null} source
 */
export function show(source) {
  shown?.destroy();
  const box = document.getElementById("breakdown");
  shown = box && source && new Breakdown(box, document.getElementById("findings"), bus.group(bus.PAGE), {
    // The views come first: their data and these are made one after the other.
    breakdown: () => firstPaint.painted().then(() => payloads.load(source.breakdown)),
    verdict: (signal) => firstPaint.painted().then(() => untilMade(source.verdict, signal)),
  });
}

/** @param {string} source @param {AbortSignal} signal @returns {Promise<Verdict>} */
async function untilMade(source, signal) {
  const verdict = await payloads.loadJson(source, signal);
  if (!verdict.waiting) return verdict;
  await new Promise((resolve) => setTimeout(resolve, AGAIN));
  signal.throwIfAborted();
  return untilMade(source, signal);
}
