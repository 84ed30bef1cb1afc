/**
 * Dash's scripts, which gviz.app.server.scripts left in a template: they keep a processor busy, so
 * a page that needs none of them to be used comes first.
 */

/** Dash waits for a page that has begun, but no longer (ms). */
const HEAD_START = 4000;

/** @param {HTMLScriptElement} tag */
function scriptLike(tag) {
  const script = document.createElement("script");
  for (const { name, value } of tag.attributes) script.setAttribute(name, value);
  script.textContent = tag.textContent;
  // In order, as if they stood in the page.
  script.async = false;
  return script;
}

/** Run the scripts: files, then what stands in the page. */
function runScripts() {
  const later = /** @type {HTMLTemplateElement|null} */ (document.getElementById("gviz-later"));
  if (!later) return;
  const tags = Array.from(later.content.querySelectorAll("script"));
  later.remove();
  const scripts = tags.map(scriptLike);
  const files = scripts.filter((script) => script.src);
  const inline = scripts.filter((script) => !script.src);
  const runInline = () => document.body.append(...inline);
  const last = files[files.length - 1];
  last.addEventListener("load", runInline);
  last.addEventListener("error", runInline);
  document.body.append(...files);
}

/** Start Dash behind what has begun; null: at once. @param {Promise<void>|null} begun */
export function startDash(begun) {
  if (!begun) return runScripts();
  begun.then(runScripts);
  setTimeout(runScripts, HEAD_START);
}

/** A page of Dash's is there so long (ms) before what stood in its place goes: it may take that over. */
const PATIENCE = 200;

/** Call back once Dash shows a page. @param {() => void} call */
export function whenShown(call) {
  const built = new MutationObserver(() => {
    if (!document.getElementById("page")?.hasChildNodes()) return;
    built.disconnect();
    setTimeout(call, PATIENCE);
  });
  built.observe(document.body, { childList: true, subtree: true });
}
