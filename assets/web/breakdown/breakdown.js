/**
 * The breakdown of a launch: a sentence over rows of blocks, and all rows when it is opened.
 *
 * Blocks select their nodes, as does what the sentence and the findings name.
 *
 * @typedef {{text: string, title: string, block: [number, number]|null, nodes: number[], about: ""|About}} Part
 * @typedef {"idle"|"eager"} About  what is no node
 * @typedef {{gain: string, reason: string, fix: string, title: string, nodes: number[]}} Finding
 * @typedef {{name: string, text: string, nodes: number[]}} Path  a critical path
 * @typedef {{waiting?: boolean, parts: Part[], caveats: string[], findings: Finding[], more: number, paths: Path[], gains: PartGains}} Verdict  as
 *   gviz.app.views.verdict has it
 * @typedef {""|"breakdown"|"what-if"} Opened  what takes the place of the panes: all rows, or gains
 * @typedef {{look: (about: About) => void, known: (blocks: Blocks) => void, said: () => void, toggled: (opened: Opened) => void, nodesOf: (name: string) => number[]}} Host
 *   who looks at what is no node, hears of the blocks of all rows, of the verdict or that nothing more comes, and what a
 *   reader opened; knows names of nodes
 * @typedef {{breakdown: () => Promise<Payload>, verdict: (signal: AbortSignal) => Promise<Verdict>, whatIf: Ask}} Source
 */
import * as bus from "../core/bus.js";
import { closest } from "../core/dom.js";
import { SLOW } from "../core/frame.js";
import { element } from "../core/parts.js";
import { Blocks } from "./blocks.js";
import { Headline } from "./headline.js";
import { light, listFindings, listPaths } from "./findings.js";
import { Gains } from "./gains.js";
import { Question } from "./question.js";
import { Rows } from "./rows.js";
/** @import { Group } from "../core/bus.js" */
/** @import { Payload } from "../core/payload.js" */
/** @import { Form, Measure } from "./blocks.js" */
/** @import { PartGains } from "./gains.js" */
/** @import { Ask } from "./question.js" */

/** Opens and closes the rows in full. */
const KEY = "b";
/** Opens and closes the gains; with Shift, leads to what can be asked of what is selected. */
const GAINS_KEY = "w";
const ASK_KEY = "W";
/** Selects the critical path, or nothing again. */
const PATH_KEY = "k";

export class Breakdown {
  /**
   * @param {HTMLElement} box @param {HTMLElement|null} findings where findings are listed while
   *   nothing is selected
   * @param {Group} group @param {Source} source @param {Host} host
   */
  constructor(box, findings, group, source, host) {
    this.host = host;
    this.box = box;
    this.findings = findings;
    this.group = group;
    this.ending = new AbortController();
    /** @type {Opened} */ this.opened = "";
    /** The critical paths, by dependencies first. @type {Path[]} */ this.paths = [];
    /** @type {Partial<Record<Form, Blocks>>} */ this.forms = {};
    /** Of the blocks. @type {Payload|null} */ this.payload = null;
    /** The blocks of time, in both forms, whatever those shown are as wide as. @type {Blocks[]} */ this.timed = [];
    /** Paths and findings, as addresses name them. @type {{name: string, nodes: number[]}[]} */ this.sets = [];
    /** Whether blocks or verdict are on their way. */ this.isComing = true;
    /** What blocks are as wide as; null: their part of the time. @type {Measure|null} */ this.measured = null;
    this.sentence = element("p", { class: "gv-headline" });
    this.rows = new Rows((nodes, more) => this.select(nodes, more), () => host.look("idle"));
    this.button = element("button", {
      type: "button", class: "gv-breakdown-open", "aria-expanded": "false", title: `All rows (${KEY})`,
    }, "Breakdown");
    this.gainsButton = element("button", {
      type: "button", class: "gv-breakdown-open", "aria-expanded": "false", title: `What 10% off each part would bring (${GAINS_KEY})`,
    }, "What if");
    this.gainsButton.hidden = true;
    this.gains = new Gains(group, host.nodesOf, (nodes, more) => this.select(nodes, more));
    this.choice = element("select", { id: "measure", class: "gv-field", "aria-label": "Width of blocks" });
    this.choice.hidden = true;
    // What has no room comes over what is below, while it is pointed at or one of its parts has the focus.
    this.headline = new Headline(box, this.sentence);
    this.question = new Question(document.getElementById("what-if"), this.headline, source.whatIf);
    const ways = element("div", { class: "gv-headline-ways" }, this.choice, this.button, this.gainsButton, this.headline.more);
    box.replaceChildren(element("div", { class: "gv-headline-line" }, this.headline.room, ways), this.rows.box, this.gains.box);
    this.end = bus.subscribe(bus.PAGE, () => this.mark());
    this.listen();
    box.setAttribute("aria-busy", "true");
    /** Settled once the blocks are there, or cannot be had. */
    this.taken = source.breakdown().then((payload) => {
      if (!this.ending.signal.aborted) this.take(payload);
    });
    this.load(source);
  }

