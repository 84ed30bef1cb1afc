/**
 * The part of the time in view: leading there and back again, and saying which it is.
 *
 * @typedef {[number, number]|"between"|"selected"} Times  from and to (ns); "between": around what lies between
 *   the two selected nodes, which is a gap of their path; "selected": around the selected nodes
 */
import { GUTTER, toX } from "../core/axis.js";
/** @import { TimeTransform } from "../core/axis.js" */
/** @import { Side } from "./side.js" */
/** @import { Timeline } from "./timeline.js" */

/** A view rests so long (ms) before it says where it looks. */
const REST = 200;
/** A gap takes this part of the width. */
const GAP_PART = 0.2;
/** Around several nodes there is so much more than them. */
const AROUND = 1.1;
/** A node is led to until it is so wide (CSS pixels). */
const READ = 60;

export class Look {
  /** @param {Timeline} view */
  constructor(view) {
    this.view = view;
    /** Where the reader looked before being led away. @type {{transform: TimeTransform, isWhole: boolean}|null} */
    this.before = null;
    /** What is to be looked at once there are spans. @type {Times|null} */ this.awaited = null;
    this.timer = 0;
  }

  /** The reader moved: there is no way back from there. */
  forget() {
    this.before = null;
    this.awaited = null;
  }

  /** When an interval is, in times of the axis. @param {Side} side @param {number} i @returns {[number, number]} */
  onAxis(side, i) {
    const scale = this.view.scene.scaleOf(side.name);
    return [side.start[i] * scale, (side.start[i] + side.duration[i]) * scale];
  }

  /** From the first start to the last end of nodes that are there; null: of none. @param {number[]} ids */
  rangeOf(ids) {
    let [from, to] = [Infinity, -Infinity];
    for (const id of ids) {
      const side = this.view.find(id);
      for (const i of side?.itemsOf(id) ?? []) {
        const [begin, end] = this.onAxis(/** @type {Side} */ (side), i);
        [from, to] = [Math.min(from, begin), Math.max(to, end)];
      }
    }
    return from > to ? null : { from, to };
  }

  /** Bring a node's first interval into view, wide enough to read. @param {number} id */
  toNode(id) {
    const side = this.view.find(id);
    if (!side) return;
    const [i] = side.itemsOf(id);
    const [from, to] = this.onAxis(side, i);
    // What can be seen already stays where it is: a view that jumps loses its reader.
    if (this.isSeen(from, to)) return this.view.frame.redraw();
    this.lead(from, to, Math.max(this.view.transform.k, Math.min(this.view.nearest(), READ / Math.max(1, to - from))));
  }

  /** Bring all of some nodes into view, from no nearer than now. @param {number[]} ids */
  toNodes(ids) {
    const range = this.rangeOf(ids);
    if (!range || this.isSeen(range.from, range.to)) return this.view.frame.redraw();
    const { from, to } = range;
    this.lead(from, to, Math.min(this.view.transform.k, this.view.fitting(AROUND * (to - from)).k));
  }

  /** Give a gap its part of the width. @param {number} from @param {number} to */
  toGap(from, to) {
    this.lead(from, to, Math.min(this.view.nearest(), (GAP_PART * this.view.room()) / Math.max(1, to - from)));
  }

  /** Whether an interval is in view: of its time, not of its mark, which is wider. @param {number} from @param {number} to */
  isSeen(from, to) {
    const [left, right] = [from, to].map((ns) => toX(this.view.transform, ns));
    return left >= GUTTER && right <= this.view.frame.size.width;
  }

  /** Look at the middle of an interval from a distance. @param {number} from @param {number} to @param {number} k */
  lead(from, to, k) {
    const { view } = this;
    this.before ??= { transform: view.transform, isWhole: this.isWhole() };
    view.glide(this.around(from, to, k));
  }

  /** The transform that has the middle of an interval in the middle. @param {number} from @param {number} to @param {number} k */
  around(from, to, k) {
    return this.view.bounded({ k, x: this.view.room() / 2 - ((from + to) / 2) * k });
  }

  /** Nothing is selected any more: back to where the reader looked. */
  back() {
    const { before, view } = this;
    this.before = null;
    if (before?.isWhole) view.fit(true);
    else if (before) view.glide(before.transform);
  }

  // -- as an address has it -----------------------------------------------------------

  /** Look at an interval that is requested; null: at everything. @param {Times|null|undefined} times */
  at(times) {
    const { view } = this;
    this.before = null;
    const range = times === "between" ? this.between() : times === "selected" ? this.selected() : times;
    this.awaited = null;
    if (!range) {
      view.fit(false);
      // Which forgets what was looked for.
      this.awaited = typeof times === "string" ? times : null;
      return;
    }
    const [from, to] = range;
    view.stop();
    view.fitted = false;
    view.transform = this.around(from, to, Math.min(view.nearest(), view.room() / (to - from)));
    view.frame.redraw();
  }

  /** What is between the two selected nodes, with as much around it as its part of the width asks for. @returns {[number, number]|null} */
  between() {
    const [one, other] = this.view.frame.group.selected.map((id) => this.rangeOf([id]));
    if (!one || !other) return null;
    const [from, to] = one.from < other.from ? [one.to, other.from] : [other.to, one.from];
    const more = (Math.abs(to - from) * (1 / GAP_PART - 1)) / 2;
    return [Math.min(from, to) - more, Math.max(from, to) + more + 1];
  }

  /** The time of the selected nodes, and a little around it. @returns {[number, number]|null} */
  selected() {
    const range = this.rangeOf(this.view.frame.group.selected);
    if (!range) return null;
    const more = ((AROUND - 1) / 2) * (range.to - range.from) + 1;
    return [range.from - more, range.to + more];
  }

  /** Whether everything is in view, as it is at first. */
  isWhole() {
    const { view } = this;
    const whole = view.fitTransform();
    return view.fitted || (Math.abs(view.transform.k / whole.k - 1) < 1e-3 && Math.abs(view.transform.x) < 0.5);
  }

  /** Say where one looks, once the view rests. */
  tell() {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      const { view } = this;
      if (!view.frame.payload || this.awaited) return;
      const times = this.isWhole() ? null : this.seen();
      if (String(times) !== String(view.frame.props.times ?? null)) view.frame.notify({ times });
    }, REST);
  }

  /** The times at the edges, in whole ns. @returns {[number, number]} */
  seen() {
    const { view } = this;
    return [Math.max(0, Math.round(view.nsAt(GUTTER))), Math.round(view.nsAt(view.frame.size.width))];
  }
}
