/**
 * Walking over the timeline by keyboard: from thing to thing in a row, from row to row.
 *
 * Things are spans, host calls, idle gaps and, of stacked launches, the launches. Where one stands
 * is kept as a row and a time, not as an index: more detail may come, and merged spans fall apart.
 *
 * @typedef {{side: Side, i?: number, call?: Call, gap?: [number, number], launch?: Launch,
 *   wait?: Wait}} Hit  as of Timeline.hit
 * @typedef {{hit: Hit, start: number, end: number}} Thing  of a launch start and end are -1
 * @typedef {{row: Row, thing: Thing}} Step
 * @typedef {{side: string, kind: string, lane: number, start: number}} Place
 */
import * as announce from "../core/announce.js";
import { AXIS, GUTTER, toX } from "../core/axis.js";
import { idOf } from "./hits.js";
import * as timelineSearch from "./search.js";
import * as timelineTips from "./tips.js";
/** @import { Pen } from "../core/canvas.js" */
/** @import { DetailWindow } from "./detail.js" */
/** @import { TimeStyle } from "./draw.js" */
/** @import { Row } from "./rows.js" */
/** @import { TimelineScene } from "./scene.js" */
/** @import { Call, Launch, Side } from "./side.js" */
/** @import { Timeline } from "./timeline.js" */
/** @import { Wait } from "./waits.js" */

/** How near to the edge (CSS pixels) a thing may stand without being brought in. */
const MARGIN = 40;
/** @type {Record<string, (walk: Walk) => Step|null>} */
const STEPS = {
  /** @param {Walk} walk */
  ArrowRight: (walk) => walk.along(1),
  /** @param {Walk} walk */
  ArrowLeft: (walk) => walk.along(-1),
  /** @param {Walk} walk */
  ArrowDown: (walk) => walk.across(1),
  /** @param {Walk} walk */
  ArrowUp: (walk) => walk.across(-1),
  /** @param {Walk} walk */
  Home: (walk) => walk.toEnd(0),
  /** @param {Walk} walk */
  End: (walk) => walk.toEnd(-1),
  /** @param {Walk} walk */
  n: (walk) => walk.inTime(1),
  /** @param {Walk} walk */
  N: (walk) => walk.inTime(-1),
};

/** Rows of things that are stood on: what tracks have is walked in the breakdown. */
const WALKED = new Set(["calls", "waits", "busy", "lane"]);

export class Walk {
  /** @param {Timeline} view */
  constructor(view) {
    this.view = view;
    /** @type {Place|null} */ this.place = null;
    /** What things were listed of. @type {(TimelineScene|null)[]} */ this.made = [];
    /** Things by row. @type {Map<string, Thing[]>} */ this.kept = new Map();
    /** The node that is stood on. @type {number|null} */ this.node = null;
    /** @type {number[]|null} */ this.selected = null;
  }

  clear() {
    this.place = null;
    this.view.frame.tooltip.pin(null);
  }

  /**
   * @param {KeyboardEvent} event
   * @returns {boolean} whether the key is one of the walk's
   */
  key(event) {
    const step = STEPS[event.key];
    if (!step || event.shiftKey !== (event.key === "N")) return false;
    const next = this.place ? step(this) : this.first();
    if (next) this.stand(next);
    return true;
  }

  // -- what there is to stand on ------------------------------------------------------

  rows() {
    return this.view.rows.filter((row) => WALKED.has(row.kind));
  }

  /**
   * @param {Row} row
   * The things of a row in order of time. @returns {Thing[]}
   */
  thingsOf(row) {
    const { scene, detail } = this.view;
    const coarse = scene.present(row.side);
    const best = detail.best(coarse);
    // Kept until there is more detail: a lane may hold 100,000 spans.
    const made = [scene, detail.scene];
    if (made.some((one, n) => one !== this.made[n])) this.kept.clear();
    this.made = made;
    const key = [row.side, row.kind, row.lane, best === coarse].join();
    const things = this.kept.get(key) ?? this.listThings(row, coarse, best);
    this.kept.set(key, things);
    return things;
  }

