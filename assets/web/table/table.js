/**
 * A table of nodes, or of groups of them: sorted, searched, and only as many rows as are in view.
 *
 * @typedef {{search: string, only: Set<number>|null}} Narrowed  rows: what is searched, and nodes there are
 * @typedef {Narrowed & {by: string, falling: boolean, open: Set<number>}} How  rows are shown; `open`: groups by
 *   their places
 * @typedef {{row: (id: number) => Record<string, any>, nodesOf: (id: number) => number[],
 *   arrange: (how: How) => number[], order?: (how: How) => number[], isGroup?: (id: number) => boolean,
 *   around?: (node: number) => number|null, widest?: number}} Rows  what a table shows: rows by a number, and
 *   the nodes each is about; of a tree also which rows are groups, the one around a node, all nodes in the
 *   order of the rows, and the greatest share of a group
 * @typedef {{group: Group, name: string, label: string, open?: (nodes: number[]) => void,
 *   changed?: (how: How) => void, chooses?: () => boolean}} Page  whose nodes; `open` shows those of a row,
 *   `changed` hears of another order and of groups opened; rows select their nodes unless `chooses` denies it
 */
import * as colour from "../core/colour.js";
import * as csv from "./csv.js";
import { closest } from "../core/dom.js";
import * as format from "../core/format.js";
import { element } from "../core/parts.js";
import * as picture from "../core/picture.js";
import { codeOf } from "./families.js";
import { widthsOf } from "./widths.js";
/** @import { Group } from "../core/bus.js" */

/** Height of a row and of the head (CSS pixels), as in table.css. */
const ROW = 30;
const HEAD = 34;
/** Rows beyond the view on either side, so that scrolling shows no gap. */
const MORE = 8;
/** @type {Record<string, (value: any) => string>} */
const SHOWN_AS = {
  gvizMicroseconds: format.microseconds, gvizSignedMicroseconds: format.signedMicroseconds,
  gvizPercent: format.percent, gvizSignedPercent: format.signedPercent,
};

/**
 * @typedef {{field: string, colId?: string, headerName: string, headerTooltip?: string, tooltipField?: string,
 *   type?: string, hide?: boolean, sort?: string, width?: number, minWidth?: number, by?: string, bar?: boolean,
 *   saved?: string[], flex?: number, valueFormatter?: {function: string}, write?: (value: any) => string}} Column  as gviz.app.views.table.table
 *   has them; `by`: what rows are sorted by where that is another value; `bar`: a share that groups show as a bar;
 *   `saved`: what stands in CSV files instead
 */

/**
 * The text of a cell.
 * @param {Column} column @param {any} value
 */
function textOf(column, value) {
  if (column.write) return value === null || value === undefined ? "" : column.write(value);
  const [name] = /^\w+/.exec(column.valueFormatter?.function || "") || [];
  if (name) return SHOWN_AS[name](value);
  return value === null || value === undefined ? "" : String(value);
}

/** The column of buttons that show the nodes of a row. */
const OPEN = "open";

/** What rows are sorted by. @param {Column} column */
const byOf = (column) => column.by ?? column.field;

/** @param {Column} column */
const isNumber = (column) => column.type === "numericColumn";

/** @param {Record<string, any>} values of a row */
function openButton({ name }) {
  return element("button", {
    // Its row is what the keyboard reaches: Enter there does the same.
    type: "button", class: "gv-button gv-copy", tabindex: "-1", title: "Show only these nodes (Enter)",
    "aria-label": `Show only the nodes of ${name}`,
  }, "Show");
}

/** How many nodes a row is about, and how many of them are selected. @param {number} part @param {number} count */
function countOf(part, count) {
  return part ? `${format.integer(part)} of ${format.integer(count)}` : format.integer(count);
}

/** Counts of what is shown as selected, none made yet. @param {number[]} shown */
const countedOf = (shown) => ({ shown, chosen: new Set(shown), parts: /** @type {Map<number, number>} */ (new Map()) });

