/** Questions about a saved file's DAGs: a worker answers them beside the page, which goes on meanwhile. */
import { turn } from "../core/pace.js";
/** @import { Question } from "../layout/main.js" */
/** @import { Request } from "../layout/answer.js" */

/** @typedef {{resolve: (answer: any) => void, reject: (problem: Error) => void}} Waiting */

/** What the worker is running, in the file. */
const CODE = "layout-worker";
const REFUSED = "this browser starts no worker for the file, which lays graphs out; open it in another one";

/** @type {Worker|null} */ let worker = null;
/** @type {Map<number, Waiting>} what was asked and not answered yet, by its number */
const waiting = new Map();
/** Graphs whose data the worker has. @type {Set<number>} */
const sent = new Set();
let asked = 0;

/** @param {Error} problem */
function fail(problem) {
  for (const { reject } of waiting.values()) reject(problem);
  waiting.clear();
}

function start() {
  const code = document.getElementById(CODE)?.textContent ?? "";
  const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  const made = new Worker(address);
  made.addEventListener("message", ({ data: { number, answer, problem } }) => {
    const one = waiting.get(number);
    waiting.delete(number);
    if (problem !== undefined) one?.reject(new Error(problem));
    else one?.resolve(answer);
  });
  made.addEventListener("error", () => fail(new Error(REFUSED)));
  return made;
}

/** How a DAG is requested. @param {URLSearchParams} query @returns {Request} */
export function read(query) {
  const launch = query.get("launch");
  return {
    layout: query.get("layout"), launch: launch === null ? null : Number(launch), folding: query.get("fold"),
    open: (query.get("open") ?? "").split(",").filter(Boolean), data: query.get("edges") === "data", level: Number(query.get("level") ?? 0),
  };
}

/**
 * A DAG as it is requested, or the memory that a node of it is given.
 * @param {number} graph @param {(name: string) => string} textOf of a blob @param {Question} question
 * @returns {Promise<any>}
 */
export async function ask(graph, textOf, question) {
  worker ??= start();
  const number = asked++;
  // The page that is being made stands first: the text of a large graph takes a turn of its own.
  if (!sent.has(graph)) await turn();
  const data = sent.has(graph) ? undefined : textOf(`dag-${graph}`);
  sent.add(graph);
  worker.postMessage({ number, graph, data, question });
  return new Promise((resolve, reject) => waiting.set(number, { resolve, reject }));
}
