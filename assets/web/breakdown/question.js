/**
 * Questions about what is selected (what if it were free, half as long, waited for nothing): asked in the inspector, answered over the
 * breakdown. An answer goes when something else is selected.
 *
 * @typedef {"off"|"scale"|"cut"} Edit  an option of `gviz what-if`
 * @typedef {{sentences: string[], caveats: string[], command?: string}} Answer  `command` that computes it, where nothing
 *   else does
 * @typedef {(options: Partial<Record<Edit, string>>, signal: AbortSignal) => Promise<Answer>} Ask
 */
import * as announce from "../core/announce.js";
import { counted } from "../core/format.js";
import { inRows } from "../core/node_list.js";
import { element } from "../core/parts.js";
/** @import { Headline } from "./headline.js" */

/**
 * What can be asked: its option, the name of its button, what it means, and the option's value for some nodes.
 * @type {[Edit, string, string, (nodes: string) => string][]}
 */
const EDITS = [
  ["off", "free", "took no time", (nodes) => nodes],
  ["scale", "half", "took half of their time", (nodes) => `${nodes}=0.5`],
  ["cut", "cut", "waited for nothing", (nodes) => `*:${nodes}`],
];

export class Question {
  /** @param {HTMLElement|null} box of the choices @param {Headline} headline where the answer stands @param {Ask} ask */
  constructor(box, headline, ask) {
    this.box = box;
    this.headline = headline;
    this.ask = ask;
    /** @type {number[]} */ this.nodes = [];
    /** Of the question that waits for its answer. */ this.asking = new AbortController();
    this.buttons = EDITS.map(([option, name, meaning, value]) => {
      const button = element("button", {
        type: "button", class: "gv-ask", "aria-pressed": "false", title: `What if the selected nodes ${meaning}`,
      }, name);
      button.addEventListener("click", () => {
        if (button.ariaPressed === "true") this.end();
        else this.begin(button, meaning, { [option]: value(inRows(this.nodes)) });
      });
      return button;
    });
  }

  /** Something else is selected. @param {number[]} nodes */
  about(nodes) {
    if (nodes === this.nodes || (nodes.length === this.nodes.length && nodes.every((node, at) => node === this.nodes[at]))) return;
    this.nodes = nodes.slice();
    this.end();
    this.box?.replaceChildren(...(nodes.length ? [element("span", {}, "What if:"), ...this.buttons] : []));
  }

  /** @param {HTMLElement} button @param {string} meaning @param {Partial<Record<Edit, string>>} options */
  async begin(button, meaning, options) {
    this.end();
    button.ariaPressed = "true";
    this.asking = new AbortController();
    const { signal } = this.asking;
    const title = `What if ${counted(this.nodes.length, "node")} ${meaning}: `;
    this.say(title, "…");
    const answer = await this.ask(options, signal).catch((error) => ({ sentences: [`no answer: ${error.message}`], caveats: [], command: undefined }));
    if (signal.aborted) return;
    const { sentences, caveats, command } = answer;
    const doubts = caveats.map((text) => element("span", { class: "gv-headline-caveat" }, ` Caveat: ${text}.`));
    const way = command ? [" ", element("code", {}, command), " ", element("button", { type: "button", class: "gv-ask", "data-copy": command }, "Copy")] : [];
    this.say(title, sentences.join(" "), ...way, ...doubts);
    announce.say(`${title}${sentences.join(" ")}`);
  }

  /** @param {string} title @param {...(string|Node)} words */
  say(title, ...words) {
    const back = element("button", { type: "button", class: "gv-ask gv-answer-end", title: "The verdict again", "aria-label": "The verdict again" }, "×");
    back.addEventListener("click", () => this.end());
    this.headline.answer([back, element("b", {}, title), ...words]);
  }

  /** The verdict again. */
  end() {
    this.asking.abort();
    for (const button of this.buttons) button.ariaPressed = "false";
    this.headline.answer(null);
  }

  /** The first choice has the focus, where something is selected. */
  focus() {
    this.buttons[0].focus();
  }
}
