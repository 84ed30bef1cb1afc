/**
 * The source of a graph page's data. There are two: stores/embedded.js, of a saved file, which has them
 * with it, and stores/fetched.js, of a page whose server makes them.
 *
 * @typedef {{id: number, name: string, note: string, parts: Part[], page: number, colour: string,
 *   layout: string, fold: string, open: string[], tables: Record<string, {columns: Column[], label: string, opens: boolean}>, has_breakdown: boolean, compares?: boolean,
 *   overlays?: import("../overlay/carry.js").Carried[],
 *   fixed: Record<string, string|number>, launch: string, first: string[]}} Graph  what the page of a graph is
 *   made of, alike in both: gviz.app.pages.graph_content. `fixed` are the fields of its address that no
 *   choice on it changes, `launch` the one that places nodes where none does, `first` the views in
 *   the order in which they are wanted
 * @typedef {{
 *   graph: Graph,
 *   nodes: () => Promise<Nodes>,
 *   rows: (table: string, nodes: Nodes, how: Narrowed) => Rows|Promise<Rows>,
 *   source: (view: "dag"|"timeline"|"memory", state: State, asked: string) => string,
 *   inspect: (ids: number[]) => Promise<HTMLElement>,
 *   keyOf: (ids: number[]) => string,
 *   memoryFacts: () => Promise<HTMLElement>,
 *   saved?: (query: string) => Promise<Blob>,
 *   overlays?: () => import("../overlay/overlays.js").Source[],
 *   about?: (side: import("../overlay/overlays.js").Side) => Promise<import("../overlay/overlays.js").About>,
 *   breakdown: () => BreakdownSource|null,
 *   launches: () => string[],
 * }} Store
 *   `nodes` of the table, `rows` of another one, of nodes that a search and a filter leave; `source` what a view loads, `asked` the layout that is requested ("" for
 *   none); `inspect` what is known of nodes, `keyOf` what names that; `saved` the page as a file that begins with a state, where a server writes one; `overlays` the tables that the page comes with; `about` what they can be about on a side of two graphs; `launches` those
 *   there are (none: all that the page's choices offer), the first of them the one to begin with
 */
/** @typedef {import("../breakdown/breakdown.js").Source} BreakdownSource  of the verdict and the breakdown */
/** @import { Part } from "../core/parts.js" */
/** @import { Column, Narrowed, Rows } from "../table/table.js" */
/** @import { Nodes } from "../table/nodes.js" */
/** @import { State } from "./address.js" */
export {};
