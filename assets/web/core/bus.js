/**
 * State that views on one page share without a server: selection, hover and filter, by group.
 *
 * A group lives while a view subscribes to it. Values are replaced, never changed in place. What is
 * no view (tables, inspector) hears of them as the document's events "gviz-select", "gviz-hover" and
 * "gviz-filter".
 *
 * @typedef {{by: object, launch: number, fitted: boolean, transform: {k: number, x: number}}}
 *   SharedTimes  of core/shared_times.js: who was looked at last, and where
 */

export class Group {
  constructor() {
    /** @type {number[]} */ this.selected = [];
    /** @type {number|null} */ this.hovered = null;
    /** Shown as if they were selected while something about them is pointed at. @type {number[]|null} */
    this.lit = null;
    /** @type {SharedTimes|null} */ this.times = null;
    /** Only these nodes are wanted; null: all. @type {number[]|null} */ this.filtered = null;
    /** These nodes a search has found; null: nothing is searched. @type {number[]|null} */ this.found = null;
    /** Those that keep their colour, wanted and found; null: all. @type {number[]|null} */ this.kept = null;
    /** @type {Set<(group: Group) => void>} */ this.listeners = new Set();
  }

  /** What views show as selected. */
  get shown() {
    return this.lit ?? this.selected;
  }

  /** Have views show some nodes for as long as something about them is pointed at. @param {number[]|null} ids */
  light(ids) {
    if (ids === this.lit) return;
    this.lit = ids;
    this.notify();
  }

  /** @param {number[]} ids */
  select(ids) {
    if (same(ids, this.selected)) return;
    this.selected = ids.slice();
    this.notify();
    publish("select", this.selected);
  }

  /** @param {number|null} id */
  hover(id) {
    if (id === this.hovered) return;
    this.hovered = id;
    this.notify();
    publish("hover", id);
  }

  /** @param {number[]|null} ids */
  filter(ids) {
    if (ids === this.filtered || (ids && this.filtered && same(ids, this.filtered))) return;
    this.filtered = ids && ids.slice();
    this.keep();
    this.notify();
    publish("filter", this.filtered);
  }

  /** A search has found nodes; null: it has ended. @param {number[]|null} ids */
  find(ids) {
    if (ids === this.found || (ids && this.found && same(ids, this.found))) return;
    this.found = ids;
    this.keep();
    this.notify();
  }

  keep() {
    const { filtered, found } = this;
    const wanted = filtered && found ? new Set(filtered) : null;
    this.kept = wanted && found ? found.filter((id) => wanted.has(id)) : filtered ?? found;
  }

  notify() {
    for (const listener of Array.from(this.listeners)) listener(this);
  }
}

/** @type {Map<string, Group>} */
const groups = new Map();

/** @param {string} name @param {unknown} detail */
function publish(name, detail) {
  document.dispatchEvent(new CustomEvent(`gviz-${name}`, { detail }));
}

/** @param {number[]} a @param {number[]} b */
export function same(a, b) {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}

/** What the views of the graph page share. */
export const PAGE = "graph-page";

/** @param {string} name @returns {Group} */
export function group(name) {
  const known = groups.get(name);
  if (known) return known;
  const made = new Group();
  groups.set(name, made);
  return made;
}

/**
 * Subscribe to a group; returns the function that ends it.
 * @param {string} name @param {(group: Group) => void} listener
 */
export function subscribe(name, listener) {
  const joined = group(name);
  joined.listeners.add(listener);
  return () => {
    joined.listeners.delete(listener);
    if (!joined.listeners.size && groups.get(name) === joined) groups.delete(name);
  };
}
