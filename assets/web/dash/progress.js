/**
 * A bar on top of the page, and a word for screen readers, while a request has not
 * been answered for half a second. Questions marked gvizQuiet have a sign of
 * their own, or need none.
 */

/** Waiting that takes longer (ms) is shown. */
const SLOW = 500;

const waiting = new Set();
let timer = 0;

/** @param {boolean} on */
function show(on) {
  for (const id of ["progress", "progress-said"]) {
    const sign = document.getElementById(id);
    if (sign) sign.hidden = !on;
  }
}

/** @param {object} question */
function begin(question) {
  waiting.add(question);
  if (!timer) timer = setTimeout(() => show(true), SLOW);
}

/** @param {object} question */
function end(question) {
  waiting.delete(question);
  if (waiting.size) return;
  clearTimeout(timer);
  timer = 0;
  show(false);
}

/** Watch the page's requests. */
export function listen() {
  const plain = window.fetch.bind(window);
  window.fetch = (input, options) => {
    if (options && options.gvizQuiet) return plain(input, options);
    const question = {};
    begin(question);
    return plain(input, options).finally(() => end(question));
  };
}
