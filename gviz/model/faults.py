"""Faults of a run that the black box has, with the nodes that they name."""

from __future__ import annotations

from gviz.dataclass import dataclass
from gviz.model.nvtx_paths import range_texts, short_range
from gviz.model.user_frame import own_frame
from gviz.recording import Fault, FaultAddress, Recording, rows

#: Nodes of each role that are read in full.
_MOST_READ = 20


@dataclass(frozen=True, slots=True)
class FaultPlace:
    """A node that a fault names.

    Attributes
    ----------
    range
        The innermost NVTX range it was made in, None: none.
    place
        The line of the user's own code that made it; None: not known.
    addresses
        Among its parameters.
    """

    node: rows.Node
    range: str | None
    place: rows.Location | None
    addresses: tuple[FaultAddress, ...]


@dataclass(frozen=True, slots=True)
class FaultSummary:
    """A fault, and where the launch stood.

    Attributes
    ----------
    graph
        Title of the graph whose launch was running; None: none that leaves crumbs.
    running, last, next
        As :class:`gviz.recording.rows.FaultNode` has roles: the first of them.
    running_count
        Of all nodes that may have been running.
    """

    fault: Fault
    graph: str | None
    running: tuple[FaultPlace, ...]
    last: tuple[FaultPlace, ...]
    next: tuple[FaultPlace, ...]
    running_count: int


def summarize_faults(recording: Recording, run_id: int) -> tuple[FaultSummary, ...]:
    """Return what the black box has of a run."""
    paths = recording.fetch_nvtx_paths(run_id)
    return tuple(_summarize(recording, fault, paths) for fault in recording.fetch_faults(run_id))


def _summarize(recording: Recording, fault: Fault, paths: dict[int, rows.NvtxPath]) -> FaultSummary:
    nodes = recording.fetch_fault_nodes(fault.fault_id)
    addresses = recording.fetch_fault_addresses(fault.fault_id)

    def places(role: str) -> tuple[FaultPlace, ...]:
        named = [one for one in nodes if one.role == role][:_MOST_READ]
        found = (_place(recording, one, addresses, paths) for one in named)
        return tuple(place for place in found if place is not None)

    title = None
    if fault.graph_id is not None:
        from gviz.model.titles import graph_title

        title = graph_title(recording, recording.fetch_graph(fault.graph_id))
    count = sum(one.role == "running" for one in nodes)
    return FaultSummary(fault, title, places("running"), places("last"), places("next"), count)


def _place(
    recording: Recording,
    named: rows.FaultNode,
    addresses: list[FaultAddress],
    paths: dict[int, rows.NvtxPath],
) -> FaultPlace | None:
    """Return the place of a node; None: the file has lost the node."""
    node = recording.find_node(named.graph_id, named.node_id)
    if node is None:
        return None
    stack = [] if node.stack_id is None else recording.fetch_stack(node.stack_id)
    own = own_frame(stack)
    ranges = range_texts(paths, node.nvtx_path_id)
    key = (named.graph_id, named.node_id)
    return FaultPlace(
        node=node,
        range=short_range(ranges[-1]) if ranges else None,
        place=None if own is None else stack[own],
        addresses=tuple(one for one in addresses if (one.graph_id, one.node_id) == key),
    )
