/** The filter of the page in the DAG: what is not in it fades, edges too. */
(function () {
  "use strict";
  const gviz = (window.gviz = window.gviz || {});
  /** How much of what is filtered out fades. */
  const VEIL = 0.78;

  /**
   * Fade all but the wanted nodes.
   * @param {number[]|null} wanted node ids; null: no filter
   * @param {{k: number, x: number, y: number}} t
   */
  function veil(ctx, scene, wanted, t, size) {
    if (!wanted) return;
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, 0, size.width, size.height);
    const [w, h] = [scene.halfW * t.k, scene.halfH * t.k];
    for (const id of wanted) {
      const i = scene.index.get(id);
      if (i === undefined) continue;
      ctx.rect(scene.x[i] * t.k + t.x - w, scene.y[i] * t.k + t.y - h, 2 * w, 2 * h);
    }
    ctx.globalCompositeOperation = "destination-out";
    ctx.globalAlpha = VEIL;
    ctx.fillStyle = "#000";
    ctx.fill("evenodd");
    ctx.restore();
  }

  gviz.dagFilter = { veil };
})();
