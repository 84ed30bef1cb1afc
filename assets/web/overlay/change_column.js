/**
 * Change of a column from one graph to the other: tables on both have a column of one name. Of several nodes it is
 * the change of those that have a value on both sides.
 */
/** @import { Column, Overlay } from "./overlay.js" */

export class ChangeColumn {
  /** @param {Column} before @param {Column} after */
  constructor(before, after) {
    this.before = before;
    this.after = after;
    this.name = after.name;
    this.id = `overlay:change:${after.name}`;
    this.label = `${after.name}, B − A`;
    this.title = `${before.title} and ${after.title}`;
    /** @type {true} */ this.isNumber = true;
    /** @type {true} */ this.diverges = true;
    this.isSummed = after.isSummed;
    this.together = `${after.together} of those with a value in both`;
    /** Of texts, which it has none of. @type {Map<string, number>} */ this.places = new Map();
  }

  /** The change of a node; null: it has no value on a side. @param {number} id @returns {number|null} */
  of(id) {
    const [before, after] = [this.before.of(id), this.after.of(id)];
    return before === null || after === null ? null : Number(after) - Number(before);
  }

  /** The change of several nodes together. @param {Iterable<number>} ids @returns {number|null} */
  over(ids) {
    const both = this.inBoth(ids);
    return both.length ? Number(this.after.over(both)) - Number(this.before.over(both)) : null;
  }

  /** What several nodes together are coloured by. @param {number[]} ids @returns {number|null} */
  shade(ids) {
    const both = this.inBoth(ids);
    return both.length ? Number(this.after.shade(both)) - Number(this.before.shade(both)) : null;
  }

  /** @param {Iterable<number>} ids */
  inBoth(ids) {
    return Array.from(ids).filter((id) => this.of(id) !== null);
  }

  /** @param {number|string|null} value */
  write = (value) => {
    if (typeof value !== "number" || !value) return this.after.write(value);
    return `${value > 0 ? "+" : "−"}${this.after.write(Math.abs(value))}`;
  };
}

/** What changed between overlays of both sides: numbers of one name and one unit, of different files. @param {Overlay[]} list */
export function changesOf(list) {
  const [before, after] = ["A", "B"].map((side) => list.filter((overlay) => overlay.side === side).flatMap(({ columns }) =>
    columns.filter((column) => column.isNumber)));
  /** @type {Map<string, ChangeColumn>} */
  const found = new Map();
  for (const column of after) {
    const partner = before.find((other) => other.name === column.name && other.measure.unit === column.measure.unit &&
      other.overlay.source.open !== column.overlay.source.open);
    if (partner && !found.has(column.name)) found.set(column.name, new ChangeColumn(partner, column));
  }
  return Array.from(found.values());
}
