/** The legend of an overlay: the ramp with its ends, or the categories, drawn on the canvas. */
(function () {
  "use strict";
  const gviz = (window.gviz = window.gviz || {});
  const BAR = 120;
  const PAD = 10;
  const MARGIN = 8;
  const HEIGHT = 26;
  const SIZE = 11;
  /** Between strips. */
  const GAP = 4;
  /** The outline of what was added. */
  const DASH = [4, 3];
  /** A category's name is cut to this. */
  const MOST_NAME = 108;

  function panel(ctx, theme, x, y, w, h) {
    ctx.beginPath();
    gviz.canvas.roundRect(ctx, x, y, w, h, 8);
    ctx.fillStyle = theme.panel;
    ctx.fill();
    ctx.strokeStyle = theme.line;
    ctx.lineWidth = 1;
    ctx.stroke();
  }

  /** Lays words and samples out from left to right; `width` grows as they are added. */
  class Strip {
    constructor(ctx, theme, y) {
      Object.assign(this, { ctx, theme, y, x: MARGIN + PAD });
      this.middle = y + HEIGHT / 2 + 0.5;
    }

    text(text, weight = 400, ink = this.theme.muted) {
      this.ctx.font = gviz.canvas.font(SIZE, weight);
      this.ctx.fillStyle = ink;
      this.ctx.textAlign = "left";
      this.ctx.textBaseline = "middle";
      this.ctx.fillText(text, this.x, this.middle);
      this.x += gviz.canvas.textWidth(this.ctx, text, SIZE, weight) + 8;
    }

    ramp(css, reversed) {
      for (let i = 0; i < BAR; i++) {
        const at = Math.floor((i / BAR) * css.length);
        this.ctx.fillStyle = css[reversed ? css.length - 1 - at : at];
        this.ctx.fillRect(this.x + i, this.y + HEIGHT / 2 - 4, 1.5, 8);
      }
      this.x += BAR + 9;
    }

    line({ width, dash, ink }) {
      const { ctx } = this;
      ctx.beginPath();
      ctx.moveTo(this.x, this.middle);
      ctx.lineTo(this.x + 30, this.middle);
      ctx.strokeStyle = this.theme[ink];
      ctx.lineWidth = width;
      ctx.setLineDash(dash || []);
      ctx.stroke();
      ctx.setLineDash([]);
      this.x += 37;
    }

    /** A sample of a node; `dash` breaks its outline. */
    swatch(fill, dash = [], ink = this.theme.outline) {
      const { ctx } = this;
      ctx.beginPath();
      gviz.canvas.roundRect(ctx, this.x, this.y + HEIGHT / 2 - 5, 16, 10, 3);
      ctx.fillStyle = fill;
      ctx.fill();
      ctx.strokeStyle = ink;
      ctx.lineWidth = 1;
      ctx.setLineDash(dash);
      ctx.stroke();
      ctx.setLineDash([]);
      this.x += 22;
    }
  }

  function values(strip, style) {
    const { overlay } = style;
    const { scale } = overlay;
    strip.text(overlay.label, 600, style.theme.ink);
    if (scale.most === null) strip.text("none above zero");
    else {
      const least = scale.log && !overlay.reversed ? scale.least : 0;
      strip.text(overlay.reversed ? "none: critical path" : overlay.text(least));
      strip.ramp(gviz.colour.ramp(style.theme.name).css, overlay.reversed);
      strip.text(overlay.text(scale.most));
      if (scale.log) strip.text("· log");
    }
    if (!overlay.unknown || !overlay.missing) return;
    strip.x += 8;
    strip.swatch(style.pattern);
    strip.text(overlay.missing);
  }

  /** Changes: both ends, and none in the middle. Against what is said where there is room. */
  function changes(strip, style, room) {
    const { overlay, theme } = style;
    const { scale } = overlay;
    const name = gviz.canvas.fitText(strip.ctx, overlay.baseline.name, SIZE, MOST_NAME, 600);
    const title = `${overlay.label} against ${name}`;
    const some = scale.most !== null;
    const ends = some ? [overlay.text(-scale.most), overlay.text(scale.most) + (scale.log ? " · log" : "")] : ["none"];
    const width = (text, weight) => gviz.canvas.textWidth(strip.ctx, text, SIZE, weight) + 8;
    const rest = ends.reduce((sum, text) => sum + width(text, 400), some ? BAR + 9 : 0);
    const fits = strip.x + width(title, 600) + rest <= room;
    strip.text(fits ? title : overlay.label, 600, theme.ink);
    strip.text(ends[0]);
    if (!some) return;
    strip.ramp(gviz.colour.changes(theme.name).css, false);
    strip.text(ends[1]);
  }

  /** What is marked among changes, as a second strip. */
  function changeMarks(strip, style) {
    const { overlay, theme, pattern } = style;
    const { added, gone, untested } = overlay.baseline;
    if (untested) strip.text("not tested for noise", 600, theme.ink);
    else {
      strip.text("▲ slower  ▼ faster", 600, theme.ink);
      strip.x += 4;
      strip.swatch(gviz.colour.changes(theme.name).css[128]);
      strip.text("within noise");
    }
    // Of two graphs in one picture a strip of its own says it: dag_union.js.
    if (added && !overlay.baseline.union) {
      strip.x += 4;
      strip.swatch(theme.ground, DASH, theme.accent);
      strip.text(`${added} added`);
    }
    if (gone && !overlay.baseline.union) {
      strip.x += 4;
      strip.text(`${gone} gone`, 400, theme.ink);
    }
    if (!overlay.unknown) return;
    strip.x += 4;
    strip.swatch(pattern);
    strip.text(overlay.missing);
  }

  function categories(strip, style, room) {
    const { overlay, theme } = style;
    const { categories: all } = overlay;
    strip.text(overlay.label, 600, theme.ink);
    const most = gviz.colour.CATEGORIES;
    for (let at = 0; at < all.length; at++) {
      // Lanes take turns with the colours: one round says it.
      const rest = all.length - at;
      const last = overlay.name !== "kind" && at === most;
      const text = last ? `${rest} more` : wordsOf(overlay, all[at].text);
      const cut = gviz.canvas.fitText(strip.ctx, text, SIZE, MOST_NAME, 400);
      if (strip.x + 40 + gviz.canvas.textWidth(strip.ctx, cut, SIZE) > room) {
        strip.text(`+${rest}`);
        return;
      }
      strip.swatch(overlay.css(at, theme));
      strip.text(cut);
      strip.x += 6;
      if (last) return;
    }
    if (!overlay.unknown) return;
    strip.swatch(style.pattern);
    strip.text("none");
  }

  function wordsOf(overlay, text) {
    return overlay.name === "kind" ? text.toLowerCase().replace(/_/g, " ") : text;
  }

  /** Draw a strip, the n-th from the top; `fill` puts words and samples into it. */
  function drawStrip(ctx, style, n, fill) {
    const top = MARGIN + n * (HEIGHT + GAP);
    // Once to learn the width (far above the canvas), once over the panel.
    const strip = new Strip(ctx, style.theme, -1000);
    fill(strip);
    panel(ctx, style.theme, MARGIN, top, strip.x - MARGIN + PAD - 8, HEIGHT);
    fill(new Strip(ctx, style.theme, top));
  }

  /**
   * Draw the legend as strips into the upper left corner.
   * @param {Object} style theme, overlay, pattern
   */
  function draw(ctx, style, size) {
    if (size.width < 440) return;
    const { overlay } = style;
    const room = size.width - size.buttons - MARGIN;
    drawStrip(ctx, style, 0, (strip) => {
      if (overlay.isChange) changes(strip, style, room);
      else if (overlay.isRamp) values(strip, style);
      else categories(strip, style, room);
    });
    if (overlay.isChange) drawStrip(ctx, style, 1, (strip) => changeMarks(strip, style));
  }

  /** What edges look like by what they carry, as the last strip. */
  function drawEdges(ctx, style, size) {
    if (size.width < 440) return;
    drawStrip(ctx, style, style.overlay.isChange ? 2 : 1, (strip) => {
      strip.text("Ends have", 600, style.theme.ink);
      for (const look of gviz.dagData.STYLES.toReversed()) {
        strip.line(look);
        strip.text(look.name);
        strip.x += 6;
      }
      strip.x -= 6;
    });
  }

  /** What is in one of two graphs only, as the last strip. @param {Object} baseline of the header */
  function drawUnion(ctx, style, size, baseline) {
    if (size.width < 440) return;
    drawStrip(ctx, style, style.overlay.isChange ? 2 : 1, (strip) =>
      gviz.dagUnion.legend(strip, style, baseline));
  }

  /** The room at the top: of the colours, of marks among changes, of edges. */
  function space(edges, overlay) {
    const strips = 1 + (overlay.isChange ? 1 : 0) + (edges ? 1 : 0);
    return MARGIN + strips * (HEIGHT + GAP) - GAP;
  }

  gviz.legend = { draw, drawEdges, drawUnion, panel, space, DASH };
})();
