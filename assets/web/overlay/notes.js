/** Notes over the page: what became of the rows of each overlay, or what is wrong with its file. */
import { integer } from "../core/format.js";
import { element } from "../core/parts.js";
/** @import { Overlay } from "./overlay.js" */

/** A note without a fault has been seen by then (ms). */
const SEEN = 15_000;

export class OverlayNotes {
  /** @param {(overlay: Overlay) => void} remove takes an overlay off the graph */
  constructor(remove) {
    this.remove = remove;
    this.box = element("section", { id: "overlay-notes", class: "gv-overlay-notes", "aria-label": "Overlays" });
    /** By the name of the file. @type {Map<string, HTMLElement>} */ this.notes = new Map();
    document.body.append(this.box);
  }

  /** @param {string} name of a file that is being read */
  wait(name) {
    this.put(name, "status", element("p", {}, element("b", {}, name), ": reading…"));
  }

  /** @param {string} name of a file @param {string} fault */
  fail(name, fault) {
    this.put(name, "alert", element("p", {}, element("b", {}, name), `: ${fault}.`));
  }

  /** @param {Overlay} overlay */
  show(overlay) {
    const { title: name, columns, unmatched } = overlay;
    const nothing = columns.length ? "" : " Nothing is laid on the graph.";
    const texts = columns.filter((column) => column.firstText);
    const remove = element("button", { type: "button", class: "gv-button" }, "Remove");
    remove.addEventListener("click", () => {
      this.remove(overlay);
      this.hide(name);
    });
    const note = this.put(name, columns.length ? "status" : "alert",
      element("p", {}, element("b", {}, name), `: ${overlay.words().trim()}${nothing}`),
      ...texts.slice(0, 3).map(({ name: column, firstText }) => element("p", { class: "gv-muted" },
        `${column} is shown as texts: line ${integer(firstText?.line)} has "${firstText?.text.slice(0, 60)}".`)),
      ...(unmatched.length ? [listOf(overlay)] : []),
      ...(columns.length ? [remove] : []));
    if (columns.length) this.hideSeen(name, note);
  }

  /** Hide a note once it has been seen; who reads it is not hurried. @param {string} name @param {HTMLElement} note */
  hideSeen(name, note) {
    const hiding = setTimeout(() => this.notes.get(name) === note && this.hide(name), SEEN);
    for (const event of ["pointerenter", "focusin"]) note.addEventListener(event, () => clearTimeout(hiding));
  }

  /** @param {string} name @param {"status"|"alert"} role @param {...HTMLElement} content */
  put(name, role, ...content) {
    this.hide(name);
    const close = element("button", { type: "button", class: "gv-button gv-overlay-close", "aria-label": `Close the note on ${name}` }, "✕");
    close.addEventListener("click", () => this.hide(name));
    const note = element("div", { class: role === "alert" ? "gv-overlay-note gv-overlay-failed" : "gv-overlay-note" },
      element("div", { role }, ...content), close);
    note.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.hide(name);
    });
    this.notes.set(name, note);
    this.box.append(note);
    return note;
  }

  /** @param {string} name */
  hide(name) {
    this.notes.get(name)?.remove();
    this.notes.delete(name);
  }

  close() {
    this.box.remove();
  }
}

/** The first rows without a node, to be read and copied. @param {Overlay} overlay */
function listOf({ unmatched, rowCount, matchedCount }) {
  const missing = rowCount - matchedCount;
  const lines = unmatched.map(({ line, key }) => `line ${line}: ${key || "(empty)"}`).join("\n");
  const title = missing > unmatched.length ? `The first ${unmatched.length} of ${integer(missing)} rows without a node` : "Rows without a node";
  const copy = element("button", { type: "button", class: "gv-button gv-copy", "data-copy": lines }, "Copy");
  return element("details", {}, element("summary", {}, title), element("pre", { class: "gv-overlay-lines", tabindex: "0" }, lines), copy);
}
