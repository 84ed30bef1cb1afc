/** The DAG along time: bars on the axis of a launch, one row a lane. In coordinates of the screen. */
(function () {
  "use strict";
  const gviz = (window.gviz = window.gviz || {});
  /** Dependencies are drawn up to so many on screen; those within a lane go without saying. */
  const MOST_EDGES = 3000;
  /** What took no time, or has none, is a mark of this width. */
  const LEAST_W = 1;
  const MARK_W = 5;
  /** Wider ones have an outline: the palest fill is hardly seen on its ground. */
  const OUTLINED = 6;
  const AXIS = 22;

  /** The box of a node on screen. */
  function boxOf(scene, i, t) {
    const h = 2 * scene.halfH * t.k;
    const w = 2 * scene.halfWidth[i] * t.kx;
    const x = (scene.x[i] - scene.halfWidth[i]) * t.kx + t.x;
    const y = scene.y[i] * t.k + t.y - h / 2;
    return { x, y, w: Math.max(scene.halfWidth[i] ? LEAST_W : MARK_W, w), h };
  }

  function visibleNodes(scene, view) {
    const found = [];
    scene.grid.visit(view.left, view.top - scene.halfH, view.right, view.bottom + scene.halfH, (i) =>
      found.push(i)
    );
    return found;
  }

  function drawBars(ctx, scene, nodes, style) {
    const { transform: t, theme } = style;
    let last = null;
    const marks = [];
    ctx.strokeStyle = theme.outline;
    ctx.lineWidth = 1;
    for (const i of nodes) {
      if (!scene.halfWidth[i]) marks.push(i);
      else {
        const { fill } = gviz.dagNodes.paintOf(scene, i, style);
        const css = fill || style.pattern || theme.hatch;
        if (css !== last) ctx.fillStyle = last = css;
        const box = boxOf(scene, i, t);
        // A hair between neighbours, where there is room for one.
        ctx.fillRect(box.x, box.y, box.w > 4 ? box.w - 1 : box.w, box.h);
        if (box.w > OUTLINED) ctx.strokeRect(box.x + 0.5, box.y + 0.5, box.w - 2, box.h - 1);
      }
    }
    for (const i of marks) drawMark(ctx, scene, i, style);
  }

  /** A node without a length: a diamond on its lane. */
  function drawMark(ctx, scene, i, style) {
    const { x, y, h } = boxOf(scene, i, style.transform);
    const r = Math.min(MARK_W, h / 2);
    const middle = y + h / 2;
    ctx.beginPath();
    ctx.moveTo(x, middle - r);
    ctx.lineTo(x + r, middle);
    ctx.lineTo(x, middle + r);
    ctx.lineTo(x - r, middle);
    ctx.closePath();
    ctx.fillStyle = style.theme.panel;
    ctx.fill();
    ctx.strokeStyle = style.theme.muted;
    ctx.lineWidth = 1;
    ctx.stroke();
  }

  function drawTexts(ctx, scene, nodes, style) {
    const { transform: t } = style;
    const h = 2 * scene.halfH * t.k;
    if (h < 11) return;
    const two = h >= 31;
    const px = two ? Math.min(15, Math.max(11, h * 0.3)) : Math.min(12, h * 0.6);
    ctx.textBaseline = "middle";
    ctx.textAlign = "left";
    for (const i of nodes) {
      const box = boxOf(scene, i, t);
      // The part on screen: the name of a long node stays in sight.
      const left = Math.max(0, box.x) + 5;
      const room = box.x + box.w - 5 - left;
      if (room < 24) continue;
      const { ink, fill } = gviz.dagNodes.paintOf(scene, i, style);
      if (!fill) continue;
      const middle = box.y + box.h / 2;
      ctx.fillStyle = style.faded ? style.theme.ink : ink;
      const weight = two ? 600 : 500;
      ctx.font = gviz.canvas.font(px, weight);
      const name = gviz.canvas.fitText(ctx, scene.nameOf(i), px, room, weight);
      ctx.fillText(name, left, two ? middle - h * 0.17 : middle);
      if (!two) continue;
      const small = px * 0.92;
      ctx.font = gviz.canvas.font(small);
      const time = gviz.format.time(2 * scene.halfWidth[i]);
      ctx.fillText(gviz.canvas.fitText(ctx, time, small, room), left, middle + h * 0.21);
    }
  }

  /** Edges between lanes, from the end of one node to the start of the next. */
  function drawEdges(ctx, scene, edges, style, colour, width, dash = null) {
    const { transform: t } = style;
    ctx.strokeStyle = colour;
    ctx.lineWidth = width;
    ctx.setLineDash(dash || []);
    ctx.beginPath();
    for (const e of edges) trace(ctx, scene, e, t);
    ctx.stroke();
    ctx.setLineDash([]);
  }

  function across(scene, e) {
    return scene.y[scene.from[e]] !== scene.y[scene.to[e]];
  }

  /**
   * Whether an edge is drawn: between lanes; within one it goes without saying, unless it is told
   * what edges carry, and then from a node to the next.
   */
  function shows(scene, e) {
    if (across(scene, e)) return true;
    if (!scene.uses) return false;
    scene.nextInLane ||= nextInLane(scene);
    return scene.nextInLane[scene.from[e]] === scene.to[e];
  }

  function nextInLane(scene) {
    const next = new Int32Array(scene.count).fill(-1);
    for (const { items } of scene.grid.lanes) {
      for (let n = 0; n + 1 < items.length; n++) next[items[n]] = items[n + 1];
    }
    return next;
  }

  /** Add an edge to a path. */
  function trace(path, scene, e, t) {
    const a = boxOf(scene, scene.from[e], t);
    const b = boxOf(scene, scene.to[e], t);
    const x0 = a.x + (scene.halfWidth[scene.from[e]] ? a.w : 0);
    const y0 = a.y + a.h / 2;
    const y1 = b.y + b.h / 2;
    const bend = Math.max(8, Math.min(60, Math.abs(b.x - x0) / 2));
    path.moveTo(x0, y0);
    path.bezierCurveTo(x0 + bend, y0, b.x - bend, y1, b.x, y1);
  }

  function drawAxis(ctx, scene, style, size) {
    const { transform: t, theme } = style;
    const top = size.height - AXIS;
    const from = Math.max(0, -t.x / t.kx);
    const to = Math.min(scene.width, (size.width - t.x) / t.kx);
    ctx.fillStyle = theme.panel;
    ctx.fillRect(0, top, size.width, AXIS);
    ctx.font = gviz.canvas.font(10.5);
    ctx.textBaseline = "middle";
    ctx.textAlign = "center";
    for (const tick of gviz.axis.ticks(from, to, (to - from) * t.kx)) {
      const x = Math.round(tick.ns * t.kx + t.x) + 0.5;
      ctx.strokeStyle = theme.line;
      ctx.lineWidth = 1;
      ctx.beginPath();
      ctx.moveTo(x, 0);
      ctx.lineTo(x, top + 4);
      ctx.stroke();
      ctx.fillStyle = theme.muted;
      ctx.textAlign = tick.ns ? "center" : "left";
      ctx.fillText(tick.ns ? tick.text : "0 = first start", tick.ns ? x : x + 4, top + AXIS / 2 + 2);
    }
  }

  function drawRings(ctx, scene, nodes, style, colour, width) {
    ctx.strokeStyle = colour;
    ctx.lineWidth = width;
    for (const i of nodes) {
      const { x, y, w, h } = boxOf(scene, i, style.transform);
      const mark = scene.halfWidth[i] ? 0 : MARK_W;
      ctx.strokeRect(x - mark - 1, y - 1, w + mark + 2, h + 2);
    }
  }

  function drawSelection(ctx, scene, style, marks, { nodes, edges }, size) {
    const kin = gviz.dagDraw.kinOf(scene, marks.selected);
    const users = new Set(marks.users);
    const near = (i) => kin.shown[i] || users.has(i);
    gviz.dagDraw.fade(ctx, size);
    drawTexts(ctx, scene, nodes.filter((i) => !near(i)), { ...style, faded: true });
    for (const [flags, colour] of [[kin.up, style.theme.upstream], [kin.down, style.theme.downstream]]) {
      const chosen = edges.filter((e) => flags[e]);
      if (chosen.length <= MOST_EDGES) drawEdges(ctx, scene, chosen, style, colour, 2);
    }
    const shown = nodes.filter(near);
    drawBars(ctx, scene, shown, style);
    drawTexts(ctx, scene, shown, style);
    const ringed = nodes.filter((i) => kin.selected[i]);
    if (ringed.length <= gviz.dagDraw.MOST_RINGS) {
      drawRings(ctx, scene, ringed, style, style.theme.accent, 2.5);
    }
    gviz.dagBuffers.draw(ctx, scene, marks, style, size);
  }

  /** Draw one frame; as gviz.dagDraw.draw. */
  function draw(ctx, scene, style, marks, size) {
    const view = gviz.dagDraw.viewOf(style.transform, size);
    const nodes = visibleNodes(scene, view);
    drawAxis(ctx, scene, style, size);
    const seen = gviz.dagEdges.visible(scene, view);
    const edges = seen.filter((e) => shows(scene, e));
    const stroke = (list, ...look) => drawEdges(ctx, scene, list, style, ...look);
    if (edges.length > MOST_EDGES) edges.length = 0;
    if (scene.uses) gviz.dagData.draw(scene, edges, style, stroke);
    else stroke(edges, style.theme.edge, 1);
    if (marks.edge >= 0) stroke([marks.edge], style.theme.accent, 3);
    drawBars(ctx, scene, nodes, style);
    const veiled = marks.selected.length > 0 || marks.buffers.length > 0;
    if (!veiled) drawTexts(ctx, scene, nodes, style);
    if (style.overlay.name === "slack") {
      drawEdges(ctx, scene, scene.criticalEdges.filter((e) => across(scene, e)), style, style.theme.accent, 2);
    }
    if (veiled) drawSelection(ctx, scene, style, marks, { nodes, edges: seen }, size);
    if (marks.hovered >= 0 && !marks.selected.includes(marks.hovered)) {
      drawRings(ctx, scene, [marks.hovered], style, style.theme.ink, 1.5);
    }
    return { level: "time", visible: nodes.length };
  }

  gviz.dagTime = { draw, drawBars, boxOf, shows, trace, AXIS };
})();
