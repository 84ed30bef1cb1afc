/** The choices of a graph's page: which part of the state each sets, and what each offers. */
/** @import { State } from "./address.js" */

/**
 * The part of the state that a control, or a group of them, sets.
 * @type {Record<string, "launch"|"stream"|"order"|"colour"|"fold"|"edges"|"layout"|"panel"|"table"|"level"|"measure"|"only"|undefined>}
 */
export const CHOICES = {
  launch: "launch", "stream-launch": "stream", order: "order", colour: "colour", folding: "fold",
  data: "edges", layout: "layout", panel: "panel", "table-view": "table", level: "level", measure: "measure",
  "only-selected": "only",
};

/** What switches set where they are off, and where they are on. @type {Record<string, [string, string]>} */
export const SWITCHES = { data: ["all", "data"], "only-selected": ["all", "selected"] };

/** Choices whose options are addresses of other pages. */
export const WAYS = ["baseline", "compare-a", "compare-b", "compare-graph-a", "compare-graph-b"];

/** With other ones there are other times. */
export const TIMES = new Set(["launch", "stream", "order"]);

/** A choice that the page may have. @param {string} id */
export const choiceOf = (id) => /** @type {HTMLSelectElement|null} */ (document.getElementById(id));

/** What a choice offers, in words: launches are told apart by them. @param {HTMLOptionElement|undefined} option */
const nameOf = (option) => option?.text.split(" · ")[0];

/**
 * A place among `names`, or else the first of them.
 * @param {string[]} names @param {string} [requested]
 */
export const oneOf = (names, requested = "") => (names.includes(requested) ? requested : names[0] ?? "");

/** Options that can be chosen. @param {string} id */
export const offered = (id) =>
  Array.from(choiceOf(id)?.options ?? []).filter((option) => !option.disabled).map((option) => option.value);

/** A choice that was made, in words. @param {string} id @param {string} name of its group @param {string} value */
export function wordsOf(id, name, value) {
  const select = choiceOf(id);
  const box = /** @type {HTMLInputElement|null} */ (document.getElementById(id));
  if (box?.type === "checkbox") return `${box.closest("label")?.textContent?.trim()}: ${box.checked ? "on" : "off"}.`;
  const group = document.getElementById(id || name);
  const label = group?.getAttribute("aria-label") ?? "";
  const chosen = select?.selectedOptions ? select.selectedOptions[0]?.text
    : document.querySelector(`#${name} input[value="${value}"]`)?.closest("label")?.textContent;
  return label && chosen ? `${label}: ${chosen}.` : "";
}

/** Choose as a reader does. @param {string} id of a list @param {string} value */
export function choose(id, value) {
  const choice = choiceOf(id);
  if (!choice) return;
  choice.value = value;
  choice.dispatchEvent(new Event("change", { bubbles: true }));
}

/** Have the controls say what the state is. @param {State} state */
export function show(state) {
  const values = {
    launch: state.launch, "stream-launch": state.stream, order: state.order, colour: state.colour, folding: state.fold,
    level: state.level, "table-view": state.table, measure: state.measure,
  };
  for (const [id, value] of Object.entries(values)) {
    const choice = document.getElementById(id);
    if (choice instanceof HTMLSelectElement) choice.value = value;
  }
  for (const [id, [, on]] of Object.entries(SWITCHES)) {
    const box = /** @type {HTMLInputElement|null} */ (document.getElementById(id));
    const choice = CHOICES[id];
    if (box && choice) box.checked = state[choice] === on;
  }
  const shown = { layout: state.layout, panel: state.panel, "table-view": state.table };
  for (const [id, value] of Object.entries(shown)) {
    /** @type {HTMLInputElement|null} */
    const choice = document.querySelector(`#${id} input[value="${value}"]`);
    if (choice) choice.checked = true;
  }
  const order = document.getElementById("order-box");
  if (order) order.hidden = state.launch !== "all";
}

/**
 * Offer what a choice offers by now, with what is called the same chosen: numbers of launches move.
 * @param {string} id @param {HTMLElement} fresh a page made anew
 */
export function renew(id, fresh) {
  const choice = choiceOf(id);
  /** @type {HTMLSelectElement|null} */
  const there = fresh.querySelector(`#${id}`);
  if (!choice || !there) return;
  const chosen = nameOf(choice.selectedOptions[0]);
  const options = Array.from(there.options);
  const { value } = options.find((option) => nameOf(option) === chosen) ?? there;
  choice.replaceChildren(...options);
  choice.value = value;
  choice.disabled = there.disabled;
}

/** Let those of a group be chosen that can be by now. @param {string} id @param {HTMLElement} fresh a page made anew */
export function enable(id, fresh) {
  /** @type {NodeListOf<HTMLInputElement>} */
  const inputs = fresh.querySelectorAll(`#${id} input`);
  for (const { value, disabled } of inputs) {
    /** @type {HTMLInputElement|null} */
    const own = document.querySelector(`#${id} input[value="${value}"]`);
    if (own) own.disabled = disabled;
  }
}
