/** A view as a PNG file: drawn anew at twice the size or more, on its ground. */
(function () {
  "use strict";
  const gviz = (window.gviz = window.gviz || {});
  /** Pixels of the picture per CSS pixel, at least: sharp in print and on dense screens. */
  const LEAST_RATIO = 2;

  function blank(size, ratio) {
    const canvas = document.createElement("canvas");
    canvas.width = Math.ceil(size.width * ratio);
    canvas.height = Math.ceil(size.height * ratio);
    return canvas;
  }

  /** @param {gviz.Frame} frame @returns {HTMLCanvasElement} */
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

  /** A file name of letters, digits and dashes. */
  function nameOf(frame) {
    const { graph_name: graph, kind } = frame.payload.header;
    const plain = graph.replace(/[^A-Za-z0-9]+/g, "-").replace(/^-+|-+$/g, "");
    return `${plain.slice(0, 80) || "graph"}-${kind}.png`;
  }

  /** Have the browser save the view. */
  function save(frame) {
    if (!frame.payload) return;
    paint(frame).toBlob((blob) => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(blob);
      link.download = nameOf(frame);
      link.click();
      // The browser has begun to read it by then.
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    }, "image/png");
  }

  gviz.picture = { save };
})();
