/**
 * Kernel families and layers by what 10% off would bring: a bar of their share of time beside a bar of ten times the
 * gain. Both are as long where all of the time counts.
 *
 * @typedef {{kind: "family"|"layer", name: string, sentence: string, range: string, texts: [string, string], share: number,
 *   gain: number, low: number, high: number}} PartGain  parts of the launch; `texts` of share and gain
 * @typedef {{note: string, parts: PartGain[]}} PartGains  as gviz.app.views.verdict has it
 */
import { inTwo } from "../core/dom.js";
import { element } from "../core/parts.js";
import { light } from "./findings.js";
/** @import { Group } from "../core/bus.js" */

/** What is taken off is a tenth: ten times its gain is as long as the share where all of it counts. */
const TENTHS = 10;
/** @type {[PartGain["kind"], string][]} */
const KINDS = [["family", "Kernel families"], ["layer", "Layers"]];

export class Gains {
  /**
   * @param {Group} group @param {(name: string) => number[]} nodesOf a name as addresses have it
   * @param {(nodes: number[], more: boolean) => void} select
   */
  constructor(group, nodesOf, select) {
    this.group = group;
    this.nodesOf = nodesOf;
    this.select = select;
    this.isTaken = false;
    this.box = element("div", { class: "gv-gains" }, element("p", { class: "gv-muted" }, "What 10% off each part would bring is being computed."));
    this.box.hidden = true;
    this.box.addEventListener("keydown", (event) => this.key(event));
  }

  /** @param {PartGains} gains */
  take({ note, parts }) {
    this.isTaken = true;
    const most = Math.max(...parts.flatMap(({ share, high }) => [share, TENTHS * high]), 0);
    const lists = KINDS.map(([kind, title]) => [title, parts.filter((part) => part.kind === kind)]);
    this.box.replaceChildren(
      element("p", { class: "gv-gains-legend" }, element("i", { class: "gv-gain-share" }), "share of time", element("i", { class: "gv-gain-bar" }),
        "ten times what 10% off brings, with its range: as long as the other where all of the time counts"),
      element("div", { class: "gv-gains-lists" }, ...lists.filter(([, some]) => some.length).map(([title, some]) =>
        this.list(/** @type {string} */ (title), /** @type {PartGain[]} */ (some), most))),
      element("p", { class: "gv-muted" }, note));
  }

  /** @param {string} title @param {PartGain[]} parts @param {number} most part of the launch that is the whole width */
  list(title, parts, most) {
    return element("section", { "aria-label": title },
      element("h2", {}, title),
      element("p", { class: "gv-gain-head", "aria-hidden": "true" }, element("span"), element("span"), element("span", {}, "Share"), element("span", {}, "10% off brings")),
      element("ul", {}, ...parts.map((part, at) => element("li", {}, this.item(part, most, at === 0)))));
  }

  /** @param {PartGain} part @param {number} most @param {boolean} isFirst Tab leads there */
  item(part, most, isFirst) {
    const { kind, name, sentence, range, texts, share, gain, low, high } = part;
    const nodes = () => this.nodesOf(`${kind}:${name}`);
    const button = element("button", {
      type: "button", class: "gv-part-gain", title: `${sentence}; ${range}`, "aria-label": `${sentence}, ${range}`, tabindex: isFirst ? "0" : "-1",
    },
    element("span", { class: "gv-middle" }, ...inTwo(name).map((text) => element("span", {}, text))),
    element("span", { class: "gv-gain-bars" }, bar("gv-gain-share", 0, share / most), bar("gv-gain-bar", 0, TENTHS * gain / most),
      bar("gv-gain-range", TENTHS * low / most, TENTHS * high / most)),
    element("span", { class: "gv-number" }, texts[0]), element("b", { class: "gv-number" }, texts[1]));
    button.addEventListener("click", (event) => {
      this.group.light(null);
      this.select(nodes(), event.shiftKey);
    });
    light(button, this.group, nodes);
    return button;
  }

  /** Arrows lead from part to part. @param {KeyboardEvent} event */
  key(event) {
    const steps = /** @type {Record<string, number|undefined>} */ ({ ArrowDown: 1, ArrowUp: -1 });
    const step = steps[event.key];
    /** @type {HTMLElement[]} */
    const items = Array.from(this.box.querySelectorAll(".gv-part-gain"));
    const next = step && items[items.findIndex((item) => item === event.target) + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
  }

  focus() {
    /** @type {HTMLElement|null} */
    const first = this.box.querySelector(".gv-part-gain");
    first?.focus();
  }
}

/** A bar between two parts of the width. @param {string} kind @param {number} from @param {number} to */
function bar(kind, from, to) {
  const made = element("i", { class: kind });
  const [left, right] = [from, to].map((end) => 100 * Math.min(1, Math.max(0, end)));
  made.style.left = `${left}%`;
  made.style.width = `${Math.max(0, right - left)}%`;
  return made;
}
