"""A finding about values: what is wrong, where that begins, and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence

from gviz.analysis.model_layers import find_model_layers
from gviz.analysis.node_ref import NodeRef
from gviz.analysis.subject import GraphSubject
from gviz.dataclass import dataclass
from gviz.families import kernel_label
from gviz.model import GivenMemory, own_frame, read_node
from gviz.stats import NotComputed, apart, figure

#: What ``line`` is in results.
LINE = "own line of Python that made it; null: not known"


@dataclass(frozen=True, slots=True)
class ValueFinding:
    """Something that is wrong with the data of a graph, or may be."""

    kind: str = figure("stated", "nan, infinite, varies, race or overwritten")
    reason: str = figure("derived", "what it is, in one sentence")
    is_suspicion: bool = figure(
        "stated", "whether it only may be wrong: what would tell is not measured"
    )
    nodes: tuple[NodeRef, ...] = figure("derived", "the node where it begins; of a race both")
    layer: str | None = figure("derived", "layer of the model that has the first; null: not known")
    line: str | None = figure("measured", LINE)
    address: int = figure("measured", "the memory: where it begins")
    bytes: int = figure("measured", "and its size")
    fix: str = figure("stated", "what to look at next")
    places: tuple[int, ...] = apart("the nodes, by their places in the graph's tree")


def finding_of(
    subject: GraphSubject,
    kind: str,
    reason: str,
    fix: str,
    memory: GivenMemory,
    *others: int,
    is_suspicion: bool = False,
) -> ValueFinding:
    """Return a finding about the memory that a node is given, and about other nodes."""
    layer, line = node_place(subject, memory.node)
    places = (memory.node, *others)
    refs = tuple(subject.ref(node) for node in places)
    return ValueFinding(
        kind, reason, is_suspicion, refs, layer, line, memory.address, memory.bytes, fix, places
    )


def node_place(subject: GraphSubject, node: int) -> tuple[str | None, str | None]:
    """Return the layer of a node and the own line of Python that made it, as far as known."""
    layers = subject.once(find_model_layers)
    layer = None
    if not isinstance(layers, NotComputed) and layers.of_node[node] >= 0:
        layer = layers.names[int(layers.of_node[node])]
    stack_id = read_node(subject.recording, subject.graph, node).stack_id
    stack = [] if stack_id is None else subject.recording.fetch_stack(stack_id)
    own = own_frame(stack)
    if own is None:
        return layer, None
    return layer, f"{stack[own].file}:{stack[own].line} {stack[own].function}"


def named(subject: GraphSubject, node: int) -> str:
    """Return a node by id and label, as sentences have it."""
    ref = subject.ref(node)
    return f"node {ref.node_id} ({kernel_label(ref.name)})"


def which_argument(memory: GivenMemory) -> str:
    """Return memory by the argument that leads to it, as sentences have it."""
    parameter = memory.parameter
    if parameter is None and memory.extent == "reported":
        return "its source" if memory.position else "its destination"
    if parameter is None or parameter.name is None:
        return f"argument {memory.position}"
    return f"argument {memory.position} ({parameter.name})"


def listed(texts: Sequence[str], most: int = 3) -> str:
    """Return some texts in a row, the first of many."""
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more
