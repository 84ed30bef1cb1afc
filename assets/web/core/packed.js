/** Data of a saved file, which are gzip in base64. */

/** The bytes of packed data as they are unpacked. @param {string} text @returns {ReadableStream<Uint8Array>} */
export function unpacking(text) {
  const packed = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
}

/** The bytes of packed data. @param {string} text @returns {Promise<ArrayBuffer>} */
export const unpack = (text) => new Response(unpacking(text)).arrayBuffer();
