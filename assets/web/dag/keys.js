/** The DAG by keyboard: steps from node to node, and walks that select many. */
import * as dagWalk from "./walk.js";
import * as dagWords from "./words.js";
/** @import { Dag } from "./dag.js" */

export class DagKeys {
  /** @param {Dag} view */
  constructor(view) {
    this.view = view;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const taken = this.step(event);
    if (taken) this.pinSelected();
    return taken;
  }

  /** What is reached by keyboard has a tooltip as what is pointed at. */
  pinSelected() {
    const items = dagWords.itemsOf(this.view.scene, this.view.frame.group.selected);
    const rows = items.length === 1 ? dagWords.describe(this.view, items[0]) : null;
    this.view.frame.tooltip.pin(rows, () => this.cornerFrom(items[0]));
  }

  /**
   * Where a node's tooltip hangs: in the lower corner away from it, for the next step's sake.
   * @param {number} i
   */
  cornerFrom(i) {
    const { width, height } = this.view.frame.size;
    return { x: this.view.spotOf(i).x > width / 2 ? 0 : width, y: height };
  }

  /** @param {KeyboardEvent} event */
  step(event) {
    const { selected } = this.view.frame.group;
    const current = this.view.scene.index.get(selected[selected.length - 1]);
    if (event.key === "o" || event.key === "x") {
      const items = Array.from(new Set(selected.map((id) => this.view.scene.index.get(id))));
      const known = items.filter((i) => i !== undefined);
      return event.key === "o" ? this.view.opener.unfold(known) : this.view.opener.refold(known);
    }
    if (event.key === "h" && this.view.tools.length) {
      this.view.opener.toggleFolds();
      return true;
    }
    /** @type {Record<string, string|undefined>} */
    const step = { ArrowDown: "down", ArrowUp: "up", ArrowLeft: "left", ArrowRight: "right" };
    const way = step[event.key];
    const walk = this.walks(event.key, current);
    if (walk) {
      const nodes = Array.from(walk).flatMap((i) => Array.from(this.view.scene.nodesOf(i)));
      nodes.sort((a, b) => a - b);
      if (nodes.length) this.view.frame.group.select(nodes);
      return true;
    }
    if (event.key === "a" || event.key === "A") return this.view.buffers.step(event.key === "a");
    if (event.key === "c" || event.key === "C") return this.walkCritical(event.key === "c", current);
    if (!way || !this.view.scene.count) return false;
    const next = current === undefined ? 0 : dagWalk.neighbour(this.view.scene, current, way);
    if (next >= 0) {
      this.view.frame.group.select(Array.from(this.view.scene.nodesOf(next)));
      this.view.reveal(next);
    }
    return true;
  }

  /**
   * The nodes that a key selects, or null for another key.
   * @param {string} key @param {number|undefined} current
   */
  walks(key, current) {
    const { scene, frame } = this.view;
    const selected = new Set(frame.group.selected.map((id) => scene.index.get(id) ?? -1));
    const nodes = Array.from(selected).filter((i) => i >= 0);
    if (key === "u" || key === "d") return dagWalk.reach(scene, nodes, key === "d");
    if (key === "p") return nodes.length === 2 ? dagWalk.between(scene, nodes[0], nodes[1]) : [];
    if (key !== "n" && key !== "N") return null;
    const step = current === undefined ? 0 : current + (key === "n" ? 1 : -1);
    const next = Math.max(0, Math.min(scene.count - 1, step));
    this.view.reveal(next);
    return [next];
  }

  /**
   * Select the next node on the critical path, or the one before; at first the first.
   * @param {boolean} forward @param {number|undefined} current
   */
  walkCritical(forward, current) {
    const { critical } = this.view.scene;
    if (!critical.length) return false;
    const at = current === undefined ? -1 : critical.indexOf(current);
    const next = at < 0 ? 0 : Math.max(0, Math.min(critical.length - 1, at + (forward ? 1 : -1)));
    this.view.frame.group.select(Array.from(this.view.scene.nodesOf(critical[next])));
    this.view.reveal(critical[next]);
    return true;
  }
}
