/**
 * Sets of nodes as an address names them, by what makes them one: "family:add f32", "kernel:…", "nvtx:forward › mlp", "range:mlp",
 * "layer:layer 3", "block:backward › layer 3", "path:…", "finding:1", "fold:r0". A name is written only where it leads
 * back to the same nodes, whatever selected them.
 *
 * @typedef {{name: string, nodes: ArrayLike<number>}} NamedSet
 * @typedef {{nodes: () => Nodes|null, blocks: () => Blocks[], sets: () => NamedSet[]}} Sources  of names: the nodes, in whose
 *   columns they have something in common; the breakdown's blocks, of both its forms; other sets, which are there or not
 */
import * as nodeList from "../core/node_list.js";
/** @import { Blocks } from "../breakdown/blocks.js" */
/** @import { Nodes } from "../table/nodes.js" */

/** So few nodes are read as well by their ids. */
const FEW = 4;
/** An address names so many sets together. */
export const MOST_NAMED = 6;
/** Characters of all names of a selection, or of a filter. */
const MOST_CHARACTERS = 1500;
/** What names of kinds stand for: values of columns of the nodes. @type {[string, string][]} */
const COLUMNS = [["family", "family"], ["kernel", "name"], ["kind", "kind"]];
const INSIDE = " › ";

/** Nodes told apart by a label: a node has one, or none. */
class Parts {
  /** @param {string} kind @param {Nodes} nodes */
  constructor(kind, nodes) {
    this.kind = kind;
    this.nodes = nodes;
    /** The part of each node, by its place; -1: none. */
    this.codes = new Int32Array(nodes.ids.length).fill(-1);
    /** @type {Map<string, number>} */ this.codeOf = new Map();
    /** @type {number[]} */ this.sizes = [];
  }

  /** @param {number} at place of a node @param {string} label */
  put(at, label) {
    const code = this.codeOf.get(label) ?? this.sizes.length;
    if (code === this.sizes.length) {
      this.codeOf.set(label, code);
      this.sizes.push(0);
    }
    this.codes[at] = code;
    this.sizes[code] += 1;
  }

  /** The parts that some nodes are, whole and no others; null: they are not. @param {number[]} places */
  namesOf(places) {
    /** @type {Map<number, number>} */
    const counts = new Map();
    for (const at of places) {
      const code = this.codes[at];
      const count = counts.get(code) ?? 0;
      if (code < 0 || (!count && counts.size === MOST_NAMED)) return null;
      counts.set(code, count + 1);
    }
    for (const [code, count] of counts) if (count !== this.sizes[code]) return null;
    return Array.from(this.codeOf).filter(([, code]) => counts.has(code)).map(([label]) => `${this.kind}:${label}`);
  }

  /** How many of some nodes each part has. @param {Iterable<number>} places */
  countsOf(places) {
    const counts = new Uint32Array(this.sizes.length);
    for (const at of places) if (this.codes[at] >= 0) counts[this.codes[at]] += 1;
    return counts;
  }

  /** The nodes of a part; null: there is none of that label. @param {string} label */
  nodesOf(label) {
    const code = this.codeOf.get(label);
    return code === undefined ? null : this.nodes.ids.filter((_, at) => this.codes[at] === code);
  }
}

/** Nodes by the values of a column. @param {string} kind @param {string} column @param {Nodes} nodes */
function byColumn(kind, column, nodes) {
  const found = new Parts(kind, nodes);
  nodes.columns[column]?.forEach((value, at) => value && found.put(at, value));
  return found;
}

/**
 * Nodes by the blocks of a row: by their labels alone, or with those of the blocks around them.
 * @param {Nodes} nodes @param {Blocks} blocks @param {number} row @param {boolean} isPath
 */
function byBlock(nodes, blocks, row, isPath) {
  const found = new Parts(isPath ? "block" : blocks.rowKeys[row], nodes);
  for (let block = blocks.rowStart[row]; block < blocks.rowStart[row + 1]; block++) {
    const label = isPath ? blocks.pathOf(block).map((at) => blocks.labelOf(at)).join(INSIDE) : blocks.labels[block];
    for (const id of label ? blocks.nodesOf(block) : []) if (nodes.has(id)) found.put(nodes.place(id), label);
  }
  return found;
}

