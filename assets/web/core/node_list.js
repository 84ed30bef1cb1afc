/**
 * Selected nodes in an address: ids in the order of the selection, runs of them as first-last
 * ("3,10-4999"). As gviz.app.components.node_list has it.
 */

/**
 * Characters of a list. Web servers and proxies refuse longer requests: nginx and Apache take
 * lines of 8 KB unless they are configured otherwise.
 */
export const MOST_CHARACTERS = 6000;
/** Ids of a list that is read; more is no selection but a mistake, or worse. */
const MOST_IDS = 1_000_000;
const PART = /^(\d{1,15})(?:-(\d{1,15}))?$/;

/**
 * As many of the first ids as an address has room for.
 * @param {number[]} ids
 */
export function write(ids) {
  let text = "";
  let kept = 0;
  while (kept < ids.length) {
    let end = kept;
    while (ids[end + 1] === ids[end] + 1) end += 1;
    // Two in a row are as short by themselves.
    if (end - kept < 2) end = kept;
    const part = end > kept ? `${ids[kept]}-${ids[end]}` : String(ids[kept]);
    const longer = text ? `${text},${part}` : part;
    if (longer.length > MOST_CHARACTERS) break;
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
 * @param {URLSearchParams} query @param {number[]} ids
 */
export function put(query, ids) {
  const { text, kept } = write(ids);
  if (text) query.set("node", text);
  else query.delete("node");
  return kept;
}
