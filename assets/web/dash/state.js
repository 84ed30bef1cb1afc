/**
 * The state of a page's files: whether what it shows is still what is in them. Every few seconds, while the page can
 * be seen, the server reports the files' versions (gviz.app.server.state). A recording that grows
 * is shown as it grows; one that was replaced or deleted is reported, and reloading offered.
 *
 * @typedef {{name: string, version: string|null, live: boolean, followed: boolean, gone: string}} FileState
 *   followed: its changes are expected
 */
import * as graphPage from "./graph_page.js";
import { noUpdate, propsOf, set } from "./props.js";

/** Between two questions (ms). */
const EVERY = 2000;
/** An answer that takes longer (ms) is none. */
const PATIENCE = 15_000;
const GONE =
  "gviz does not answer any more: it was stopped, or the connection is gone. What is shown was read before.";

let timer = 0;
let again = 0;
let polling = false;
/** The page that was last reloaded, and the versions it was requested for. */
let renewing = "";

/** Which page is shown, and the files it was made of. @returns {{page: string, files: Object<string, FileState>, count: number}|undefined} */
function shownPage() {
  return propsOf("shown").data;
}

/** Make the page anew at the address it has. */
export function reload() {
  again += 1;
  say(null);
  set("again", { data: again });
}

/** Show a notice; null: none. @param {{text: string, offer?: boolean}|null} notice */
function say(notice) {
  const box = document.getElementById("notice");
  if (!box || (notice ? notice.text : "") === (box.dataset.text || "")) return;
  box.dataset.text = notice ? notice.text : "";
  box.replaceChildren();
  box.hidden = !notice;
  if (!notice) return;
  const words = document.createElement("span");
  words.textContent = notice.text;
  box.append(words);
  if (notice.offer) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "gv-button";
    button.textContent = "Reload";
    button.addEventListener("click", reload);
    box.append(button);
  }
}

/** @param {any} shown @param {Record<string, FileState>} files */
function changes(shown, files) {
  const keys = Object.keys(shown.files);
  if (shown.page === "runs") keys.push(...Object.keys(files));
  return Array.from(new Set(keys)).filter((key) => {
    const [before, now] = [shown.files[key], files[key]];
    return !before || !now || before.version !== now.version || before.live !== now.live;
  });
}

/**
 * A graph page takes in what is new, and keeps what its reader did.
 * @param {any} shown @param {Object<string, FileState>} files as they are by now
 */
async function refresh(shown, files) {
  await graphPage.renew();
  const known = Object.keys(shown.files).map((key) => [key, files[key]]);
  set("shown", { data: { ...shownPage(), files: Object.fromEntries(known) } });
}

/** @param {Object<string, FileState>} files */
function compare(files) {
  const shown = shownPage();
  if (!shown || !shown.page) return say(null);
  const changed = changes(shown, files);
  if (!changed.length) {
    renewing = "";
    return say(null);
  }
  const now = files[changed[0]];
  const before = shown.files[changed[0]];
  const version = JSON.stringify([window.location.href, changed.map((key) => files[key])]);
  // What is read, and may take long to make, stays until its reader wants another.
  const stays = ["report", "compare", "trend", "ranks"].includes(shown.page);
  if (shown.page === "runs" || (before && before.followed && !stays)) {
    // Requested once: an answer that takes long is not requested again meanwhile.
    if (version === renewing) return undefined;
    renewing = version;
    return shown.page === "graph" && now ? refresh(shown, files) : reload();
  }
  if (!now) return say({ text: `${before.name} is not open any more.`, offer: true });
  if (now.gone) return say({ text: `${now.gone}. What is shown was read before.` });
  return say({ text: `${now.name} changed since this page was opened.`, offer: true });
}

export async function poll() {
  const box = document.getElementById("notice");
  if (!box || polling || document.hidden) return;
  polling = true;
  const answer = await question(box.dataset.source ?? "");
  polling = false;
  if (answer.files) compare(answer.files);
  else say({ text: answer.refused || GONE });
}

/**
 * @param {string} source
 * @returns {Promise<{files?: Object<string, FileState>, refused?: string}>} neither: no answer
 */
async function question(source) {
  try {
    const signal = AbortSignal.timeout(PATIENCE);
    const answer = await fetch(source, { credentials: "same-origin", signal, gvizQuiet: true });
    return answer.ok ? await answer.json() : { refused: (await answer.text()).trim() };
  } catch {
    return {};
  }
}

/** Poll from now on. */
export function listen() {
  clearInterval(timer);
  timer = setInterval(poll, EVERY);
  document.addEventListener("visibilitychange", poll);
  document.addEventListener("gviz-outdated", poll);
}

// -- what Dash calls ------------------------------------------------------------------

/** Poll at once when another page is shown: earlier changes do not concern it. */
export function turned() {
  say(null);
  return noUpdate();
}