/** Nodes by the innermost range around them, wherever that is. @param {Nodes} nodes */
function byRange(nodes) {
  const found = new Parts("range", nodes);
  nodes.columns.nvtx?.forEach((path, at) => path && found.put(at, path.split(INSIDE).at(-1)));
  return found;
}

export class Names {
  /** @param {Sources} sources */
  constructor(sources) {
    this.sources = sources;
    /** Ways to tell nodes apart, made where they are asked for. @type {{nodes: Nodes|null, blocks: Blocks|undefined, made: Map<string, Parts>}} */
    this.kept = { nodes: null, blocks: undefined, made: new Map() };
    /** What was named last, by its nodes. @type {Map<number[], string[]>} */ this.known = new Map();
  }

  /** Some of what has names is another one by now. */
  forget() {
    this.known.clear();
  }

  /** What some nodes are called; empty: they have no name, or are few. @param {number[]} ids @returns {string[]} */
  namesOf(ids) {
    const nodes = this.sources.nodes();
    if (!nodes || ids.length <= FEW) return [];
    const known = this.known.get(ids);
    if (known) return known;
    const places = ids.map((id) => nodes.places.get(id) ?? -1);
    const found = places.includes(-1) ? null : this.find(nodes, ids, places);
    const names = found && found.join("").length <= MOST_CHARACTERS ? found : [];
    // Of one selection and one filter.
    if (this.known.size > 1) this.known.clear();
    this.known.set(ids, names);
    return names;
  }

  /** @param {Nodes} nodes @param {number[]} ids @param {number[]} places */
  find(nodes, ids, places) {
    let several = /** @type {string[]|null} */ (null);
    for (const parts of this.parts(nodes)) {
      const found = parts.namesOf(places);
      if (found?.length === 1) return found;
      if (found && (!several || found.length < several.length)) several = found;
    }
    const range = rangeOf(nodes, places);
    if (range) return [`nvtx:${range}`];
    const set = this.sources.sets().find((one) => isSame(one.nodes, ids));
    if (set) return [set.name];
    return several ?? this.made("range", () => byRange(nodes)).namesOf(places) ?? this.union(nodes, ids);
  }

  /**
   * Names of several kinds that some nodes are together, those first that have most of them, and the ids of the few
   * that are in none; null: more are.
   * @param {Nodes} nodes @param {number[]} ids
   */
  union(nodes, ids) {
    const all = new Set(ids);
    const left = new Set(ids);
    /** @type {string[]} */
    const found = [];
    while (left.size > FEW && found.length < MOST_NAMED - 1) {
      const best = this.largest(nodes, all, left);
      if (!best) return null;
      found.push(best.name);
      for (const id of Array.from(best.nodes)) left.delete(id);
    }
    if (left.size > FEW) return null;
    return left.size ? [...found, `id:${nodeList.write(Array.from(left), MOST_CHARACTERS).text}`] : found;
  }

  /**
   * Of what lies inside some nodes that which has most of those that are left; null: nothing has more than a few.
   * @param {Nodes} nodes @param {Set<number>} all @param {Set<number>} left @returns {NamedSet|null}
   */
  largest(nodes, all, left) {
    const places = (/** @type {Set<number>} */ some) => Array.from(some, (id) => nodes.place(id));
    const [inside, wanted] = [places(all), places(left)];
    let most = FEW;
    /** @type {(() => NamedSet)|null} */
    let best = null;
    for (const parts of [...this.parts(nodes), this.made("range", () => byRange(nodes))]) {
      const [whole, some] = [parts.countsOf(inside), parts.countsOf(wanted)];
      for (const [label, code] of parts.codeOf) {
        if (some[code] <= most || whole[code] !== parts.sizes[code]) continue;
        most = some[code];
        best = () => ({ name: `${parts.kind}:${label}`, nodes: parts.nodesOf(label) ?? [] });
      }
    }
    for (const set of this.sources.sets()) {
      const list = Array.from(set.nodes);
      const count = list.filter((id) => left.has(id)).length;
      if (count > most && list.every((id) => all.has(id))) [most, best] = [count, () => set];
    }
    return best && best();
  }

