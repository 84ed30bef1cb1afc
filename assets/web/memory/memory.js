/**
 * The memory view: what a graph allocates along a launch, at which addresses, and what its nodes
 * are given besides. Time runs as in the timeline. Data in memory/scene.js, drawing in
 * memory/draw.js.
 */
import * as announce from "../core/announce.js";
import { AXIS, GUTTER } from "../core/axis.js";
import * as bus from "../core/bus.js";
import * as canvas from "../core/canvas.js";
import * as format from "../core/format.js";
import * as sharedTimes from "../core/shared_times.js";
import * as memoryDraw from "./draw.js";
import { MemoryScene } from "./scene.js";
/** @import { Group } from "../core/bus.js" */
/** @import { Pen, Size, Theme } from "../core/canvas.js" */
/** @import { Frame } from "../core/frame.js" */
/** @import { Payload } from "../core/payload.js" */
/** @import { BarBox, MemoryStyle } from "./draw.js" */
/** @import { Bar, MemoryRow } from "./scene.js" */

const MOST_ZOOM = 0.5;
const END_ROOM = 76;
/** A bar is met within so many pixels. */
const SLACK = 2;

export class Memory {
  /** @param {Frame} frame */
  constructor(frame) {
    this.frame = frame;
    this.transform = { k: 1, x: 0 };
    this.scroll = 0;
    this.stop = () => {};
    /** As they stand on screen. @type {MemoryRow[]} */ this.rows = [];
    /** Of bars, by number; none before the first picture. @type {BarBox[]|null} */ this.boxes = null;
    this.current = -1;
    /** Whether everything is shown, whatever the size. */ this.fitted = false;
    /** How far the rows can be scrolled. */ this.overflow = 0;
    /** Of the payload: nothing is used before {@link load} but by gestures, which look. @type {MemoryScene} */
    this.scene = /** @type {any} */ (null);
  }

  /** @param {Payload} payload */
  caption(payload) {
    const { graph_name: name, note, axis } = payload.header;
    const along = axis === "time" ? "along the launch" : "in the order of the graph";
    if (note) return `Memory of ${name}. ${note}`;
    return `Memory of ${name} ${along}: ${format.counted(payload.life_alloc.length, "allocation")}.`;
  }

  /** @param {Payload} payload */
  label(payload) {
    const keys = payload.header.note ? "" : " Up and down go from one to the next.";
    return this.caption(payload) + keys;
  }

  /** @param {Payload} payload */
  load(payload) {
    this.scene = new MemoryScene(payload);
    this.scroll = 0;
    this.current = -1;
    // Why there is nothing stands over the view too, where there is something else to see.
    const empty = !this.scene.bars.length && !payload.pool_time.length;
    this.frame.say(empty ? payload.header.note : "");
    this.fit(false);
  }

  /** @param {Pen} ctx @param {Size} size */
  style(ctx, size) {
    const { theme } = this.frame;
    return { transform: this.transform, theme, pattern: canvas.hatch(ctx, theme, size.ratio) };
  }

  /**
   * Rows as they stand on screen; the boxes of bars by number.
   * @param {Size} size
   */
  arrange(size) {
    const { rows, bottom } = this.scene.arrange(size.height);
    this.overflow = Math.max(0, bottom - size.height);
    this.scroll = Math.max(0, Math.min(this.overflow, this.scroll));
    this.rows = rows.map((row) => ({ ...row, y: row.y - this.scroll }));
    const map = this.rows.find((row) => row.kind === "map");
    const given = new Map(this.rows.filter((r) => r.kind === "given").map((r) => [r.bar, r]));
    /** @param {Bar} bar @param {number} n */
    const rowOf = (bar, n) => /** @type {MemoryRow} */ (bar.life ? map : given.get(n));
    this.boxes = this.scene.bars.map((bar, n) =>
      memoryDraw.boxOf(this.scene, bar, rowOf(bar, n), this.transform, size)
    );
  }

  /** The box of a bar on screen, once there is a picture. @param {number} n */
  boxAt(n) {
    return /** @type {BarBox[]} */ (this.boxes)[n];
  }

