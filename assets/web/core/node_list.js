/**
 * Selected nodes in an address: ids in the order of the selection, runs of them as first-last
 * ("3,10-4999"); where these are many and in no row, a bit for each id from the lowest on, in
 * base64url after that id ("7.5Q"). As gviz.app.components.node_list has it.
 */

/**
 * Characters of a list. Web servers and proxies refuse longer requests: nginx and Apache take
 * lines of 8 KB unless they are configured otherwise.
 */
export const MOST_CHARACTERS = 6000;
/** Ids of a list that is read; more is no selection but a mistake, or worse. */
const MOST_IDS = 1_000_000;
const PART = /^(\d{1,15})(?:-(\d{1,15}))?$/;
const BITS = /^(\d{1,15})\.([\w-]+)$/;
/** A list so long is written as bits if these are shorter, and loses the order of the selection. */
const LONG = 600;
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/** Bits of a letter. */
const SIX = 6;

/**
 * The ids, or as many of the first of them as an address has room for.
 * @param {number[]} ids @param {number} [most] characters
 */
export function write(ids, most = MOST_CHARACTERS) {
  const list = writeList(ids, most);
  if (list.kept === ids.length && list.text.length <= LONG) return list;
  const bits = writeBits(ids, list.kept === ids.length ? list.text.length : most);
  return bits === null ? list : { text: bits, kept: ids.length };
}

/** All of some ids, ascending, in rows; an option of `gviz what-if` reads that. @param {number[]} ids */
export const inRows = (ids) => writeList(ids.toSorted((a, b) => a - b), Infinity).text;

/** Ids as bits; null where that takes more characters. @param {number[]} ids @param {number} most */
function writeBits(ids, most) {
  const [first, last] = ids.reduce(([low, high], id) => [Math.min(low, id), Math.max(high, id)], [Infinity, 0]);
  const count = Math.floor((last - first) / SIX) + 1;
  if (String(first).length + 1 + count > most) return null;
  const letters = new Uint8Array(count);
  for (const id of ids) letters[Math.floor((id - first) / SIX)] |= 1 << ((id - first) % SIX);
  return `${first}.${Array.from(letters, (six) => LETTERS[six]).join("")}`;
}

/** @param {number} first @param {string} letters */
function readBits(first, letters) {
  /** @type {number[]} */
  const ids = [];
  Array.from(letters, (letter) => LETTERS.indexOf(letter)).forEach((six, n) => {
    for (let bit = 0; bit < SIX; bit++) if (six & (1 << bit)) ids.push(first + SIX * n + bit);
  });
  return ids;
}

/**
 * As many of the first ids as an address has room for.
 * @param {number[]} ids @param {number} most
 */
function writeList(ids, most) {
  let text = "";
  let kept = 0;
  while (kept < ids.length) {
    let end = kept;
    while (ids[end + 1] === ids[end] + 1) end += 1;
    // Two in a row are as short by themselves.
    if (end - kept < 2) end = kept;
    const part = end > kept ? `${ids[kept]}-${ids[end]}` : String(ids[kept]);
    const longer = text ? `${text},${part}` : part;
    if (longer.length > most) break;
    text = longer;
    kept = end + 1;
  }
  return { text, kept };
}

/** What of a list is well formed and not too much. @param {string} text */
export function read(text) {
  /** @type {number[]} */
  const ids = [];
  for (const part of text.split(",")) {
    const bits = BITS.exec(part);
    if (bits && bits[2].length * SIX < MOST_IDS - ids.length) for (const id of readBits(Number(bits[1]), bits[2])) ids.push(id);
    const found = PART.exec(part);
    if (!found) continue;
    const [first, last] = [Number(found[1]), Number(found[2] ?? found[1])];
    if (last - first >= MOST_IDS - ids.length) continue;
    for (let id = first; id <= last; id++) ids.push(id);
  }
  return ids;
}

/**
 * Write into a query what is selected; returns how many nodes of it.
 * @param {URLSearchParams} query @param {number[]} ids @param {number} [room] characters
 */
export function put(query, ids, room = MOST_CHARACTERS) {
  const { text, kept } = write(ids, Math.min(room, MOST_CHARACTERS));
  if (text) query.set("node", text);
  else query.delete("node");
  return kept;
}
