"""The nodes of a tree as columns; one of them is a view of its row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, overload

import numpy as np

from gviz.cuda import NodeType
from gviz.recording import Columns, Texts, join_columns, rows, table_of
from gviz.stats import UNKNOWN, FloatArray, IntArray, first_of_groups, group_rows

if TYPE_CHECKING:
    from gviz.recording import Recording

_T = TypeVar("_T")
_R = TypeVar("_R", bound=NamedTuple)

#: What views show of nodes: the columns that a tree has if no others are requested.
SHOWN = (
    "node_id",
    "exec_node_id",
    "type",
    "name",
    "not_timed_reason",
    "device_id",
    "nvtx_path_id",
    "occupancy_fraction",
    "conditional_type",
    "function_id",
    "capture_stream_id",
    "grid_x",
    "grid_y",
    "grid_z",
    "block_x",
    "block_y",
    "block_z",
    "bytes",
    "stack_id",
)
#: Kinds that run nothing: they order, allocate or signal.
NOT_WORKING = frozenset(
    {
        NodeType.EMPTY,
        NodeType.WAIT_EVENT,
        NodeType.EVENT_RECORD,
        NodeType.EXT_SEMAS_SIGNAL,
        NodeType.EXT_SEMAS_WAIT,
        NodeType.MEM_ALLOC,
        NodeType.MEM_FREE,
    }
)
#: Columns without which a tree cannot be built.
NEEDED = ("node_id", "exec_node_id", "type", "name", "conditional_type")
#: Of nodes that do equal work these are equal, beside type and name.
SHAPE = ("grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "bytes")


def all_columns() -> tuple[str, ...]:
    """Return the names of all columns of a node but that of its graph, which is its level."""
    return tuple(c.name for c in table_of(rows.Node).columns if c.name != "graph_id")


class _Value(Generic[_T]):
    """A column's value of one node, looked up when it is used."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, node: None, owner: type) -> _Value[_T]: ...

    @overload
    def __get__(self, node: TreeNode, owner: type) -> _T: ...

    def __get__(self, node: TreeNode | None, owner: type) -> _T | _Value[_T]:
        if node is None:
            return self
        value: _T = node.columns.value(self._name, node.row)
        return value


class TreeNode:
    """One node: its values are those of :class:`gviz.recording.rows.recorded.Node`.

    KeyError where a column was not read. For loops over many nodes columns are faster.
    """

    __slots__ = ("columns", "row")

    node_id = _Value[int]()
    exec_node_id = _Value[int | None]()
    type = _Value[int]()
    name = _Value[str]()
    function_id = _Value[int | None]()
    device_id = _Value[int | None]()
    grid_x = _Value[int | None]()
    grid_y = _Value[int | None]()
    grid_z = _Value[int | None]()
    block_x = _Value[int | None]()
    block_y = _Value[int | None]()
    block_z = _Value[int | None]()
    shared_mem_bytes = _Value[int | None]()
    max_blocks_per_multiprocessor = _Value[int | None]()
    occupancy_fraction = _Value[float | None]()
    priority = _Value[int | None]()
    cooperative = _Value[int | None]()
    copy_kind = _Value[int | None]()
    bytes = _Value[int | None]()
    source_address = _Value[int | None]()
    destination_address = _Value[int | None]()
    memset_value = _Value[int | None]()
    memset_element_bytes = _Value[int | None]()
    capture_stream_id = _Value[int | None]()
    nvtx_path_id = _Value[int | None]()
    not_timed_reason = _Value[str | None]()
    conditional_type = _Value[str | None]()
    match_class = _Value[int | None]()
    created_ns = _Value[int | None]()
    created_thread_id = _Value[int | None]()
    stack_id = _Value[int | None]()
    stack_reason = _Value[str | None]()
    autograd_name = _Value[str | None]()
    sequence_nr = _Value[int | None]()

    def __init__(self, columns: Columns, row: int) -> None:
        self.columns = columns
        self.row = row

    @property
    def block_count(self) -> int | None:
        """Blocks of the grid; None for what is no kernel."""
        if self.grid_x is None or self.grid_y is None or self.grid_z is None:
            return None
        return self.grid_x * self.grid_y * self.grid_z


