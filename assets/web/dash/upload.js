/**
 * Files dropped on the page, or chosen with the button "Open files…": sent piece by piece, see
 * gviz.app.server.uploads. Each has a line that says how far it is, or what is wrong with it.
 */
import { byId, closest } from "../core/dom.js";
import { byteSize } from "../core/format.js";
import * as drop from "../overlay/drop.js";
import * as graphPage from "./graph_page.js";
import * as pageState from "./state.js";

/** As PIECE_BYTES of gviz.app.server.uploads. */
const PIECE = 4 << 20;
const SUFFIXES = [".gviz", ".dot", ".json", ".json.gz", ".sqlite"];
const TAKEN =
  "recordings (.gviz), traces of PyTorch's profiler (.json, .json.gz), exports of Nsight " +
  "Systems (.sqlite) and DOT dumps (.dot)";
/** A line that says a file is open has been seen by then (ms); its card stays. */
const SEEN = 12_000;

const box = () => byId("uploads");

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag @param {string} className @param {Element} parent @param {string} [text]
 */
function element(tag, className, parent, text) {
  const made = document.createElement(tag);
  made.className = className;
  if (text) made.textContent = text;
  parent.append(made);
  return made;
}

// -- the line of a file ---------------------------------------------------------------

class Line {
  /** @param {File} file */
  constructor(file) {
    this.row = element("div", "gv-upload", box());
    this.row.setAttribute("role", "status");
    this.words = element("span", "gv-upload-words", this.row, `${file.name}: sending`);
    this.bar = element("progress", "gv-upload-bar", this.row);
    this.bar.max = Math.max(1, file.size);
    this.bar.value = 0;
    this.bar.setAttribute("aria-label", `Sending ${file.name}`);
    this.name = file.name;
  }

  /** @param {number} bytes @param {number} size */
  sent(bytes, size) {
    this.bar.value = bytes;
    if (bytes < size) return;
    this.words.textContent = `${this.name}: reading`;
    this.bar.removeAttribute("value");
  }

  /** The file is open. @param {string} address */
  done(address) {
    this.bar.remove();
    this.words.textContent = "";
    const link = element("a", "", this.words, this.name);
    link.href = address;
    this.words.append(" is open.");
    this.closable();
    setTimeout(() => this.row.remove(), SEEN);
  }

  /** @param {string} sentence what is wrong */
  failed(sentence) {
    this.bar.remove();
    this.row.setAttribute("role", "alert");
    this.row.classList.add("gv-upload-failed");
    this.words.textContent = sentence;
    this.closable();
  }

  closable() {
    const button = element("button", "gv-button", this.row, "✕");
    button.type = "button";
    button.setAttribute("aria-label", `Dismiss the message about ${this.name}`);
    button.addEventListener("click", () => this.row.remove());
  }
}

// -- sending --------------------------------------------------------------------------

/** What is wrong with a file before anything is sent; "" if nothing. @param {File} file */
function objection(file) {
  const most = Number(box().dataset.mostBytes);
  if (!SUFFIXES.some((suffix) => file.name.toLowerCase().endsWith(suffix))) {
    return `${file.name} is none of what is opened here: ${TAKEN}.`;
  }
  if (file.size > most) {
    return (
      `${file.name} has ${byteSize(file.size)}, more than the ${byteSize(most)} that are taken ` +
      `here; open it on the machine where gviz runs: gviz view ${file.name}`
    );
  }
  return "";
}

/** @param {Record<string, string>} query @param {Blob} piece */
async function post(query, piece) {
  const answer = await fetch(`${box().dataset.source}?${new URLSearchParams(query)}`, {
    method: "POST",
    body: piece,
    headers: { "Content-Type": "application/octet-stream" },
    credentials: "same-origin",
    gvizQuiet: true,
  });
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer.json();
}

/** @param {File} file @returns {Promise<boolean>} whether it is open now */
async function send(file) {
  const line = new Line(file);
  try {
    const complaint = objection(file);
    if (complaint) throw new Error(complaint);
    let answer = null;
    let offset = 0;
    do {
      const piece = file.slice(offset, offset + PIECE);
      /** @type {Record<string, string>} */
      const query = answer ? { id: answer.id, offset: `${offset}` } : { name: file.name, size: `${file.size}` };
      // The last piece is answered when the file has been read.
      if (offset + PIECE >= file.size) line.sent(file.size, file.size);
      answer = await post(query, piece);
      offset += PIECE;
      line.sent(Math.min(offset, file.size), file.size);
    } while (offset < file.size);
    line.done(answer.address);
    return true;
  } catch (error) {
    const lost = error instanceof TypeError; // what fetch throws without an answer
    const { message } = /** @type {Error} */ (error);
    line.failed(lost ? `${file.name} could not be sent: gviz does not answer, or the file cannot be read.` : message);
    return false;
  }
}

/** @param {Iterable<File>} files */
export async function sendAll(files) {
  let opened = 0;
  for (const file of files) opened += Number(await send(file));
  if (opened) pageState.poll();
}

// -- dropping and choosing ------------------------------------------------------------

/** What is done with files that are dropped, in each part of the page. */
function dropWords() {
  const most = byteSize(Number(box().dataset.mostBytes));
  const words = `Drop files to open them, up to ${most} each: ${TAKEN}`;
  const sides = graphPage.sides();
  return sides.length ? sides.map((side) => `${words}. A table (.csv, .json) is laid on ${drop.nameOf(side)}`) : [words];
}

/** Lay tables on the graph that is shown, and open the others. @param {File[]} files @param {number} part of the page */
async function take(files, part) {
  await sendAll(await graphPage.layTables(files, part));
}

/** Take files that are dropped or chosen. */
export function listen() {
  drop.listen(dropWords, take);
  document.addEventListener("click", (event) => {
    if (!closest(event, "#open-files")) return;
    const input = document.createElement("input");
    input.type = "file";
    input.multiple = true;
    input.accept = [...SUFFIXES, ".gz"].join(",");
    input.addEventListener("change", () => sendAll(Array.from(input.files ?? [])));
    input.click();
  });
}
