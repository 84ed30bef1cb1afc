/** The table by kernel name: groups of the rows of nodes. Python side: gviz.app.kernel_table. */

function median(sorted) {
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * One row a name. Times are null where no node of the name was timed.
 * @param {Array<Object>} rows of the table of nodes
 */
export function group(rows) {
  const names = new Map();
  for (const row of rows) {
    if (!names.has(row.name)) names.set(row.name, []);
    names.get(row.name).push(row);
  }
  return Array.from(names, ([name, members]) => {
    // What is inside a node is told of the nodes there.
    const timed = members.filter((row) => row.median_ns !== null);
    const times = timed.map((row) => row.median_ns).sort((a, b) => a - b);
    const shares = members.map((row) => row.share).filter((share) => share !== null);
    const add = (values) => values.reduce((a, b) => a + b, 0);
    return {
      // Never the name of something that every object has, such as "constructor".
      id: `name ${name}`,
      name,
      kernel: wordsOf(new Set(members.map((row) => row.kernel))),
      nodes: members.map((row) => row.key),
      count: members.length,
      total_ns: times.length ? add(timed.map((row) => row.launch_ns)) : null,
      share: shares.length ? add(shares) : null,
      median_ns: times.length ? median(times) : null,
      min_ns: times.length ? times[0] : null,
      max_ns: times.length ? times[times.length - 1] : null,
    };
  });
}

/** The whole name, or how many kernels share the short one. */
function wordsOf(kernels) {
  const [first] = kernels;
  return kernels.size === 1 ? first : `${kernels.size} kernels of this short name, such as ${first}`;
}
