/** A time axis: round ticks with one unit for all of them. */
(function () {
  "use strict";
  const gviz = (window.gviz = window.gviz || {});
  /** Ticks stand at least this far apart (CSS pixels): room for "1,234.5 µs". */
  const APART = 84;

  /** The least of 1, 2, 5 times a power of ten that is not below `raw`. */
  function roundStep(raw) {
    const power = 10 ** Math.floor(Math.log10(raw));
    const lead = raw / power;
    return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
  }

  /**
   * Ticks of a range.
   * @param {number} from ns @param {number} to ns @param {number} width CSS pixels
   * @returns {{ns: number, text: string}[]}
   */
  function ticks(from, to, width) {
    const step = Math.max(1, roundStep(((to - from) / Math.max(1, width)) * APART));
    const [size, unit] = gviz.format.axisUnit(Math.max(step, Math.abs(to) / 2000));
    const digits = Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9));
    const found = [];
    for (let n = Math.ceil(from / step); n * step <= to; n++) {
      const value = (n * step) / size;
      const text = value.toLocaleString("en", {
        minimumFractionDigits: digits,
        maximumFractionDigits: digits,
      });
      found.push({ ns: n * step, text: n === 0 ? "0" : `${text} ${unit}` });
    }
    return found;
  }

  gviz.axis = { ticks };
})();
