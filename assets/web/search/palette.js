/**
 * The command palette: all that the page can do and lead to, found by words, each with its key.
 *
 * @typedef {{name: string, key?: string, run: () => void}} Command
 */
import { closest } from "../core/dom.js";
import { element } from "../core/parts.js";

/** Commands that are listed at a time. */
const MOST = 60;

/** Those of some commands that have all words of a text, first those that begin with it. @param {Command[]} commands @param {string} text */
export function matching(commands, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = commands.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
  /** @param {Command} command */
  const rank = ({ name }) => Number(!name.toLowerCase().startsWith(text.trim().toLowerCase()));
  return found.toSorted((a, b) => rank(a) - rank(b));
}

export class Palette {
  /** @param {() => Command[]} commands what there is at the moment @param {(text: string) => Command[]} named what a text itself leads to */
  constructor(commands, named) {
    this.commands = commands;
    this.named = named;
    /** @type {Command[]} */ this.found = [];
    this.at = 0;
    this.input = element("input", {
      type: "text", class: "gv-field gv-palette-input", role: "combobox", "aria-expanded": "true", "aria-controls": "palette-list",
      "aria-label": "Command", placeholder: "What to do, or where to go", autocomplete: "off",
    });
    this.list = element("ul", { id: "palette-list", class: "gv-palette-list", role: "listbox", "aria-label": "Commands" });
    this.dialog = element("dialog", { class: "gv-dialog gv-palette", "aria-label": "Commands" }, this.input, this.list);
    document.body.append(this.dialog);
    this.ending = new AbortController();
    this.listen();
  }

  open() {
    if (this.dialog.open) return;
    this.input.value = "";
    this.dialog.showModal();
    this.show();
  }

  /** List what the text leaves of all commands. */
  show() {
    const text = this.input.value;
    this.found = [...matching(this.commands(), text).slice(0, MOST), ...this.named(text)];
    this.at = 0;
    const items = this.found.map(({ name, key }, n) =>
      element("li", { role: "option", id: `palette-${n}`, "data-at": String(n) },
        element("span", {}, name), ...(key ? [element("kbd", {}, key)] : [])));
    this.list.replaceChildren(...items);
    this.mark();
  }

  mark() {
    for (const item of this.list.querySelectorAll("[role=option]")) {
      item.setAttribute("aria-selected", String(item.id === `palette-${this.at}`));
    }
    const current = document.getElementById(`palette-${this.at}`);
    current?.scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", current ? current.id : "");
  }

  /** @param {number} at */
  run(at) {
    const command = this.found[at];
    if (!command) return;
    this.dialog.close();
    command.run();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const steps = /** @type {Record<string, number|undefined>} */ ({ ArrowDown: 1, ArrowUp: -1 });
    const step = steps[event.key];
    if (step && this.found.length) this.at = (this.at + step + this.found.length) % this.found.length;
    else if (event.key === "Enter") this.run(this.at);
    else return;
    event.preventDefault();
    this.mark();
  }

  listen() {
    const { signal } = this.ending;
    this.input.addEventListener("input", () => this.show(), { signal });
    this.input.addEventListener("keydown", (event) => this.key(event), { signal });
    this.list.addEventListener("click", (event) => this.run(Number(closest(event, "[data-at]")?.dataset.at ?? NaN)), { signal });
    document.addEventListener("keydown", (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key.toLowerCase() !== "k") return;
      event.preventDefault();
      this.open();
    }, { signal });
  }

  close() {
    this.ending.abort();
    this.dialog.remove();
  }
}
