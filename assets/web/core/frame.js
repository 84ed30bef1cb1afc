/**
 * The frame around a view: its canvas, tooltip, message and buttons, its payload, its bus group.
 *
 * A view is an object made of a frame (page/views.js) with: caption(payload) (what it shows),
 * label(payload) (that, and how to use it, for screen readers), load(payload),
 * draw(ctx, size), gesture listeners (see core/gestures.js), key(event), show(nodeIds), fit(),
 * zoomBy(factor), locate(nodeId), state(), words(nodeIds) of a selection. It may have legend()
 * (what its colours mean, in words), tools ({text, title, toggle}, with
 * tool() the text of the one that is on), escape() (true: it took the key), hear(group) and stages(ctx, size)
 * (what its first painting needs, in parts that the page may come between).
 *
 * @typedef {{id?: string, source?: string, selected?: number[], focus?: {node: number, token: number}|null,
 *   colour?: string, theme?: string, group: string, layout?: string, fold?: string, open?: string[],
 *   buffer?: string|null, times?: [number, number]|"between"|"selected"|null, brush?: {from: number, to: number, side: string}|null, eager?: string, loaded?: () => void,
 *   laid?: Laid|null, setProps?: (change: Partial<Props>) => void}} Props  as
 *   gviz.app.components.canvases has them
 * @typedef {{id: string, label: string, isNumber: boolean, diverges?: boolean, places: Map<string, number>, of: (node: number) => number|string|null,
 *   over: (nodes: number[]) => number|string|null, shade: (nodes: number[]) => number|string|null,
 *   write: (value: number|string|null) => string}} Laid  what a reader has laid on the graph, a column of an overlay
 *   (overlay/overlay.js): views colour by it in place of `colour`; `diverges`: its numbers are changes, of both signs
 * @typedef {{name: string, make: (frame: Frame) => View}} ViewKind
 * @typedef {{x: number, y: number}} Point  on the canvas
 * @typedef {import("./gestures.js").Listener & {
 *   caption: (payload: Payload) => string, label: (payload: Payload) => string,
 *   load: (payload: Payload) => void, draw: (ctx: Pen, size: Size) => void,
 *   key: (event: KeyboardEvent) => boolean, show: (nodes: number[]) => void,
 *   fit: (smooth: boolean) => void, zoomBy: (factor: number) => void,
 *   locate: (node: number) => Point|null, state: () => object, words: (nodes: number[]) => string,
 *   legend?: () => string, tools?: {text: string, title: string, toggle: () => void}[],
 *   tool?: () => string|undefined, escape?: () => boolean, hear?: (group: Group) => void,
 *   scene?: object|null, stages?: (ctx: Pen, size: Size) => Iterable<() => void>, fitSelection?: () => void, lookAt?: (times: [number, number]|"between"|"selected"|null) => void,
 *   brushAt?: (brush: {from: number, to: number, side: string}|null) => void}} View
 */
import * as announce from "./announce.js";
import * as bus from "./bus.js";
import * as canvas from "./canvas.js";
import { append, penOf } from "./dom.js";
import * as firstPaint from "./first_paint.js";
import * as gestures from "./gestures.js";
import { Pace } from "./pace.js";
import * as payloads from "./payload.js";
import * as picture from "./picture.js";
import { Tooltip } from "./tooltip.js";
/** @import { Group } from "./bus.js" */
/** @import { Pen, Size, Theme } from "./canvas.js" */
/** @import { Payload } from "./payload.js" */

/** Loading that takes longer (ms) is shown. */
export const SLOW = 500;
/** What a view requests of the page is loading after so long (ms), or there is nothing to load. */
const REQUEST_PATIENCE = 1000;

/**
 * The page's, or else the component's.
 * @param {Props} props
 */
function themeOf(props) {
  const scheme = document.documentElement.getAttribute("data-mantine-color-scheme");
  return canvas.theme(scheme || props.theme || "light");
}

