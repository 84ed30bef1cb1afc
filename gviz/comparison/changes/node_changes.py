"""Changes in nodes that are partners: kind, kernel, launch shape, sizes, arguments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gviz.comparison.changes.arguments import (
    ArgumentChange,
    ArgumentPair,
    Kind,
    NodeArgument,
    compare_arguments,
)
from gviz.cuda import CopyKind, node_type_name
from gviz.dataclass import dataclass
from gviz.recording import rows

if TYPE_CHECKING:
    from gviz.model import GraphTree, TreeLevel
    from gviz.recording import Recording


class Difference(NamedTuple):
    """One thing that differs between partners.

    Attributes
    ----------
    what
        Such as ``kernel``, ``grid``, ``argument 2``.
    before, after
        As text.
    kind
        ``value``: the graph does something else. ``address``: the same at another
        place. ``unknown``: bytes of a class passed by value that may be padding.
    """

    what: str
    before: str
    after: str
    kind: Kind = "value"


class DetailedNode(NamedTuple):
    """A node by the columns of table node in which partners may differ."""

    node_id: int
    type: int
    name: str
    function_id: int | None
    device_id: int | None
    grid_x: int | None
    grid_y: int | None
    grid_z: int | None
    block_x: int | None
    block_y: int | None
    block_z: int | None
    shared_mem_bytes: int | None
    priority: int | None
    cooperative: int | None
    copy_kind: int | None
    bytes: int | None
    source_address: int | None
    destination_address: int | None
    memset_value: int | None
    memset_element_bytes: int | None
    conditional_type: str | None


#: Columns of nodes that are compared.
DETAIL_COLUMNS = DetailedNode._fields


@dataclass(frozen=True, slots=True)
class LevelDetails:
    """The nodes of a graph level with all of their parameters.

    Attributes
    ----------
    nodes
        In order of node id.
    functions
        Kernels by function_id.
    arguments
        By node_id, in order of position.
    parameters
        By node_id: those of nodes that are no kernels, copies or memsets.
    """

    nodes: Sequence[DetailedNode]
    functions: Mapping[int, rows.KernelFunction]
    arguments: Mapping[int, Sequence[NodeArgument]]
    parameters: Mapping[int, Sequence[rows.NodeParameter]]

    def function(self, node: DetailedNode) -> rows.KernelFunction | None:
        """Return the kernel of a node."""
        return None if node.function_id is None else self.functions.get(node.function_id)


def read_details(
    recording: Recording,
    tree: GraphTree,
    level: TreeLevel,
    functions: Mapping[int, rows.KernelFunction],
) -> LevelDetails:
    """Return the details of a level of a tree.

    Parameters
    ----------
    recording, tree, level
        The tree is read with :data:`DETAIL_COLUMNS`.
    functions
        Kernels of the run, by function_id.
    """
    graph_id = level.graph.graph_id
    arguments: dict[int, list[NodeArgument]] = defaultdict(list)
    columns = NodeArgument._fields
    for values in recording.fetch_columns(
        rows.Argument, columns, {"graph_id": graph_id}, "position"
    ):
        argument = NodeArgument._make(values)
        arguments[argument.node_id].append(argument)
    parameters: dict[int, list[rows.NodeParameter]] = defaultdict(list)
    for parameter in recording.fetch_graph_parameters(graph_id):
        parameters[parameter.node_id].append(parameter)
    return LevelDetails(
        tree.nodes[level.part].tuples(DetailedNode), functions, arguments, parameters
    )


def compare_details(
    first: LevelDetails, second: LevelDetails, pairs: Sequence[tuple[int, int]]
) -> list[tuple[Difference, ...]]:
    """Return for each pair what differs.

    Parameters
    ----------
    first, second
        The graph levels.
    pairs
        Node indices in the first and in the second.
    """
    found = [list(_compare_nodes(first, second, *pair)) for pair in pairs]
    for change in compare_arguments(_argument_pairs(first, second, pairs)):
        found[change.pair].append(_difference(change))
    return [tuple(differences) for differences in found]


def _difference(change: ArgumentChange) -> Difference:
    where = "" if change.offset is None else f", byte {change.offset}"
    what = f"argument {change.position}{where}"
    return Difference(what, change.before, change.after, change.kind)


def _argument_pairs(
    first: LevelDetails, second: LevelDetails, pairs: Sequence[tuple[int, int]]
) -> Iterator[ArgumentPair]:
    """Yield the arguments of pairs that run one kernel and give it equally many."""
    for index, (a, b) in enumerate(pairs):
        one, two = first.nodes[a], second.nodes[b]
        before, after = first.function(one), second.function(two)
        if before is None or after is None or before.mangled_name != after.mangled_name:
            continue
        given = first.arguments.get(one.node_id, ()), second.arguments.get(two.node_id, ())
        shape = _launch_shape(one), _launch_shape(two)
        if len(given[0]) == len(given[1]):
            for x, y in zip(*given, strict=True):
                yield ArgumentPair(index, before.name, shape, x, y)


def _compare_nodes(
    first: LevelDetails, second: LevelDetails, a: int, b: int
) -> Iterator[Difference]:
    one, two = first.nodes[a], second.nodes[b]
    if one.type != two.type:
        yield Difference("kind", node_type_name(one.type), node_type_name(two.type))
        return
    before, after = first.function(one), second.function(two)
    yield from _compare_kernels(one, two, before, after)
    for what, text in _FIELDS:
        known = text(one), text(two)
        if known[0] != known[1] and None not in known:
            yield Difference(what, str(known[0]), str(known[1]))
    for what, column in _ADDRESSES:
        places = getattr(one, column), getattr(two, column)
        if places[0] != places[1] and None not in places:
            yield Difference(what, hex(places[0]), hex(places[1]), "address")
    given = first.parameters.get(one.node_id, ()), second.parameters.get(two.node_id, ())
    yield from _compare_parameters(*given)
    counts = [len(level.arguments.get(n.node_id, ())) for level, n in ((first, one), (second, two))]
    if counts[0] != counts[1] and 0 not in counts:
        yield Difference("number of arguments", str(counts[0]), str(counts[1]))


def _compare_kernels(
    one: DetailedNode,
    two: DetailedNode,
    before: rows.KernelFunction | None,
    after: rows.KernelFunction | None,
) -> Iterator[Difference]:
    """Yield what differs between kernels: the name, or what was compiled under one name."""
    if before is None or after is None:
        if one.name != two.name:
            yield Difference("name", one.name, two.name)
        return
    if before.mangled_name != after.mangled_name:
        if one.name != two.name:
            yield Difference("kernel", one.name, two.name)
        else:
            yield Difference("kernel version", before.name, after.name)
        return
    for what, column in _RESOURCES:
        known = getattr(before, column), getattr(after, column)
        if known[0] != known[1] and None not in known:
            yield Difference(what, str(known[0]), str(known[1]))


def _compare_parameters(
    one: Sequence[rows.NodeParameter], two: Sequence[rows.NodeParameter]
) -> Iterator[Difference]:
    after = {p.name: p.value for p in two}
    for parameter in one:
        value = after.get(parameter.name, parameter.value)
        if value != parameter.value:
            both = parameter.value.startswith("0x") and value.startswith("0x")
            kind: Kind = "address" if both else "value"
            yield Difference(parameter.name, parameter.value, value, kind)


def _launch_shape(node: DetailedNode) -> tuple[int | None, ...]:
    return (node.grid_x, node.grid_y, node.grid_z, node.block_x, node.block_y, node.block_z)


def _shape(*columns: str) -> Callable[[DetailedNode], str | None]:
    def text(node: DetailedNode) -> str | None:
        sizes = [getattr(node, column) for column in columns]
        return None if sizes[0] is None else " × ".join(str(s or 1) for s in sizes)

    return text


def _column(name: str) -> Callable[[DetailedNode], str | None]:
    def text(node: DetailedNode) -> str | None:
        value = getattr(node, name)
        return None if value is None else str(value)

    return text


def _copy_kind(node: DetailedNode) -> str | None:
    if node.copy_kind is None:
        return None
    try:
        return CopyKind(node.copy_kind).name
    except ValueError:
        return f"kind {node.copy_kind}"


#: What is compared of nodes of one kind, and how it is written.
_FIELDS: tuple[tuple[str, Callable[[DetailedNode], str | None]], ...] = (
    ("grid", _shape("grid_x", "grid_y", "grid_z")),
    ("block", _shape("block_x", "block_y", "block_z")),
    ("dynamic shared memory", _column("shared_mem_bytes")),
    ("size", _column("bytes")),
    ("direction", _copy_kind),
    ("value", _column("memset_value")),
    ("element size", _column("memset_element_bytes")),
    ("device", _column("device_id")),
    ("priority", _column("priority")),
    ("cooperative launch", _column("cooperative")),
    ("conditional", _column("conditional_type")),
)
_ADDRESSES = (("source", "source_address"), ("destination", "destination_address"))
#: What distinguishes two compilations of one kernel.
_RESOURCES = (
    ("registers", "registers"),
    ("static shared memory", "static_shared_mem_bytes"),
    ("local memory", "local_mem_bytes"),
)
