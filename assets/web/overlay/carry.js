/**
 * Tables that lie on a graph, carried by a file that is saved from its page: each is put into it as the file has its
 * other data, and a list of them. Python side: gviz.app.html_file.document.
 *
 * @typedef {{name: string, source: string, side?: Side, recorded?: boolean, graphs?: number[]}} Carried  an entry of the
 *   list: the name of a table, and of the data that it is; whether a recording has it; the graphs of the file that it lies
 *   on, if not on all
 */
import { packing } from "../core/packed.js";
/** @import { Side, Source } from "./overlays.js" */

/** The data that are a list of tables. */
export const LIST = "overlays";
/** Written so that this text ends no element that it stands in. */
const ELEMENT = "script";
/** The data of a file begin with this. */
const DATA = `<${ELEMENT} type="application/gzip" id="blob-`;
/** Styles and what else stands before them, in bytes. */
const MOST_BEFORE = 4 << 20;

/** Where the data of a file begin. @param {Blob} file */
async function dataOf(file) {
  // A character a byte: places are those of bytes.
  const before = new TextDecoder("latin1").decode(await file.slice(0, MOST_BEFORE).arrayBuffer());
  const at = before.indexOf(DATA);
  if (at < 0) throw new Error("the server's file has no data");
  return at;
}

/** @param {string} name of data @param {ReadableStream<Uint8Array>} stream */
const dataElement = async (name, stream) => [`${DATA}${name}">`, ...await packing(stream), `</${ELEMENT}>\n`];

/**
 * A saved file with tables in it.
 * @param {Blob} file @param {Source[]} sources
 */
export async function carry(file, sources) {
  if (!sources.length) return file;
  const at = await dataOf(file);
  /** @type {Carried[]} */
  const list = sources.map(({ name, side, recorded }, n) => ({ name, source: `overlay-${n}`, side, recorded }));
  const elements = await dataElement(LIST, new Blob([JSON.stringify(list)]).stream());
  for (const [n, { open }] of sources.entries()) elements.push(...await dataElement(list[n].source, await open()));
  return new Blob([file.slice(0, at), ...elements, file.slice(at)], { type: file.type });
}