export class Frame {
  /**
   * @param {HTMLElement} box @param {ViewKind} kind @param {Props} props
   */
  constructor(box, kind, props) {
    this.box = box;
    this.props = props;
    this.theme = themeOf(props);
    /** @type {Payload|null} */ this.payload = null;
    /** @type {number|null} */ this.paintedMs = null;
    this.paintings = 0;
    /** Whether the first painting of its data is being prepared. */ this.isPreparing = false;
    /** Keys pressed while there was nothing to do them with. @type {KeyboardEvent[]} */
    this.later = [];
    /** @type {number|null} */ this.requested = null;
    /** @type {AbortController|null} */ this.loading = null;
    /** @type {string|undefined} */ this.source = undefined;
    /** Nodes to be brought into view. @type {number[]|null} */ this.pendingFocus = null;
    /** What was announced last. @type {number[]|null} */ this.heard = null;
    this.canvas = append("canvas", "gviz-canvas", box);
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    this.canvas.gvizState = () => this.state();
    this.canvas.gvizLocate = (id) => this.locate(id);
    this.canvas.gvizShow = (id) => this.show([id]);
    this.ctx = penOf(this.canvas);
    this.message = append("div", "gviz-canvas-message", box);
    this.note = append("div", "gviz-canvas-note", box);
    this.note.setAttribute("role", "status");
    this.tooltip = new Tooltip(this);
    this.legend = append("div", "gv-unseen", box);
    this.legend.id = `${props.id}-legend`;
    this.canvas.setAttribute("aria-describedby", this.legend.id);
    this.remark("");
    this.redraw = canvas.scheduler(() => this.paint());
    this.view = kind.make(this);
    this.buttons = this.addButtons(kind.name);
    this.size = this.measure();
    this.group = bus.group(props.group);
    // A view that comes later takes what is selected by then.
    if (props.selected && !this.group.listeners.size) this.group.select(props.selected);
    this.ends = [
      bus.subscribe(props.group, () => this.hear()),
      gestures.listen(this.canvas, this.view),
    ];
    this.unwatch = this.watchSize();
    this.watchPaper();
    this.onKey = (/** @type {KeyboardEvent} */ event) => this.key(event);
    this.canvas.addEventListener("keydown", this.onKey);
    this.onBlur = () => this.tooltip.pin(null);
    this.canvas.addEventListener("blur", this.onBlur);
    firstPaint.expect(this);
    this.load(props.source);
  }

  /** @param {string} name */
  addButtons(name) {
    const bar = append("div", `gviz-canvas-buttons gviz-canvas-buttons-${name}`, this.box);
    /** @param {string} text @param {string} title @param {() => void} action */
    const add = (text, title, action) => {
      const button = append("button", "gviz-canvas-button", bar);
      button.type = "button";
      button.textContent = text;
      button.title = title;
      button.setAttribute("aria-label", title);
      // There may be nothing to show: a payload that is loading, or refused.
      button.addEventListener("click", () => this.payload && action());
      return button;
    };
    for (const { text, title, toggle } of this.view.tools || []) {
      const button = add(text, title, () => {
        toggle();
        this.markTool();
      });
      button.ariaPressed = "false";
    }
    add("+", "Zoom in (+)", () => this.view.zoomBy(1.5));
    add("−", "Zoom out (−)", () => this.view.zoomBy(1 / 1.5));
    add("Fit", "Show everything (f)", () => this.view.fit(true));
    // Where there is a menu for that, it has the room.
    if (document.getElementById("share-menu")) return bar;
    add("PNG", "Save what is in view as PNG (s)", () => picture.save(this, "png"));
    add("SVG", "Save what is in view as SVG (S)", () => picture.save(this, "svg"));
    return bar;
  }

  /** Show which tool is on. */
  markTool() {
    const on = this.view.tool?.();
    for (const button of this.buttons.querySelectorAll("[aria-pressed]")) button.ariaPressed = String(button.textContent === on);
  }

  /** The box of the canvas, and the room that the buttons take in it. */
  measure() {
    return { ...canvas.fitToBox(this.canvas), buttons: this.buttons.offsetWidth };
  }

  watchSize() {
    const observer = new ResizeObserver(() => this.redraw());
    observer.observe(this.box);
    return () => observer.disconnect();
  }

  /** Paper is light: what is dark on the screen is painted anew for it, before the browser looks. */
  watchPaper() {
    const ending = new AbortController(), { signal } = ending;
    /** @param {Theme} theme */
    const paintAs = (theme) => {
      this.theme = theme;
      this.paint();
    };
    window.addEventListener("beforeprint", () => paintAs(canvas.theme("light")), { signal });
    window.addEventListener("afterprint", () => paintAs(themeOf(this.props)), { signal });
    this.ends.push(() => ending.abort());
  }

