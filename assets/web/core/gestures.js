/**
 * Pointer, wheel and pinch on a canvas, given to a view in the canvas's CSS pixels. A finger that rests
 * is what a pointer over a thing is, until the next touch.
 *
 * @typedef {Object} Listener
 * @property {(x: number, y: number, factor: number) => void} zoom  at x, y by a factor
 * @property {(dx: number, dy: number) => void} pan           by dx, dy
 * @property {(x: number, y: number, event: MouseEvent) => void} click
 * @property {(x: number, y: number) => void} double
 * @property {(x: number|null, y: number|null) => void} hover  null: the pointer left
 * @property {(x: number, y: number, event: PointerEvent) => boolean|"drag"} [grab]  true: the view
 *   takes this press; "drag": only if it becomes a drag, a click stays a click
 * @property {(x: number, y: number) => void} [drag]        position during a taken drag
 * @property {() => void} [drop]                      a taken drag ended
 */

/** A press that moves less than this many pixels is a click. */
const CLICK_SLOP = 4;
/** A finger is less still. */
const TOUCH_SLOP = 10;
/** After so long (ms) a finger rests. */
const REST_MS = 450;

/** What fingers, or a mouse's button, do on a canvas from press to release. */
class Presses {
  /** @param {HTMLCanvasElement} canvas @param {Listener} listener */
  constructor(canvas, listener) {
    this.canvas = canvas;
    this.listener = listener;
    /** @type {Map<number, {x: number, y: number}>} */
    this.down = new Map();
    this.moved = 0;
    this.slop = CLICK_SLOP;
    /** Waits for a finger to rest. @type {ReturnType<typeof setTimeout>|undefined} */
    this.resting = undefined;
    /** Whether a finger has rested since it came down. */
    this.rested = false;
    /** @type {boolean|"drag"} */
    this.taken = false;
    this.spread = 0;
  }

  /** @param {MouseEvent} event */
  at(event) {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  /** The middle of two fingers, and how far they are apart. */
  two() {
    const [a, b] = Array.from(this.down.values());
    return {
      x: (a.x + b.x) / 2,
      y: (a.y + b.y) / 2,
      spread: Math.max(1, Math.hypot(a.x - b.x, a.y - b.y)),
    };
  }

  /** @param {PointerEvent} event */
  press(event) {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    const p = this.at(event);
    const touches = event.pointerType === "touch";
    this.down.set(event.pointerId, p);
    this.slop = touches ? TOUCH_SLOP : CLICK_SLOP;
    this.moved = this.down.size > 1 ? this.slop : 0;
    clearTimeout(this.resting);
    if (this.rested) this.listener.hover(null, null);
    this.rested = false;
    this.taken = this.down.size === 1 && !!this.listener.grab && this.listener.grab(p.x, p.y, event);
    if (this.down.size === 2) this.spread = this.two().spread;
    if (!touches || this.taken === true || this.down.size > 1) return;
    this.resting = setTimeout(() => {
      this.rested = true;
      this.listener.hover(p.x, p.y);
    }, REST_MS);
  }

  /** @param {PointerEvent} event */
  move(event) {
    const p = this.at(event);
    const last = this.down.get(event.pointerId);
    if (!last) {
      this.listener.hover(p.x, p.y);
      return;
    }
    this.down.set(event.pointerId, p);
    const [dx, dy] = [p.x - last.x, p.y - last.y];
    if (this.down.size === 2) this.pinch(dx, dy);
    else this.drag(p, dx, dy);
  }

  /** @param {number} dx @param {number} dy */
  pinch(dx, dy) {
    const { x, y, spread } = this.two();
    this.listener.zoom(x, y, spread / this.spread);
    this.listener.pan(dx / 2, dy / 2);
    this.spread = spread;
  }

  /** @param {{x: number, y: number}} p @param {number} dx @param {number} dy */
  drag(p, dx, dy) {
    const before = this.moved;
    this.moved += Math.hypot(dx, dy);
    if (before < this.slop && this.moved >= this.slop) clearTimeout(this.resting);
    if (this.taken === "drag" && this.moved < this.slop) return;
    if (this.taken) this.listener.drag?.(p.x, p.y);
    else if (this.moved >= this.slop) {
      this.canvas.style.cursor = "grabbing";
      this.listener.hover(null, null);
      this.listener.pan(dx, dy);
    }
  }

  /** @param {PointerEvent} event */
  release(event) {
    if (!this.down.delete(event.pointerId)) return;
    this.canvas.style.cursor = "";
    clearTimeout(this.resting);
    if (this.taken && this.listener.drop) this.listener.drop();
    const isClick = event.type === "pointerup" && this.taken !== true && this.moved < this.slop;
    if (!isClick || this.down.size || this.rested) return;
    const p = this.at(event);
    this.listener.click(p.x, p.y, event);
  }
}

/** @param {WheelEvent} event @param {{x: number, y: number}} at @param {Listener} listener */
function turn(event, at, listener) {
  event.preventDefault();
  const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
  const sideways = event.shiftKey && !event.deltaX ? event.deltaY : event.deltaX;
  if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
    listener.pan(-sideways * unit, 0);
  } else {
    // A pinch on a touchpad arrives as a wheel with ctrlKey and small deltas.
    const rate = event.ctrlKey ? 0.01 : 0.0016;
    listener.zoom(at.x, at.y, Math.exp(-event.deltaY * unit * rate));
  }
}

/**
 * Tell a view of gestures on its canvas; returns what ends that.
 * @param {HTMLCanvasElement} canvas @param {Listener} listener
 */
export function listen(canvas, listener) {
  const end = new AbortController();
  const presses = new Presses(canvas, listener);
  /**
   * @template {keyof HTMLElementEventMap} K
   * @param {K} name @param {(event: HTMLElementEventMap[K]) => void} handler
   * @param {AddEventListenerOptions} [more]
   */
  const on = (name, handler, more) =>
    canvas.addEventListener(name, handler, { signal: end.signal, ...more });
  on("pointerdown", (event) => presses.press(event));
  on("pointermove", (event) => presses.move(event));
  on("pointerup", (event) => presses.release(event));
  on("pointercancel", (event) => presses.release(event));
  on("pointerleave", () => presses.rested || listener.hover(null, null));
  on("contextmenu", (event) => presses.resting !== undefined && presses.down.size > 0 && event.preventDefault());
  on("dblclick", (event) => {
    const p = presses.at(event);
    listener.double(p.x, p.y);
  });
  on("wheel", (event) => turn(event, presses.at(event), listener), { passive: false });
  return () => end.abort();
}
