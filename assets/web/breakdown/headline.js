/** The room of the sentence over the breakdown: so many lines at first, and all of them where a reader wants more. */
import { element, unbroken } from "../core/parts.js";

/** Height of a line (px), and lines that there are always, as styles/breakdown.css has them. */
const LINE = 21;
const LEAST_LINES = 2;
/** On the breakdown while the sentence has the room that it needs. */
const WHOLE = "gv-breakdown-said";

export class Headline {
  /** @param {HTMLElement} box of the breakdown @param {HTMLElement} sentence */
  constructor(box, sentence) {
    this.box = box;
    this.sentence = sentence;
    /** What it says while no question is answered. @type {(string|Node)[]} */ this.verdict = [];
    /** What a question got for an answer; null: none is asked. @type {(string|Node)[]|null} */ this.answered = null;
    this.room = element("div", { class: "gv-headline-room" }, sentence);
    this.more = element("button", { type: "button", class: "gv-headline-more", title: "The whole sentence, caveats included" });
    this.more.addEventListener("click", () => this.say(!this.isWhole));
    this.say(false);
    this.observer = new ResizeObserver(() => this.fit());
    this.observer.observe(this.room);
  }

  get isWhole() {
    return this.box.classList.contains(WHOLE);
  }

  /** @param {(string|Node)[]} verdict */
  write(verdict) {
    this.verdict = verdict;
    this.answer(this.answered);
  }

  /** Say an answer in place of the verdict; null: the verdict. @param {(string|Node)[]|null} words */
  answer(words) {
    this.answered = words;
    this.sentence.replaceChildren(...(words ?? this.verdict).flatMap(unbroken));
    this.fit();
  }

  /** Say all of it, or as much as there is room for at first. @param {boolean} isWhole */
  say(isWhole) {
    this.box.classList.toggle(WHOLE, isWhole);
    this.more.textContent = isWhole ? "less" : "more";
    this.more.setAttribute("aria-expanded", String(isWhole));
    this.fit();
  }

  /** Offer more where something of it is hidden, and less where all of it is said. */
  fit() {
    const { scrollHeight } = this.sentence;
    // No line is kept for what is not said; the choices beside it have two.
    if (this.verdict.length) this.box.style.setProperty("--gv-needed-lines", String(Math.max(LEAST_LINES, Math.ceil((scrollHeight - 1) / LINE))));
    this.more.hidden = !this.isWhole && scrollHeight <= this.room.clientHeight + 1;
  }

  close() {
    this.observer.disconnect();
    this.box.classList.remove(WHOLE);
  }
}
