/**
 * What views on one page share without a server: selection, hover and filter, by group.
 *
 * A group lives while a view subscribes to it. Values are replaced, never changed in place. What is
 * no view (tables, inspector) hears of them as the document's events "gviz-select", "gviz-hover" and
 * "gviz-filter".
 */
(function () {
  "use strict";
  const gviz = (window.gviz = window.gviz || {});

  class Group {
    constructor() {
      /** @type {number[]} */ this.selected = [];
      /** @type {number|null} */ this.hovered = null;
      /** What timeline and memory view look at: shared_times.js. @type {Object|null} */ this.times = null;
      /** Only these nodes are wanted; null: all. @type {number[]|null} */ this.filtered = null;
      /** @type {Set<function(Group): void>} */ this.listeners = new Set();
    }

    /** @param {number[]} ids */
    select(ids) {
      if (same(ids, this.selected)) return;
      this.selected = ids.slice();
      this.tell();
      publish("select", this.selected);
    }

    /** @param {number|null} id */
    hover(id) {
      if (id === this.hovered) return;
      this.hovered = id;
      this.tell();
      publish("hover", id);
    }

    /** @param {number[]|null} ids */
    filter(ids) {
      if (ids === this.filtered || (ids && this.filtered && same(ids, this.filtered))) return;
      this.filtered = ids && ids.slice();
      this.tell();
      publish("filter", this.filtered);
    }

    tell() {
      for (const listener of Array.from(this.listeners)) listener(this);
    }
  }

  /** @type {Map<string, Group>} */
  const groups = new Map();

  function publish(name, detail) {
    document.dispatchEvent(new CustomEvent(`gviz-${name}`, { detail }));
  }

  /** @param {number[]} a @param {number[]} b */
  function same(a, b) {
    return a.length === b.length && a.every((value, i) => value === b[i]);
  }

  gviz.bus = {
    /** What the views of the graph page share; LINK_GROUP in gviz.app.pages.graph. */
    PAGE: "graph-page",
    /** @param {string} name @returns {Group} */
    group(name) {
      if (!groups.has(name)) groups.set(name, new Group());
      return groups.get(name);
    },
    /** Subscribe to a group; returns the function that ends it. */
    subscribe(name, listener) {
      const group = this.group(name);
      group.listeners.add(listener);
      return () => {
        group.listeners.delete(listener);
        if (!group.listeners.size && groups.get(name) === group) groups.delete(name);
      };
    },
    same,
  };
})();