/**
 * A bar as long as a value is of the greatest; what has no value has none.
 * @param {number|null} value @param {number} widest @param {string} fill
 */
export function shareBar(value, widest, fill) {
  const style = { width: `${(100 * (value ?? 0)) / widest}%`, background: fill };
  const bar = value === null ? [] : [element("i", { class: "gv-share", "aria-hidden": "true", style })];
  return element("span", { class: "gv-share-room" }, ...bar);
}

export class Table {
  /**
   * @param {HTMLElement} box @param {Column[]} columns @param {Rows} content @param {Page} page
   * @param {Partial<How>} [how] rows are shown at first
   */
  constructor(box, columns, content, page, how = {}) {
    this.box = box;
    this.content = content;
    this.page = page;
    this.columns = columns.filter((column) => !column.hide);
    const sorted = this.columns.find((column) => column.sort);
    /** The order at first. */
    this.first = { by: byOf(sorted ?? this.columns[0]), falling: !!sorted };
    /** @type {How} */
    this.how = { search: "", only: null, open: new Set(), ...this.first, ...how };
    /** How many nodes of a row are selected, by row, as far as it was counted. */
    this.counted = countedOf([]);
    /** The rows shown, in order. @type {number[]} */ this.rows = [];
    /** @type {Map<number, number>} */ this.lines = new Map();
    /** The rows drawn: from which, to before which. */ this.top = this.end = -1;
    /** The row that keys go on from. @type {number|undefined} */ this.active = undefined;
    this.table = element("table", {
      role: content.isGroup ? "treegrid" : "grid", "aria-label": page.label, "aria-multiselectable": "true", tabindex: "0", class: "gv-row-table",
    });
    this.body = element("tbody");
    this.widths = this.columns.map(() => element("col"));
    this.heads = this.columns.map((column) => this.head(column));
    this.build();
    this.observer = new ResizeObserver(() => {
      this.stretch();
      this.draw();
    });
    this.observer.observe(this.box);
    this.listen();
    this.arrange();
  }

  /** @param {Column} column */
  head(column) {
    if (column.field === OPEN) return element("th", { scope: "col", title: column.headerTooltip ?? "" }, column.headerName);
    const button = element("button", { type: "button" }, column.headerName);
    if (column.headerTooltip) button.title = column.headerTooltip;
    button.addEventListener("click", () => this.sort(column));
    return element("th", { class: isNumber(column) ? "gv-number" : "", scope: "col" }, button);
  }

  build() {
    this.table.append(
      element("colgroup", {}, ...this.widths),
      element("thead", {}, element("tr", { role: "row", "aria-rowindex": "1" }, ...this.heads)),
      this.body
    );
    this.box.append(this.table);
  }

  listen() {
    this.box.addEventListener("scroll", () => this.draw(), { passive: true });
    this.body.addEventListener("click", (event) => {
      const id = this.rowOf(event);
      if (id === null) return;
      if (closest(event, ".gv-twist")) this.toggleOpen(id);
      else if (closest(event, "button")) this.openRow(id);
      else this.click(id, event);
    });
    this.body.addEventListener("dblclick", (event) => this.openRow(this.rowOf(event)));
    this.body.addEventListener("pointerover", (event) => {
      const id = this.rowOf(event);
      const nodes = id === null ? [] : this.content.nodesOf(id);
      this.page.group.hover(nodes.length === 1 ? nodes[0] : null);
    });
    this.body.addEventListener("pointerleave", () => this.page.group.hover(null));
    this.table.addEventListener("keydown", (event) => this.key(event));
  }

  /** The row that an event happened at; null: none. @param {Event} event */
  rowOf(event) {
    const row = closest(event, "tr[data-row]");
    return row ? Number(row.dataset.row) : null;
  }

  /** Open a group or close it; of other rows show the nodes, and only them. @param {number|null} id */
  openRow(id) {
    if (id === null) return;
    if (this.isGroup(id)) this.toggleOpen(id);
    else this.page.open?.(this.content.nodesOf(id));
  }