  /** @param {Row} row @param {Side} coarse @param {Side} best */
  listThings(row, coarse, best) {
    if (row.kind === "calls") return best.calls.map((call) => callThing(best, call));
    if (row.kind === "busy") return best.idle.map((gap) => gapThing(best, gap));
    if (row.kind === "waits") return coarse.waits.map((wait) => waitThing(coarse, wait));
    const fine = this.view.detail.sideOfLane(coarse, row.lane);
    const spans = spansOf(coarse, row.lane);
    const launch = row.lane % coarse.depth ? null : timelineSearch.launchOf(coarse, row.lane);
    const first = launch ? [{ hit: { side: coarse, launch }, start: -1, end: -1 }] : [];
    if (!fine) return [...first, ...spans];
    const { from_ns: from, to_ns: to } = /** @type {DetailWindow} */ (this.view.detail.window);
    // Beyond the detail, as it was sent at first.
    const outside = spans.filter((one) => one.end <= from || one.start >= to);
    const all = [...spansOf(fine, row.lane), ...outside].sort((a, b) => a.start - b.start);
    return [...first, ...all];
  }

  /** The row that is stood in. @returns {Row|undefined} */
  rowOfPlace() {
    if (!this.place) return undefined;
    const { side, kind, lane } = this.place;
    /** @param {Row} row */
    const same = (row) => row.side === side && row.kind === kind && row.lane === lane;
    return this.rows().find(same);
  }

  /** What is stood on, as there is detail now; null: nothing any more. @returns {Thing|null} */
  thing() {
    const row = this.place && this.rowOfPlace();
    const things = row ? this.thingsOf(row) : [];
    return things[this.place ? this.placeIn(things) : 0] || null;
  }

  /**
   * The thing at the place, or the one that holds its time.
   * @param {Thing[]} things
   */
  placeIn(things) {
    const start = this.place?.start ?? 0;
    const at = timelineSearch.firstFrom(things.length, (n) => things[n].start > start);
    return Math.max(0, at - 1);
  }

  // -- steps, each returns {row, thing} or null ---------------------------------------

  /** The selected node's first span, else the first span at all. @returns {Step|null} */
  first() {
    const { selected } = this.view.frame.group;
    const side = selected.length ? this.view.find(selected[0]) : null;
    const { detail } = this.view;
    // Where it is comes with detail that is on its way: nothing else is stood on meanwhile.
    if (selected.length && !side && detail.base && !detail.enough()) return null;
    const rows = this.rows();
    if (side) {
      const [i] = side.itemsOf(selected[0]);
      const own = this.view.laneRows[side.name][side.lane[i]];
      const thing = own && this.thingsOf(own).find((one) => one.start === side.start[i]);
      if (thing) return { row: own, thing };
    }
    const row = rows.find((r) => r.kind === "lane" && this.thingsOf(r).length) || rows[0];
    return row ? { row, thing: this.thingsOf(row)[0] } : null;
  }

  /** @param {number} by @returns {Step|null} */
  along(by) {
    const row = this.rowOfPlace();
    const things = row ? this.thingsOf(row) : [];
    const thing = things[this.placeIn(things) + by];
    return row && thing ? { row, thing } : null;
  }

  /**
   * The nearest thing of the next row that has any.
   * @param {number} by
   * @returns {Step|null}
   */
  across(by) {
    const rows = this.rows();
    const now = this.thing();
    if (!now) return this.first();
    const middle = (now.start + now.end) / 2;
    /** @param {Thing} one */
    const away = (one) => Math.max(0, one.start - middle, middle - one.end);
    const here = rows.findIndex((row) => row === this.rowOfPlace());
    for (let n = here + by; n >= 0 && n < rows.length; n += by) {
      const things = this.thingsOf(rows[n]);
      if (!things.length) continue;
      // A launch stands before all times: from one to the next.
      const near = now.hit.launch ? things[0] : things.reduce((a, b) => (away(b) < away(a) ? b : a));
      return { row: rows[n], thing: near };
    }
    return null;
  }

  /** @param {number} at @returns {Step|null} */
  toEnd(at) {
    const row = this.rowOfPlace();
    const thing = row && this.thingsOf(row).at(at);
    return thing ? { row, thing } : null;
  }

  /**
   * The next span by start, in whatever lane; of stacked launches within the launch.
   * @param {number} by
   * @returns {Step|null}
   */
  inTime(by) {
    if (!this.place) return this.first();
    const { side, kind, lane, start } = this.place;
    const { depth, stacked } = this.view.scene.present(side);
    /** @param {number} n */
    const launch = (n) => Math.floor(n / depth);
    const here = kind === "lane" ? lane : -1;
    /** @type {Step|null} */
    let best = null;
    for (const row of this.rows()) {
      if (row.side !== side || row.kind !== "lane") continue;
      if (stacked && kind === "lane" && launch(row.lane) !== launch(lane)) continue;
      const things = this.thingsOf(row);
      // Of those that start together the upper lane comes first.
      const after = timelineSearch.firstFrom(
        things.length,
        (n) => things[n].start > start || (things[n].start === start && row.lane >= here + Number(by > 0)),
      );
      const thing = things[by > 0 ? after : after - 1];
      const sooner = !best || (by > 0 ? thing?.start < best.thing.start : thing?.start >= best.thing.start);
      if (thing && sooner) best = { row, thing };
    }
    return best;
  }

