/** The worker that lays out the DAGs of a page: it is handed their data once, and then one question after the other. */
import { unpack } from "../core/packed.js";
import * as payloads from "../core/payload.js";
import { memoryOf, usesOfLevel } from "../inspector/memory_uses.js";
import { answer } from "./answer.js";
import { WholeDag } from "./fold/levels.js";
/** @import { Request } from "./answer.js" */

/**
 * @typedef {Request|{level: number, node: number}} Question  a layout, or what memory a node of a level is given
 * @typedef {{number: number, graph: number, data?: string, question: Question}} Wanted  `data` of a graph that was not
 *   wanted before, packed
 */

/** @type {Map<number, Promise<WholeDag>>} */
const known = new Map();

/** @param {Wanted} wanted */
async function reply({ graph, data, question }) {
  if (data !== undefined) known.set(graph, unpack(data).then((bytes) => new WholeDag(payloads.decode(bytes))));
  const whole = await /** @type {Promise<WholeDag>} */ (known.get(graph));
  if ("node" in question) return memoryOf(usesOfLevel(whole.arrays, whole.levels[question.level].memory), question.node);
  return answer(whole, question);
}

self.addEventListener("message", async ({ data: wanted }) => {
  const { number } = wanted;
  try {
    const found = await reply(wanted);
    const arrays = Object.values(found).filter(ArrayBuffer.isView);
    self.postMessage({ number, answer: found }, { transfer: Array.from(new Set(arrays.map((array) => array.buffer))) });
  } catch (error) {
    self.postMessage({ number, problem: /** @type {Error} */ (error).message });
  }
});
