/** Widths of columns in the room there is: none is cut at its edge. */

/** @typedef {{width?: number, minWidth?: number, flex?: number}} Wide  a column; those that flex have a least width */

/** @param {Wide} column */
const leastOf = (column) => (column.flex ? column.minWidth : column.width) ?? 0;

/**
 * The width of each column. Where there is room for all, those that flex share what the others leave; else as many as fit
 * take the room as a whole, and the rest is scrolled to.
 * @param {Wide[]} columns @param {number} room
 */
export function widthsOf(columns, room) {
  let fitting = 0, used = 0, flexible = 0;
  while (fitting < columns.length && used + leastOf(columns[fitting]) <= room) {
    used += leastOf(columns[fitting]);
    flexible += columns[fitting].flex ?? 0;
    fitting += 1;
  }
  const left = flexible ? (room - used) / flexible : 0;
  return columns.map((column, n) => leastOf(column) + (n < fitting ? left * (column.flex ?? 0) : 0));
}
