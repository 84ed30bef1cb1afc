/** The lanes of the sides on screen: with all the detail there is, and what is selected marked. */
import { GUTTER, drawTicks, toX } from "../../core/axis.js";
import * as timelineDraw from "../draw.js";
import * as timelineMarks from "../marks.js";
import * as timelineWaits from "../waits.js";
import * as timelineBars from "./bars.js";
import { SameTimes } from "./same_times.js";
/** @import { Pen, Size } from "../../core/canvas.js" */
/** @import { DetailWindow } from "../detail.js" */
/** @import { TimeStyle } from "../draw.js" */
/** @import { Span } from "../marks.js" */
/** @import { Row } from "../rows.js" */
/** @import { Side } from "../side.js" */
/** @import { Timeline } from "../timeline.js" */

/** Of more selected nodes no rings and joins are drawn: they would be a curtain. */
const MOST_MARKED = 11;

/**
 * Draw right of the labels only.
 * @param {Pen} ctx @param {Size} size @param {() => void} draw
 */
export function clipped(ctx, size, draw) {
  ctx.save();
  ctx.beginPath();
  ctx.rect(GUTTER - 3, 0, size.width, size.height);
  ctx.clip();
  draw();
  ctx.restore();
}

export class Lanes {
  /** @param {Timeline} view */
  constructor(view) {
    this.view = view;
    /** @type {{ids: number[], set: Set<number>}|null} */ this.chosen = null;
    this.same = new SameTimes();
  }

  /** A frame begins. */
  begin() {
    this.same.begin();
  }

  /** What a picture of a side is made of and keeps, in parts. @param {Side} side @param {TimeStyle} style @param {Size} size */
  *stages(side, style, size) {
    const { rows, detail } = this.view;
    const best = detail.best(side);
    yield () => timelineDraw.bandsOf(best, style, size, this.same);
    for (const row of rows) {
      if (row.side !== side.name || row.y > size.height || row.y + row.h < 0) continue;
      if (row.kind === "busy") yield () => timelineDraw.busyOf(best, style, size, this.same);
      if (row.kind === "lane") yield () => this.barsOf(side, row, style, size, null);
    }
  }

  /** The bars of a lane. @param {Side} source @param {Row} row @param {TimeStyle} style @param {Size} size @param {Set<number>|null} only of these nodes */
  barsOf(source, row, style, size, only) {
    const lane = source.lanes[row.lane];
    return this.same.of(lane, only ?? "all", style, size, () => timelineBars.barsOf(this.view.scene, source, lane.items, style, size.width, only));
  }

  /** @param {Pen} ctx @param {Side} side @param {TimeStyle} style @param {Size} size */
  drawSide(ctx, side, style, size) {
    const { detail } = this.view;
    const rows = this.view.rows.filter((r) => r.side === side.name);
    const lanes = rows.filter((r) => r.kind === "lane");
    clipped(ctx, size, () => {
      const last = rows[rows.length - 1];
      if (lanes.length) {
        const end = lanes[lanes.length - 1];
        const bottom = end.y + end.h;
        timelineDraw.drawIdleBands(ctx, detail.best(side), lanes[0].y, bottom, style, size, this.same);
        // Of a stack, clear of the buttons.
        const label = side.stacked ? lanes[0].y + 14 : lanes[0].y + Math.min(14, lanes[0].h) / 2;
        timelineDraw.drawEnd(ctx, side, { top: rows[0].y + rows[0].h, bottom: last.y + last.h, label }, style, size);
      }
      for (const row of rows) {
        if (row.y > size.height || row.y + row.h < 0) continue;
        if (row.kind === "axis") drawTicks(ctx, style, size, row.y + row.h / 2, row.h + last.y + last.h - row.y);
        else this.drawRow(ctx, side, row, style, size);
      }
    });
  }

  /** @param {Pen} ctx @param {Side} side @param {Row} row @param {TimeStyle} style @param {Size} size */
  drawRow(ctx, side, row, style, size) {
    const { scene, detail, tracks, frame } = this.view;
    if (row.kind === "calls") timelineDraw.drawCalls(ctx, scene, detail.best(side), row, style, size);
    if (row.kind === "track") tracks?.draw(ctx, detail.best(side), row, style, size);
    if (row.kind === "waits") timelineWaits.drawRow(ctx, scene, side, row, style, size);
    if (row.kind === "busy") timelineDraw.drawBusy(ctx, detail.best(side), row, style, size, this.same);
    if (row.kind !== "lane") return;
    const { shown, kept } = frame.group;
    const only = this.isMany() ? this.setOf(shown) : kept && this.setOf(kept);
    this.drawLane(ctx, side, row, style, size, shown.length > 0 || kept !== null);
    if (only) this.drawLane(ctx, side, row, style, size, false, only);
  }

  /** Nodes as a set, made once for all frames that show them. @param {number[]} ids */
  setOf(ids) {
    const chosen = this.chosen?.ids === ids ? this.chosen : { ids, set: new Set(ids) };
    this.chosen = chosen;
    return chosen.set;
  }

  /**
   * A lane, with all the detail there is; beyond the detail, as it was sent at first.
   * @param {Pen} ctx @param {Side} side @param {Row} row @param {TimeStyle} style
   * @param {Size} size @param {boolean} dim @param {Set<number>|null} [only] of these nodes
   */
  drawLane(ctx, side, row, style, size, dim, only = null) {
    const { scene, detail } = this.view;
    /** @param {Side} source */
    const draw = (source) => {
      timelineBars.draw(ctx, scene, source, this.barsOf(source, row, style, size, only), row, style, size, dim);
    };
    const fine = detail.sideOfLane(side, row.lane);
    if (!fine || detail.coversTime(detail.range())) return draw(fine || side);
    const { from_ns: from, to_ns: to } = /** @type {DetailWindow} */ (detail.window);
    const [x0, x1] = [from, to].map((ns) => toX(style.transform, ns));
    const parts = [
      { left: 0, right: x0, source: side }, { left: x0, right: x1, source: fine },
      { left: x1, right: size.width, source: side },
    ];
    for (const { left, right, source } of parts) {
      if (right <= left) continue;
      ctx.save();
      ctx.beginPath();
      ctx.rect(left, row.y, right - left, row.h);
      ctx.clip();
      draw(source);
      ctx.restore();
    }
  }

  /** Whether more is selected than can be marked one by one; then all else is faded only. */
  isMany() {
    return this.view.frame.group.shown.length > MOST_MARKED;
  }

  /** @param {Pen} ctx @param {TimeStyle} style */
  drawMarks(ctx, style) {
    const { view } = this;
    const { scene, laneRows, detail, frame } = view;
    const { shown: selected, hovered } = frame.group;
    /** @param {Side} side @param {Span} box */
    const fill = (side, box) => {
      const at = { ...laneRows[side.name][0], y: box.y, h: box.h };
      const own = view.styleOf(side.name);
      const bars = timelineBars.barsOf(scene, side, Int32Array.of(box.i), own, frame.size.width);
      timelineBars.draw(ctx, scene, side, bars, at, own, frame.size, false);
    };
    for (const id of this.isMany() ? [] : selected) {
      timelineMarks.drawSelected(ctx, scene, id, laneRows, style, fill, detail);
    }
    if (hovered !== null && !selected.includes(hovered)) {
      timelineMarks.drawHovered(ctx, scene, hovered, laneRows, style, detail);
    }
  }
}