  /** @param {number} id */
  isGroup(id) {
    return !!this.content.isGroup?.(id);
  }

  /** Whether a group is open. @param {number} id */
  isOpen(id) {
    return this.how.open.has(codeOf(id));
  }

  /** Open a group, or close it. @param {number} id */
  toggleOpen(id) {
    const open = new Set(this.how.open);
    if (!open.delete(codeOf(id))) open.add(codeOf(id));
    this.how.open = open;
    this.arrange();
    this.page.changed?.(this.how);
  }

  /** Give the columns their widths. */
  stretch() {
    const widths = widthsOf(this.columns, this.box.clientWidth);
    widths.forEach((width, n) => (this.widths[n].style.width = `${width}px`));
    this.table.style.width = `${widths.reduce((sum, width) => sum + width, 0)}px`;
  }

  destroy() {
    this.observer.disconnect();
    this.box.replaceChildren();
  }

  // -- what is shown --------------------------------------------------------------------

  /**
   * Rising first for texts, falling first for numbers: the slowest are looked for.
   * @param {Column} column
   */
  sort(column) {
    const { by, falling } = this.how;
    const next = byOf(column) === by ? !falling : isNumber(column) && column.field !== "node";
    this.change({ by: byOf(column), falling: next });
    this.page.changed?.(this.how);
  }

  /** The order of the rows in a word, "-" before it where it falls; "": that at first. */
  get sorting() {
    const { by, falling } = this.how;
    return by === this.first.by && falling === this.first.falling ? "" : `${falling ? "-" : ""}${by}`;
  }

  /** The order that a word says. @param {string} sorting */
  orderOf(sorting) {
    const by = sorting.replace(/^-/, "");
    return this.columns.some((column) => byOf(column) === by) ? { by, falling: sorting.startsWith("-") } : this.first;
  }

  /** @param {Partial<How>} how */
  change(how) {
    Object.assign(this.how, how);
    this.box.scrollTop = 0;
    this.arrange();
  }

  /** Show other columns; rows keep their order, where what they are sorted by is still there. @param {Column[]} columns */
  showColumns(columns) {
    this.columns = columns.filter((column) => !column.hide);
    this.widths = this.columns.map(() => element("col"));
    this.heads = this.columns.map((column) => this.head(column));
    this.table.replaceChildren();
    this.build();
    this.stretch();
    this.arrange();
  }

  /** Show other rows, in the order and at the place that these have. @param {Rows} content */
  replace(content) {
    this.content = content;
    this.counted.parts.clear();
    this.arrange();
  }

  arrange() {
    this.rows = this.content.arrange(this.how);
    this.lines = new Map(this.rows.map((id, line) => [id, line]));
    this.columns.forEach((column, n) => {
      const way = this.how.falling ? "descending" : "ascending";
      this.heads[n].setAttribute("aria-sort", byOf(column) === this.how.by ? way : "none");
    });
    this.table.setAttribute("aria-rowcount", String(this.rows.length + 1));
    this.draw(true);
  }

  /** Draw the rows in view. @param {boolean} [anew] also where they are the same as before */
  draw(anew = false) {
    const top = Math.max(0, Math.floor(this.box.scrollTop / ROW) - MORE);
    const end = Math.min(this.rows.length, Math.ceil((this.box.scrollTop + this.box.clientHeight) / ROW) + MORE);
    if (!anew && top === this.top && end === this.end) return;
    this.top = top;
    this.end = end;
    /** @param {number} rows */
    const space = (rows) => {
      const cell = element("td", { colspan: String(this.columns.length), style: { height: `${rows * ROW}px` } });
      return rows > 0 ? [element("tr", { class: "gv-row-space", "aria-hidden": "true" }, cell)] : [];
    };
    const shown = this.rows.slice(top, end).map((id, n) => this.row(id, top + n));
    if (!this.rows.length) shown.push(this.nothing());
    this.body.replaceChildren(...space(top), ...shown, ...space(this.rows.length - end));
    this.mark();
  }

