/**
 * Properties of Dash's components, read and set by the scripts of pages. Dash's renderer is loaded
 * after this file.
 */

/** What a callback returns that changes nothing. */
export const noUpdate = () => window.dash_clientside.no_update;

/**
 * The properties of a component; none where the page has no such one, or Dash is not there yet.
 * @param {string} id
 */
export const propsOf = (id) => window.dash_component_api?.getLayout(id)?.props || {};

/**
 * Set properties of a component that the page has for certain.
 * @param {string} id @param {any} props
 */
export const set = (id, props) => window.dash_clientside.set_props(id, props);

/** @param {string} id */
export const present = (id) => document.getElementById(id) !== null;

/**
 * Set properties of a component where the page has it as an element: stores never are.
 * @param {string} id @param {any} props
 */
export function setPresent(id, props) {
  if (present(id)) set(id, props);
}