  /** @param {Source} source */
  async load(source) {
    const { signal } = this.ending;
    const slow = setTimeout(() => this.headline.verdict.length || this.headline.write(["Analysis under way…"]), SLOW);
    await Promise.all([
      this.taken,
      source.verdict(signal).then((verdict) => signal.aborted || this.say(verdict)),
    ]).catch((error) => {
      if (!signal.aborted) this.headline.write([`No verdict: ${error.message}`]);
    });
    clearTimeout(slow);
    this.isComing = false;
    if (signal.aborted) return;
    this.box.removeAttribute("aria-busy");
    this.host.said();
  }

  /** @param {Payload} payload */
  take(payload) {
    this.payload = payload;
    this.build();
    this.offer();
    this.box.classList.toggle("gv-breakdown-none", !this.forms.whole?.count);
    // The blocks of time, whatever these are as wide as.
    const { strip, whole } = this.forms;
    this.timed = strip && whole && !this.measured ? [strip, whole] : [new Blocks(payload, "strip"), new Blocks(payload, "whole")];
    this.host.known(this.timed[1]);
    this.show();
  }

  /** Offer what there is: blocks and gains come in any order. */
  offer() {
    const { whole } = this.forms;
    this.button.hidden = !whole?.count;
    this.gainsButton.hidden = !whole?.count || !this.gains.isTaken;
  }

  /** Make the blocks of both forms. */
  build() {
    const { payload, measured } = this;
    if (!payload) return;
    this.forms = { strip: new Blocks(payload, "strip", measured), whole: new Blocks(payload, "whole", measured) };
  }

  /**
   * Have blocks be as wide as one of some measures, or as their part of the time.
   * @param {Measure[]} measures that can be chosen @param {string} id "": time
   */
  measure(measures, id) {
    this.choice.hidden = !measures.length;
    this.choice.replaceChildren(...[{ id: "", label: "Time" }, ...measures].map((one) =>
      element("option", { value: one.id, selected: one.id === id }, one.label)));
    const wanted = measures.find((one) => one.id === id) ?? null;
    if (wanted === this.measured) return;
    this.measured = wanted;
    this.build();
    this.show();
  }

  get isOpen() {
    return this.opened === "breakdown";
  }

  /** Draw the rows of the form that is open; over gains the strip. */
  show() {
    this.box.classList.toggle("gv-breakdown-whole", this.opened !== "");
    this.button.setAttribute("aria-expanded", String(this.isOpen));
    this.gainsButton.setAttribute("aria-expanded", String(this.opened === "what-if"));
    this.gains.box.hidden = this.opened !== "what-if";
    const blocks = this.forms[this.isOpen ? "whole" : "strip"];
    if (blocks) this.rows.show(blocks, this.isOpen);
    if (blocks && !this.isOpen) this.box.style.setProperty("--gv-rows", String(blocks.rowNames.length));
    this.mark();
  }

