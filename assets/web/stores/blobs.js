/** The blobs of a saved file, and out of them the payloads that views request. */
import * as payloads from "../core/payload.js";

/** @type {Map<string, Promise<any>>} what was unpacked, by name */
const unpacked = new Map();

/** The bytes of a blob as they are unpacked. @param {string} name @returns {ReadableStream<Uint8Array>} */
export function stream(name) {
  const element = document.getElementById(`blob-${name}`);
  if (!element) throw new Error(`this file has no ${name}`);
  const text = atob(element.textContent);
  const packed = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) packed[at] = text.charCodeAt(at);
  return new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
}

/** The bytes of a blob. @param {string} name @returns {Promise<ArrayBuffer>} */
async function bytes(name) {
  return new Response(stream(name)).arrayBuffer();
}

/** A blob as bytes, unpacked once. @param {string} name @returns {Promise<ArrayBuffer>} */
function buffer(name) {
  const known = unpacked.get(name) ?? bytes(name);
  unpacked.set(name, known);
  return known;
}

/** A blob of JSON, unpacked and read once. @param {string} name @returns {Promise<any>} */
export function json(name) {
  const key = `${name} as JSON`;
  const known = unpacked.get(key) ?? bytes(name).then((data) => JSON.parse(new TextDecoder().decode(data)));
  unpacked.set(key, known);
  return known;
}

/**
 * The payload of a source: the number of a graph, the place of one of its headers, and "plain"
 * where what edges carry is not wanted.
 * @param {string} source
 */
export async function payload(source) {
  const [graph, place, plain] = source.split("/");
  const [{ headers, strings, data_arrays: carried }, arrays] = await Promise.all([
    json(`graph-${graph}`),
    buffer(`arrays-${graph}`),
  ]);
  const header = { ...headers[place], strings: strings[headers[place].strings] };
  if (plain) {
    const kept = Object.entries(header.arrays).filter(([name]) => !carried.includes(name));
    header.arrays = Object.fromEntries(kept);
  }
  return payloads.arrange(header, arrays, 0);
}
