/** A view as a file: PNG, drawn anew at twice the size or more, or SVG, by the same drawing code. */
import { SvgPen } from "./svg_pen.js";

/** Pixels of the picture per CSS pixel, at least: sharp in print and on dense screens. */
const LEAST_RATIO = 2;

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
  const pen = drawing.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  frame.view.draw(pen, size);
  const picture = blank(size, ratio);
  const ground = picture.getContext("2d");
  ground.fillStyle = frame.theme.ground;
  ground.fillRect(0, 0, picture.width, picture.height);
  ground.drawImage(drawing, 0, 0);
  return picture;
}

/** @param {Frame} frame @returns {string} an SVG document */
function write(frame) {
  const size = { ...frame.size, ratio: 1 };
  const pen = new SvgPen(size);
  frame.view.draw(pen, size);
  return pen.toString({
    ground: frame.theme.ground,
    title: `${frame.payload.header.graph_name} (${frame.payload.header.kind})`,
    words: frame.view.caption(frame.payload),
  });
}

/** A file name of letters, digits and dashes. */
function nameOf(frame, ending) {
  const { graph_name: graph, kind } = frame.payload.header;
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

/** Have the browser save what is in view. @param {"png"|"svg"} kind */
export function save(frame, kind) {
  if (!frame.payload) return;
  const name = nameOf(frame, kind);
  if (kind === "svg") download(new Blob([write(frame)], { type: "image/svg+xml" }), name);
  else paint(frame).toBlob((blob) => download(blob, name), "image/png");
  // The view tells what it drew last: on the screen.
  frame.redraw();
}
