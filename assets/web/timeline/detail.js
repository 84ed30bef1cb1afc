/**
 * Level of detail: where a timeline has too many spans to be sent whole, its first payload is
 * coarse, and this requests what is in view. What there is stays drawn meanwhile.
 *
 * @typedef {{from_ns: number, to_ns: number, bucket_ns: Object<string, number>, rows: number[]}}
 *   DetailWindow  of a payload; bucket 0: spans as they are
 */
import { GUTTER } from "../core/axis.js";
import * as payloads from "../core/payload.js";
import { TimelineScene } from "./scene.js";
/** @import { Payload } from "../core/payload.js" */
/** @import { Row } from "./rows.js" */
/** @import { Side } from "./side.js" */
/** @import { Timeline } from "./timeline.js" */

/** The view rests so long (ms) before a request. */
const REST = 120;
/** Requested beyond the view: this share of it on each side, and so many launches. */
const MARGIN = 0.5;
const MORE_ROWS = 6;
/** Nodes that an address has room for. */
const MOST_REQUESTED = 100;

export class Detail {
  /** @param {Timeline} view */
  constructor(view) {
    this.view = view;
    this.requested = 0;
    this.timer = 0;
    /** @type {AbortController|null} */ this.loading = null;
    /** What the view started with; null: it has everything. @type {DetailWindow|null} */ this.base = null;
    /** @type {TimelineScene|null} */ this.scene = null;
    this.selected = "";
    /** The part that is requested. @type {string|null} */ this.wanted = null;
  }

  /** A new timeline. @param {Payload|null} payload */
  reset(payload) {
    this.stop();
    this.base = (payload && payload.header.detail) || null;
    this.scene = null;
    this.selected = "";
    this.wanted = null;
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = 0;
    if (this.loading) this.loading.abort();
    this.loading = null;
  }

  /** @returns {DetailWindow|null} */
  get window() {
    return this.scene ? this.scene.header.detail : this.base;
  }

  // -- what is in view ----------------------------------------------------------------

  range() {
    const { scene, frame } = this.view;
    // A side with a scale of its own shows later times at the edge.
    const ends = scene.sides.map(({ name, facts }) => Math.min(this.view.nsAt(frame.size.width, name), facts.total_ns));
    return { from: Math.max(0, this.view.nsAt(GUTTER)), to: Math.max(0, ...ends) };
  }

  /** Stacked launches in view, the last not included. */
  rows() {
    const side = this.view.scene.side("graph");
    if (!side || !side.stacked) return [0, 1];
    const { height } = this.view.frame.size;
    const seen = this.view.laneRows.graph.filter((row) => row.y + row.h > 0 && row.y < height);
    if (!seen.length) return [0, 1];
    /** @param {Row} row */
    const at = (row) => Math.floor(row.lane / side.depth);
    return [at(seen[0]), at(seen[seen.length - 1]) + 1];
  }

  /** @param {{from: number, to: number}} given */
  coversTime({ from, to }) {
    const window = /** @type {DetailWindow} */ (this.window);
    return window.from_ns <= from && window.to_ns >= to;
  }

  enough() {
    const window = /** @type {DetailWindow} */ (this.window);
    const { from, to } = this.range();
    const [first, last] = this.rows();
    const pixel = 1 / this.view.transform.k;
    return (
      this.coversTime({ from, to }) &&
      window.rows[0] <= first &&
      window.rows[1] >= last &&
      Object.values(window.bucket_ns).every((bucket) => bucket <= 1.25 * pixel) &&
      this.selected === this.wantedNodes()
    );
  }

  // -- requests -----------------------------------------------------------------------

  /** Called with every frame: request once the view rests and has not what it shows. */
  check() {
    if (!this.base || this.enough()) return;
    const key = JSON.stringify(this.query().toString());
    if (key === this.wanted) return;
    this.stop();
    this.wanted = key;
    this.timer = window.setTimeout(() => this.request(), REST);
  }

  query() {
    const { from, to } = this.range();
    const margin = MARGIN * (to - from);
    const begin = Math.max(0, from - margin);
    const end = Math.min(Math.max(...this.view.scene.sides.map(({ facts }) => facts.total_ns)), to + margin);
    const [first, last] = this.rows();
    const query = new URLSearchParams({
      from: `${begin}`, to: `${end}`,
      width: `${Math.max(16, Math.ceil((end - begin) * this.view.transform.k))}`,
      rows: `${Math.max(0, first - MORE_ROWS)}-${last + MORE_ROWS}`,
    });
    if (this.wantedNodes()) query.set("node", this.wantedNodes());
    return query;
  }

  /** The selected nodes whose spans are wanted unmerged. */
  wantedNodes() {
    return this.view.frame.group.selected.slice(0, MOST_REQUESTED).join(",");
  }

  /**
   * Fetch a part of what is shown.
   * @param {URLSearchParams} query @param {AbortSignal} [signal]
   */
  fetch(query, signal) {
    const { source = "" } = this.view.frame.props;
    return payloads.load(`${source}${source.includes("?") ? "&" : "?"}${query}`, signal);
  }

  async request() {
    const loading = (this.loading = new AbortController());
    const selected = this.wantedNodes();
    try {
      const payload = await this.fetch(this.query(), loading.signal);
      this.scene = new TimelineScene(payload);
      this.selected = selected;
      this.requested += 1;
      this.view.refined();
    } catch (error) {
      if (loading.signal.aborted) return;
      this.view.frame.remark(`The detail could not be loaded: ${/** @type {Error} */ (error).message}. Zoom to try again.`);
    } finally {
      if (this.loading === loading) this.loading = null;
    }
  }

  // -- what to draw from --------------------------------------------------------------

  /**
   * The detailed counterpart of a side where it has a lane, or null.
   * @param {Side} side @param {number} lane
   */
  sideOfLane(side, lane) {
    if (!this.scene) return null;
    const { rows } = this.scene.header.detail;
    const row = Math.floor(lane / side.depth);
    return side.stacked && (row < rows[0] || row >= rows[1]) ? null : this.scene.present(side.name);
  }

  /**
   * The side with the most detail of all that is in view.
   * @param {Side} side
   */
  best(side) {
    return this.scene && this.coversTime(this.range()) ? this.scene.present(side.name) : side;
  }

  /**
   * The side that knows where a node is, or undefined.
   * @param {Side} side @param {number} id
   */
  sideWith(side, id) {
    const fine = this.scene && this.scene.side(side.name);
    return [fine, side].find((s) => s && s.byNode.has(id));
  }
}
