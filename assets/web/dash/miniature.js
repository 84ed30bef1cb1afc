/**
 * The small picture of a run: its most typical launch in lanes, coloured by kernel name, over a
 * band as wide as the graph is at each step. Numbers come from gviz.app.views.miniature.
 *
 * @typedef {{spans: number[][], lane_count: number, gpu_ns: number|null,
 *   ordinal: number|null, widths: number[]}} Miniature
 */
import * as colour from "../core/colour.js";
import * as format from "../core/format.js";
import * as payloads from "../core/payload.js";

const SVG = "http://www.w3.org/2000/svg";
/** As UNITS of gviz.app.views.miniature. */
const UNITS = 400;
/** Of a lane's height, what a bar takes. */
const BAR = 0.78;
/** Height of a lane (pixels): few lanes are higher, many share what there is. */
const LANE = [4, 22];
const LANES_HEIGHT = 44;
/** A graph this wide fills the band's height, so that a chain stays a line. */
const WIDE = 4;

/** @param {string} tag @param {Record<string, string>} attributes @param {Element} parent */
function element(tag, attributes, parent) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  parent.append(made);
  return made;
}

/** Bars of one colour as one path. @param {number[]} spans start, length, lane, and so on */
function barsPath(spans) {
  let path = "";
  for (let i = 0; i < spans.length; i += 3) {
    const [x, w, lane] = spans.slice(i, i + 3);
    path += `M${x} ${lane}h${w}v${BAR}h${-w}z`;
  }
  return path;
}

/**
 * A band around the middle, as high as the graph is wide; logarithmic, for a thousand side by side.
 * @param {number[]} widths
 */
function bandPath(widths) {
  const most = Math.log2(1 + Math.max(WIDE, ...widths));
  const half = widths.map((width) => Math.log2(1 + width) / most / 2);
  const step = UNITS / widths.length;
  const upper = half.map((h, i) => `L${(i * step).toFixed(1)} ${(0.5 - h).toFixed(3)}h${step.toFixed(1)}`);
  const lower = half.map((h, i) => `L${((i + 1) * step).toFixed(1)} ${(0.5 + h).toFixed(3)}h${(-step).toFixed(1)}`).reverse();
  return `M0 0.5${upper.join("")}${lower.join("")}z`;
}

/** @param {HTMLElement} box @param {number} height @param {number} viewHeight */
function picture(box, height, viewHeight) {
  return element("svg", {
    class: "gv-mini-part", viewBox: `0 0 ${UNITS} ${viewHeight}`, preserveAspectRatio: "none",
    style: `height:${height}px`, "aria-hidden": "true",
  }, box);
}

/** @param {HTMLElement} box @param {{spans: number[][], lane_count: number}} given */
function drawLaunch(box, { spans, lane_count: lanes }) {
  const lane = Math.max(LANE[0], Math.min(LANE[1], LANES_HEIGHT / lanes));
  const svg = picture(box, Math.round(lane * lanes), lanes);
  spans.forEach((bars, place) => {
    if (!bars.length) return;
    const [light, dark] = /** @type {const} */ (["light", "dark"]).map((theme) => colour.category(place, theme));
    const style = `--gv-mini-light:${light};--gv-mini-dark:${dark}`;
    element("path", { d: barsPath(bars), class: "gv-mini-bars", style }, svg);
  });
}

/** What the picture shows, in words. @param {Miniature} found */
function words(found) {
  const { gpu_ns: ns, ordinal, lane_count: lanes, widths } = found;
  const said = [];
  if (lanes) {
    const length = ns === null ? "" : `${format.duration(ns)}, `;
    said.push(`#${ordinal}, the median launch with node times: ${length}${format.counted(lanes, "lane")}`);
  } else said.push("No launch has node times");
  if (widths.length) said.push(`at most ${format.counted(Math.max(...widths), "node")} side by side`);
  return said.join(" · ");
}

/** @param {HTMLElement} box @param {Miniature} found */
function draw(box, found) {
  box.replaceChildren();
  if (found.lane_count) drawLaunch(box, found);
  if (found.widths.length) {
    const svg = picture(box, found.lane_count ? 16 : 40, 1);
    element("path", { d: bandPath(found.widths), class: "gv-mini-band" }, svg);
  }
  const said = words(found);
  box.setAttribute("aria-label", said);
  const caption = document.createElement("div");
  caption.className = "gv-mini-words";
  caption.textContent = said;
  box.append(caption);
}

/** @param {HTMLElement} box @param {string} source @param {AbortSignal} signal */
async function load(box, source, signal) {
  try {
    const found = await payloads.loadJson(source, signal);
    if (found.problem) box.textContent = `No picture: ${found.problem}`;
    else draw(box, found);
  } catch (error) {
    if (!signal.aborted) box.textContent = `No picture: ${/** @type {Error} */ (error).message}`;
  }
}

/** The component. @param {{source: string}} props */
export function Miniature({ source }) {
  const box = React.useRef(null);
  React.useEffect(() => {
    const loading = new AbortController();
    const seen = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      seen.disconnect();
      load(box.current, source, loading.signal);
    }, { rootMargin: "200px" });
    seen.observe(box.current);
    return () => {
      seen.disconnect();
      loading.abort();
    };
  }, [source]);
  return React.createElement("div", { className: "gv-mini", role: "img", "aria-label": "Picture of a launch", ref: box });
}
