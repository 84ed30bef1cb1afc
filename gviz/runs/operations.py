"""Work outside graphs: its columns, and its rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gviz.cuda import CopyKind, NodeType, node_type_name
from gviz.dataclass import dataclass
from gviz.matching import EagerWork, Work
from gviz.recording import rows
from gviz.runs.row_columns import Rows, blank_rows, shape_columns
from gviz.stats import IntArray

#: Operations whose columns are made at one time.
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

    def to_rows(
        self, run_id: int, first_id: int, launch_id: IntArray, node_id: IntArray
    ) -> Iterator[Rows]:
        """Yield columns of rows.StreamOperation, some at a time.

        Parameters
        ----------
        first_id
            The operation_id of the first; the others follow.
        launch_id, node_id
            Iteration and node of a graph whose work each did; UNKNOWN: of none.
        """
        for begin in range(0, len(self), _PIECE):
            at = slice(begin, begin + _PIECE)
            count = len(self.type[at])
            yield blank_rows(
                rows.StreamOperation,
                count,
                operation_id=np.arange(first_id + begin, first_id + begin + count),
                run_id=run_id,
                type=self.type[at],
                name=self.names[at],
                start_ns=self.start_ns[at],
                duration_ns=self.end_ns[at] - self.start_ns[at],
                stream_id=self.stream_id[at],
                device_id=self.device_id[at],
                correlation_id=self.correlation_id[at],
                function_id=self.function_id[at],
                **shape_columns(self.grid[at], self.block[at]),
                shared_mem_bytes=self.shared_mem_bytes[at],
                bytes=self.bytes[at],
                copy_kind=self.copy_kind[at],
                host_start_ns=self.host_start_ns[at],
                host_end_ns=self.host_end_ns[at],
                thread_id=self.thread_id[at],
                launch_id=launch_id[at],
                node_id=node_id[at],
            )


def operation_name(kind: int, copy_kind: int | None) -> str:
    """Return the name shown for work that is no kernel, such as ``MEMCPY DtoH``."""
    name = node_type_name(kind)
    if kind == NodeType.MEMCPY and copy_kind:
        direction = CopyKind(copy_kind).name if copy_kind in list(CopyKind) else ""
        return f"{name} {direction.replace('TO', 'to')}"
    return name
