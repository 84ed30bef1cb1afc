/**
 * Colours of values, of categories and of kinds.
 *
 * Values: a table computed in OKLCH whose lightness is linear, so equal steps look equal and
 * the order survives every kind of colour blindness. The greatest stands out most from the
 * background: dark on light, bright on dark. Kinds and categories: hues of Okabe and Ito and
 * between them, lightness adapted.
 *
 * @typedef {{css: string[], words: Uint32Array, darkText: boolean[]}} Steps  of a table of colours
 */
/** @import { Scheme } from "./canvas.js" */

export const STEPS = 256;
/** Values that spread more are shown as ratios: as LOG_RATIO of gviz.formats.svg.colours. */
const LOG_RATIO = 20;

// [position, chroma, hue]; lightness runs linearly from the first to the second of `light`.
/** @type {Record<Scheme, {light: [number, number], path: [number, number, number][]}>} */
const RAMPS = {
  light: {
    light: [0.915, 0.33],
    path: [[0, 0.045, 205], [0.3, 0.1, 225], [0.55, 0.15, 275], [0.8, 0.19, 320], [1, 0.15, 345]],
  },
  dark: {
    light: [0.36, 0.93],
    path: [[0, 0.07, 262], [0.28, 0.14, 292], [0.52, 0.18, 340], [0.76, 0.15, 45], [1, 0.13, 98]],
  },
};

// Changes: from none to the most, to less and to more. Equal steps to both sides are about equally
// light; blue and orange differ for every kind of colour blindness. [lightness, chroma, hue]
/** @type {Record<Scheme, Record<"none"|"less"|"more", [number, number, number]>>} */
const CHANGES = {
  light: { none: [0.935, 0.004, 250], less: [0.46, 0.15, 255], more: [0.52, 0.17, 45] },
  dark: { none: [0.31, 0.008, 250], less: [0.76, 0.13, 240], more: [0.8, 0.15, 65] },
};

/** @type {Record<Scheme, Record<string, string>>} */
const KIND_COLOURS = {
  light: {
    KERNEL: "#4c8fd6", MEMCPY: "#e0902f", MEMSET: "#2fa58a", HOST: "#b678c4", GRAPH: "#7a86d8",
    CONDITIONAL: "#d9698f", MEM_ALLOC: "#a08a3c", MEM_FREE: "#c2ae6a", other: "#9aa5b1",
  },
  dark: {
    KERNEL: "#4f93dc", MEMCPY: "#e39a3f", MEMSET: "#35b294", HOST: "#c08ad0", GRAPH: "#8a95e6",
    CONDITIONAL: "#e27a9d", MEM_ALLOC: "#b7a04c", MEM_FREE: "#8d7f45", other: "#7d8894",
  },
};

/** The last is for all the rarer ones. */
const CATEGORY_COLOURS = {
  light: [
    "#4c8fd6", "#e0902f", "#2fa58a", "#b678c4", "#d9698f", "#8aa63a", "#5fb8d9", "#b5824f",
    "#7a86d8", "#d1b23c", "#b3bac4",
  ],
  dark: [
    "#4f93dc", "#e39a3f", "#35b294", "#c08ad0", "#e27a9d", "#93b043", "#63bede", "#c08f5c",
    "#8a95e6", "#d6b944", "#7a8490",
  ],
};

// Families of kernels by their place (gviz.app.views.family_colours): products of matrices in
// shades of blue, others, the rest. Dark text has a contrast of 4.5:1 on each.
const FAMILY_COLOURS = [
  "#5f95e0", "#7db4f2", "#a6cbf7", "#6f86d6", "#9aa9ea",
  "#f2a154", "#7cc79b", "#ee9183", "#b79be0", "#f0c869", "#6cc4c9", "#d79ac8", "#b8c97f", "#d8b48f",
  "#9bd18f", "#e3a6b8", "#a9b6c9",
  "#c3cad4",
];
/** The place of all families beyond those that have one of their own. */
export const REST = FAMILY_COLOURS.length - 1;
export const CATEGORIES = CATEGORY_COLOURS.light.length - 1;
/** On a logarithmic scale of changes: how far from none the least one stands, 0..1. */
const LEAST_CHANGE = 0.2;
/** Luminance on which black and white text have the same contrast, 4.6:1. */
const EVEN = Math.sqrt(1.05 * 0.05) - 0.05;