class TreeNodes(Sequence[TreeNode]):
    """Nodes in an order, or some of them that follow each other.

    Parameters
    ----------
    columns
        Those that were read, of :class:`gviz.recording.rows.recorded.Node`.
    part
        Which of the rows; None: all.
    """

    def __init__(self, columns: Columns, part: range | None = None) -> None:
        self._columns = columns
        self._part = range(len(columns)) if part is None else part

    def __len__(self) -> int:
        return len(self._part)

    @overload
    def __getitem__(self, at: int) -> TreeNode: ...

    @overload
    def __getitem__(self, at: slice) -> TreeNodes: ...

    def __getitem__(self, at: int | slice) -> TreeNode | TreeNodes:
        if isinstance(at, slice):
            return TreeNodes(self._columns, self._part[at])
        return TreeNode(self._columns, self._part[at])

    def __iter__(self) -> Iterator[TreeNode]:
        return (TreeNode(self._columns, row) for row in self._part)

    def integers(self, name: str, missing: int | None = None) -> IntArray:
        """Return a column (:meth:`gviz.recording.columns.Columns.integers`)."""
        return self._cut.integers(name, missing)

    def numbers(self, name: str) -> FloatArray:
        """Return a column as float64; NaN where there is no value."""
        return self._cut.numbers(name)

    def texts(self, name: str) -> Texts:
        """Return a column of texts."""
        return self._cut.texts(name)

    def listed(self, name: str) -> list[Any]:
        """Return a column as Python's values; None where there is none."""
        return self._cut.listed(name)

    def any_known(self, name: str) -> bool:
        """Return whether a node has a value in a column."""
        return self._cut.any_known(name)

    def tuples(self, kind: type[_R]) -> list[_R]:
        """Return a named tuple of columns for each node, for loops that need much of few nodes."""
        return list(map(kind, *(self.listed(name) for name in kind._fields)))

    def block_counts(self) -> FloatArray:
        """Return the blocks of each grid (float64); NaN for what is no kernel."""
        return self.numbers("grid_x") * self.numbers("grid_y") * self.numbers("grid_z")

    def exchangeable_count(self) -> int:
        """Return how many nodes may have the times of others of their class."""
        return int((self.integers("match_class", UNKNOWN) != UNKNOWN).sum())

    def filled(self, name: str, values: IntArray) -> TreeNodes:
        """Return the nodes with values in place of NULL in a column; UNKNOWN: it stays NULL."""
        return TreeNodes(self._cut.filled(name, values, UNKNOWN))

    @property
    def _cut(self) -> Columns:
        if len(self._part) == len(self._columns):
            return self._columns
        return self._columns.cut(slice(self._part.start, self._part.stop))


def read_level_columns(recording: Recording, graph_id: int, names: Sequence[str]) -> Columns:
    """Return some columns of the nodes of one level, by node id."""
    return recording.fetch_arrays(rows.Node, {"graph_id": graph_id}, names)


def join_tree_nodes(parts: Sequence[Columns]) -> TreeNodes:
    """Return the nodes of levels, one level after the other."""
    return TreeNodes(join_columns(parts))


def distinct(columns: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """Return the first index of each different row of columns, and which of them each row is.

    Parameters
    ----------
    columns
        int64 arrays of one length, at least one.
    """
    code = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        if len(column) and column.min() < column.max():
            values, which = group_rows(column)
            # Dense after each step, so that the product of two counts never overflows.
            code = group_rows(code * len(values) + which)[1]
    return first_of_groups(code, int(code.max(initial=-1)) + 1), code
