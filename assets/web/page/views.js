/** The views of a page: each opened in its box when it is wanted, all shown the page's state. */
import { Frame } from "../core/frame.js";
import { Dag } from "../dag/dag.js";
import { Memory } from "../memory/memory.js";
import { Timeline } from "../timeline/timeline.js";

/** @import { Laid, Props, ViewKind } from "../core/frame.js" */

/** @type {Record<string, ViewKind["make"]>} */
const MAKERS = {
  Dag: (frame) => new Dag(frame),
  Timeline: (frame) => new Timeline(frame),
  Memory: (frame) => new Memory(frame),
};

/**
 * Put a view into a box.
 * @param {HTMLElement} box @param {string} name @param {Props} props
 */
export function openView(box, name, props) {
  return new Frame(box, { name, make: MAKERS[name] }, props);
}

/**
 * @typedef {"dag"|"timeline"|"memory"} Name  of a view, which is the id of its box
 * @typedef {{group: string, props: (name: Name) => Partial<Props>, receive: (change: Partial<Props>) => void}} Host  the
 *   page: what a view is to show, and what hears of a property that one changed
 */

/** The views by their names. @type {Record<Name, string>} */
const KINDS = { dag: "Dag", timeline: "Timeline", memory: "Memory" };

export class Views {
  /** @param {Host} host */
  constructor(host) {
    this.host = host;
    /** @type {Partial<Record<Name, Frame>>} */ this.frames = {};
  }

  /**
   * Open a view where the page has a box for it; null where it has none, or the view is open.
   * @param {Name} name @param {number[]} selected
   */
  open(name, selected) {
    const box = document.getElementById(name);
    if (!box || this.frames[name]) return null;
    const { group, props, receive } = this.host;
    const frame = openView(box, KINDS[name], { ...props(name), id: name, selected, group, setProps: receive });
    this.frames[name] = frame;
    return frame;
  }

  /** Have the views show the state. */
  update() {
    for (const [name, frame] of this.all()) frame.update({ ...frame.props, ...this.host.props(name) });
  }

  /** What each view makes of what is laid on the graph, before it is drawn. @param {Laid|null} laid */
  steps(laid) {
    return laid ? this.all().map(([, frame]) => () => frame.prepare(laid)) : [];
  }

  /** Bring nodes into view. @param {number[]} nodes @param {string|null} [except] where they are in view */
  show(nodes, except = null) {
    for (const [name, frame] of this.all()) {
      if (name !== except) frame.show(nodes);
    }
  }

  /** @returns {[Name, Frame][]} */
  all() {
    return /** @type {any} */ (Object.entries(this.frames));
  }

  /** The timeline, where there is one. */
  timeline() {
    return /** @type {Timeline|undefined} */ (this.frames.timeline?.view);
  }

  /** The graph, where there is one. */
  dag() {
    return /** @type {Dag|undefined} */ (this.frames.dag?.view);
  }

  close() {
    for (const [, frame] of this.all()) frame.destroy();
  }
}
