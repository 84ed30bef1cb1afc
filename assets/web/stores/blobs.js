/** The blobs of a saved file, and out of them the payloads that views request. */
import { unpack, unpacking } from "../core/packed.js";
import * as payloads from "../core/payload.js";
import * as layouts from "./layouts.js";
/** @import { Payload } from "../core/payload.js" */
/** @import { memoryOf } from "../inspector/memory_uses.js" */

/** @type {Map<string, Promise<any>>} what was unpacked, by name */
const unpacked = new Map();

/** A blob as it stands in the file. @param {string} name */
function textOf(name) {
  const element = document.getElementById(`blob-${name}`);
  if (!element) throw new Error(`this file has no ${name}`);
  return element.textContent;
}

/** Whether the file has a blob. @param {string} name */
export const has = (name) => document.getElementById(`blob-${name}`) !== null;

/** The bytes of a blob as they are unpacked. @param {string} name */
export const stream = (name) => unpacking(textOf(name));

/** The bytes of a blob. @param {string} name */
const bytes = async (name) => unpack(textOf(name));

/** A blob as bytes, unpacked once. @param {string} name @returns {Promise<ArrayBuffer>} */
function buffer(name) {
  const known = unpacked.get(name) ?? bytes(name);
  unpacked.set(name, known);
  return known;
}

/** A blob of JSON. @param {string} name @returns {Promise<any>} */
const read = async (name) => JSON.parse(new TextDecoder().decode(await bytes(name)));

/** A blob of JSON, unpacked and read once. @param {string} name @returns {Promise<any>} */
export function json(name) {
  const key = `${name} as JSON`;
  const known = unpacked.get(key) ?? read(name);
  unpacked.set(key, known);
  return known;
}

/** A blob of JSON that may be large, unpacked and read once. @param {string} name @returns {Promise<any>} */
export function members(name) {
  const key = `${name} by its members`;
  const known = unpacked.get(key) ?? bytes(name).then(payloads.readMembers);
  unpacked.set(key, known);
  return known;
}

/**
 * The payload of a source: the number of a graph, and the place of one of its headers or, behind a
 * question mark, how its DAG is requested.
 * @param {string} source
 * @returns {Promise<Payload>}
 */
export async function payload(source) {
  const [own, request] = source.split("?");
  if (request !== undefined) return layouts.ask(Number(own), textOf, layouts.read(new URLSearchParams(request)));
  const [graph, place] = own.split("/");
  const [{ headers, strings }, arrays] = await Promise.all([json(`graph-${graph}`), buffer(`arrays-${graph}`)]);
  const header = headers[place];
  return payloads.arrange({ ...header, strings: strings[header.strings] }, arrays, 0);
}

/**
 * The memory that a node is given.
 * @param {number} graph @param {number} level @param {number} node by its number on the page
 * @returns {Promise<ReturnType<typeof memoryOf>>}
 */
export const memory = (graph, level, node) => layouts.ask(graph, textOf, { level, node });
