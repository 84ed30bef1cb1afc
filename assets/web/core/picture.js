/** A view as a file: PNG, drawn anew at twice the size or more, or SVG, by the same drawing code. */
import { penOf } from "./dom.js";
import { SvgPen } from "./svg_pen.js";
/** @import { Size } from "./canvas.js" */
/** @import { Frame } from "./frame.js" */
/** @import { Payload } from "./payload.js" */

/** Pixels of the picture per CSS pixel, at least: sharp in print and on dense screens. */
const LEAST_RATIO = 2;

/** @param {Size} size @param {number} ratio */
function blank(size, ratio) {
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(size.width * ratio);
  canvas.height = Math.ceil(size.height * ratio);
  return canvas;
}

/** @param {Frame} frame @returns {HTMLCanvasElement} */
function paint(frame) {
  const ratio = Math.max(LEAST_RATIO, frame.size.ratio);
  const size = { ...frame.size, ratio };
  // Two layers: the views erase part of what they drew, which must not reach the ground.
  const drawing = blank(size, ratio);
  const pen = penOf(drawing);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  frame.view.draw(pen, size);
  const picture = blank(size, ratio);
  const ground = penOf(picture);
  ground.fillStyle = frame.theme.ground;
  ground.fillRect(0, 0, picture.width, picture.height);
  ground.drawImage(drawing, 0, 0);
  return picture;
}

/** @param {Frame} frame @param {Payload} payload @returns {string} an SVG document */
function write(frame, payload) {
  const size = { ...frame.size, ratio: 1 };
  const pen = new SvgPen(size);
  frame.view.draw(pen, size);
  return pen.toString({
    ground: frame.theme.ground,
    title: `${payload.header.graph_name} (${payload.header.kind})`,
    words: frame.view.caption(payload),
  });
}

/**
 * A file name of letters, digits and dashes.
 * @param {Payload} payload @param {string} ending
 */
function nameOf(payload, ending) {
  const { graph_name: graph, kind } = payload.header;
  const plain = graph.replace(/[^A-Za-z0-9]+/g, "-").replace(/^-+|-+$/g, "");
  return `${plain.slice(0, 80) || "graph"}-${kind}.${ending}`;
}

/** Have the browser save bytes. @param {Blob} blob @param {string} name of the file */
export function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Have the browser save what is in view. @param {Frame} frame @param {"png"|"svg"} kind */
export function save(frame, kind) {
  const { payload } = frame;
  if (!payload) return;
  const name = nameOf(payload, kind);
  if (kind === "svg") download(new Blob([write(frame, payload)], { type: "image/svg+xml" }), name);
  else paint(frame).toBlob((blob) => blob && download(blob, name), "image/png");
  // The view reports what it drew last: on the screen.
  frame.redraw();
}
