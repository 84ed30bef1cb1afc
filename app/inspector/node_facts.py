"""Facts of a node: launch shape, resources, memory operation and kernel arguments."""

from __future__ import annotations

from collections.abc import Sequence

from dash.development.base_component import Component

from gviz.app.components import address, dimensions
from gviz.app.components import elements as html
from gviz.app.inspector.argument_value import allocation, guess, hexadecimal
from gviz.cuda import CopyKind, NodeType
from gviz.recording import rows
from gviz.text import byte_size, counted, integer, percent

Fact = tuple[str, str, str | None]

_PLACES = {"H": "host", "D": "device", "A": "array", "P": "peer device"}


def launch_facts(node: rows.Node, function: rows.KernelFunction | None) -> list[Fact]:
    """Return the launch shape and resources of a kernel node; empty for other kinds."""
    if node.grid_x is None or node.block_x is None:
        return []
    blocks = node.grid_x * (node.grid_y or 1) * (node.grid_z or 1)
    threads = node.block_x * (node.block_y or 1) * (node.block_z or 1)
    found: list[Fact] = [
        ("Grid", f"{dimensions(node.grid_x, node.grid_y, node.grid_z)}", "gridDim, in blocks"),
        (
            "Block",
            f"{dimensions(node.block_x, node.block_y, node.block_z)}",
            "blockDim, in threads",
        ),
        (
            "Threads",
            integer(blocks * threads),
            f"Derived: {counted(blocks, 'block')} of {counted(threads, 'thread')}",
        ),
        ("Dynamic shared", byte_size(node.shared_mem_bytes), "Dynamic shared memory a block"),
    ]
    if function is not None and function.static_shared_mem_bytes is not None:
        found.append(
            (
                "Static shared",
                byte_size(function.static_shared_mem_bytes),
                "Static shared memory a block",
            )
        )
    if function is not None and function.registers is not None:
        found.append(("Registers", f"{function.registers} a thread", None))
    if function is not None and function.local_mem_bytes:
        found.append(("Local memory", f"{byte_size(function.local_mem_bytes)} a thread", None))
    if node.occupancy_fraction is not None:
        found.append(
            (
                "Occupancy",
                percent(node.occupancy_fraction),
                "Theoretical. Derived: resident threads by "
                "cuOccupancyMaxActiveBlocksPerMultiprocessor over the maximum",
            )
        )
    if node.cooperative:
        found.append(("Cooperative", "yes", "Cooperative launch attribute"))
    return found


def memory_facts(node: rows.Node) -> list[Fact]:
    """Return direction, size and addresses of a copy, memset, allocation or free node."""
    found: list[Fact] = []
    if node.copy_kind is not None:
        found.append(("Direction", copy_direction(node.copy_kind), None))
    if node.bytes is not None:
        found.append(("Size", byte_size(node.bytes), f"{integer(node.bytes)} bytes"))
    if node.source_address is not None:
        found.append(("From", address(node.source_address), "Source address"))
    if node.destination_address is not None:
        found.append(("To", address(node.destination_address), "Destination address"))
    if node.memset_value is not None:
        size = node.memset_element_bytes or 1
        found.append(("Value", f"0x{node.memset_value:0{2 * size}x}", f"{size}-byte elements"))
    return found


def allocation_facts(node: rows.Node, allocations: Sequence[rows.Allocation]) -> list[Fact]:
    """Return what frees an alloc node's memory, or whose memory a free node frees."""
    if node.type == NodeType.MEM_ALLOC:
        mine = (a for a in allocations if (a.graph_id, a.node_id) == (node.graph_id, node.node_id))
        return [("Freed", _freed(a), "By address, among the recorded graphs") for a in mine]
    if node.type == NodeType.MEM_FREE:
        place = node.graph_id, node.node_id
        return [
            ("Frees", _place(a.node_id, a.graph_id, node.graph_id), byte_size(a.bytes))
            for a in allocations
            if (a.free_graph_id, a.free_node_id) == place
        ]
    return []


def _freed(allocation: rows.Allocation) -> str:
    if allocation.free_node_id is None or allocation.free_graph_id is None:
        return allocation.freed
    place = _place(allocation.free_node_id, allocation.free_graph_id, allocation.graph_id)
    return f"by {place}"


def _place(node_id: int, graph_id: int, here: int) -> str:
    return f"node {node_id}" if graph_id == here else f"node {node_id} of graph {graph_id}"


def parameter_facts(parameters: Sequence[rows.NodeParameter]) -> list[Fact]:
    """Return the parameters of a host, event, semaphore, batch memory or conditional node."""
    return [(p.name.capitalize(), p.value, None) for p in parameters]


def copy_direction(kind: int) -> str:
    """Return a copy kind in words, such as 'host to device'."""
    try:
        name = CopyKind(kind).name
    except ValueError:
        return f"kind {kind}"
    if "TO" not in name or name == "UNKNOWN":
        return "unknown"
    return f"{_PLACES[name[0]]} to {_PLACES[name[-1]]}"


def placement_facts(node: rows.Node) -> list[Fact]:
    """Return where a node was captured and runs."""
    found: list[Fact] = []
    if node.capture_stream_id is not None:
        found.append(
            (
                "Captured on",
                f"stream {node.capture_stream_id}",
                "CUPTI stream id at capture; replay may use another stream",
            )
        )
    if node.priority is not None:
        found.append(("Priority", str(node.priority), "Launch attribute; lower runs first"))
    if node.device_id is not None:
        found.append(("Device", str(node.device_id), "CUDA ordinal in the process"))
    return found


def argument_table(arguments: Sequence[rows.Argument]) -> Component | None:
    """Return the arguments of a kernel node as a table; None without any."""
    if not arguments:
        return None
    lines = [
        html.Tr(
            [
                html.Td(str(a.position), className="gv-number"),
                html.Td(byte_size(a.size_bytes), className="gv-number"),
                html.Td(hexadecimal(a), className="gv-mono gv-break"),
                html.Td(_meaning(a)),
            ]
        )
        for a in arguments
    ]
    head = html.Tr(
        [
            html.Th("#", className="gv-number"),
            html.Th("Size", className="gv-number"),
            html.Th("Value"),
            html.Th("Meaning"),
        ]
    )
    return html.Table([html.Thead(head), html.Tbody(lines)], className="gv-table gv-table-tight")


def _meaning(argument: rows.Argument) -> str | Component:
    points = allocation(argument)
    if points is not None:
        return points
    guessed = guess(argument)
    if guessed is None:
        return ""
    return html.Span(
        [guessed, html.Span(" guess", className="gv-muted")],
        title="Guessed from the bytes: CUDA does not keep the types of arguments",
    )
