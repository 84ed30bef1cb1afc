/** Rows for a grid from columns that the server sends, or a sentence in place of the grid. */
import * as payloads from "../core/payload.js";

/**
 * A sentence in place of a table; "" shows it.
 * @param {string} id of the grid @param {string} text
 */
function say(id, text) {
  const body = document.getElementById(id)?.closest(".gv-pane-body");
  if (!body) return;
  body.querySelector(".gv-table-message")?.remove();
  if (!text) return;
  const message = document.createElement("p");
  message.className = "gv-empty gv-table-message";
  message.setAttribute("role", "alert");
  message.textContent = text;
  body.append(message);
}

/**
 * Fetch the rows of a grid; null: they could not be had, which is said.
 * @param {string} id @param {string} source
 * @returns {Promise<Record<string, any>[]|null>}
 */
export async function load(id, source) {
  let columns;
  try {
    columns = await payloads.loadJson(source);
    say(id, "");
  } catch (error) {
    say(id, `The table could not be loaded: ${/** @type {Error} */ (error).message}`);
    return null;
  }
  const names = Object.keys(columns);
  const count = names.length > 0 ? columns[names[0]].length : 0;
  return Array.from({ length: count }, (_, at) =>
    Object.fromEntries(names.map((name) => [name, columns[name][at]])),
  );
}
