/**
 * The overlay of changes against a baseline: one colour for slower, one for faster, none for what
 * is within noise; what is significant has an arrow, what was added a broken outline. Python side:
 * gviz.app.views.baseline.baseline_overlay.
 */
(function () {
  "use strict";
  const gviz = (window.gviz = window.gviz || {});
  const ARROWS = { slower: "▲", faster: "▼" };
  const WORDS = {
    slower: "slower, by more than noise", faster: "faster, by more than noise",
    noise: "within noise", untested: "not tested", untimed: "not timed in both",
    added: "no counterpart: added", uncompared: "not compared",
    removed: "no counterpart: removed",
  };

  class Change {
    /** @param {Object} facts entry of header.overlays @param {import("./payload").Payload} payload */
    constructor(name, facts, payload) {
      Object.assign(this, { name, ...facts, values: payload[facts.array] });
      this.isRamp = this.isChange = true;
      this.baseline = payload.header.baseline;
      this.verdicts = payload.verdict;
      const count = this.values.length;
      this.step = new Uint8Array(count);
      this.unknown = false;
      for (let i = 0; i < count; i++) {
        this.step[i] = this.stepOf(i);
        if (!this.known(i) && !this.isLone(i)) this.unknown = true;
      }
      if (this.verdicts.includes(this.baseline.verdicts.indexOf("uncompared"))) {
        this.missing += ", or not compared";
      }
      this.inOrder = gviz.overlay.inOrderOf(this.step);
    }

    /** Noise, and what is not known, has the step of no change. */
    stepOf(i) {
      const counts = this.known(i) && !this.isCalm(i);
      return gviz.colour.changeStepOf(this.scale, counts ? this.values[i] : 0);
    }

    verdict(i) {
      return this.baseline.verdicts[this.verdicts[i]];
    }

    known(i) {
      return this.values[i] === this.values[i];
    }

    isCalm(i) {
      return this.verdict(i) === "noise";
    }

    isAdded(i) {
      return this.verdict(i) === "added";
    }

    /** Whether a node is of one graph alone: added, or removed where both are shown. */
    isLone(i) {
      return this.isAdded(i) || this.verdict(i) === "removed";
    }

    /** ▲ or ▼ of a significant change, "" of others. */
    arrow(i) {
      return ARROWS[this.verdict(i)] || "";
    }

    paint(i, theme) {
      if (this.isLone(i)) return { fill: theme.ground, ink: theme.ink };
      if (!this.known(i)) return null;
      const { css, darkText } = gviz.colour.changes(theme.name);
      const step = this.step[i];
      return { fill: css[step], ink: darkText[step] ? theme.inkDark : theme.inkLight };
    }

    /** How much a step stands out where many nodes share a pixel (1..255). */
    rankOf(step) {
      return 1 + Math.min(252, 2 * Math.abs(step - 128));
    }

    wordsOf(theme) {
      return gviz.colour.changes(theme.name).words;
    }

    /** The RGBA word of a node that stands out above all others; 0: as its step says. */
    loneWord(i, theme) {
      if (!this.isLone(i)) return 0;
      return gviz.colour.wordOf(this.isAdded(i) ? theme.accent : theme.muted);
    }

    text(value) {
      return this.unit === "ns" ? gviz.format.signedTime(value) : gviz.format.signedRatio(value);
    }

    /** The change of a node in words. */
    describe(i) {
      if (!this.known(i)) return WORDS[this.verdict(i)];
      return `${this.text(this.values[i])} (${WORDS[this.verdict(i)]})`;
    }

    /** The change on a card: short, with its arrow; of noise only that it is. */
    line(i) {
      const verdict = this.verdict(i);
      if (verdict === "noise") return "≈";
      return this.known(i) ? `${this.arrow(i)} ${this.text(this.values[i])}`.trim() : WORDS[verdict];
    }

    /** What the colours and marks mean, as a sentence. */
    sentence() {
      const { name, added, gone, untested } = this.baseline;
      const { most, log } = this.scale;
      const range = most === null
        ? "none"
        : `${this.text(-most)} to ${this.text(most)}${log ? ", on a logarithmic scale" : ""}`;
      const marks = untested
        ? `Changes were not tested: ${untested}.`
        : "Arrows mark changes by more than noise.";
      const alone = this.baseline.union ? "" : ` ${added} added (broken outline), ${gone} gone.`;
      const hatched = this.unknown ? ` Hatched: ${this.missing}.` : "";
      return `Coloured by ${this.label} against ${name}: ${range}. ${marks}${alone}${hatched}`;
    }
  }

  /** The rows of a tooltip about a baseline; none without one. */
  function rows(scene, i) {
    const { baseline, strings } = scene.header;
    if (!baseline) return [];
    const { payload } = scene;
    const found = [];
    if (Number.isFinite(payload.baseline_ns[i])) {
      const mean = scene.bodies.holders.has(i) ? ", mean of a launch" : "";
      found.push([`in ${baseline.name}${mean}`, gviz.format.time(payload.baseline_ns[i])]);
    }
    if (Number.isFinite(payload.change_ns[i])) {
      const ratio = payload.change_log2[i];
      const relative = Number.isFinite(ratio) ? `, ${gviz.format.signedRatio(ratio)}` : "";
      found.push(["change", gviz.format.signedTime(payload.change_ns[i]) + relative]);
    }
    found.push([`against ${baseline.name}`, WORDS[baseline.verdicts[payload.verdict[i]]]]);
    const difference = payload.difference[i];
    if (difference >= 0) found.push([scene.isFold(i) ? "nodes" : "changed", strings[difference]]);
    return found;
  }

  /** What tests ask: the mark of each item, by its node; undefined without changes. */
  function state(scene, overlay) {
    if (!overlay.isChange) return undefined;
    const of = (i) => ({
      verdict: overlay.verdict(i), arrow: overlay.arrow(i), calm: overlay.isCalm(i),
    });
    return Object.fromEntries(Array.from(scene.nodeId, (id, i) => [id, of(i)]));
  }

  gviz.overlayChange = { Change, rows, state };
})();
