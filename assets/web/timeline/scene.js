/** The timeline as arrays: two sides, each with lanes of intervals in order of start. */
import { Pace } from "../core/pace.js";
import { LaidColours } from "../overlay/colours.js";
import { Changes } from "./changes.js";
import { Side } from "./side.js";
/** @import { TimeTransform } from "../core/axis.js" */
/** @import { Laid } from "../core/frame.js" */
/** @import { Payload } from "../core/payload.js" */
/** @import { Call, SideSpans } from "./side.js" */

export class TimelineScene {
  /** @param {Payload} payload */
  constructor(payload) {
    this.header = payload.header;
    /** From one launch to the other, where they are two versions of one. */
    this.changes = payload.header.changes ? new Changes(payload) : null;
    /** All sides, top to bottom, those that are missing too. */
    this.names = Object.keys(payload.header.sides ?? { graph: 0, stream: 0 });
    this.sides = this.names
      .filter((name) => payload.header[name])
      .map((name) => new Side(name, payload));
    /** @type {LaidColours|null} */ this.laid = null;
    /** Eager work whose lanes are not shown, under a launch that is. @type {Side|null} */
    this.eager = null;
    this.total = this.totalOf();
  }

  totalOf() {
    const shared = this.sides.filter((side) => !this.isApart(side.name));
    return Math.max(1, ...shared.map((s) => s.facts.total_ns));
  }

  /** Whether a side has a scale of its own: eager work whose lanes are shown under a launch. @param {string} name */
  isApart(name) {
    return name === "stream" && this.canCloseEager && !this.eager;
  }

  /** How much more of the width a nanosecond of a side has than on the axis above. @param {string} name */
  scaleOf(name) {
    return this.isApart(name) ? this.total / Math.max(1, this.present(name).facts.total_ns) : 1;
  }

  /** The transform of a side's times. @param {string} name @param {TimeTransform} given that of the axis above @returns {TimeTransform} */
  transformOf(name, { k, x }) {
    return { k: k * this.scaleOf(name), x };
  }

  /** Whether there is eager work under a launch. */
  get canCloseEager() {
    return !!this.eager || (!this.header.sides && this.sides.length > 1);
  }

  /** Make what the first picture did without, before somebody points at a node. */
  async finish() {
    const pace = new Pace();
    for (const side of this.sides) {
      await pace.rest();
      side.byNode;
    }
  }

  /** Show the lanes of eager work under a launch, or have a line say what it is. @param {boolean} isOpen */
  showEager(isOpen) {
    const eager = this.eager ?? this.side("stream") ?? null;
    const others = this.sides.filter((side) => side !== eager);
    // Without a launch it is all there is.
    const isClosed = !isOpen && eager !== null && others.length > 0 && !this.header.sides;
    this.sides = eager && !isClosed ? [...others, eager] : others;
    this.eager = isClosed ? eager : null;
    this.total = this.totalOf();
  }

  /** Make the colours of what is laid on the graph. @param {Laid} laid */
  prepare(laid) {
    this.coloursOf(laid);
  }

  /** Colours of what a reader has laid on the graph, made once; null: nothing. @param {Laid|null} [laid] */
  coloursOf(laid) {
    if (!laid) return null;
    if (this.laid?.laid !== laid) {
      const nodes = new Set(this.sides.flatMap((side) => Array.from(side.byNode.keys())));
      this.laid = new LaidColours(laid, Array.from(nodes, (node) => laid.of(node)));
    }
    return this.laid;
  }

  /** All sides but one. @param {Side} side */
  others(side) {
    return this.sides.filter((other) => other.name !== side.name);
  }

  /** @param {string} name */
  side(name) {
    return this.sides.find((s) => s.name === name);
  }

  /** A side that is there. @param {string} name @returns {Side} */
  present(name) {
    return /** @type {Side} */ (this.side(name));
  }

  /**
   * What a comparison or a job calls its sides, all of them launches; undefined where the sides
   * are a graph and the same work by stream calls. `against`: what lengths are multiples of.
   * @param {string} name
   * @returns {{title: string, missing: string, letter: string, against?: string}|undefined}
   */
  named(name) {
    return this.header.sides?.[name];
  }

  /** Whether another scene shows the same launches, perhaps fewer of all. @param {TimelineScene} other */
  shows(other) {
    /** @param {TimelineScene} scene */
    const launches = ({ header }) =>
      JSON.stringify(
        this.names.map((name) => header[name] && [header[name].mode, header[name].ordinal, header[name].zero]),
      );
    return this.header.graph_id === other.header.graph_id && launches(this) === launches(other);
  }

  /** The label of a span's kernel, or its name. @param {SideSpans} side @param {number} i */
  nameOf(side, i) {
    return side.labels[side.label[i]] ?? this.wholeNameOf(side, i);
  }

  /** @param {SideSpans} side @param {number} i */
  wholeNameOf(side, i) {
    return side.strings[side.label[i]];
  }

  /** @param {Side} side @param {Call} call */
  titleOf(side, call) {
    if (call.item >= 0) return `launch of ${this.nameOf(side, call.item)}`;
    return side.strings[call.name];
  }

  /** @param {SideSpans} side @param {number} i */
  kindOf(side, i) {
    return this.header.kinds[side.type[i]] || `type ${side.type[i]}`;
  }
}