  /**
   * New properties.
   * @param {Props} props
   */
  update(props) {
    const before = this.props;
    this.props = props;
    this.theme = themeOf(props);
    if (props.source !== before.source) this.load(props.source);
    else if (String(props.times ?? null) !== String(before.times ?? null)) this.view.lookAt?.(props.times ?? null);
    if (JSON.stringify(props.brush ?? null) !== JSON.stringify(before.brush ?? null)) this.view.brushAt?.(props.brush ?? null);
    const selected = props.selected || [];
    if (!bus.same(selected, before.selected || [])) this.group.select(selected);
    if (props.focus && (!before.focus || props.focus.token !== before.focus.token)) {
      this.show([props.focus.node]);
    }
    this.redraw();
  }

  /** Whether the view has its places: it has been painted since its data came. */
  get isShown() {
    return this.payload !== null && this.paintedMs !== null;
  }

  /** Have ready what the view colours by, before it is drawn. @param {Laid} laid on the graph */
  prepare(laid) {
    /** @type {{prepare?: (laid: Laid) => void}|null|undefined} */ (this.view.scene)?.prepare?.(laid);
  }

  /** Bring nodes into view, once they are known. @param {number[]} nodes */
  show(nodes) {
    this.pendingFocus = nodes;
    // A view that is hidden, or has no data yet, shows it once it is drawn.
    if (this.isShown) this.showPending();
  }

  /** @param {string|undefined} source */
  async load(source) {
    this.stopWaiting();
    if (this.loading) this.loading.abort();
    // A recording that grows: what there was stays until there is more.
    const { unversioned } = payloads;
    const again = !!source && unversioned(source) === unversioned(this.source || "");
    if (!again) {
      this.payload = null;
      this.tooltip.pin(null);
    }
    this.source = source;
    if (!source) {
      this.say("Nothing to show.");
      firstPaint.settle(this);
      return;
    }
    const loading = (this.loading = new AbortController());
    this.canvas.setAttribute("aria-busy", "true");
    const slow = setTimeout(() => this.payload || this.say("Loading…"), SLOW);
    try {
      const payload = await payloads.load(source, loading.signal);
      clearTimeout(slow);
      this.say("");
      this.remark("");
      this.paintedMs = null;
      this.payload = payload;
      this.size = this.measure();
      const pace = new Pace(loading.signal);
      this.view.load(payload);
      const { layout } = payload.header;
      if (layout && layout !== this.props.layout) this.notify({ layout });
      this.canvas.setAttribute("aria-label", this.view.label(payload));
      // What has grown is looked at already: to move it would lose its reader.
      if (!again && this.props.focus) this.pendingFocus ??= [this.props.focus.node];
      // Painted at once: waiting for the next frame would show an empty box for 16 ms. Of a large
      // graph the page has its turns first, and nothing is painted until they are over.
      this.isPreparing = true;
      for (const prepare of this.view.stages?.(this.ctx, this.size) ?? []) {
        await pace.rest();
        prepare();
      }
      await pace.rest();
      this.isPreparing = false;
      this.paint();
      this.props.loaded?.();
    } catch (error) {
      if (loading.signal.aborted) return;
      const refused = error instanceof payloads.Refusal;
      const { message } = /** @type {Error} */ (error);
      const words = refused ? message : `${message}. Reload the page to try again.`;
      this.payload = null;
      this.redraw();
      this.say(`This view could not be ${refused ? "drawn" : "loaded"}: ${words}`);
      firstPaint.settle(this);
    } finally {
      clearTimeout(slow);
      if (this.loading === loading) {
        this.isPreparing = false;
        this.canvas.removeAttribute("aria-busy");
        this.catchUp();
      }
    }
  }

  /**
   * Show a sentence in place of the drawing.
   * @param {string} text
   */
  say(text) {
    this.message.textContent = text;
    this.message.hidden = !text;
  }

  /**
   * A remark under the drawing, "" for none.
   * @param {string} text
   */
  remark(text) {
    this.note.textContent = text;
    this.note.hidden = !text;
  }

