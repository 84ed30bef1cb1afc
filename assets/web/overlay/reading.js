/** Reading an overlay from a stream of bytes, so that the page is never held up. */
import { byteSize } from "../core/format.js";
import { Pace } from "../core/pace.js";
import { Overlay } from "./overlay.js";
import { Fault, MOST_BYTES } from "./read/fault.js";
import { recordsOf } from "./read/records.js";
import { TableRows } from "./read/table.js";
/** @import { Given } from "./overlay.js" */
/** @import { Records } from "./read/records.js" */
/** @import { Targets } from "./read/targets.js" */

/** Characters that are read in one go: a few ms. */
const PIECE = 1 << 14;
/** What begins a text that is no UTF-8, or no text. */
const NO_TEXT = "it is no text in UTF-8; save it as CSV or JSON in UTF-8";
const PARQUET = "PAR1";

/** The pieces of a text. @param {ReadableStream<Uint8Array>} stream */
async function* piecesOf(stream) {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const reader = stream.getReader();
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    bytes += value?.length ?? 0;
    if (bytes > MOST_BYTES) throw new Fault(`more than ${byteSize(MOST_BYTES)}, the most that is taken`);
    const text = decoded(decoder, value, done);
    for (let from = 0; from < text.length; from += PIECE) yield text.slice(from, from + PIECE);
    if (done) return;
  }
}

/** @param {TextDecoder} decoder @param {Uint8Array|undefined} bytes @param {boolean} isLast */
function decoded(decoder, bytes, isLast) {
  try {
    return decoder.decode(bytes, { stream: !isLast });
  } catch {
    throw new Fault(NO_TEXT);
  }
}

/**
 * Read an overlay.
 * @param {Given} given @param {Targets} targets @param {AbortSignal} [signal] ends it
 */
export async function readOverlay(given, targets, signal) {
  const { name, open } = given.source;
  const stream = await open();
  const table = new TableRows(targets);
  /** @type {Records|null} */ let records = null;
  const pace = new Pace(signal);
  await targets.prepare(pace);
  for await (const piece of piecesOf(stream)) {
    if (piece.startsWith(PARQUET) && !records) throw new Fault(`it is a Parquet file: gviz view --overlay ${name} reads it`);
    records ??= recordsOf(piece, table);
    records.push(piece);
    await pace.rest();
  }
  if (!records) throw new Fault("there is nothing in it");
  records.end();
  table.settle();
  await pace.turn();
  const overlay = new Overlay(given, table);
  await pace.turn();
  await overlay.addColumns(table, pace);
  return overlay;
}