/**
 * OKLCH to sRGB bytes, chroma reduced until it fits. Reference: Ottosson 2020, "OKLab".
 * @param {number} lightness @param {number} chroma @param {number} hue
 */
function oklch(lightness, chroma, hue) {
  const angle = (hue * Math.PI) / 180;
  for (let c = chroma; ; c -= 0.005) {
    const rgb = oklab(lightness, c * Math.cos(angle), c * Math.sin(angle));
    if (c <= 0 || rgb.every((v) => v >= -0.0005 && v <= 1.0005)) {
      return rgb.map((v) => Math.round(255 * gamma(Math.min(1, Math.max(0, v)))));
    }
  }
}

/** @param {number} lightness @param {number} a @param {number} b */
function oklab(lightness, a, b) {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
}

/** @param {number} v */
function gamma(v) {
  return v <= 0.0031308 ? 12.92 * v : 1.055 * v ** (1 / 2.4) - 0.055;
}

/**
 * @param {[number, number, number][]} path @param {number} t
 * @returns {[number, number]}
 */
function along(path, t) {
  const i = Math.max(1, path.findIndex(([at]) => at >= t));
  const [t0, c0, h0] = path[i - 1];
  const [t1, c1, h1] = path[i];
  const f = (t - t0) / (t1 - t0);
  const turn = ((((h1 - h0) % 360) + 540) % 360) - 180;
  return [c0 + f * (c1 - c0), h0 + f * turn];
}

/** @param {{light: [number, number], path: [number, number, number][]}} given */
function buildRamp({ light, path }) {
  return buildSteps((t) => oklch(light[0] + t * (light[1] - light[0]), ...along(path, t)));
}

/**
 * The middle step is no change; below it is less, above it more.
 * @param {Record<"none"|"less"|"more", [number, number, number]>} given
 */
function buildChanges({ none, less, more }) {
  const middle = (STEPS >> 1) / (STEPS - 1);
  return buildSteps((t) => {
    const end = t < middle ? less : more;
    const f = t < middle ? (middle - t) / middle : (t - middle) / (1 - middle);
    const [lightness, chroma] = [0, 1].map((k) => none[k] + f * (end[k] - none[k]));
    return oklch(lightness, chroma, f ? end[2] : none[2]);
  });
}

/**
 * A table of steps: css strings, RGBA words for pixel buffers, and whether text on it is dark.
 * @param {(part: number) => number[]} rgbOf of 0..1, bytes
 * @returns {Steps}
 */
function buildSteps(rgbOf) {
  const css = [];
  const darkText = [];
  const words = new Uint32Array(STEPS);
  for (let i = 0; i < STEPS; i++) {
    const [r, g, b] = rgbOf(i / (STEPS - 1));
    css.push(`rgb(${r},${g},${b})`);
    words[i] = (255 << 24) | (b << 16) | (g << 8) | r;
    darkText.push(luminance([r, g, b]) > EVEN);
  }
  return { css, words, darkText };
}

/**
 * Relative luminance of sRGB bytes, 0..1. Reference: WCAG 2.2.
 * @param {number[]} rgb
 */
