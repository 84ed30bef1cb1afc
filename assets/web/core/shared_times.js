/**
 * Timeline and memory view stand in one place and share their axis: what one was zoomed to, the
 * other shows when it is looked at. Only the one in sight draws, so the last to draw was in sight.
 */
/** @import { Frame } from "./frame.js" */

/** In place of a launch: the median of all. */
export const MEDIAN = -1;

/**
 * Take over where the other view was left, or leave word where this one is.
 * @param {{frame: Frame, transform: {k: number, x: number}, fitted: boolean}} view
 * @param {number|null|undefined} launch the one whose zero is the axis's; null: none
 */
export function share(view, launch) {
  if (launch === null || launch === undefined) return;
  const { group } = view.frame;
  const { times } = group;
  if (times && times.by !== view && times.launch === launch) {
    view.fitted = times.fitted;
    if (!times.fitted) view.transform = { ...times.transform };
  }
  group.times = { by: view, launch, fitted: view.fitted, transform: view.transform };
}