  paint() {
    if (this.isPreparing) return;
    // What was to be drawn in the next frame is drawn now.
    this.redraw.cancel();
    this.size = this.measure();
    const { ratio, width, height } = this.size;
    if (!width || !height) return;
    this.box.dataset.theme = this.theme.name;
    const ctx = this.ctx;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, width, height);
    if (!this.payload) return;
    this.view.draw(ctx, this.size);
    this.markTool();
    const legend = this.view.legend?.() ?? "";
    if (legend !== this.legend.textContent) this.legend.textContent = legend;
    this.tooltip.follow();
    this.paintings += 1;
    if (this.paintedMs !== null) return;
    this.paintedMs = performance.now();
    firstPaint.settle(this);
    // Only now: the first painting places the rows that a node is looked for in.
    this.showPending();
  }

  showPending() {
    const nodes = this.pendingFocus;
    this.pendingFocus = null;
    if (nodes?.length) this.view.show(nodes);
  }

  /** The bus changed. */
  hear() {
    this.redraw();
    this.view.hear?.(this.group);
    const { selected } = this.group;
    if (selected !== this.heard) this.tellSelection(selected);
  }

  /**
   * In words, if this view is the one that speaks.
   * @param {number[]} selected
   */
  tellSelection(selected) {
    this.heard = selected;
    if (!this.payload || !announce.isSpeaker(this.canvas, !!this.view.legend)) return;
    announce.say(this.view.words(selected));
  }

  /** @param {Partial<Props>} change */
  notify(change) {
    this.props = { ...this.props, ...change };
    if (this.props.setProps) this.props.setProps(change);
  }

  /**
   * Report a change that brings other data: keys wait for them.
   * @param {Partial<Props>} change
   */
  request(change) {
    this.stopWaiting();
    this.requested = window.setTimeout(() => {
      this.stopWaiting();
      this.catchUp();
    }, REQUEST_PATIENCE);
    this.notify(change);
  }

  stopWaiting() {
    clearTimeout(this.requested ?? 0);
    this.requested = null;
  }

  isWaiting() {
    return this.requested !== null || (!this.isShown && this.canvas.hasAttribute("aria-busy"));
  }

  /** @param {number|number[]|null} picked node ids @param {MouseEvent} event */
  pick(picked, event) {
    const adding = event.ctrlKey || event.metaKey || event.shiftKey;
    const ids = picked === null ? [] : [picked].flat();
    if (!adding) return this.group.select(ids);
    const now = new Set(this.group.selected);
    const all = ids.length > 0 && ids.every((id) => now.has(id));
    for (const id of ids) {
      if (all) now.delete(id);
      else now.add(id);
    }
    if (ids.length) this.group.select(Array.from(now));
  }

  /**
   * Keys faster than the data are not lost; those of a key held down are.
   * @param {KeyboardEvent} event
   */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (!this.isWaiting()) this.act(event);
    else if (!event.repeat) this.later.push(event);
  }

  /** Do what was pressed meanwhile, up to a key that needs other data again. */
  catchUp() {
    while (this.later.length && !this.isWaiting()) this.act(/** @type {KeyboardEvent} */ (this.later.shift()));
  }

  /** @param {KeyboardEvent} event */
  act(event) {
    if (!this.isShown) return;
    /** @type {Record<string, (() => void)|undefined>} */
    const actions = {
      Escape: () => {
        this.tooltip.pin(null);
        if (!this.view.escape?.()) this.group.select([]);
      },
      "+": () => this.view.zoomBy(1.5),
      "=": () => this.view.zoomBy(1.5),
      "-": () => this.view.zoomBy(1 / 1.5),
      f: () => this.view.fit(true),
      s: () => picture.save(this, "png"),
      S: () => picture.save(this, "svg"),
      z: () => (this.view.fitSelection ? this.view.fitSelection() : this.view.fit(true)),
    };
    const action = actions[event.key];
    if (action) action();
    if (action || this.view.key(event)) event.preventDefault();
  }

  state() {
    return {
      ready: this.isShown && !this.canvas.hasAttribute("aria-busy"),
      painted_ms: this.paintedMs,
      paintings: this.paintings,
      selected: this.group.selected.slice(),
      hovered: this.group.hovered,
      lit: this.group.lit?.length ?? 0,
      filtered: this.group.filtered,
      kept: this.group.kept,
      theme: this.theme.name,
      colour: this.props.colour,
      message: this.message.textContent,
      ...(this.isShown ? this.view.state() : {}),
    };
  }

  /**
   * Page coordinates of a node's centre, or null when it is not on screen.
   * @param {number} id
   */
  locate(id) {
    const spot = this.isShown ? this.view.locate(id) : null;
    const { width, height } = this.size;
    if (!spot || spot.x < 0 || spot.y < 0 || spot.x > width || spot.y > height) return null;
    const box = this.canvas.getBoundingClientRect();
    return { x: box.left + window.scrollX + spot.x, y: box.top + window.scrollY + spot.y };
  }

  destroy() {
    firstPaint.settle(this);
    this.unwatch();
    this.stopWaiting();
    if (this.loading) this.loading.abort();
    this.redraw.cancel();
    this.canvas.removeEventListener("keydown", this.onKey);
    this.canvas.removeEventListener("blur", this.onBlur);
    for (const end of this.ends) end();
    this.box.replaceChildren();
  }
}
