/** The Share button: the page as one HTML file, which begins with what is shown. */
import * as csv from "../core/csv.js";
import { byId } from "../core/dom.js";
import { download } from "../core/picture.js";
/** @import { Store } from "./store.js" */

/**
 * Have the store's server write the file, and the browser save it.
 * @param {Store} store @param {string} query the page's state, as page/address.js has it
 */
export async function share(store, query) {
  if (!store.saved) return;
  const button = /** @type {HTMLButtonElement} */ (byId("share"));
  const note = byId("share-note");
  button.disabled = true;
  note.classList.remove("gv-share-failed");
  note.textContent = "Writing the file…";
  const name = `${csv.nameOf(store.graph.name)}.html`;
  try {
    download(await store.saved(query), name);
    note.textContent = `Saved as ${name}`;
  } catch (error) {
    note.classList.add("gv-share-failed");
    note.textContent = `Not saved: ${/** @type {Error} */ (error).message}`;
  }
  button.disabled = false;
}
