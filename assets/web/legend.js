/** The legend of a view: the ramp with its ends, or the kinds, drawn on the canvas. */
(function () {
  "use strict";
  const gviz = (window.gviz = window.gviz || {});
  const BAR = 120;
  const PAD = 10;
  const MARGIN = 8;
  const HEIGHT = 26;
  const SIZE = 11;
  /** Room that the buttons take at the right. */
  const BUTTONS = 130;

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

    ramp() {
      const { css } = gviz.colour.ramp(this.theme.name);
      for (let i = 0; i < BAR; i++) {
        this.ctx.fillStyle = css[Math.floor((i / BAR) * css.length)];
        this.ctx.fillRect(this.x + i, this.y + HEIGHT / 2 - 4, 1.5, 8);
      }
      this.x += BAR + 9;
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

  function durations(strip, style, { scale, untimed }) {
    strip.text("Median duration", 600, style.theme.ink);
    strip.text(gviz.format.time(scale.log ? scale.least_ns : 0));
    strip.ramp();
    strip.text(gviz.format.time(scale.most_ns));
    if (scale.log) strip.text("· log");
    if (!untimed) return;
    strip.x += 8;
    strip.swatch(style.pattern);
    strip.text("not timed");
  }

  function kinds(strip, style, facts, room) {
    for (const kind of facts.kinds) {
      const text = kind.toLowerCase().replace(/_/g, " ");
      if (strip.x + 40 + gviz.canvas.textWidth(strip.ctx, text, SIZE) > room) {
        strip.text("…");
        return;
      }
      strip.swatch(gviz.colour.ofKind(kind, style.theme.name));
      strip.text(text);
      strip.x += 6;
    }
  }

  /**
   * Draw the legend as a strip into the upper left corner.
   * @param {Object} style theme, colour, pattern
   * @param {{scale: Object, kinds: string[], untimed: boolean}} facts
   */
  function draw(ctx, style, facts, size) {
    const byKind = style.colour === "kind";
    if (size.width < 440 || (!byKind && facts.scale.most_ns === null)) return;
    const fill = (y) => {
      const strip = new Strip(ctx, style.theme, y);
      if (byKind) kinds(strip, style, facts, size.width - BUTTONS);
      else durations(strip, style, facts);
      return strip.x;
    };
    // Once to learn the width (far above the canvas), once over the panel.
    const right = fill(-1000);
    panel(ctx, style.theme, MARGIN, MARGIN, right - MARGIN + PAD - 8, HEIGHT);
    fill(MARGIN);
  }

  gviz.legend = { draw, panel, SPACE: MARGIN + HEIGHT };
})();
