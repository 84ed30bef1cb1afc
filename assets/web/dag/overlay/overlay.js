/**
 * An overlay: what the nodes of a scene are coloured by. Values run along a ramp, categories have
 * a colour each, the rarer ones one together. Python side: gviz.app.views.dag.overlays.
 *
 * @typedef {{key: number, text: string, count: number}} Category
 * @typedef {{least: number, most: number|null, log: boolean, from?: number}} Scale  `most` null: none above zero;
 *   `from`: where it begins, if that is below zero
 * @typedef {{label: string, array: string, unit?: string, signed?: boolean, cycles?: boolean,
 *   missing?: string, scale?: Scale, ranked?: boolean, laid?: LaidScale, blocks?: LaidBlocks, write?: (value: number) => string}} Facts  an entry of header.overlays
 * @typedef {Ramp|Categories|Change} Overlay
 * @typedef {{fill: string|null, ink: string}} Paint  css; `fill` null: hatched
 */
import * as colour from "../../core/colour.js";
import * as format from "../../core/format.js";
import { Change } from "./change.js";
import { inOrderOf } from "./order.js";
/** @import { Theme } from "../../core/canvas.js" */
/** @import { Payload } from "../../core/payload.js" */
/** @import { LaidScale } from "../../overlay/colours.js" */
/** @import { LaidBlocks } from "./laid.js" */

const { STEPS } = colour;
/** The step of a node without a category. */
const UNKNOWN = 255;

export class Ramp {
  /** @param {string} name @param {Facts} facts @param {Float32Array} values */
  constructor(name, facts, values) {
    this.name = name;
    this.label = facts.label;
    this.unit = facts.unit;
    this.write = facts.write;
    this.missing = facts.missing;
    this.scale = /** @type {Scale} */ (facts.scale);
    this.values = values;
    /** Of what a reader has laid on the graph. */ this.laid = facts.laid;
    /** What blocks of repeats have of that. */ this.blocks = facts.blocks;
    /** @type {true} */ this.isRamp = true;
    /** @type {false} */ this.isChange = false;
    // No slack is what stands out.
    this.reversed = name === "slack";
    this.step = new Uint8Array(values.length);
    this.unknown = false;
    for (let i = 0; i < values.length; i++) {
      if (!this.hasValue(i)) this.unknown = true;
      else this.step[i] = this.stepOf(values[i]);
    }
    this.inOrder = inOrderOf(this.step);
  }

  /** @param {number} value */
  stepOf(value) {
    if (this.laid) return this.laid.stepOf(value);
    const step = colour.stepOf(this.scale, value);
    return this.reversed ? STEPS - 1 - step : step;
  }

  /** @param {number} i */
  hasValue(i) {
    return this.values[i] === this.values[i];
  }

  /** The table of colours. @param {Theme} theme */
  table(theme) {
    return this.laid ? this.laid.table(theme) : colour.ramp(theme.name);
  }

  /**
   * Css colour and ink of a node, or null without a value.
   * @param {number} i @param {Theme} theme
   */
  paint(i, theme) {
    if (!this.hasValue(i)) return null;
    const ramp = this.table(theme);
    const step = this.step[i];
    return { fill: ramp.css[step], ink: ramp.darkText[step] ? theme.inkDark : theme.inkLight };
  }

  /**
   * How much a step stands out where many nodes share a pixel; unknown is the lowest.
   * @param {number} step
   */
  rankOf(step) {
    return 1 + Math.min(254, this.laid?.diverges ? 2 * Math.abs(step - (STEPS >> 1)) : step);
  }

  /** @param {Theme} theme */
  wordsOf(theme) {
    return this.table(theme).words;
  }

  /** The lower end, in words. */
  get lowest() {
    const { from, log, least, most } = this.scale;
    if (this.laid?.diverges) return this.text(-Number(most));
    return this.text(from ?? (log ? least : 0));
  }

  /** @param {number} value */
  text(value) {
    if (this.write) return this.write(value);
    return this.unit === "ns" ? format.duration(value) : format.percent(value);
  }

  /**
   * The value of a node in words.
   * @param {number} i
   */
  describe(i) {
    return this.hasValue(i) ? this.text(this.values[i]) : this.missing || "none";
  }
}

