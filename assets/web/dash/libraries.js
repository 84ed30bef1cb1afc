/**
 * Libraries of some megabytes that run once a page has use for them.
 *
 * Their script tags are left out of pages by gviz.app.server.scripts, which puts their addresses in
 * meta elements.
 */

/** The address of a library; "": the page has none. @param {string} name */
export const addressOf = (name) =>
  document.querySelector(`meta[name="gviz-${name}"]`)?.getAttribute("content") ?? "";

/** Run a library's script. @param {string} name @param {string} purpose what it is for, in words */
export function runLibrary(name, purpose) {
  return /** @type {Promise<void>} */ (new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = addressOf(name);
    script.onload = () => resolve();
    script.onerror = () => reject(new Error(`the script of ${purpose} could not be loaded`));
    document.head.appendChild(script);
  }));
}
