/** Facts of a node: launch shape, resources, memory operation, parameters and where it runs. */
import * as format from "../core/format.js";
/** @import { Fact } from "../core/parts.js" */
/** @import { NodeRecord, Row } from "./records.js" */

/** A device address. @param {number|bigint} value */
export const address = (value) => `0x${value.toString(16)}`;

/** gridDim or blockDim without trailing ones. @param {number} x @param {number|undefined} y @param {number|undefined} z */
export function dimensions(x, y, z) {
  const sizes = [x, y || 1, z || 1];
  while (sizes.length > 1 && sizes[sizes.length - 1] === 1) sizes.pop();
  return sizes.map(format.integer).join(" × ");
}

/** @param {Row} node @param {string} name */
const volume = (node, name) => node[`${name}_x`] * (node[`${name}_y`] || 1) * (node[`${name}_z`] || 1);

/** @param {Row} node @param {string} name */
const shape = (node, name) => dimensions(node[`${name}_x`], node[`${name}_y`], node[`${name}_z`]);

/** Of the kernel that a node runs. @param {Row|null} kernel @returns {Fact[]} */
function resources(kernel) {
  const { static_shared_mem_bytes: shared, registers, local_mem_bytes: local } = kernel ?? {};
  /** @type {Fact[]} */ const found = [];
  if (shared !== undefined) found.push(["Static shared", format.byteSize(shared), "Static shared memory a block"]);
  if (registers !== undefined) found.push(["Registers", `${registers} a thread`]);
  if (local) found.push(["Local memory", `${format.byteSize(local)} a thread`]);
  return found;
}

/** Launch shape and resources of a kernel node; none of other kinds. @param {NodeRecord} record @returns {Fact[]} */
export function launchFacts({ node, kernel }) {
  if (node.grid_x === undefined || node.block_x === undefined) return [];
  const blocks = volume(node, "grid"), threads = volume(node, "block");
  /** @type {Fact[]} */ const found = [
    ["Grid", shape(node, "grid"), "gridDim, in blocks"],
    ["Block", shape(node, "block"), "blockDim, in threads"],
    ["Threads", format.integer(blocks * threads), `Derived: ${format.counted(blocks, "block")} of ${format.counted(threads, "thread")}`],
    ["Dynamic shared", format.byteSize(node.shared_mem_bytes), "Dynamic shared memory a block"],
    ...resources(kernel),
  ];
  if (node.occupancy_fraction !== undefined) {
    found.push(["Occupancy", format.percent(node.occupancy_fraction),
      "Theoretical. Derived: resident threads by cuOccupancyMaxActiveBlocksPerMultiprocessor over the maximum"]);
  }
  if (node.cooperative) found.push(["Cooperative", "yes", "Cooperative launch attribute"]);
  return found;
}

/** Direction, size and addresses of a copy, memset, allocation or free node. @param {NodeRecord} record @returns {Fact[]} */
export function memoryFacts({ node, direction }) {
  const { bytes, source_address: from, destination_address: to, memset_value: value } = node;
  /** @type {Fact[]} */ const found = [];
  if (direction !== null) found.push(["Direction", direction]);
  if (bytes !== undefined) found.push(["Size", format.byteSize(Number(bytes)), `${format.integer(Number(bytes))} bytes`]);
  if (from !== undefined) found.push(["From", address(from), "Source address"]);
  if (to !== undefined) found.push(["To", address(to), "Destination address"]);
  if (value !== undefined) {
    const size = node.memset_element_bytes || 1;
    found.push(["Value", `0x${value.toString(16).padStart(2 * size, "0")}`, `${size}-byte elements`]);
  }
  return found;
}

/** Where a node was captured and runs. @param {NodeRecord} record @returns {Fact[]} */
export function placementFacts({ node: { capture_stream_id: stream, priority, device_id: device } }) {
  /** @type {Fact[]} */ const found = [];
  if (stream !== undefined) found.push(["Captured on", `stream ${stream}`, "CUPTI stream id at capture; replay may use another stream"]);
  if (priority !== undefined) found.push(["Priority", String(priority), "Launch attribute; lower runs first"]);
  if (device !== undefined) found.push(["Device", String(device), "CUDA ordinal in the process"]);
  return found;
}

/** A text that begins with a capital; the rest of it is small. @param {string} text */
const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1).toLowerCase();

/** What a node does. @param {NodeRecord} record @returns {Fact[]} */
export function operationFacts(record) {
  const parameters = record.parameters.map(([name, value]) => /** @type {Fact} */ ([capital(name), value]));
  return [...launchFacts(record), ...memoryFacts(record), ...record.released, ...parameters, ...placementFacts(record)];
}