export class Categories {
  /**
   * @param {string} name @param {Facts} facts @param {Int32Array} keys
   * @param {(key: number) => string} textOf of a category
   * @param {Record<number, number>} [slots] the places of the colours of categories that have them
   */
  constructor(name, facts, keys, textOf, slots) {
    this.name = name;
    this.label = facts.label;
    this.missing = facts.missing;
    this.cycles = !!facts.cycles;
    /** Whether `slots` are places among the colours of categories, not among those of families. */
    this.ranked = !!facts.ranked;
    this.slots = slots;
    /** What blocks of repeats have of what a reader has laid on the graph. */ this.blocks = facts.blocks;
    /** @type {false} */ this.isRamp = false;
    /** @type {false} */ this.isChange = false;
    const counts = new Map();
    for (const key of keys) counts.set(key, (counts.get(key) || 0) + 1);
    this.unknown = counts.delete(-1);
    /** @type {Category[]} */
    this.categories = Array.from(counts, ([key, count]) => ({ key, count, text: textOf(key) }));
    // Those that alternate in colour stay in their order: neighbours differ.
    if (!facts.cycles) this.categories.sort((a, b) => this.rankOfKey(a.key) - this.rankOfKey(b.key) || b.count - a.count || a.key - b.key);
    const place = new Map(this.categories.map((c, at) => [c.key, at]));
    this.step = new Uint8Array(keys.length);
    /** The place of the category of each node. */
    this.places = new Int32Array(keys.length);
    for (let i = 0; i < keys.length; i++) {
      const at = place.get(keys[i]);
      this.step[i] = at === undefined ? UNKNOWN : this.stepOf(at);
      this.places[i] = at ?? 0;
    }
    this.inOrder = inOrderOf(this.step);
  }

  /**
   * What has a colour of its own has a step of its own.
   * @param {number} at
   */
  stepOf(at) {
    if (this.slots) return this.slots[this.categories[at].key];
    if (this.name === "kind") return Math.min(at, UNKNOWN - 1);
    return this.cycles ? at % colour.CATEGORIES : Math.min(at, colour.CATEGORIES);
  }

  /** Those that have the place of a colour stand in the order of these places. @param {number} key */
  rankOfKey(key) {
    return this.slots?.[key] ?? 0;
  }

  /** Whether a category has the colour of all that follow. @param {number} at */
  isRest(at) {
    if (this.slots) return this.slots[this.categories[at].key] === (this.ranked ? colour.CATEGORIES : colour.REST);
    return this.name !== "kind" && at === colour.CATEGORIES;
  }

  /** @param {number} i */
  hasValue(i) {
    return this.step[i] !== UNKNOWN;
  }

  /** The place of the category of a node that has one. @param {number} i */
  placeOf(i) {
    return this.places[i];
  }

  /** @param {number} at @param {Theme} theme */
  css(at, theme) {
    const slot = this.slots?.[this.categories[at].key];
    if (slot !== undefined) return this.ranked ? colour.category(slot, theme.name) : colour.ofFamily(slot);
    if (this.name === "kind") return colour.ofKind(this.categories[at].text, theme.name);
    return colour.category(this.cycles ? at % colour.CATEGORIES : at, theme.name);
  }

  /** @param {number} i @param {Theme} theme */
  paint(i, theme) {
    if (!this.hasValue(i)) return null;
    return { fill: this.css(this.placeOf(i), theme), ink: theme.inkDark };
  }

  /** @param {number} step */
  rankOf(step) {
    return step === UNKNOWN ? 1 : 2;
  }

  /** @param {Theme} theme */
  wordsOf(theme) {
    const words = new Uint32Array(256);
    words[UNKNOWN] = colour.wordOf(colour.category(99, theme.name));
    const steps = Math.min(this.categories.length, UNKNOWN);
    for (let at = 0; at < steps; at++) words[this.stepOf(at)] = colour.wordOf(this.css(at, theme));
    return words;
  }

  /** @param {number} i */
  describe(i) {
    return this.hasValue(i) ? this.categories[this.placeOf(i)].text : "none";
  }
}

/**
 * Return the overlay of a name, or of the kinds where the graph has nothing of that name.
 * @param {Payload} payload @param {string|undefined} requested
 * @returns {Overlay}
 */
export function make(payload, requested) {
  const { overlays, strings, kinds } = payload.header;
  const name = requested && overlays[requested] ? requested : "kind";
  const facts = overlays[name] || { label: "Kind", array: "type" };
  const values = payload[facts.array];
  if (facts.signed) return new Change(name, facts, payload);
  if (facts.unit) return new Ramp(name, facts, values);
  /** @type {Record<string, (key: number) => string>} */
  const texts = {
    kind: (key) => kinds[key] || `type ${key}`,
    lane: (key) => `${key + 1}`,
  };
  const slots = name === "family" ? payload.header.family_slots : undefined;
  return new Categories(name, facts, values, texts[name] || ((key) => strings[key]), slots);
}