  /** @param {number} id @param {number} line */
  row(id, line) {
    const values = this.content.row(id);
    const cells = this.columns.map((column) => {
      if (column.field === OPEN) return element("td", {}, openButton(values));
      const attributes = { class: isNumber(column) ? "gv-number" : "", "data-field": column.colId ?? column.field };
      const cell = element("td", attributes, ...this.partsOf(id, column, values));
      if (column.colId === "name") cell.style.setProperty("--gv-family", colour.ofFamily(values.slot));
      const tip = column.tooltipField && values[column.tooltipField];
      if (tip) cell.title = tip;
      return cell;
    });
    return element("tr", {
      role: "row", "data-row": String(id), ...this.kindOf(id),
      id: `${this.box.id}-row-${id}`, "aria-rowindex": String(line + 2),
    }, ...cells);
  }

  /** What a row is: a group, open or not, or a node, or a row about several. @param {number} id */
  kindOf(id) {
    if (this.isGroup(id)) return { class: "gv-row-group", "aria-level": "1", "aria-expanded": String(this.isOpen(id)) };
    const nodes = this.content.nodesOf(id);
    return {
      ...(nodes.length === 1 ? { "data-node": String(nodes[0]) } : {}),
      ...(this.content.isGroup ? { class: "gv-row-inner", "aria-level": "2" } : {}),
    };
  }

  /** What a cell shows. @param {number} id @param {Column} column @param {Record<string, any>} values */
  partsOf(id, column, values) {
    const text = textOf(column, values[column.field]);
    if (!this.isGroup(id)) return [text];
    // Its row is what the keyboard reaches, and says whether it is open.
    if (column.colId === "name") return [element("span", { class: "gv-twist", "aria-hidden": "true" }), text];
    if (!column.bar || !this.content.widest) return [text];
    return [shareBar(values[column.field], this.content.widest, colour.ofFamily(values.slot)), text];
  }

  nothing() {
    const cell = element("td", { colspan: String(this.columns.length), class: "gv-muted" }, "No node matches.");
    return element("tr", {}, cell);
  }

  /** Show which rows are selected and hovered. */
  mark() {
    const { hovered } = this.page.group;
    for (const row of this.body.rows) {
      if (row.dataset.row === undefined) continue;
      const nodes = this.content.nodesOf(Number(row.dataset.row));
      const part = this.partOf(Number(row.dataset.row));
      row.setAttribute("aria-selected", String(part > 0 && part === nodes.length));
      row.classList.toggle("gv-row-part", part > 0 && part < nodes.length);
      row.classList.toggle("gv-pointed", nodes.length === 1 && nodes[0] === hovered);
      const count = row.matches("[data-node]") ? null : row.querySelector("td[data-field=count]");
      if (count) count.textContent = countOf(part, nodes.length);
    }
    const active = document.getElementById(`${this.box.id}-row-${this.active}`);
    if (active) this.table.setAttribute("aria-activedescendant", active.id);
    else this.table.removeAttribute("aria-activedescendant");
  }

  /** How many nodes of a row are shown as selected. @param {number} id */
  partOf(id) {
    const { shown } = this.page.group;
    if (this.counted.shown !== shown) this.counted = countedOf(shown);
    const { chosen, parts } = this.counted;
    const known = parts.get(id);
    if (known !== undefined) return known;
    let part = 0;
    if (chosen.size) for (const node of this.content.nodesOf(id)) if (chosen.has(node)) part += 1;
    parts.set(id, part);
    return part;
  }

  /**
   * Bring a node's row into view, or that of the closed group around it, where it is shown at all.
   * @param {number} node
   */
  show(node) {
    const id = this.lines.has(node) ? node : this.content.around?.(node) ?? node;
    this.goTo(id);
  }