  /** @param {Pen} ctx @param {Size} size */
  draw(ctx, size) {
    const { launch_id: launch, median_of: several } = this.scene.header;
    sharedTimes.share(this, several ? sharedTimes.MEDIAN : launch);
    if (this.fitted) this.transform = this.fitTransform();
    const style = this.style(ctx, size);
    this.arrange(size);
    if (this.scene.bars.length) memoryDraw.drawAxis(ctx, this.scene, style, size);
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, AXIS, size.width, size.height);
    ctx.clip();
    for (const row of this.rows) {
      if (row.y < size.height && row.y + row.h > 0) this.drawRow(ctx, row, style, size);
    }
    ctx.restore();
  }

  /** @param {Pen} ctx @param {MemoryRow} row @param {MemoryStyle} style @param {Size} size */
  drawRow(ctx, row, style, size) {
    const { scene } = this;
    const draw = memoryDraw;
    if (row.kind === "head") draw.drawHead(ctx, row, this.factsOf(row), style, size);
    if (row.kind === "pool") draw.drawPool(ctx, scene, row, style, size);
    if (row.kind === "map") draw.drawRanges(ctx, scene, row, style, size);
    ctx.save();
    ctx.beginPath();
    ctx.rect(GUTTER, 0, size.width, size.height);
    ctx.clip();
    if (row.kind === "chart") draw.drawChart(ctx, scene, row, style, size);
    if (row.kind === "map") this.drawBars(ctx, 0, scene.lifeCount, style, size);
    if (row.kind === "given") this.drawBars(ctx, row.bar ?? 0, (row.bar ?? 0) + 1, style, size);
    ctx.restore();
    if (row.kind === "given") this.drawLabel(ctx, row, style);
  }

  /**
   * @param {Pen} ctx @param {number} first @param {number} last @param {MemoryStyle} style
   * @param {Size} size
   */
  drawBars(ctx, first, last, style, size) {
    const { selected } = this.frame.group;
    const wanted = new Set(selected);
    for (let n = first; n < last; n++) {
      const bar = this.scene.bars[n];
      const mine = this.involves(bar, wanted);
      const look = { dim: wanted.size > 0 && !mine, ring: n === this.current ? 2.5 : mine ? 1.25 : 0 };
      memoryDraw.drawBar(ctx, this.scene, bar, this.boxAt(n), style, size, look);
    }
  }

  /** @param {Pen} ctx @param {MemoryRow} row @param {{theme: Theme}} given */
  drawLabel(ctx, row, { theme }) {
    ctx.font = canvas.font(9.5);
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    ctx.fillStyle = theme.muted;
    const { bytes } = this.scene.bars[row.bar ?? 0];
    ctx.fillText(format.byteSize(bytes), GUTTER - 8, row.y + row.h / 2 + 0.5);
  }

  /** @param {Bar} bar @param {Set<number|null|undefined>} wanted */
  involves(bar, wanted) {
    if (!wanted.size) return false;
    return wanted.has(bar.alloc) || wanted.has(bar.free) || bar.nodes.some((id) => wanted.has(id));
  }

  /**
   * What stands behind the title of a section.
   * @param {MemoryRow} row
   */
  factsOf(row) {
    const { scene } = this;
    const { counted, byteSize } = format;
    if (row.about === "chart") {
      const open = scene.bars.filter((bar) => bar.life && bar.free === null).length;
      const { peak, header } = scene;
      return [
        `peak ${byteSize(peak?.bytes ?? 0)} at ${this.text(Math.max(0, peak?.time ?? 0))} (derived)`,
        counted(scene.lifeCount, "allocation"),
        ...(open ? [`${open} not freed here`] : []),
        launchOf(header),
        "dark strokes: nodes that are given it",
      ];
    }
    if (row.about === "given") {
      const count = scene.bars.length - scene.lifeCount;
      return [counted(count, "allocation"), "from the first to the last node that is given an address in it"];
    }
    return [`measured, ${counted(scene.payload.pool_time.length, "sample")}`, "all graphs of the process"];
  }

  /**
   * A place on the axis, in words.
   * @param {number} at
   */
  text(at) {
    return this.scene.timed ? format.duration(at) : `row ${at}`;
  }

  // -- transform --------------------------------------------------------------------

  room() {
    return Math.max(50, this.frame.size.width - GUTTER);
  }

  fitTransform() {
    return { k: Math.max(1e-9, (this.room() - END_ROOM) / Math.max(1e-9, this.scene.header.total)), x: 0 };
  }

  /** @param {{k: number, x: number}} given */
  bounded({ k, x }) {
    const least = Math.min(0, this.room() * 0.25 - this.scene.header.total * k);
    return { k, x: Math.min(0, Math.max(least, x)) };
  }

  /** @param {boolean} smooth */
  fit(smooth) {
    if (!this.scene) return;
    this.stop();
    const from = this.transform;
    const to = this.fitTransform();
    this.fitted = true;
    if (smooth) {
      this.fitted = false;
      this.stop = canvas.animate(220, (t) => {
        this.transform = { k: from.k * (to.k / from.k) ** t, x: from.x * (1 - t) };
        this.fitted = t === 1;
        this.frame.redraw();
      });
    }
    this.frame.redraw();
  }

  /** @param {number} x @param {number} y @param {number} factor */
  zoom(x, y, factor) {
    if (!this.scene) return;
    this.stop();
    this.fitted = false;
    const t = this.transform;
    const least = this.fitTransform().k / 2;
    const most = this.scene.timed ? Math.max(least, MOST_ZOOM) : 120;
    const k = Math.max(least, Math.min(most, t.k * factor));
    const at = Math.max(0, x - GUTTER);
    this.transform = this.bounded({ k, x: at - (at - t.x) * (k / t.k) });
    this.frame.redraw();
  }

  /** @param {number} factor */
  zoomBy(factor) {
    this.zoom(GUTTER + this.room() / 2, 0, factor);
  }

  /** @param {number} dx @param {number} dy */
  pan(dx, dy) {
    if (!this.scene) return;
    this.stop();
    this.fitted = false;
    this.transform = this.bounded({ k: this.transform.k, x: this.transform.x + dx });
    this.scroll = Math.max(0, Math.min(this.overflow || 0, this.scroll - dy));
    this.frame.redraw();
  }

  /**
   * Scroll until the first bar that one of the nodes is part of is in sight.
   * @param {number[]} ids
   */
  show(ids) {
    if (!this.boxes || this.current >= 0) return this.frame.redraw();
    const wanted = new Set(ids);
    const n = this.scene.bars.findIndex((bar) => this.involves(bar, wanted));
    if (n >= 0) this.reveal(n);
    this.frame.redraw();
  }

  /** @param {number} n */
  reveal(n) {
    const { y, h } = this.boxAt(n);
    const top = AXIS + 8;
    const bottom = this.frame.size.height - 8;
    if (y < top) this.scroll -= top - y;
    else if (y + h > bottom) this.scroll += y + h - bottom;
  }

  // -- gestures ---------------------------------------------------------------------

  /** @param {number} x @param {number} y */
  barAt(x, y) {
    if (!this.boxes || x < GUTTER || y < AXIS) return -1;
    return this.boxes.findLastIndex(
      (box) =>
        x >= box.x - SLACK && x <= box.x + box.w + SLACK && y >= box.y - SLACK && y <= box.y + box.h + SLACK
    );
  }

  /** @param {Bar} bar */
  nodesOf(bar) {
    const ids = [bar.alloc, ...bar.nodes, bar.free];
    return Array.from(new Set(ids.filter((id) => id !== null && id !== undefined)));
  }

  /** @param {number} x @param {number} y @param {MouseEvent} event */
  click(x, y, event) {
    if (!this.scene) return;
    const n = this.barAt(x, y);
    this.current = n;
    this.frame.pick(n < 0 ? null : this.nodesOf(this.scene.bars[n]), event);
  }

  double() {
    this.fit(true);
  }

  /** @param {number|null} x @param {number|null} y */
  hover(x, y) {
    if (!this.scene) return;
    if (x === null || y === null) {
      this.frame.group.hover(null);
      this.frame.tooltip.show(null);
      return;
    }
    const bar = this.scene.bars[this.barAt(x, y)];
    this.frame.group.hover(bar ? bar.alloc ?? bar.nodes[0] : null);
    this.frame.tooltip.show(bar ? this.describe(bar) : this.describeChart(x, y), x, y);
  }

  /** @param {number} x @param {number} y */
  describeChart(x, y) {
    const row = this.rows.find((r) => r.kind === "chart" && y >= r.y && y <= r.y + r.h);
    if (!row || x < GUTTER) return null;
    const at = (x - GUTTER - this.transform.x) / this.transform.k;
    if (at < 0 || at > this.scene.header.total) return null;
    return [[`${format.byteSize(this.scene.bytesAt(at))} allocated`], ["at", this.text(at)]];
  }

  /** @param {Bar} bar */
  describe(bar) {
    const { scene } = this;
    const { byteSize, counted } = format;
    const rows = [[`${byteSize(bar.bytes)} at ${scene.addressOf(bar.allocation)}`]];
    const given = bar.nodes.filter((id) => id !== bar.alloc && id !== bar.free);
    if (!bar.life) {
      rows.push(["what", "an allocation, or a segment of a framework's allocator"]);
      rows.push(["given to", `${counted(given.length, "node")}, ${counted(scene.places[bar.allocation].size, "address", "addresses")}`]);
      rows.push(["first of them", this.text(bar.start)], ["end of the last", this.text(bar.end)]);
      return rows;
    }
    rows.push(["allocated by", this.whenOf(bar.alloc, bar.start, bar.allocLatest, "another graph")]);
    rows.push(["freed", this.whenOf(bar.free, bar.end, bar.freeLatest, bar.freed)]);
    if (bar.alloc !== null && bar.free !== null && scene.timed) {
      rows.push(["lives", format.duration(bar.end - bar.start)]);
    }
    rows.push(["given to", given.length ? counted(given.length, "node") : "no node of this graph"]);
    const sharing = scene.sharing(bar).length;
    if (sharing) rows.push(["its addresses", `also of ${counted(sharing, "other allocation")}`]);
    return rows;
  }

  /**
   * Which node, and when it ran: between the nodes around it, as it has no time itself.
   * @param {number|null} id @param {number} at @param {number} latest @param {string} otherwise
   */
  whenOf(id, at, latest, otherwise) {
    if (id === null) return otherwise;
    if (!this.scene.timed) return `node ${id}, ${this.text(at)}`;
    const until = latest > at ? `${this.text(at)} to ${this.text(latest)}` : this.text(at);
    return `node ${id}, at ${until} (derived)`;
  }

  // -- keys -------------------------------------------------------------------------

  /** @param {KeyboardEvent} event */
  key(event) {
    const pan = { ArrowLeft: 80, ArrowRight: -80 }[event.key];
    if (pan) this.pan(pan, 0);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) this.go(step);
    return !!pan || !!step;
  }

  /**
   * Select the next bar, and say what it is.
   * @param {number} step
   */
  go(step) {
    const { bars } = this.scene;
    if (!bars.length) return;
    this.current = Math.max(0, Math.min(bars.length - 1, this.current + step));
    const bar = bars[this.current];
    this.frame.group.select(this.nodesOf(bar));
    this.reveal(this.current);
    const current = this.current;
    this.frame.tooltip.pin(this.describe(bar), () => this.spotOf(current));
    announce.say(this.words());
    this.frame.redraw();
  }

  /**
   * Where the tooltip of a bar hangs: at its end, in sight.
   * @param {number} n
   */
  spotOf(n) {
    const { x, y, w, h } = this.boxAt(n);
    return { x: Math.min(x + w, this.frame.size.width - 8), y: y + h };
  }

  /** The selection as a sentence: the bar that is stood on, or which bars it is part of. */
  words(selected = this.frame.group.selected) {
    const { bars } = this.scene;
    const bar = bars[this.current];
    if (bar) return `${this.current + 1} of ${bars.length}: ${announce.wordsOf(this.describe(bar))}`;
    if (!selected.length) return "Nothing selected.";
    const wanted = new Set(selected);
    const mine = bars.filter((other) => this.involves(other, wanted)).length;
    const nodes = format.counted(selected.length, "node");
    return `${nodes} selected, in ${format.counted(mine, "allocation")}.`;
  }

  /** @param {Group} group */
  hear(group) {
    // What is selected elsewhere is no longer the bar that was picked.
    const bar = this.scene && this.scene.bars[this.current];
    if (bar && !bus.same(group.selected, this.nodesOf(bar))) this.current = -1;
  }

  // -- for tests --------------------------------------------------------------------

  /** @param {number|null} id */
  locate(id) {
    const n = this.boxes ? this.scene.bars.findIndex((bar) => bar.alloc === id) : -1;
    if (n < 0) return null;
    const { x, y, w, h } = this.boxAt(n);
    const right = Math.min(x + w, this.frame.size.width);
    return { x: (Math.max(x, GUTTER) + right) / 2, y: y + h / 2 };
  }

  state() {
    const { scene } = this;
    const wanted = new Set(this.frame.group.selected);
    return {
      axis: scene.header.axis,
      note: scene.header.note,
      peak: scene.peak,
      total: scene.header.total,
      transform: { ...this.transform },
      fitted: this.fitted,
      scroll: this.scroll,
      current: this.current,
      sections: this.rows.filter((row) => row.title).map((row) => row.title),
      lines: scene.peak ? memoryDraw.linesOf(scene).map((line) => line.name) : [],
      pool: scene.payload.pool_time.length,
      bars: scene.bars.map((bar, n) => ({
        alloc: bar.alloc, free: bar.free, bytes: bar.bytes, start: bar.start, end: bar.end,
        nodes: bar.nodes, life: bar.life, involved: this.involves(bar, wanted),
        box: this.boxes ? this.boxes[n] : null,
      })),
    };
  }
}

/** Whose times these are. @param {any} header */
export function launchOf({ ordinal, median_of: several }) {
  if (several) return `median of ${format.counted(several, "launch", "launches")}, one slice of the nodes after the other`;
  return ordinal === null ? "by the order of the graph: no times" : `launch #${ordinal}`;
}
