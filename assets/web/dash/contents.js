// The list of a report's parts: which of them is read.

/** How far below the top of the page (px) a part begins at last that is read. */
const READING = 90;

/** @param {HTMLElement} page @param {HTMLElement} list */
function mark(page, list) {
  /** @type {HTMLAnchorElement[]} */
  const links = Array.from(list.querySelectorAll("a[href^='#']"));
  const top = page.getBoundingClientRect().top + READING;
  const isAtEnd = page.scrollTop > 0 && page.scrollTop + page.clientHeight >= page.scrollHeight - 2;
  const begun = links.filter((link) => {
    const part = document.getElementById(link.hash.slice(1));
    return part && part.getBoundingClientRect().top <= top;
  });
  const read = isAtEnd ? links[links.length - 1] : begun[begun.length - 1];
  for (const link of links) {
    if (link !== read) link.removeAttribute("aria-current");
    else if (!link.hasAttribute("aria-current")) link.setAttribute("aria-current", "location");
  }
}

/** A part of the list is pressed: what is read next by keyboard is that part. @param {any} event */
function begin(event) {
  const link = event.target.closest?.(".gv-contents a[href^='#']");
  if (link) document.getElementById(link.hash.slice(1))?.focus({ preventScroll: true });
}

/** Hear what happens on the page. */
export function listen() {
  let isDue = false;
  const look = () => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      const [page, list] = [document.getElementById("page"), document.querySelector(".gv-contents")];
      if (page && list) mark(page, /** @type {HTMLElement} */ (list));
    });
  };
  document.addEventListener("scroll", look, { capture: true, passive: true });
  document.addEventListener("click", begin);
}
