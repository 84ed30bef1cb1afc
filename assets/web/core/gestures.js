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

/** @param {HTMLCanvasElement} canvas @param {Listener} listener */
export function listen(canvas, listener) {
  const end = new AbortController();
  /**
   * @template {keyof HTMLElementEventMap} K
   * @param {K} name @param {(event: HTMLElementEventMap[K]) => void} handler
   * @param {AddEventListenerOptions} [more]
   */
  const on = (name, handler, more) =>
    canvas.addEventListener(name, handler, { signal: end.signal, ...more });
  /** @type {Map<number, {x: number, y: number}>} */
  const down = new Map();
  let moved = 0;
  let slop = CLICK_SLOP;
  /** Waits for a finger to rest. @type {ReturnType<typeof setTimeout>|undefined} */
  let resting;
  /** Whether a finger has rested since it came down. */
  let rested = false;
  /** @type {boolean|"drag"} */
  let taken = false;
  let spread = 0;

  /** @param {MouseEvent} event */
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const two = () => {
    const [a, b] = Array.from(down.values());
    return {
      x: (a.x + b.x) / 2,
      y: (a.y + b.y) / 2,
      spread: Math.max(1, Math.hypot(a.x - b.x, a.y - b.y)),
    };
  };

  on("pointerdown", (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    const p = at(event);
    down.set(event.pointerId, p);
    slop = event.pointerType === "touch" ? TOUCH_SLOP : CLICK_SLOP;
    moved = down.size > 1 ? slop : 0;
    clearTimeout(resting);
    if (rested) listener.hover(null, null);
    rested = false;
    taken = down.size === 1 && !!listener.grab && listener.grab(p.x, p.y, event);
    if (down.size === 2) spread = two().spread;
    if (event.pointerType !== "touch" || taken === true || down.size > 1) return;
    resting = setTimeout(() => {
      rested = true;
      listener.hover(p.x, p.y);
    }, REST_MS);
  });
  on("pointermove", (event) => {
    const p = at(event);
    const last = down.get(event.pointerId);
    if (!last) {
      listener.hover(p.x, p.y);
      return;
    }
    down.set(event.pointerId, p);
    if (down.size === 2) {
      const pinch = two();
      listener.zoom(pinch.x, pinch.y, pinch.spread / spread);
      listener.pan((p.x - last.x) / 2, (p.y - last.y) / 2);
      spread = pinch.spread;
      return;
    }
    const before = moved;
    moved += Math.hypot(p.x - last.x, p.y - last.y);
    if (before < slop && moved >= slop) clearTimeout(resting);
    if (taken === "drag" && moved < slop) return;
    if (taken) listener.drag?.(p.x, p.y);
    else if (moved >= slop) {
      canvas.style.cursor = "grabbing";
      listener.hover(null, null);
      listener.pan(p.x - last.x, p.y - last.y);
    }
  });
  /** @param {PointerEvent} event */
  const release = (event) => {
    if (!down.delete(event.pointerId)) return;
    canvas.style.cursor = "";
    clearTimeout(resting);
    const p = at(event);
    if (taken && listener.drop) listener.drop();
    if (event.type === "pointerup" && taken !== true && !down.size && moved < slop && !rested) {
      listener.click(p.x, p.y, event);
    }
  };
  on("pointerup", release);
  on("pointercancel", release);
  on("pointerleave", () => rested || listener.hover(null, null));
  on("contextmenu", (event) => resting !== undefined && down.size > 0 && event.preventDefault());
  on("dblclick", (event) => {
    const p = at(event);
    listener.double(p.x, p.y);
  });
  on(
    "wheel",
    (event) => {
      event.preventDefault();
      const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
      const p = at(event);
      const sideways = event.shiftKey && !event.deltaX ? event.deltaY : event.deltaX;
      if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
        listener.pan(-sideways * unit, 0);
      } else {
        // A pinch on a touchpad arrives as a wheel with ctrlKey and small deltas.
        const rate = event.ctrlKey ? 0.01 : 0.0016;
        listener.zoom(p.x, p.y, Math.exp(-event.deltaY * unit * rate));
      }
    },
    { passive: false }
  );
  return () => end.abort();
}
