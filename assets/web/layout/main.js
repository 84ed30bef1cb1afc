/** The worker that lays out the DAGs of a page: it is handed their data once, and then one request after the other. */
import { unpack } from "../core/packed.js";
import * as payloads from "../core/payload.js";
import { answer } from "./answer.js";
import { WholeDag } from "./fold/levels.js";
/** @import { Request } from "./answer.js" */

/**
 * @typedef {{number: number, graph: number, data?: string, request: Request}} Wanted  `data` of a graph that was not
 *   wanted before, packed
 */

/** @type {Map<number, Promise<WholeDag>>} */
const known = new Map();

/** @param {Wanted} wanted */
async function lay({ graph, data, request }) {
  if (data !== undefined) known.set(graph, unpack(data).then((bytes) => new WholeDag(payloads.decode(bytes))));
  return answer(await /** @type {Promise<WholeDag>} */ (known.get(graph)), request);
}

self.addEventListener("message", async ({ data: wanted }) => {
  const { number } = wanted;
  try {
    const payload = await lay(wanted);
    const arrays = Object.values(payload).filter(ArrayBuffer.isView);
    self.postMessage({ number, payload }, { transfer: Array.from(new Set(arrays.map((array) => array.buffer))) });
  } catch (error) {
    self.postMessage({ number, problem: /** @type {Error} */ (error).message });
  }
});
