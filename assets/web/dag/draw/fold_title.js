/** Titles of folds in the room there is: whole words and numbers go, never parts of them. Python side: gviz.layout.folds.fold_names. */

/** Layers, with their numbers: "TransformerEncoderLayer 0..23". */
const LAYERS = /^(\D+) (\d+(?:\.\.\d+)?)$/;
/** How often something comes: "24 × 15 nodes", "3 × add f32". */
const COUNTED = /^([\d,]+ ×) (.+)$/;
/** What is inside a word of which only the last part may be kept: "TransformerEncoderLayer", "encoder_layer". */
const PARTS = /(?<=[a-z0-9])(?=[A-Z])|(?<=[_. ])/;
const INFERRED = / \(inferred\)$/;

/** Whether a title says how many nodes there are. @param {string} title */
export const isCount = (title) => COUNTED.test(title);

/** The forms of a title, from the whole to its numbers alone. @param {string} title @returns {string[]} */
export function formsOf(title) {
  const plain = title.replace(INFERRED, "");
  const found = plain === title ? [title] : [title, plain];
  const [range, held] = splitRange(plain);
  // What is in a range says more than how much of it: that is on the line below.
  if (held) return [...found, ...lastWords(range), ...formsOf(held).slice(-1)];
  const [, kind, numbers] = LAYERS.exec(plain) ?? [];
  if (numbers) return [...found, ...lastParts(kind).map((part) => `${part} ${numbers}`), numbers];
  const [, count, what] = COUNTED.exec(plain) ?? [];
  const times = count?.replace(" ", "");
  if (times) return [...found, ...firstWords(what).map((words) => `${count} ${words}`), `${times}${what.split(" ")[0]}`, times];
  return [...found, ...firstWords(plain)];
}

/** A range and what it holds: "SGD.step: 288 × add f32". @param {string} title @returns {[string, string]} */
function splitRange(title) {
  const at = title.lastIndexOf(": ");
  return at > 0 && isCount(title.slice(at + 2)) ? [title.slice(0, at), title.slice(at + 2)] : [title, ""];
}

/** Fewer and fewer of the words, those at the end go first. @param {string} text */
function firstWords(text) {
  const words = text.split(" ");
  return words.slice(1).map((_, n) => words.slice(0, words.length - 1 - n).join(" ").replace(/,$/, "…"));
}

/** As many of a name's words as fit, the first of them at least; "": not even that. @param {string} name @param {(text: string) => boolean} fits */
export const fitWords = (name, fits) => [name, ...firstWords(name)].find(fits) ?? "";

/** A range, and the last of its words. @param {string} text */
const lastWords = (text) => [text, ...lastParts(text)];

/** Fewer and fewer of the parts of words, those at the beginning go first. @param {string} text */
function lastParts(text) {
  const parts = text.split(PARTS);
  return parts.slice(1).map((_, n) => parts.slice(n + 1).join(""));
}

/** As much of a title as fits; "": not even its numbers. @param {string} title @param {(text: string) => boolean} fits */
export const fitFold = (title, fits) => formsOf(title).find(fits) ?? "";

/**
 * As much of a line as fits, of which the parts at the end count most: those in front go one by one.
 * @param {string} long @param {string} line what must be there, cut from its end @param {(text: string) => boolean} fits
 */
export function fitLine(long, line, fits) {
  const parts = long.split(" · "), short = line.split(" · ");
  const forms = [long, ...parts.map((_, n) => parts.slice(n).join(" · ")).filter((text) => text.endsWith(line)),
    ...short.map((_, n) => short.slice(0, short.length - n).join(" · "))];
  return forms.find(fits) ?? "";
}
