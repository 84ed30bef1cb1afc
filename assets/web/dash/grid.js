/**
 * AG Grid, two megabytes of script, is loaded where a table is shown and once the canvases are. Until
 * the script is there, this stands in for its component and its functions.
 */
import * as firstPaint from "../core/first_paint.js";
import { addressOf, runLibrary } from "./libraries.js";

/** @type {Promise<Window["dash_ag_grid"]>|null} */
let library = null;

async function load() {
  await firstPaint.painted();
  await runLibrary("grid", "the table");
  const loaded = window.dash_ag_grid;
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
  if (!addressOf("grid")) return;
  window.dash_ag_grid = {
    AgGrid,
    /** @param {string} id */
    getApiAsync: async (id) => (await libraryLoaded()).getApiAsync(id),
  };
}
