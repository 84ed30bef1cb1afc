/**
 * Elements of the parts that the server, or a saved file, has. Python side: gviz.app.components.parts.
 *
 * @typedef {[string, Record<string, any>|0, ...(string|number)[]]} Part  tag, attributes, children: texts, and
 *   how far back in the list the part of a child stands
 */

import { atQuantities } from "./format.js";

/** Keeps a number and its unit in one line. */
const UNBROKEN = "gv-nowrap";

/**
 * What stands for a text: its numbers stay in one line with their units.
 * @param {string|Node} child
 * @returns {(string|Node)[]}
 */
export function unbroken(child) {
  return typeof child === "string" ? kept(atQuantities(child)) : [child];
}

/** Texts and elements of the parts of a text. @param {string[]} parts @returns {(string|Node)[]} */
function kept(parts) {
  return parts.map((part, at) => (at % 2 ? built("span", { class: UNBROKEN }, [part]) : part)).filter((part) => part !== "");
}

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag @param {Record<string, any>} [attributes] @param {...(string|Node)} children
 */
export function element(tag, attributes = {}, ...children) {
  // Of an option the browser shows a text alone.
  if (tag === "option") return built(tag, attributes, children);
  const [text, ...others] = children;
  if (typeof text !== "string" || others.length) return built(tag, attributes, children.flatMap(unbroken));
  const parts = atQuantities(text);
  const [before, quantity, after] = parts;
  if (before !== "" || after !== "") return built(tag, attributes, kept(parts));
  // A quantity, and nothing else.
  return built(tag, { ...attributes, class: [attributes.class, UNBROKEN].filter(Boolean).join(" ") }, [quantity]);
}

/**
 * An element of exactly these children.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag @param {Record<string, any>} attributes @param {(string|Node)[]} children
 */
function built(tag, attributes, children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "style") setStyle(made, value);
    else if (value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

/**
 * The policy of the file forbids style attributes, not this.
 * @param {HTMLElement} made @param {Record<string, string>} style
 */
function setStyle(made, style) {
  for (const [name, value] of Object.entries(style)) {
    if (name.startsWith("--")) made.style.setProperty(name, value);
    else made.style[/** @type {"width"} */ (name)] = value;
  }
}

/**
 * What the parts with a capital letter become.
 * @type {Record<string, (given: any, children: (string|Node)[]) => HTMLElement>}
 */
const MADE = {
  Select({ id, data, value, disabled = false, "aria-label": label }) {
    const options = data.map((/** @type {any} */ option) =>
      element("option", {
        value: option.value, disabled: !!option.disabled, selected: option.value === value,
      }, option.label)
    );
    return element("select", { id, disabled, "aria-label": label, class: "gv-field" }, ...options);
  },

  SegmentedControl({ id, data, value, "aria-label": label }) {
    const choices = data.map((/** @type {any} */ option) => {
      const { value: name, disabled = false } = option;
      const input = element("input", {
        type: "radio", name: id, value: name, disabled, checked: name === value,
      });
      return element("label", {}, input, element("span", {}, option.label));
    });
    return element("div", { id, role: "radiogroup", "aria-label": label, class: "gv-segments" }, ...choices);
  },

  Checkbox({ id, label }) {
    return element("label", { class: "gv-check" }, element("input", { id, type: "checkbox" }), ` ${label}`);
  },

  TextInput({ id, placeholder, "aria-label": label }) {
    return element("input", { id, placeholder, type: "search", "aria-label": label, class: "gv-field gv-search" });
  },

  Link({ href, ...given }, children) {
    if (href) return element("a", { href, ...given }, ...children);
    return element("span", { title: "Not in this file: gviz view shows it" }, ...children);
  },
};

/** A link, or a text where a saved file does not have what it leads to. @param {string} href @param {...(string|Node)} children */
export const link = (href, ...children) => MADE.Link({ href }, children);

/**
 * The element of a part.
 * @param {Part[]} parts @param {number} place
 * @returns {HTMLElement}
 */
export function make(parts, place) {
  const [tag, attributes, ...near] = parts[place];
  const children = near.map((child) => (typeof child === "string" ? child : make(parts, place - child)));
  if (MADE[tag]) return MADE[tag](attributes, children);
  return element(/** @type {"div"} */ (tag), attributes || {}, ...children);
}

/** A section of what the inspector shows. @param {string} title @param {...Node} body */
export function section(title, ...body) {
  return element("section", { class: "gv-inspector-section" }, element("h3", {}, title), ...body);
}

/** @typedef {[label: string, value: string, method?: string|null]} Fact  `method`: how it was measured or derived */

/** Facts in a list. @param {Fact[]} pairs */
export function facts(pairs) {
  return element("dl", { class: "gv-facts" }, ...pairs.map(([label, value, title]) =>
    element("div", title ? { title } : {}, element("dt", {}, label), element("dd", {}, value))
  ));
}

/** A node to choose. @param {number} id @param {string} name @param {string} value what is said of it @param {string} [whole] its name in full */
export function pick(id, name, value, whole = name) {
  return element("li", {}, element("button", { type: "button", class: "gv-pick", "data-node": String(id) },
    element("span", { class: "gv-ellipsis", title: whole }, name), element("span", { class: "gv-pick-value" }, value)));
}
