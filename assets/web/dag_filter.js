/** The filter of the page in the DAG: what is not in it fades, edges too. */
(function () {
  "use strict";
  const gviz = (window.gviz = window.gviz || {});
  /** How much of what is filtered out fades. */
  const VEIL = 0.78;

  /**
   * Fade all but the wanted nodes.
   * @param {number[]|null} wanted node ids; null: no filter
   * @param {{k: number, kx: number, x: number, y: number}} t
   */
  function veil(ctx, scene, wanted, t, size) {
    if (!wanted) return;
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, 0, size.width, size.height);
    // A fold holds several of them: each box once, or they cancel out.
    for (const i of new Set(wanted.map((id) => scene.index.get(id)))) {
      if (i === undefined) continue;
      const [w, h] = [scene.halfWidthOf(i) * t.kx, scene.halfH * t.k];
      ctx.rect(scene.x[i] * t.kx + t.x - w, scene.y[i] * t.k + t.y - h, 2 * w, 2 * h);
    }
    ctx.globalCompositeOperation = "destination-out";
    ctx.globalAlpha = VEIL;
    ctx.fillStyle = "#000";
    ctx.fill("evenodd");
    ctx.restore();
  }

  gviz.dagFilter = { veil };
})();
