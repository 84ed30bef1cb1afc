/**
 * Reads the binary payload of gviz.app.views.wire: header length, JSON header, typed arrays.
 *
 * @typedef {{header: any, [name: string]: any}} Payload
 */
import { Pace } from "./pace.js";

const NEWLINE = 10;
/** @type {Record<string, new (...given: any[]) => any>} */
const KINDS = {
  u1: Uint8Array,
  u4: Uint32Array,
  i4: Int32Array,
  f4: Float32Array,
  f8: Float64Array,
};

/**
 * The members of a large object of JSON that has a line for each (gviz.app.views.wire.by_lines); between them the page has its
 * turn.
 * @param {ArrayBuffer} buffer @returns {Promise<Record<string, any>>}
 */
export async function readMembers(buffer) {
  const bytes = new Uint8Array(buffer), decoder = new TextDecoder(), pace = new Pace();
  const found = {};
  // Without the braces around all; a comma ends each line but the last.
  for (let from = 1; from < bytes.length - 1;) {
    const newline = bytes.indexOf(NEWLINE, from);
    const end = newline < 0 ? bytes.length : newline;
    Object.assign(found, JSON.parse(`{${decoder.decode(bytes.subarray(from, end - 1))}}`));
    from = end + 1;
    await pace.rest();
  }
  return found;
}

/** @param {ArrayBuffer} buffer @returns {Payload} */
export function decode(buffer) {
  const size = new DataView(buffer).getUint32(0, true);
  const text = new TextDecoder().decode(new Uint8Array(buffer, 4, size));
  const header = JSON.parse(text);
  if (header.version !== 1) throw new Error(`payload version ${header.version}, expected 1`);
  return arrange(header, buffer, 4 + size);
}

/**
 * A payload of a header and the arrays it names, which begin at `start`.
 * @param {any} header @param {ArrayBuffer} buffer @param {number} start
 * @returns {Payload}
 */
export function arrange(header, buffer, start) {
  /** @type {Payload} */
  const payload = { header };
  for (const [name, a] of Object.entries(header.arrays)) {
    const Kind = KINDS[a.dtype];
    payload[name] = a.repeated
      ? new Kind(a.length).fill(new Kind(buffer, start + a.offset, 1)[0])
      : new Kind(buffer, start + a.offset, a.length);
  }
  return payload;
}

/** @type {((source: string) => Promise<Payload>)|null} */
let answerStored = null;

/** The server's reason for a refusal: a sentence with the next step. */
export class Refusal extends Error {}
/** Longest sentence of the server that is shown. */
const LONGEST = 900;

/**
 * The answer; a Refusal where the server gives a reason.
 * @param {string} source @param {AbortSignal} [signal] @param {string} [body]
 */
async function request(source, signal, body) {
  const posted = body === undefined ? {} : { method: "POST", body, headers: { "Content-Type": "application/json" } };
  const answer = await fetch(source, { credentials: "same-origin", signal, ...posted });
  if (answer.ok) return answer;
  // The file is another one: the page says so, or takes it in, without waiting for its next look.
  if (answer.status === 409) document.dispatchEvent(new Event("gviz-outdated"));
  const text = (await answer.text()).trim().slice(0, LONGEST);
  const plain = (answer.headers.get("content-type") || "").startsWith("text/plain");
  if (plain && text) throw new Refusal(text);
  throw new Error(`the server answered ${answer.status}`);
}

/** @param {string} source @param {AbortSignal} [signal] @returns {Promise<Payload>} */
export async function load(source, signal) {
  if (answerStored) return answerStored(source);
  return decode(await (await request(source, signal)).arrayBuffer());
}

/**
 * @param {string} source @param {AbortSignal} [signal] @param {string} [body] JSON, sent along
 * @returns {Promise<any>}
 */
export async function loadJson(source, signal, body) {
  return (await request(source, signal, body)).json();
}

/** A large object of JSON. @param {string} source @returns {Promise<any>} */
export async function loadMembers(source) {
  return readMembers(await (await request(source)).arrayBuffer());
}

/** A file of the server's. @param {string} source */
export async function loadBytes(source) {
  return (await request(source)).blob();
}

/** A file of the server's, as it comes. @param {string} source @returns {Promise<ReadableStream<Uint8Array>>} */
export async function loadStream(source) {
  return /** @type {ReadableStream<Uint8Array>} */ ((await request(source)).body);
}

/** A text of the server's. @param {string} source @param {AbortSignal} [signal] */
export async function loadText(source, signal) {
  return (await request(source, signal)).text();
}

/** An address without the version of its file (KEY@VERSION). @param {string} source */
export function unversioned(source) {
  return source.replace(/@[0-9a-f]+(?=[/&])/g, "");
}

/**
 * A saved file, which has its payloads with it, answers instead of a server.
 * @param {(source: string) => Promise<Payload>} answer
 */
export function takeStored(answer) {
  answerStored = answer;
}
