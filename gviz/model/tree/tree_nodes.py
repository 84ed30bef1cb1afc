"""The nodes of a tree as columns; one of them is made when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from gviz.recording import Columns, Texts, join_columns, rows
from gviz.stats import FloatArray, IntArray

if TYPE_CHECKING:
    from gviz.recording import Recording


class TreeNode(NamedTuple):
    """What the views show of a node: columns of :class:`gviz.recording.rows.recorded.Node`."""

    node_id: int
    exec_node_id: int | None
    type: int
    name: str
    not_timed_reason: str | None
    device_id: int | None
    nvtx_path_id: int | None
    occupancy_fraction: float | None
    conditional_type: str | None
    function_id: int | None
    capture_stream_id: int | None
    grid_x: int | None
    grid_y: int | None
    grid_z: int | None
    block_x: int | None
    block_y: int | None
    block_z: int | None
    bytes: int | None


#: Of nodes that do equal work these are equal, beside type and name.
SHAPE = ("grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "bytes")


class TreeNodes(Sequence[TreeNode]):
    """Nodes in an order, or some of them that follow each other.

    Parameters
    ----------
    columns
        Those of :class:`TreeNode`.
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
        row = self._part[at]
        one = TreeNodes(self._columns, range(row, row + 1))
        return next(iter(one))

    def __iter__(self) -> Iterator[TreeNode]:
        cut = self._cut
        return map(TreeNode, *(cut.listed(name) for name in TreeNode._fields))

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

    @property
    def _cut(self) -> Columns:
        if len(self._part) == len(self._columns):
            return self._columns
        return self._columns.cut(slice(self._part.start, self._part.stop))


def read_tree_nodes(recording: Recording, graph_id: int) -> Columns:
    """Return the columns of :class:`TreeNode` of a graph, by node id."""
    return recording.fetch_arrays(rows.Node, {"graph_id": graph_id}, TreeNode._fields)


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
            values, which = np.unique(column, return_inverse=True)
            # Dense after each step, so that the product of two counts never overflows.
            code = np.unique(code * len(values) + which, return_inverse=True)[1].reshape(-1)
    first = np.full(int(code.max(initial=-1)) + 1, len(code))
    np.minimum.at(first, code, np.arange(len(code)))
    return first, code
