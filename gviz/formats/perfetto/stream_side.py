"""Work on the GPU outside graphs: a track a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gviz.formats.perfetto.event_text import (
    category,
    flow_text,
    slice_text,
    work_arguments,
    work_name,
)
from gviz.formats.perfetto.graph_side import CALL_TO_WORK, CallPlace, File
from gviz.formats.perfetto.tracks import nest
from gviz.recording import rows, table_of

if TYPE_CHECKING:
    from gviz.recording import Columns

#: Operations that are Python objects at a time.
_AT_ONCE = 10_000


def write_operations(
    file: File, calls: Mapping[int, CallPlace], keep: Callable[[int, int], bool]
) -> Iterator[str]:
    """Yield the operations outside graphs of a run, each with an arrow from its call.

    Parameters
    ----------
    file
        What it shares with other parts.
    calls
        The host's calls by operation_id.
    keep
        Says from start and end (ns) whether one is wanted.
    """
    names = [c.name for c in table_of(rows.StreamOperation).columns]
    found = file.recording.fetch_arrays(rows.StreamOperation, {"run_id": file.run.run_id}, names)
    functions = file.recording.fetch_functions(file.run.run_id)
    track = _tracks(found)
    for first in range(0, len(found), _AT_ONCE):
        part = found.cut(slice(first, first + _AT_ONCE))
        values = zip(*(part.listed(name) for name in names), strict=True)
        for i, row in enumerate(values, first):
            operation = rows.StreamOperation(**dict(zip(names, row, strict=True)))
            if keep(operation.start_ns, operation.start_ns + operation.duration_ns):
                call = calls.get(operation.operation_id)
                function = functions.get(operation.function_id or 0)
                yield from _write(file, operation, function, track[i], call)


def _tracks(found: Columns) -> list[int]:
    """Return for each operation which track of its stream it is on: none cross on one."""
    stream, device = found.integers("stream_id"), found.integers("device_id")
    start = found.integers("start_ns")
    end = start + found.integers("duration_ns")
    track = np.zeros(len(found), np.int64)
    _, which = np.unique(np.stack((device, stream)), axis=1, return_inverse=True)
    which = which.reshape(-1)
    for number in range(int(which.max(initial=-1)) + 1):
        mine = np.flatnonzero(which == number)
        track[mine] = nest(start[mine], end[mine])[1]
    return track.tolist()


def _write(
    file: File,
    operation: rows.StreamOperation,
    function: rows.KernelFunction | None,
    beside: int,
    call: CallPlace | None,
) -> Iterator[str]:
    device, stream = operation.device_id, operation.stream_id
    key = ("device", file.run.run_id, device)
    # Kineto's number of the process of a GPU is that of the device, of a thread the stream.
    pid = file.tracks.process(key, f"GPU {device}: streams", device, label=f"GPU {device}")
    name = f"stream {stream}" + (f" ({beside + 1})" if beside else "")
    tid = file.tracks.thread((*key, stream, beside), pid, name, stream)
    begin = operation.start_ns - file.base_ns
    arguments: dict[str, Any] = {
        "device": device,
        "stream": stream,
        "correlation": operation.correlation_id,
        **work_arguments(operation, function),
    }
    words = work_name(
        operation.type,
        operation.name,
        None if function is None else function.name,
        operation.copy_kind,
    )
    when = (begin, operation.duration_ns)
    yield slice_text(words, category(operation.type), (pid, tid), when, arguments)
    if call is not None and call.start_ns <= begin and operation.duration_ns > 0:
        yield from flow_text(CALL_TO_WORK, next(file.arrows), call, (pid, tid, begin))
