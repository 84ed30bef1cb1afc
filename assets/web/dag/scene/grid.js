/** A uniform grid over the plane: which nodes stand in a rectangle, which is under a point. */

/** About this many nodes a cell. */
const FILL = 8;

export class Grid {
  /**
   * @param {Float32Array} x centres @param {Float32Array} y centres
   * @param {number} width plane @param {number} height plane
   */
  constructor(x, y, width, height) {
    const cells = Math.max(1, x.length / FILL);
    const side = Math.max(1, Math.sqrt((Math.max(1, width) * Math.max(1, height)) / cells));
    this.side = side;
    this.columns = Math.max(1, Math.ceil(width / side));
    this.rows = Math.max(1, Math.ceil(height / side));
    const cell = new Int32Array(x.length);
    const start = new Int32Array(this.columns * this.rows + 1);
    for (let i = 0; i < x.length; i++) {
      cell[i] = this.cellOf(x[i], y[i]);
      start[cell[i] + 1] += 1;
    }
    for (let c = 0; c < start.length - 1; c++) start[c + 1] += start[c];
    const next = start.slice();
    const items = new Int32Array(x.length);
    for (let i = 0; i < x.length; i++) items[next[cell[i]]++] = i;
    this.start = start;
    this.items = items;
  }

  /** @param {number} x @param {number} y */
  cellOf(x, y) {
    const c = Math.min(this.columns - 1, Math.max(0, Math.floor(x / this.side)));
    const r = Math.min(this.rows - 1, Math.max(0, Math.floor(y / this.side)));
    return r * this.columns + c;
  }

  /**
   * Call `visit(index)` for every node whose cell touches the rectangle.
   * @param {number} left @param {number} top @param {number} right @param {number} bottom
   * @param {(index: number) => void} visit
   */
  visit(left, top, right, bottom, visit) {
    const c0 = Math.max(0, Math.floor(left / this.side));
    const c1 = Math.min(this.columns - 1, Math.floor(right / this.side));
    const r0 = Math.max(0, Math.floor(top / this.side));
    const r1 = Math.min(this.rows - 1, Math.floor(bottom / this.side));
    for (let r = r0; r <= r1; r++) {
      const from = this.start[r * this.columns + c0];
      const to = this.start[r * this.columns + c1 + 1];
      if (c0 <= c1) for (let k = from; k < to; k++) visit(this.items[k]);
    }
  }
}
