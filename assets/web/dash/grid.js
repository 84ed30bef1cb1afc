/**
 * AG Grid, two megabytes of script, is loaded where a table is shown and once the canvases are.
 *
 * The page's own script tag is left out by gviz.app.server.scripts, which puts its address in a meta
 * element. Until the script is there, this stands in for its component and its functions.
 */
import * as firstPaint from "../core/first_paint.js";

/** Of the library; "" on a page that has none. */
let source = "";
/** @type {Promise<Window["dash_ag_grid"]>|null} */
let library = null;

/** @returns {Promise<Window["dash_ag_grid"]>} */
function loadScript() {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = source;
    script.onload = () => resolve(window.dash_ag_grid);
    script.onerror = () => reject(new Error("the table's script could not be loaded"));
    document.head.appendChild(script);
  });
}

async function load() {
  await firstPaint.painted();
  const loaded = await loadScript();
  // Dash looks the component up again whenever it renders: it must stay the same one.
  window.dash_ag_grid = { ...loaded, AgGrid };
  return loaded;
}

function libraryLoaded() {
  library = library || load();
  return library;
}

/** @type {any} */
let Loaded = null;

/** @param {any} props */
function AgGrid(props) {
  // Only now: React's script comes after this one.
  Loaded ||= React.lazy(async () => ({ default: (await libraryLoaded()).AgGrid }));
  const { id, className, style } = props;
  const empty = React.createElement("div", { id, className, style });
  return React.createElement(
    React.Suspense,
    { fallback: empty },
    React.createElement(Loaded, props),
  );
}

/** Stand in for the library, where the page says which it is. */
export function standIn() {
  source = document.querySelector('meta[name="gviz-grid"]')?.getAttribute("content") ?? "";
  if (!source) return;
  window.dash_ag_grid = {
    AgGrid,
    /** @param {string} id */
    getApiAsync: async (id) => (await libraryLoaded()).getApiAsync(id),
  };
}
