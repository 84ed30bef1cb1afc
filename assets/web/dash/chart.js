/**
 * The Dash component of a chart that plotly.js draws, in the colours of the page: only the browser
 * has dark or light. Charts in sight are drawn first, the others one by one behind them. Python side:
 * gviz.app.components.canvases.
 */
import { shown } from "../core/first_paint.js";
import { addressOf, runLibrary } from "./libraries.js";

const CONFIG = { displaylogo: false, modeBarButtonsToRemove: ["select2d"] };

/** @type {Promise<any>|null} */
let library = null;

/** Run plotly.js, where the page says which it is. @returns {Promise<any>} */
function plotly() {
  library ||= runLibrary("plotly", "charts").then(() => window.Plotly);
  return library;
}

/** Have plotly.js run before there is a chart, on a page that has its script fetched. */
export function begin() {
  const source = addressOf("plotly");
  if (source && document.querySelector(`link[rel="preload"][href="${source}"]`)) plotly().catch(() => {});
}

/** Drawn one by one: charts out of sight. @type {Promise<unknown>} */
let others = Promise.resolve();

/** @param {string} name of a CSS variable @returns {string} its value */
function colour(name) {
  return window.getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** @param {Object} axis @returns {Object} the axis with lines and ticks in the page's colours */
function painted(axis) {
  const line = colour("--gv-line");
  return { ...axis, gridcolor: line, linecolor: line, tickcolor: line };
}

/** @param {any} figure of plotly @returns {any} the same in the page's colours, which plotly may write to */
function paint({ data, layout }) {
  const text = colour("--gv-text");
  return {
    // What plotly draws error bars in by itself is not seen in the dark.
    data: data.map((/** @type {any} */ trace) =>
      trace.error_y ? { ...trace, error_y: { ...trace.error_y, color: text } } : { ...trace },
    ),
    layout: {
      ...layout,
      font: { ...layout.font, color: text },
      xaxis: painted(layout.xaxis),
      yaxis: painted(layout.yaxis),
      hoverlabel: {
        bgcolor: colour("--gv-panel"), bordercolor: colour("--gv-line"), font: { color: text },
      },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--gv-muted"), activecolor: text },
    },
  };
}

/** A chart in a box, until it is closed. */
class Drawing {
  /** @param {any} box @param {any} figure @param {string|undefined} open address that what is clicked completes */
  constructor(box, figure, open) {
    this.box = box;
    this.figure = figure;
    this.open = open;
    this.closed = false;
    this.width = 0;
    this.seen = new IntersectionObserver(([entry]) => this.begin(entry.isIntersecting));
    this.seen.observe(box);
    this.scheme = new MutationObserver(() => this.draw());
    this.size = new ResizeObserver(() => this.fit());
  }

  /** @param {boolean} isInSight */
  begin(isInSight) {
    this.seen.disconnect();
    if (isInSight) this.first();
    else others = others.then(plotly).then(shown, shown).then(() => this.first());
  }

  async first() {
    try {
      await plotly();
      if (this.closed) return;
      await this.draw();
    } catch (error) {
      this.box.textContent = `No chart: ${/** @type {Error} */ (error).message}`;
      return;
    }
    this.box.on("plotly_click", (/** @type {any} */ { points }) => this.follow(points[0]));
    this.scheme.observe(document.documentElement, { attributeFilter: ["data-mantine-color-scheme"] });
    this.size.observe(this.box);
  }

  draw() {
    const { data, layout } = paint(this.figure);
    this.width = this.box.clientWidth;
    return window.Plotly.react(this.box, data, layout, CONFIG);
  }

  /** Fill the box when it has another width. */
  fit() {
    if (this.box.clientWidth === this.width || !this.box.clientWidth) return;
    this.width = this.box.clientWidth;
    window.Plotly.Plots.resize(this.box);
  }

  /** @param {any} point that was clicked */
  follow(point) {
    if (this.open && point?.customdata) window.location.assign(this.open + point.customdata);
  }

  close() {
    this.closed = true;
    for (const observer of [this.seen, this.scheme, this.size]) observer.disconnect();
    window.Plotly?.purge(this.box);
  }
}

/** The component. @param {{figure: any, open?: string}} props */
export function Chart({ figure, open }) {
  const box = React.useRef(null);
  React.useEffect(() => {
    const drawing = new Drawing(box.current, figure, open);
    return () => drawing.close();
  }, [figure, open]);
  return React.createElement("div", { style: { height: `${figure.layout.height}px` }, ref: box });
}