  /** @param {Verdict} verdict */
  say({ parts, caveats, findings, more, paths, gains }) {
    this.paths = paths;
    this.sets = [
      ...paths.map(({ name, nodes }) => ({ name: `path:${name}`, nodes })),
      ...findings.map(({ nodes }, n) => ({ name: `finding:${n + 1}`, nodes })),
    ];
    const said = parts.map((part) => {
      const { text, title, block, nodes, about } = part;
      const named = text.trimEnd();
      if (!block && !nodes.length && !about) return element("span", title ? { title } : {}, text);
      // No button: their text does not break as that of a line does.
      const link = element("span", { role: "button", tabindex: "0", class: "gv-said", title: meaning(part) }, named);
      link.addEventListener("click", (event) => this.choose(part, event.shiftKey));
      link.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        this.choose(part, event.shiftKey);
      });
      if (!about) light(link, this.group, () => this.nodesOf(part));
      return element("span", {}, link, text.slice(named.length));
    });
    const doubts = caveats.map((text) => element("span", { class: "gv-headline-caveat" }, ` Caveat: ${text}.`));
    this.headline.write([...said, ...doubts]);
    this.gains.take(gains);
    this.offer();
    if (this.findings) {
      /** @param {number[]} nodes */
      const select = (nodes) => this.select(nodes, false);
      this.findings.replaceChildren(listPaths(paths, this.group, select), listFindings(findings, more, this.group, select));
    }
    this.mark();
  }

  /** @param {Part} part @param {boolean} more besides others */
  choose(part, more) {
    if (part.about) this.host.look(part.about);
    else this.select(this.nodesOf(part), more);
  }

  /** @param {Part} part */
  nodesOf({ block, nodes }) {
    const { strip } = this.forms;
    return block && strip ? strip.nodesOf(strip.at(...block)) : nodes;
  }

  /** Select nodes; none where these were selected. @param {number[]} nodes @param {boolean} more besides others */
  select(nodes, more) {
    const { selected } = this.group;
    if (more) this.group.select(Array.from(new Set([...selected, ...nodes])));
    else this.group.select(isSame(nodes, selected) ? [] : nodes);
  }

  /** Show what is selected. */
  mark() {
    const { selected, shown, kept } = this.group;
    this.rows.mark(new Set(shown), kept);
    if (this.findings) this.findings.hidden = selected.length > 0;
    this.question.about(this.forms.whole?.count ? selected : []);
  }

  /** All rows, or gains, in place of the panes; else the strip over these. @param {string} pane */
  open(pane) {
    const opened = OPENED.find((one) => one === pane) ?? "";
    if (opened === this.opened) return;
    this.opened = opened;
    this.show();
  }

  /** @param {"breakdown"|"what-if"} what */
  toggle(what) {
    if (!this.forms.whole?.count) return;
    this.open(this.opened === what ? "" : what);
    this.host.toggled(this.opened);
    if (this.opened) (this.isOpen ? this.rows : this.gains).focus();
    else (what === "breakdown" ? this.button : this.gainsButton).focus();
  }

  listen() {
    const { signal } = this.ending;
    this.button.addEventListener("click", () => this.toggle("breakdown"), { signal });
    this.gainsButton.addEventListener("click", () => this.toggle("what-if"), { signal });
    document.addEventListener("keydown", (event) => {
      const { key, ctrlKey, metaKey, altKey, defaultPrevented } = event;
      if (defaultPrevented || ctrlKey || metaKey || altKey) return;
      if (closest(event, "input, textarea, select, [contenteditable], dialog")) return;
      if (key === KEY) this.toggle("breakdown");
      else if (key === GAINS_KEY) this.toggle("what-if");
      else if (key === ASK_KEY) this.question.focus();
      else if (key === PATH_KEY && this.paths.length) this.select(this.paths[0].nodes, false);
      else if (key !== "Escape") return;
      else if (this.opened && this.box.contains(document.activeElement)) this.toggle(this.opened);
      else if (this.headline.answered) this.question.end();
    }, { signal });
  }

  destroy() {
    this.ending.abort();
    this.end();
    this.question.about([]);
    this.headline.close();
    this.rows.destroy();
    this.box.replaceChildren();
    this.findings?.replaceChildren();
  }
}

const OPENED = /** @type {const} */ (["breakdown", "what-if"]);

/** What a click on a part does. @type {Record<string, string>} */
const ABOUT = { idle: "Look at the longest gap", eager: "Look at the eager iteration", "": "Select its nodes" };

/** What a click on a part does, and what its number rests on. @param {Part} part */
function meaning({ title, about }) {
  return title ? `${ABOUT[about]}. ${title}` : ABOUT[about];
}

/** Whether these are the same nodes in any order. @param {number[]} a @param {number[]} b */
function isSame(a, b) {
  const known = new Set(b);
  return a.length === known.size && a.every((node) => known.has(node));
}
