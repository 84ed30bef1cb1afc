"""Operations outside graphs of a run as columns, read once for all that is said of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gviz.model import Keep
from gviz.recording import Columns, rows

if TYPE_CHECKING:
    from gviz.recording import Recording

#: Kind of the key by which a run's are remembered (:func:`gviz.model.keeper`).
STREAM_OPERATIONS = "stream operations"
#: Operations that are equal in these and in name do equal work.
EQUAL = ("type", "grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z",
         "shared_mem_bytes", "bytes", "copy_kind")  # fmt: skip
_COLUMNS = (
    *("launch_id", "node_id", "start_ns", "duration_ns", "host_start_ns", "host_end_ns"),
    *("thread_id", "name", *EQUAL),
)


def read_stream_operations(recording: Recording, run_id: int, keep: Keep) -> Columns:
    """Return the operations outside graphs of a run; ``keep`` remembers them."""
    return keep(
        (STREAM_OPERATIONS, run_id),
        lambda: recording.fetch_arrays(rows.StreamOperation, {"run_id": run_id}, _COLUMNS),
    )
