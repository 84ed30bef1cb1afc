/** Data of a saved file, which are gzip in base64. */

import { turn } from "./pace.js";

/** Characters that are read, and bytes that are written, in one go: a few ms, with unpacking. They are whole groups of base64. */
const PIECE = 1 << 18;
const WRITTEN = 3 << 18;

/** The bytes of a text of base64, piece by piece. @param {string} text @returns {ReadableStream<Uint8Array<ArrayBuffer>>} */
function bytesOf(text) {
  let from = 0;
  return new ReadableStream({
    async pull(to) {
      // Pieces follow each other in one task of the browser's unless the page has its turn.
      if (from) await turn();
      const packed = atob(text.slice(from, from + PIECE));
      from += PIECE;
      const bytes = new Uint8Array(packed.length);
      for (let at = 0; at < packed.length; at++) bytes[at] = packed.charCodeAt(at);
      to.enqueue(bytes);
      if (from >= text.length) to.close();
    },
  });
}

/** The bytes of packed data as they are unpacked. @param {string} text @returns {ReadableStream<Uint8Array>} */
export const unpacking = (text) => bytesOf(text).pipeThrough(new DecompressionStream("gzip"));

/** The bytes of packed data. @param {string} text @returns {Promise<ArrayBuffer>} */
export const unpack = (text) => new Response(unpacking(text)).arrayBuffer();

/** The text of data that are packed, in pieces. @param {ReadableStream<Uint8Array>} stream of their bytes @returns {Promise<string[]>} */
export async function packing(stream) {
  const packer = /** @type {ReadableWritablePair<Uint8Array, Uint8Array>} */ (new CompressionStream("gzip"));
  const packed = await new Response(/** @type {any} */ (stream.pipeThrough(packer))).blob();
  /** @type {string[]} */
  const pieces = [];
  for (let from = 0; from < packed.size; from += WRITTEN) {
    const bytes = new Uint8Array(await packed.slice(from, from + WRITTEN).arrayBuffer());
    pieces.push(btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")));
  }
  return pieces;
}
