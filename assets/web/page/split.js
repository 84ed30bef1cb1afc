// Draggable bars between panes: <div class="gv-split"> pane, bar with role="separator", pane.
// The share of the first pane is the CSS variable --gv-share, in percent.
import { closest } from "../core/dom.js";

const LEAST = 15;
const MOST = 85;
const STEP = 2;

/** @param {HTMLElement} split */
function isVertical(split) {
  return split.classList.contains("gv-split-rows");
}

/** @param {HTMLElement} split */
export function shareOf(split) {
  return parseFloat(getComputedStyle(split).getPropertyValue("--gv-share"));
}

/** Give the first pane a share, to a tenth of a percent. @param {HTMLElement} split @param {number} share */
export function setShare(split, share) {
  const bounded = Math.round(10 * Math.min(MOST, Math.max(LEAST, share))) / 10;
  split.style.setProperty("--gv-share", bounded + "%");
  const bar = split.querySelector(":scope > .gv-split-bar");
  bar?.setAttribute("aria-valuenow", String(Math.round(bounded)));
}

/** A reader gave the panes other shares. @param {HTMLElement} split */
function tell(split) {
  split.dispatchEvent(new CustomEvent("gviz-share", { bubbles: true }));
}

/** Hear keys and pointer. */
export function listen() {
  document.addEventListener("pointerdown", (event) => {
    const bar = closest(event, ".gv-split-bar");
    const split = bar?.parentElement;
    if (!bar || !split || event.button !== 0) {
      return;
    }
    event.preventDefault();
    const vertical = isVertical(split);
    const box = split.getBoundingClientRect();
    bar.setPointerCapture(event.pointerId);
    bar.classList.add("gv-dragged");

    /** @param {PointerEvent} at */
    const move = (at) => {
      const share = vertical
        ? (at.clientY - box.top) / box.height
        : (at.clientX - box.left) / box.width;
      setShare(split, share * 100);
    };

    const end = () => {
      bar.classList.remove("gv-dragged");
      bar.removeEventListener("pointermove", move);
      tell(split);
    };

    bar.addEventListener("pointermove", move);
    bar.addEventListener("lostpointercapture", end, { once: true });
  });

  document.addEventListener("keydown", (event) => {
    const bar = closest(event, ".gv-split-bar");
    const split = bar?.parentElement;
    if (!bar || !split) {
      return;
    }
    const back = isVertical(split) ? "ArrowUp" : "ArrowLeft";
    const on = isVertical(split) ? "ArrowDown" : "ArrowRight";
    if (event.key === back || event.key === on) {
      event.preventDefault();
      setShare(split, shareOf(split) + (event.key === on ? STEP : -STEP));
      tell(split);
    }
  });
}