  // -- standing -----------------------------------------------------------------------

  /** @param {{row: Row, thing: Thing}} given */
  stand({ row, thing }) {
    const { view } = this;
    this.place = { side: row.side, kind: row.kind, lane: row.lane, start: thing.start };
    const id = idOf(thing.hit);
    this.reveal(row, thing);
    // Before the views hear of it: what they hear of is no other selection.
    this.node = id;
    if (id !== null) view.frame.group.select([id]);
    this.selected = view.frame.group.selected;
    view.frame.tooltip.pin(timelineTips.describe(view.scene, thing.hit, view.frame.props.laid), () => this.spot());
    announce.say(this.words(row));
    view.frame.redraw();
  }

  /** @param {Row} row */
  words(row) {
    const thing = this.thing();
    if (!thing) return "";
    const label = row.kind === "lane" && row.label ? `${row.label}: ` : "";
    return label + announce.wordsOf(timelineTips.describe(this.view.scene, thing.hit));
  }

  /**
   * Pan just enough that the thing is on screen.
   * @param {Row} row @param {Thing} thing
   */
  reveal(row, thing) {
    const { view } = this;
    const { height } = view.frame.size;
    const top = AXIS;
    if (row.y < top) view.scroll -= top - row.y + 4;
    else if (row.y + row.h > height) view.scroll += row.y + row.h - height + 4;
    if (thing.hit.launch) return;
    const t = view.scene.transformOf(row.side, view.transform);
    const [x0, x1] = [thing.start, thing.end].map((ns) => toX(t, ns));
    const right = view.frame.size.width - MARGIN;
    // What is wider than the view is there already.
    const shift = x1 < GUTTER + MARGIN ? GUTTER + MARGIN - x1 : x0 > right ? right - x0 : 0;
    if (shift) view.glide(view.bounded({ k: view.transform.k, x: view.transform.x + shift }));
  }

  /** The box on screen of what is stood on, or null. */
  box() {
    const row = this.place && this.rowOfPlace();
    const thing = this.thing();
    if (!row || !thing) return null;
    if (thing.hit.launch) return { x: 4, y: row.y, w: GUTTER - 12, h: row.h };
    const t = this.view.scene.transformOf(row.side, this.view.transform);
    const x0 = Math.max(GUTTER, toX(t, thing.start));
    const x1 = Math.max(x0 + 3, toX(t, thing.end));
    return { x: x0, y: row.y, w: x1 - x0, h: row.h };
  }

  spot() {
    const box = this.box();
    return box && { x: Math.min(box.x + box.w, this.view.frame.size.width), y: box.y + box.h };
  }

  /** @param {Pen} ctx @param {TimeStyle} style */
  draw(ctx, style) {
    const box = this.box();
    if (!box) return;
    const { halo, ink } = style.theme;
    for (const { colour, width } of [{ colour: halo, width: 5 }, { colour: ink, width: 2 }]) {
      ctx.strokeStyle = colour;
      ctx.lineWidth = width;
      ctx.strokeRect(box.x - 2, box.y - 2, box.w + 4, box.h + 4);
    }
  }

  /**
   * A selection from elsewhere ends the walk.
   * @param {{selected: number[]}} given
   */
  hear({ selected }) {
    if (!this.place || selected === this.selected) return;
    if (selected.length !== 1 || selected[0] !== this.node) this.clear();
  }

  /** For tests: what is stood on. */
  state() {
    const thing = this.thing();
    const row = this.rowOfPlace();
    return thing && row && { ...this.place, end: thing.end, words: this.words(row) };
  }
}

/** @param {Side} side @param {Call} call */
function callThing(side, call) {
  return { hit: { side, call }, start: call.start, end: call.start + call.duration };
}

/** @param {Side} side @param {Wait} wait @returns {Thing} */
function waitThing(side, wait) {
  return { hit: { side, wait }, start: wait.start, end: wait.end };
}

/** @param {Side} side @param {[number, number]} gap */
function gapThing(side, gap) {
  return { hit: { side, gap }, start: gap[0], end: gap[1] };
}

/**
 * @param {Side} side @param {number} lane
 * @returns {Thing[]}
 */
function spansOf(side, lane) {
  return Array.from(side.lanes[lane].items, (i) => ({
    hit: { side, i }, start: side.start[i], end: side.start[i] + side.duration[i],
  }));
}