  /** Bring a row into view; keys go on from it. @param {number} id */
  goTo(id) {
    const line = this.lines.get(id);
    this.active = id;
    if (line === undefined) return;
    const room = this.box.clientHeight - HEAD;
    const y = line * ROW;
    if (y < this.box.scrollTop) this.box.scrollTop = y;
    else if (y + ROW > this.box.scrollTop + room) this.box.scrollTop = y + ROW - room;
    this.draw();
    this.mark();
  }

  // -- choosing -------------------------------------------------------------------------

  /** @param {number} id @param {MouseEvent} event */
  click(id, event) {
    const from = this.lines.get(this.active ?? -1);
    if (event.shiftKey && from !== undefined) {
      const [a, b] = [from, this.lines.get(id) ?? from].sort((x, y) => x - y);
      return this.select(this.rows.slice(a, b + 1));
    }
    this.active = id;
    return event.ctrlKey || event.metaKey ? this.toggle(id) : this.select([id]);
  }

  /** @param {number[]} ids of rows */
  select(ids) {
    if (this.page.chooses && !this.page.chooses()) return this.mark();
    this.page.group.select(this.ordered(ids.flatMap((id) => this.content.nodesOf(id))));
  }

  /** Nodes one by one in the order they were chosen in, of names in their own. @param {number[]} nodes */
  ordered(nodes) {
    return this.page.open || this.content.isGroup ? nodes.toSorted((a, b) => a - b) : nodes;
  }

  /** Select a row besides what is selected; one that is, no more. @param {number} id */
  toggle(id) {
    const { selected } = this.page.group;
    const nodes = this.content.nodesOf(id);
    const own = new Set(nodes);
    const others = selected.filter((node) => !own.has(node));
    const isWhole = selected.length - others.length === nodes.length;
    this.page.group.select(isWhole ? others : this.ordered([...others, ...nodes]));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== this.table) return;
    if (event.key === "Escape") return this.page.group.select([]);
    if (event.key === "Enter" && this.active !== undefined) return this.openRow(this.active);
    if (event.key === " " && this.active !== undefined) {
      event.preventDefault();
      return this.toggle(this.active);
    }
    if (this.content.isGroup && this.turn(event)) return event.preventDefault();
    const page = Math.max(1, Math.floor((this.box.clientHeight - HEAD) / ROW) - 1);
    /** @type {Record<string, number|undefined>} */
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    const step = steps[event.key];
    if (!step || !this.rows.length) return;
    event.preventDefault();
    const line = this.lines.get(this.active ?? -1) ?? (step > 0 ? -1 : this.rows.length);
    const next = this.rows[Math.max(0, Math.min(this.rows.length - 1, line + step))];
    this.moveTo(next);
  }

  /** @param {number} id of a row */
  moveTo(id) {
    this.select([id]);
    this.goTo(id);
  }

  /** Go into a group with the right arrow, and out of it with the left one. @param {KeyboardEvent} event */
  turn({ key }) {
    if (this.active === undefined || (key !== "ArrowRight" && key !== "ArrowLeft")) return false;
    const [isGroup, isInto] = [this.isGroup(this.active), key === "ArrowRight"];
    if (isGroup && isInto !== this.isOpen(this.active)) this.toggleOpen(this.active);
    else if (isGroup && isInto) this.moveTo(this.rows[(this.lines.get(this.active) ?? 0) + 1]);
    else if (!isGroup && !isInto) this.moveTo(this.content.around?.(this.active) ?? this.active);
    return true;
  }

  // -- taking away ----------------------------------------------------------------------

  /** The rows shown, as recorded, in the units that the names say. */
  saveCsv() {
    const names = this.columns.flatMap((column) => column.saved ?? [column.colId ?? column.field]).filter((name) => name !== OPEN);
    const text = csv.textOf(names, this.rows.map((id) => this.content.row(id)));
    const blob = new Blob(["\ufeff", text], { type: "text/csv" });
    picture.download(blob, `${csv.nameOf(this.page.name)}.csv`);
  }
}
