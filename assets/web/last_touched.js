/** Which part of a page its reader last clicked or typed in: it shows already what is picked there. */
(function () {
  "use strict";
  const gviz = (window.gviz = window.gviz || {});

  /** @param {string[]} ids of the parts @returns {function(): string|null} the id of the part, or null */
  gviz.lastTouched = (ids) => {
    const parts = ids.map((id) => `#${id}`).join();
    let touched = null;
    for (const name of ["pointerdown", "keydown"]) {
      document.addEventListener(name, ({ target }) => (touched = target.closest?.(parts)?.id ?? null), true);
    }
    return () => touched;
  };
})();
