/** Times of a node: statistics, distribution over launches, and the same work eager. */
import * as format from "../core/format.js";
import { element } from "../core/parts.js";
/** @import { Fact } from "../core/parts.js" */
/** @import { NodeRecord, Row, Spread } from "./records.js" */

/** Duration statistics of a node over recorded launches, and eager ones beside them. @param {NodeRecord} record @returns {Fact[]} */
export function timeFacts({ statistics, share, timedCount, eager, spread }) {
  const found = /** @type {Row} */ (statistics);
  const error = found.quantile_error_fraction;
  const streamed = error ? `; ${format.integer(found.streamed_count)} of them as a histogram only` : "";
  const exact = error === undefined;
  return [
    ["Median", format.duration(found.median_ns), "Over the launches recorded with node times"],
    ...intervalFacts(spread, found),
    ["p5 – p95", `${format.duration(found.p5_ns)} – ${format.duration(found.p95_ns)}`,
      `5th and 95th percentile, ${exact ? "linear interpolation" : `within ${format.percent(error)} (see Spans)`}`],
    ["Min – max", `${format.duration(found.min_ns)} – ${format.duration(found.max_ns)}`, "Shortest and longest span"],
    ["MAD", format.duration(found.mad_ns), "Median absolute deviation from the median, over spans that are kept"],
    ["Spans", format.integer(found.count), `Executions recorded with a time; loops count each iteration${streamed}`],
    ...ofLaunches(found, timedCount),
    ["Share of time", format.percent(share), "Derived: node time over the launch's GPU time, of event copies over all node times"],
    ...eagerFacts(eager, found.median_ns),
  ];
}

/** The 95% interval of the median; none of few spans, and of those that are kept in part. @param {Spread|null} spread @param {Row} found @returns {Fact[]} */
function intervalFacts(spread, found) {
  if (!spread?.interval || found.streamed_count) return [];
  const [low, high] = spread.interval.map((end) => format.duration(end));
  return [["95% interval", `${low} – ${high}`, "Of the median, by ranks of the spans"]];
}

/** What a node takes in a launch where it does not run just once in each. @param {Row} found @param {number} launches @returns {Fact[]} */
function ofLaunches(found, launches) {
  if (!launches || found.count === launches) return [];
  const mean = found.count / launches;
  const times = Number.isInteger(mean) ? format.integer(mean) : format.rounded(mean);
  return [["A launch",
    `${format.duration(Number(found.total_ns) / launches)} in ${times} ${mean === 1 ? "iteration" : "iterations"}`,
    "Derived: all executions over all recorded launches, also those in which it did not run: means"]];
}

/** @param {[number, number]|null} eager @param {number} median of the graph's @returns {Fact[]} */
function eagerFacts(eager, median) {
  if (!eager) return [];
  const [count, taken] = eager;
  return [
    ["Eager", format.duration(taken),
      `Median of ${format.integer(count)} matched stream operations outside the graph; matched by name, shape and order`],
    ["Graph vs eager", format.signedPercent(taken ? median / taken - 1 : 0),
      "Derived: graph median over eager median; below zero the graph is faster"],
  ];
}

/** What a histogram shows: its bars and the sentence for who does not see them. @param {Omit<Spread, "interval">} spread @param {string} name */
export function bars({ shortest, longest, median, counts }, name) {
  const all = counts.reduce((sum, count) => sum + count, 0), most = Math.max(...counts);
  const [low, high] = longest > shortest ? [shortest, longest] : [shortest - 0.5, shortest + 0.5];
  const edge = (/** @type {number} */ at) => format.duration(low + (at * (high - low)) / counts.length);
  return {
    most, ends: [edge(0), edge(counts.length)],
    bars: counts.map((count, at) => ({ count, title: `${edge(at)} – ${edge(at + 1)}: ${format.counted(count, "span")}` })),
    label: `Histogram of ${name}: ${format.counted(all, "span")}, median ${format.duration(median)}, at most ${format.integer(most)} in a bar`,
  };
}

/** A histogram of a node's durations over launches. @param {Spread} spread @param {string} name */
export function histogram(spread, name) {
  const { most, ends: [first, last], bars: shown, label } = bars(spread, name);
  return element("div", { role: "img", "aria-label": label },
    element("div", { class: "gv-bars" }, ...shown.map(({ count, title }) =>
      element("div", { style: { height: `calc(100% * ${count} / ${most})` }, title }))),
    element("div", { class: "gv-bar-ends" }, element("span", {}, first),
      element("span", {}, `highest bar: ${format.counted(most, "span")}`), element("span", {}, last)));
}