function luminance(rgb) {
  const [r, g, b] = rgb.map((byte) => {
    const v = byte / 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** @type {Partial<Record<Scheme, Steps>>} */
const built = {};

/** @param {Scheme} theme */
export function ramp(theme) {
  return (built[theme] = built[theme] || buildRamp(RAMPS[theme]));
}

/** @type {Partial<Record<Scheme, Steps>>} */
const builtChanges = {};

/** The table of changes. @param {Scheme} theme */
export function changes(theme) {
  return (builtChanges[theme] = builtChanges[theme] || buildChanges(CHANGES[theme]));
}

/**
 * The step of a change in the table of changes.
 * @param {{least: number, most: number|null, log: boolean}} scale of its size
 * @param {number} value
 */
export function changeStepOf({ least, most, log }, value) {
  const middle = STEPS >> 1;
  if (most === null || !value) return middle;
  const size = Math.abs(value);
  let t = size / most;
  // The least that counts differs from none; what is less fades towards it.
  if (log && size <= least) t = (LEAST_CHANGE * size) / least;
  else if (log) t = LEAST_CHANGE + ((1 - LEAST_CHANGE) * Math.log(size / least)) / Math.log(most / least);
  const far = Math.min(1, t) * (value < 0 ? middle : STEPS - 1 - middle);
  return middle + Math.sign(value) * Math.round(far);
}

/**
 * The steps of durations in the ramp.
 * @param {{least_ns: number, most_ns: number|null, log: boolean}} scale @param {Float64Array} times in ns
 */
export function steps({ least_ns: least, most_ns: most, log }, times) {
  const scale = { least, most, log };
  const found = new Uint8Array(times.length);
  for (let i = 0; i < times.length; i++) found[i] = stepOf(scale, times[i]);
  return found;
}

/**
 * How values map to colours: as ColourScale of gviz.formats.svg.colours; where some are below zero, from the least.
 * @param {ArrayLike<number>} values NaN: none @param {boolean} [isSpread] from the least in any case
 * @returns {{least: number, most: number|null, log: boolean, from?: number}}
 */
export function scaleOf(values, isSpread = false) {
  let [least, most, lowest] = [Infinity, -Infinity, isSpread ? Infinity : 0];
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value > most) most = value;
    if (value > 0 && value < least) least = value;
    if (value < lowest) lowest = value;
  }
  if (lowest < 0 || (isSpread && most >= lowest)) return { least: lowest, most, log: false, from: lowest };
  if (!(most > 0)) return { least: 0, most: null, log: false };
  return { least, most, log: most / least >= LOG_RATIO };
}

/**
 * How changes map to colours: by their size, the same to both sides.
 * @param {ArrayLike<number>} values NaN: none
 */
export function changeScaleOf(values) {
  let [least, most] = [Infinity, 0];
  for (let i = 0; i < values.length; i++) {
    const size = Math.abs(values[i]);
    if (size > most) most = size;
    if (size > 0 && size < least) least = size;
  }
  return most > 0 ? { least, most, log: false } : { least: 0, most: null, log: false };
}

/**
 * The step of a value in the ramp.
 * @param {{least: number, most: number|null, log: boolean, from?: number}} scale
 * @param {number} value
 */
export function stepOf({ least, most, log, from }, value) {
  if (from !== undefined && most !== null) {
    const part = most > from ? (value - from) / (most - from) : 0.5;
    return Math.max(0, Math.min(STEPS - 1, Math.round(part * (STEPS - 1))));
  }
  if (most === null || !(value > 0)) return 0;
  if (most <= least) return STEPS >> 1;
  const t = log ? Math.log(value / least) / Math.log(most / least) : value / most;
  return Math.max(0, Math.min(STEPS - 1, Math.round(t * (STEPS - 1))));
}

/** @param {string} kind @param {Scheme} theme */
export function ofKind(kind, theme) {
  return KIND_COLOURS[theme][kind] || KIND_COLOURS[theme].other;
}

/**
 * The colour of a category by its place; of those beyond the table the last.
 * @param {number} place @param {Scheme} theme
 */
export function category(place, theme) {
  return CATEGORY_COLOURS[theme][Math.min(place, CATEGORIES)];
}

/**
 * The colour of a family of kernels, light or dark the same: dark text stands on it.
 * @param {number} place
 */
export function ofFamily(place) {
  return FAMILY_COLOURS[Math.min(place, REST)];
}

/**
 * A colour "#rrggbb" mixed with white.
 * @param {string} css @param {number} part of white, 0..1
 */
export function lighter(css, part) {
  const bytes = (css.slice(1).match(/../g) ?? []).map((hex) => parseInt(hex, 16));
  return `#${bytes.map((byte) => Math.round(byte + part * (255 - byte)).toString(16).padStart(2, "0")).join("")}`;
}

/**
 * A css colour "#rrggbb" or "rgb(r,g,b)" as the RGBA word of a pixel buffer.
 * @param {string} css
 */
export function wordOf(css) {
  const hex = css.startsWith("#");
  const parts = (hex ? css.slice(1).match(/../g) : css.match(/\d+/g)) ?? [];
  const [r, g, b] = parts.map((part) => parseInt(part, hex ? 16 : 10));
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}
