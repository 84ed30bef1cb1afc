/**
 * Charts in the colours of the page: only the browser has dark or light.
 */

/** @param {string} name of a CSS variable @returns {string} its value */
function colour(name) {
  return window.getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** @param {Object} axis @returns {Object} the axis with lines and ticks in the page's colours */
function painted(axis) {
  const line = colour("--gv-line");
  return { ...axis, gridcolor: line, linecolor: line, tickcolor: line };
}

/**
 * @param {string} _scheme only says that it changed
 * @param {any[]} figures plotly figures
 * @returns {any[]} the same, painted
 */
export function paintCharts(_scheme, figures) {
  const text = colour("--gv-text");
  return figures.map((figure) => ({
    ...figure,
    // What plotly draws error bars in by itself is not seen in the dark.
    data: figure.data.map((/** @type {any} */ trace) =>
      trace.error_y ? { ...trace, error_y: { ...trace.error_y, color: text } } : trace,
    ),
    layout: {
      ...figure.layout,
      font: { ...figure.layout.font, color: text },
      xaxis: painted(figure.layout.xaxis),
      yaxis: painted(figure.layout.yaxis),
      hoverlabel: {
        bgcolor: colour("--gv-panel"), bordercolor: colour("--gv-line"), font: { color: text },
      },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--gv-muted"), activecolor: text },
    },
  }));
}

