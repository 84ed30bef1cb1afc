/** The Fleet page: a click on a map opens the graph of that rank. */
import { noUpdate } from "./props.js";

/**
 * @param {any[]} clicks what was clicked on each chart of the page
 * @param {any[]} figures of the charts
 */
export function open(clicks, figures) {
  const { triggered } = window.dash_clientside.callback_context;
  const point = triggered[0]?.value?.points?.[0];
  const figure = figures.find((one, at) => clicks[at] === triggered[0]?.value && one.layout.meta?.open);
  if (point?.customdata && figure) window.location.assign(`${figure.layout.meta.open}&rank=${point.customdata}`);
  return noUpdate();
}
