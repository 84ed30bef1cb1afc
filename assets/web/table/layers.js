/** Layers of a model that nodes are in, in one name. Python side: gviz.app.views.model_parts, gviz.layout.folds.fold_names. */

/** A layer: what it is called, its number, and a mark where it is inferred. */
const LAYER = /^(.*) (\d+)( \(inferred\))?$/;

/** "TransformerEncoderLayer 0..23 (inferred)"; "": not all are in a layer. @param {(string|null|undefined)[]} names one a node */
export function joinLayers(names) {
  const parts = Array.from(new Set(names), (name) => LAYER.exec(name ?? ""));
  const [first] = parts;
  if (!first || parts.includes(null)) return "";
  const numbers = Array.from(new Set(parts.map((part) => Number(part?.[2])))).sort((a, b) => a - b);
  const mark = parts.find((part) => part?.[3])?.[3] ?? "", [, kind] = first, [least, most] = [numbers[0], numbers[numbers.length - 1]];
  if (numbers.length === 1) return `${kind} ${least}${mark}`;
  return most - least === numbers.length - 1 ? `${kind} ${least}..${most}${mark}` : `${numbers.length} × ${kind}${mark}`;
}
