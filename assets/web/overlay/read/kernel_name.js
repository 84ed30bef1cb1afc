/** Names of kernels as several programs write them, brought into one form. */

/** How compilers write a namespace without a name. */
const UNNAMED = /(?:\(anonymous namespace\)|<unnamed>|\{anonymous\}|_GLOBAL__N__\w+)::/g;
/** A constant among template arguments: "(int)4" and "3ul" are 4 and 3. */
const CAST = /\((?:unsigned |signed )?(?:int|long|short|char|size_t|unsigned|long long)\)(?=-?\d)/g;
const LENGTH = /(?<![\w.])(\d+)(?:ull|ul|ll|u|l)\b/gi;
const TRUTH = /\(bool\)([01])/g;

/** A name without what says the same in other words: result type, parameters, spaces. @param {string} text */
export function wholeOf(text) {
  const name = withoutParameters(text.trim().replace(/^void\s+/, "").replace(UNNAMED, ""));
  const constants = name.replace(TRUTH, (_, bit) => (bit === "1" ? "true" : "false")).replace(CAST, "").replace(LENGTH, "$1");
  return constants.replace(/\s+/g, "");
}

/** The function's own name: without namespaces and template arguments. @param {string} text */
export function ownOf(text) {
  const whole = wholeOf(text);
  const [name] = whole.split("<", 1);
  return name.slice(name.lastIndexOf(":") + 1);
}

/** A name without the list of parameters at its end. @param {string} text */
function withoutParameters(text) {
  const name = text.replace(/\s*const$/, "");
  if (!name.endsWith(")")) return name;
  let depth = 0;
  for (let at = name.length - 1; at > 0; at--) {
    if (name[at] === ")") depth += 1;
    else if (name[at] === "(") depth -= 1;
    if (!depth) return name.slice(0, at);
  }
  return name;
}
