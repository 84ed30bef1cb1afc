"""The host: driver calls, launches, calls of operations outside graphs, NVTX ranges."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from gviz.dataclass import dataclass
from gviz.formats.perfetto.event_text import GRAPH_LAUNCH_CALL, call_of, known, slice_text
from gviz.formats.perfetto.tracks import Tracks, nest
from gviz.model import OPERATOR_DOMAIN
from gviz.recording import rows
from gviz.stats import IntArray, distinct_values

if TYPE_CHECKING:
    from gviz.recording import Recording


@dataclass(frozen=True, slots=True)
class HostEvents:
    """Events of one kind on threads of the host; int64 arrays of one length.

    Attributes
    ----------
    key
        By which something on the GPU finds the call that launched it; -1: nothing does.
    describe
        Gives name, category and arguments of an event, by index.
    """

    thread_id: IntArray
    start_ns: IntArray
    end_ns: IntArray
    key: IntArray
    describe: Callable[[int], tuple[str, str, dict[str, Any]]]

    def chosen(self, which: list[bool]) -> HostEvents:
        """Return some of them."""
        at = np.flatnonzero(np.array(which, bool))
        parts = (self.thread_id[at], self.start_ns[at], self.end_ns[at], self.key[at])
        return HostEvents(*parts, lambda i: self.describe(int(at[i])))


def read_calls(recording: Recording, run_id: int) -> HostEvents:
    """Return the driver calls of graphs' lives."""
    found = recording.fetch_api_calls(run_id)
    return _events(
        [(c.thread_id, c.start_ns, c.end_ns, -1) for c in found],
        lambda i: (
            found[i].name,
            "cuda_driver",
            known(
                result=found[i].result, graph=found[i].graph_id, graph_exec=found[i].graph_exec_id
            ),
        ),
    )


def read_ranges(recording: Recording, run: rows.Run, last_ns: int) -> HostEvents:
    """Return the NVTX ranges; one that is still open ends at ``last_ns``."""
    paths = recording.fetch_nvtx_paths(run.run_id)
    names = ("thread_id", "start_ns", "end_ns", "nvtx_path_id")
    found = recording.fetch_columns(rows.NvtxRange, names, {"run_id": run.run_id}, "start_ns")

    def describe(index: int) -> tuple[str, str, dict[str, Any]]:
        path = paths.get(found[index][3])
        if path is None:
            return "?", "user_annotation", {}
        if path.domain == OPERATOR_DOMAIN:
            return path.text, "cpu_op", {}
        return path.text, "user_annotation", known(domain=path.domain)

    ends = ((t, s, max(s, last_ns) if e is None else e, -1) for t, s, e, _ in found)
    return _events(list(ends), describe)


def read_launches(recording: Recording, run_id: int) -> Iterator[HostEvents]:
    """Yield the launches of a run's graphs that have a row."""
    for graph in recording.fetch_graphs(run_id):
        if graph.parent_graph_id is not None:
            continue
        names = (
            "launch_id", "ordinal", "host_start_ns", "host_end_ns", "thread_id", "stream_id",
            "correlation_id", "event_duration_ns", "graph_exec_id", "side",
        )  # fmt: skip
        key = {"graph_id": graph.graph_id}
        execs = {
            e.graph_exec_id: e.cuda_exec_id for e in recording.fetch_graph_execs(graph.graph_id)
        }
        found = [
            row
            for row in recording.fetch_columns(rows.Launch, names, key, "ordinal")
            # The calls of the stream side are those of its operations.
            if row[9] == "graph" and None not in row[2:5]
        ]

        def describe(
            index: int,
            found: list[tuple[Any, ...]] = found,
            name: str = graph.name,
            execs: dict[int, int] = execs,
        ) -> tuple[str, str, dict[str, Any]]:
            _, ordinal, _, _, _, stream, correlation, event_ns, exec_id, _ = found[index]
            arguments = known(
                correlation=correlation,
                graph=name,
                launch=ordinal,
                stream=stream,
                graph_id=execs.get(exec_id),
                event_duration_ns=event_ns,
            )
            return GRAPH_LAUNCH_CALL, "cuda_runtime", arguments

        yield _events([(r[4], r[2], r[3], r[0]) for r in found], describe)


def read_operation_calls(recording: Recording, run_id: int) -> HostEvents:
    """Return the calls that launched operations outside graphs; the key is the operation's id."""
    names = (
        "thread_id", "host_start_ns", "host_end_ns", "operation_id", "type", "correlation_id",
    )  # fmt: skip
    every = recording.fetch_columns(rows.StreamOperation, names, {"run_id": run_id}, "operation_id")
    found = [row for row in every if None not in row[:3]]
    return _events(
        [row[:4] for row in found],
        lambda i: (call_of(found[i][4]), "cuda_runtime", {"correlation": found[i][5]}),
    )


def _events(
    found: list[tuple[Any, ...]],
    describe: Callable[[int], tuple[str, str, dict[str, Any]]],
) -> HostEvents:
    table = np.array(found, np.int64).reshape(len(found), 4)
    # A call that "returned" before it was entered would break a viewer.
    end = np.maximum(table[:, 1], table[:, 2])
    return HostEvents(table[:, 0], table[:, 1], end, table[:, 3], describe)


def write_host(
    batches: list[HostEvents], tracks: Tracks, pid: int, base_ns: int
) -> Iterator[tuple[str, int, int, int, int]]:
    """Yield the events of a process's threads, by thread and start.

    With each, which batch it is of, its key, thread and start (ns, from the base).
    """
    batch = np.repeat(np.arange(len(batches)), [len(b.key) for b in batches])
    index = np.concatenate([np.arange(len(b.key)) for b in batches])
    thread, start, end, key = (
        np.concatenate([getattr(b, name) for b in batches])
        for name in ("thread_id", "start_ns", "end_ns", "key")
    )
    for number in distinct_values(thread).tolist():
        mine = np.flatnonzero(thread == number)
        order, track = nest(start[mine], end[mine])
        for at in order.tolist():
            i, beside = int(mine[at]), int(track[at])
            name = f"thread {number}" + (f" ({beside + 1})" if beside else "")
            tid = tracks.thread(("host", pid, number, beside), pid, name, number)
            of = int(batch[i])
            text, kind, arguments = batches[of].describe(int(index[i]))
            begin, took = int(start[i]) - base_ns, int(end[i] - start[i])
            event = slice_text(text, kind, (pid, tid), (begin, took), arguments)
            yield event, of, int(key[i]), tid, begin
