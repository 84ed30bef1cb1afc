/** Orders and neighbours by whole numbers: stable, and linear in what is sorted. */

/** @typedef {Int32Array|Uint32Array} Ints */

/**
 * The places of values in ascending order of them; equal ones stay as they are.
 * @param {ArrayLike<number>} values from 0 @param {Uint32Array} [among] the order before, of all places
 */
export function sortedBy(values, among) {
  const count = values.length;
  let most = -1;
  for (let i = 0; i < count; i++) most = Math.max(most, values[i]);
  const begin = new Uint32Array(most + 2);
  for (let i = 0; i < count; i++) begin[values[i] + 1] += 1;
  for (let v = 0; v <= most; v++) begin[v + 1] += begin[v];
  const found = new Uint32Array(count);
  for (let k = 0; k < count; k++) {
    const i = among ? among[k] : k;
    found[begin[values[i]]++] = i;
  }
  return found;
}

/**
 * The nodes at the other ends of each node's edges, in the order of the edges: those of node n are
 * `list[first[n]]` to before `list[first[n + 1]]`.
 * @param {number} count of nodes @param {Ints} here @param {Ints} there the ends of each edge
 */
export function neighbours(count, here, there) {
  const first = new Uint32Array(count + 1);
  for (let e = 0; e < here.length; e++) first[here[e] + 1] += 1;
  for (let n = 0; n < count; n++) first[n + 1] += first[n];
  const at = first.slice(), list = new Uint32Array(here.length);
  for (let e = 0; e < here.length; e++) list[at[here[e]]++] = there[e];
  return { first, list };
}

/** Rounded; halves to the even neighbour, as Python does. @param {number} value */
export function roundEven(value) {
  const low = Math.floor(value), rest = value - low;
  if (rest !== 0.5) return Math.round(value);
  return low % 2 === 0 ? low : low + 1;
}

/** The first place of a sorted list whose value is not less. @param {ArrayLike<number>} values @param {number} wish */
export function bisectLeft(values, wish) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < wish) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first place of a sorted list whose value is greater. @param {ArrayLike<number>} values @param {number} wish */
export function bisectRight(values, wish) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= wish) low = middle + 1;
    else high = middle;
  }
  return low;
}
