/** The legend of an overlay: the ramp with its ends, or the categories, drawn on the canvas. */
(function () {
  "use strict";
  const gviz = (window.gviz = window.gviz || {});
  const BAR = 120;
  const PAD = 10;
  const MARGIN = 8;
  const HEIGHT = 26;
  const SIZE = 11;
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

    ramp(reversed) {
      const { css } = gviz.colour.ramp(this.theme.name);
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

    swatch(fill) {
      const { ctx } = this;
      ctx.beginPath();
      gviz.canvas.roundRect(ctx, this.x, this.y + HEIGHT / 2 - 5, 16, 10, 3);
      ctx.fillStyle = fill;
      ctx.fill();
      ctx.strokeStyle = this.theme.outline;
      ctx.lineWidth = 1;
      ctx.stroke();
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
      strip.ramp(overlay.reversed);
      strip.text(overlay.text(scale.most));
      if (scale.log) strip.text("· log");
    }
    if (!overlay.unknown || !overlay.missing) return;
    strip.x += 8;
    strip.swatch(style.pattern);
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

  /**
   * Draw the legend as a strip into the upper left corner.
   * @param {Object} style theme, overlay, pattern
   */
  function draw(ctx, style, size) {
    if (size.width < 440) return;
    const fill = (y) => {
      const strip = new Strip(ctx, style.theme, y);
      if (style.overlay.isRamp) values(strip, style);
      else categories(strip, style, size.width - size.buttons - MARGIN);
      return strip.x;
    };
    // Once to learn the width (far above the canvas), once over the panel.
    const right = fill(-1000);
    panel(ctx, style.theme, MARGIN, MARGIN, right - MARGIN + PAD - 8, HEIGHT);
    fill(MARGIN);
  }

  /** What edges look like by what they carry, as a second strip. */
  function drawEdges(ctx, style, size) {
    if (size.width < 440) return;
    const top = MARGIN + HEIGHT + 4;
    const fill = (y) => {
      const strip = new Strip(ctx, style.theme, y);
      strip.text("Ends have", 600, style.theme.ink);
      for (const look of gviz.dagData.STYLES.toReversed()) {
        strip.line(look);
        strip.text(look.name);
        strip.x += 6;
      }
      return strip.x;
    };
    const right = fill(-1000);
    panel(ctx, style.theme, MARGIN, top, right - MARGIN + PAD - 14, HEIGHT);
    fill(top);
  }

  /** The room at the top, without or with the strip of edges. */
  function space(edges) {
    return MARGIN + HEIGHT + (edges ? HEIGHT + 4 : 0);
  }

  gviz.legend = { draw, drawEdges, panel, space };
})();
