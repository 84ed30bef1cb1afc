/**
 * The folds and bodies of a saved file: which sets of them can be open. Python side: gviz.app.html_file.states.
 *
 * @typedef {{sets: string[][], folds: Object<string, [number, string|null]>, together: boolean}}
 *   Folds  sets of open folds, the empty one first; of each fold the place of the set that opening
 *   it leads to, and the fold around it
 */

/**
 * The place of the set that is these folds, or that of none.
 * @param {Folds} all @param {string[]} open
 */
export function placeOf(all, open) {
  const key = open.toSorted().join();
  return Math.max(0, all.sets.findIndex((set) => set.join() === key));
}

/**
 * The place of the set that follows when a reader wants these folds open.
 * @param {Folds} all @param {string[]} open what is open @param {string[]} wanted
 */
export function next(all, open, wanted) {
  const opened = wanted.filter((id) => !open.includes(id) && all.folds[id]);
  if (opened.length) return all.folds[opened[opened.length - 1]][0];
  const closed = open.find((id) => !wanted.includes(id));
  if (!closed) return placeOf(all, open);
  const around = all.folds[closed][1];
  return around ? all.folds[around][0] : 0;
}
