/**
 * An overlay: what the nodes of a scene are coloured by. Values run along a ramp, categories have
 * a colour each, the rarer ones one together. Python side: gviz.app.overlays.
 *
 * @typedef {{key: number, text: string, count: number}} Category
 */
import * as colour from "../../core/colour.js";
import * as format from "../../core/format.js";
import { Change } from "./change.js";
import { inOrderOf } from "./order.js";

const { STEPS } = colour;
/** The step of a node without a category. */
const UNKNOWN = 255;

class Ramp {
  /** @param {Object} facts entry of header.overlays @param {Float32Array} values */
  constructor(name, facts, values) {
    Object.assign(this, { name, ...facts, values });
    this.isRamp = true;
    // No slack is what stands out.
    this.reversed = name === "slack";
    this.step = new Uint8Array(values.length);
    this.unknown = false;
    for (let i = 0; i < values.length; i++) {
      if (!this.known(i)) this.unknown = true;
      else this.step[i] = this.stepOf(values[i]);
    }
    this.inOrder = inOrderOf(this.step);
  }

  stepOf(value) {
    const step = colour.stepOf(this.scale, value);
    return this.reversed ? STEPS - 1 - step : step;
  }

  known(i) {
    return this.values[i] === this.values[i];
  }

  /** Css colour and ink of a node, or null without a value. */
  paint(i, theme) {
    if (!this.known(i)) return null;
    const ramp = colour.ramp(theme.name);
    const step = this.step[i];
    return { fill: ramp.css[step], ink: ramp.darkText[step] ? theme.inkDark : theme.inkLight };
  }

  /** How much a step stands out where many nodes share a pixel; unknown is the lowest. */
  rankOf(step) {
    return 1 + Math.min(254, step);
  }

  wordsOf(theme) {
    return colour.ramp(theme.name).words;
  }

  text(value) {
    return this.unit === "ns" ? format.time(value) : format.percent(value);
  }

  /** The value of a node in words. */
  describe(i) {
    return this.known(i) ? this.text(this.values[i]) : this.missing || "none";
  }
}

class Categories {
  /** @param {function(number): string} textOf of a category */
  constructor(name, facts, keys, textOf) {
    Object.assign(this, { name, ...facts });
    this.isRamp = false;
    const counts = new Map();
    for (const key of keys) counts.set(key, (counts.get(key) || 0) + 1);
    this.unknown = counts.delete(-1);
    /** @type {Category[]} */
    this.categories = Array.from(counts, ([key, count]) => ({ key, count, text: textOf(key) }));
    // Those that take turns stay in the order in which they come: neighbours differ.
    if (!facts.turns) this.categories.sort((a, b) => b.count - a.count || a.key - b.key);
    const place = new Map(this.categories.map((c, at) => [c.key, at]));
    this.step = new Uint8Array(keys.length);
    for (let i = 0; i < keys.length; i++) {
      const at = place.get(keys[i]);
      this.step[i] = at === undefined ? UNKNOWN : this.stepOf(at);
    }
    this.inOrder = inOrderOf(this.step);
    this.place = place;
    this.keys = keys;
  }

  /** What has a colour of its own has a step of its own. */
  stepOf(at) {
    if (this.name === "kind") return Math.min(at, UNKNOWN - 1);
    return this.turns ? at % colour.CATEGORIES : Math.min(at, colour.CATEGORIES);
  }

  known(i) {
    return this.step[i] !== UNKNOWN;
  }

  css(at, theme) {
    if (this.name === "kind") return colour.ofKind(this.categories[at].text, theme.name);
    return colour.category(this.turns ? at % colour.CATEGORIES : at, theme.name);
  }

  paint(i, theme) {
    if (!this.known(i)) return null;
    return { fill: this.css(this.place.get(this.keys[i]), theme), ink: theme.inkDark };
  }

  rankOf(step) {
    return step === UNKNOWN ? 1 : 2;
  }

  wordsOf(theme) {
    const words = new Uint32Array(256);
    words[UNKNOWN] = colour.wordOf(colour.category(99, theme.name));
    const steps = Math.min(this.categories.length, UNKNOWN);
    for (let at = 0; at < steps; at++) words[this.stepOf(at)] = colour.wordOf(this.css(at, theme));
    return words;
  }

  describe(i) {
    return this.known(i) ? this.categories[this.place.get(this.keys[i])].text : "none";
  }
}

/**
 * Return the overlay of a name, or of the kinds where the graph has nothing of that name.
 * @param {import("./payload").Payload} payload
 */
export function make(payload, asked) {
  const { overlays, strings, kinds } = payload.header;
  const name = overlays[asked] ? asked : "kind";
  const facts = overlays[name] || { label: "Kind", array: "type" };
  const values = payload[facts.array];
  if (facts.signed) return new Change(name, facts, payload);
  if (facts.unit) return new Ramp(name, facts, values);
  const texts = {
    kind: (key) => kinds[key] || `type ${key}`,
    lane: (key) => `${key + 1}`,
  };
  return new Categories(name, facts, values, texts[name] || ((key) => strings[key]));
}
