/** The origin of a node: NVTX ranges and the Python lines that created it. */
import { element } from "../core/parts.js";
/** @import { Forward, Frame, NodeRecord, Stack } from "./records.js" */

const EXACT = "PyTorch's sequence number of autograd's node is that of this operation.";
const BESIDE = "Autograd's node is of a view, which launches nothing, beside this operation in PyTorch's sequence, or adds to the " +
  "gradient that this operation's backward pass gave.";
const CALLED = "Ranges, and PyTorch's operators in imported traces, that were open on the host when the matched operations outside " +
  "the graph were called, outermost first: those that all iterations share";
/** How ranges are known that were not open around a node. */
const KNOWN_BY = {
  forward: "autograd: sequence, of the forward operation",
  capture: "by time: open on the capturing thread when this node was made on a thread without ranges",
};

/** @param {Frame} frame */
const place = ({ file, line, function: name }) => `${file}${line ? `:${line}` : ""} in ${name}`;

/** @param {string|null|undefined} reason */
const noStack = (reason) => element("p", { class: "gv-muted" }, `No Python stack: ${reason || "none was recorded"}.`);

/** The Python stack, innermost own line first and large, or why there is none. @param {Stack|null} stack @param {string|null} [reason] */
export function stackParts(stack, reason) {
  if (!stack?.frames.length) return noStack(reason);
  const { frames, own } = stack, shown = frames[own ?? 0];
  const all = element("ol", { class: "gv-frames" }, ...frames.map((frame, depth) => frameParts(frame, depth === own)));
  return element("div", {},
    element("div", { class: "gv-line-own" },
      element("code", { class: "gv-source" }, shown.source ? shown.source.trim() : shown.function),
      element("div", { class: "gv-muted gv-mono gv-break" }, place(shown))),
    ...(frames.length > 1 ? [element("details", {}, element("summary", {}, `All ${frames.length} frames, innermost first`), all)] : []));
}

/** @param {Frame} frame @param {boolean} own */
function frameParts(frame, own) {
  const source = frame.source
    ? element("code", { class: "gv-source" }, frame.source.trim())
    : element("span", { class: "gv-muted" }, "source not recorded");
  return element("li", own ? { class: "gv-frame-own" } : {}, element("div", { class: "gv-mono gv-break" }, place(frame)), source);
}

/** Where a node comes from, in a line; of a node without a stack its forward operation. @param {NodeRecord} record */
export function originLine({ stack, forward, node }) {
  const own = stack?.frames.length ? stack : null;
  const shown = own ?? (forward?.stack?.frames.length ? forward.stack : null);
  if (!shown) return noStack(node.stack_reason);
  const inferred = own ? "" : " (inferred: of the forward operation)";
  return element("p", { class: "gv-origin", title: place(shown.frames[shown.own ?? 0]) + inferred },
    element("code", {}, shown.line), inferred);
}

/**
 * Where the operation was called whose backward pass a node is, and how that is known.
 * @param {Forward} forward @param {string} autograd the node of autograd's
 */
export function forwardParts({ node_id: id, name, nvtx, stack, stack_reason: reason, exact }, autograd) {
  const how = exact ? "autograd: sequence" : "autograd: next in sequence";
  return element("div", {},
    element("p", { title: exact ? EXACT : BESIDE }, `${autograd} of node ${id} ${name} (${how})`),
    ...(nvtx ? [element("p", {}, nvtx)] : []),
    stackParts(stack, reason));
}

/** The NVTX ranges of a node, and how they are known. @param {NodeRecord} record */
export function rangeText({ nvtx, nvtxFrom }) {
  return nvtxFrom ? `${nvtx} (${KNOWN_BY[nvtxFrom]})` : nvtx ?? "";
}

/** The ranges of the same work outside the graph. @param {string} ranges */
export const calledParts = (ranges) => element("p", { title: CALLED }, ranges);
