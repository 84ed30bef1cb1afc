"""Work outside graphs: its columns, and its rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gviz.cuda import CopyKind, NodeType, node_type_name
from gviz.matching import EagerMatch, EagerWork, Work
from gviz.runs.row_columns import nullable_values
from gviz.stats import UNKNOWN, IntArray

#: Rows that are Python objects at one time.
_PIECE = 16_384


@dataclass(frozen=True, slots=True)
class OutsideOperations:
    """Kernels, copies and memsets outside graphs, in order of GPU start.

    int64 arrays of one length, UNKNOWN where nothing is known; ``names`` are as shown.

    Attributes
    ----------
    type
        CUgraphNodeType of the same work.
    function_id, grid, block, shared_mem_bytes
        Of kernels; grid and block have shape (n, 3).
    bytes, copy_kind
        Of copies and memsets.
    host_start_ns, host_end_ns, thread_id
        Of the call that gave the work.
    """

    type: IntArray
    names: Sequence[str]
    start_ns: IntArray
    end_ns: IntArray
    stream_id: IntArray
    device_id: IntArray
    correlation_id: IntArray
    function_id: IntArray
    grid: IntArray
    block: IntArray
    shared_mem_bytes: IntArray
    bytes: IntArray
    copy_kind: IntArray
    host_start_ns: IntArray
    host_end_ns: IntArray
    thread_id: IntArray

    def __len__(self) -> int:
        return len(self.type)

    def to_eager_work(self) -> EagerWork:
        """Return what is compared with the work of graphs."""
        return EagerWork(
            work=Work(
                type=self.type,
                function_id=self.function_id,
                grid=self.grid,
                block=self.block,
                bytes=self.bytes,
            ),
            start_ns=self.start_ns,
            end_ns=self.end_ns,
            called_ns=self.host_start_ns,
            returned_ns=self.host_end_ns,
            thread_id=self.thread_id,
            stream_id=self.stream_id,
        )

    def to_tuples(
        self, run_id: int, first_id: int, match: EagerMatch | None
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the values of rows.StreamOperation, for RecordingWriter.insert_tuples.

        Parameters
        ----------
        first_id
            The operation_id of the first; the others follow.
        match
            Which of them did a graph's work; None: not looked for.
        """
        nothing = np.full(len(self), UNKNOWN, np.int64)
        launch, node = (nothing, nothing) if match is None else (match.launch_id, match.node_id)
        always = (self.start_ns, self.end_ns - self.start_ns, self.stream_id, self.device_id,
                  self.correlation_id)  # fmt: skip
        sometimes = (
            self.function_id, *self.grid.T, *self.block.T, self.shared_mem_bytes, self.bytes,
            self.copy_kind, self.host_start_ns, self.host_end_ns, self.thread_id, launch, node,
        )  # fmt: skip
        for begin in range(0, len(self), _PIECE):
            piece = slice(begin, begin + _PIECE)
            kinds = self.type[piece].tolist()
            numbers = range(first_id + begin, first_id + begin + len(kinds))
            yield from zip(
                numbers,
                [run_id] * len(kinds),
                kinds,
                self.names[piece],
                *(column[piece].tolist() for column in always),
                *(nullable_values(column[piece]) for column in sometimes),
                strict=True,
            )


def operation_name(kind: int, copy_kind: int | None) -> str:
    """Return the name shown for work that is no kernel, such as ``MEMCPY DtoH``."""
    name = node_type_name(kind)
    if kind == NodeType.MEMCPY and copy_kind:
        direction = CopyKind(copy_kind).name if copy_kind in list(CopyKind) else ""
        return f"{name} {direction.replace('TO', 'to')}"
    return name