  /** What a filter is called: names, or else the ids of its nodes as far as there is room for all. @param {number[]} ids */
  filterOf(ids) {
    const names = this.namesOf(ids);
    const { text, kept } = nodeList.write(ids, MOST_CHARACTERS);
    return names.length ? names : kept === ids.length ? [`id:${text}`] : [];
  }

  /** The nodes of a name; null: there are none so called, or none yet. @param {string} name @returns {number[]|null} */
  nodesOf(name) {
    const nodes = this.sources.nodes();
    if (!nodes) return null;
    const [kind, ...rest] = name.split(":");
    const label = rest.join(":");
    if (kind === "id") return nodeList.read(label).filter((id) => nodes.has(id));
    if (kind === "nvtx" || kind === "range") return inRange(nodes, label, kind === "range");
    for (const parts of this.parts(nodes)) {
      const found = parts.kind === kind ? parts.nodesOf(label) : null;
      if (found) return found;
    }
    const set = this.sources.sets().find((one) => one.name === name);
    return set ? Array.from(set.nodes) : null;
  }

  /** All ways to tell the nodes apart, those that are coarse first. @param {Nodes} nodes @returns {Iterable<Parts>} */
  *parts(nodes) {
    const blocks = this.sources.blocks();
    if (this.kept.nodes !== nodes || this.kept.blocks !== blocks[0]) this.kept = { nodes, blocks: blocks[0], made: new Map() };
    for (const [kind, column] of COLUMNS) yield this.made(kind, () => byColumn(kind, column, nodes));
    for (const isPath of [false, true]) {
      for (const [form, one] of blocks.entries()) {
        // A family alone is one of the table's.
        const rows = one.rowKeys.map((_, row) => row).filter((row) => isPath ? row > 0 : one.rowKeys[row] !== "family");
        for (const row of rows) yield this.made(`${isPath} ${form} ${row}`, () => byBlock(nodes, one, row, isPath));
      }
    }
  }

  /** @param {string} key @param {() => Parts} make */
  made(key, make) {
    const known = this.kept.made.get(key) ?? make();
    this.kept.made.set(key, known);
    return known;
  }
}

/**
 * The nodes in a range, and in those inside it; null: none.
 * @param {Nodes} nodes @param {string} range @param {boolean} [innermost] those right inside it, wherever it is
 */
function inRange(nodes, range, innermost = false) {
  const paths = nodes.columns.nvtx ?? [];
  const isIn = (/** @type {string|undefined} */ path) =>
    path === range || (innermost ? path?.endsWith(INSIDE + range) : path?.startsWith(range + INSIDE));
  const found = nodes.ids.filter((_, at) => isIn(paths[at]));
  return found.length ? found : null;
}

/** The innermost range that has some nodes, if it has no others; "": none. @param {Nodes} nodes @param {number[]} places */
function rangeOf(nodes, places) {
  const paths = nodes.columns.nvtx;
  let common = /** @type {string[]|null} */ (null);
  for (const at of paths ? places : []) {
    /** @type {string[]} */
    const path = paths[at]?.split(INSIDE) ?? [];
    const end = common ? common.findIndex((one, depth) => one !== path[depth]) : -1;
    common = end < 0 ? common ?? path : common?.slice(0, end) ?? null;
    if (!common?.length) return "";
  }
  const range = common?.join(INSIDE) ?? "";
  return range && inRange(nodes, range)?.length === places.length ? range : "";
}

/** Whether these are the same nodes in any order. @param {ArrayLike<number>} some @param {number[]} ids */
function isSame(some, ids) {
  if (some.length !== ids.length) return false;
  const known = new Set(ids);
  return Array.from(some).every((id) => known.has(id));
}
