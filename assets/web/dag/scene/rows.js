/** Intervals in lanes: which stand in a rectangle. The counterpart of dag/scene/grid.js along time. */

export class Rows {
  /**
   * @param {Float32Array} x middles @param {Float32Array} half widths
   * @param {Float32Array} y middles of lanes @param {number} height of what stands in them
   */
  constructor(x, half, y, height) {
    this.x = x;
    this.half = half;
    /** @type {Map<number, number[]>} */
    const lanes = new Map();
    for (let i = 0; i < x.length; i++) {
      const lane = lanes.get(y[i]);
      if (lane) lane.push(i);
      else lanes.set(y[i], [i]);
    }
    /** Lanes from top to bottom, each in order of time: they do not overlap. */
    this.lanes = Array.from(lanes, ([middle, items]) => {
      items.sort((a, b) => x[a] - half[a] - (x[b] - half[b]) || a - b);
      return { middle, items };
    }).sort((a, b) => a.middle - b.middle);
    this.height = height;
  }

  /**
   * Call `visit(index)` for every node that touches the rectangle.
   * @param {number} left @param {number} top @param {number} right @param {number} bottom
   * @param {(index: number) => void} visit
   */
  visit(left, top, right, bottom, visit) {
    for (const { middle, items } of this.lanes) {
      if (middle + this.height / 2 < top || middle - this.height / 2 > bottom) continue;
      for (let at = this.first(items, left); at < items.length; at++) {
        const i = items[at];
        if (this.x[i] - this.half[i] > right) break;
        visit(i);
      }
    }
  }

  /**
   * The first item that ends at or after `left`.
   * @param {number[]} items @param {number} left
   */
  first(items, left) {
    let low = 0;
    let high = items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const i = items[middle];
      if (this.x[i] + this.half[i] < left) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
