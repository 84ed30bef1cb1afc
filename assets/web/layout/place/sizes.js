/** Sizes in the drawing, in CSS pixels at zoom 1. Python side: gviz.dag.placement, which says why. */
export const NODE_HEIGHT = 40;
export const ROW_PITCH = 68;
export const NODE_WIDTH = 176;
export const NODE_WIDTH_LEAST = 52;
export const LANE_GAP = 28;
export const COLUMN_GAP = 56;
/** Width over height that a placement aims for. */
export const ASPECT = 2.3;
/** And where sections stand side by side. */
const SECTIONS_ASPECT = 3.5;

/** The width over height to aim for. @param {number[]|undefined} breaks between sections */
export const aspectOf = (breaks) => (breaks?.length ? SECTIONS_ASPECT : ASPECT);
