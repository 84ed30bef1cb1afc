/**
 * The Share menu: the page as one HTML file, which begins with what is shown; a view as a picture; the table as CSV.
 *
 * @typedef {{store: () => Store, query: () => string, frame: (view: string) => Frame|undefined, table: () => Table|null,
 *   overlays: () => Source[]}} Page  whose menu it is: its store and its state, as page/address.js has it; a view that is
 *   there, the table shown, and what lies on the graph
 */
import * as csv from "../table/csv.js";
import { byId } from "../core/dom.js";
import * as picture from "../core/picture.js";
import { carry } from "../overlay/carry.js";
/** @import { Frame } from "../core/frame.js" */
/** @import { Source } from "../overlay/overlays.js" */
/** @import { Table } from "../table/table.js" */
/** @import { Store } from "./store.js" */

export class ShareMenu {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
  }

  /** @param {HTMLElement} box what has the menu @param {AbortSignal} signal ends it */
  listen(box, signal) {
    box.addEventListener("click", (event) => this.save(/** @type {HTMLElement} */ (event.target)), { signal });
  }

  /** Save what an item names. @param {HTMLElement} item */
  save({ id, dataset }) {
    const [view, kind] = (dataset.save ?? "").split(" ");
    const frame = this.page.frame(view);
    if (frame) picture.save(frame, /** @type {"png"|"svg"} */ (kind));
    else if (id === "share") this.saveFile();
    else if (id === "save-csv") this.page.table()?.saveCsv();
    else return;
    document.getElementById("share-menu")?.removeAttribute("open");
  }

  /** Have the store's server write the file, and the browser save it. */
  async saveFile() {
    const store = this.page.store();
    if (!store.saved) return;
    const button = /** @type {HTMLButtonElement} */ (byId("share"));
    const note = byId("share-note");
    button.disabled = true;
    note.classList.remove("gv-share-failed");
    note.textContent = "Writing the file…";
    const name = `${csv.nameOf(store.graph.name)}.html`;
    try {
      const overlays = this.page.overlays();
      picture.download(await carry(await store.saved(this.page.query()), overlays), name);
      note.textContent = `Saved as ${name}`;
    } catch (error) {
      note.classList.add("gv-share-failed");
      note.textContent = `Not saved: ${/** @type {Error} */ (error).message}`;
    }
    button.disabled = false;
  }
}
