/** Nodes by the colour they have. */

/**
 * Nodes in order of a byte each: neighbours in this order share a fill.
 * @param {Uint8Array} bytes
 */
export function inOrderOf(bytes) {
  const start = new Int32Array(257);
  for (const b of bytes) start[b + 1] += 1;
  for (let b = 0; b < 256; b++) start[b + 1] += start[b];
  const order = new Int32Array(bytes.length);
  for (let i = 0; i < bytes.length; i++) order[start[bytes[i]]++] = i;
  return order;
}
