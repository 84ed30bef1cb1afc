/** Which part of a page its reader last clicked or typed in: it shows already what is picked there. */

/** @param {string[]} ids of the parts @returns {function(): string|null} the id of the part, or null */
export function lastTouched(ids) {
  const parts = ids.map((id) => `#${id}`).join();
  let touched = null;
  for (const name of ["pointerdown", "keydown"]) {
    document.addEventListener(name, ({ target }) => (touched = target.closest?.(parts)?.id ?? null), true);
  }
  return () => touched;
}
