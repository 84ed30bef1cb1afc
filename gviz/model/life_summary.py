"""The life of each graph: its cost, and what failed in it, from the rows of a recording."""

from __future__ import annotations

from gviz.cuda import CaptureMode
from gviz.dataclass import dataclass
from gviz.model.user_frame import own_frame
from gviz.recording import Recording, rows
from gviz.stats import CuptiState


@dataclass(frozen=True, slots=True)
class ExecLife:
    """An executable's life; host times of calls (measured).

    Attributes
    ----------
    first_launch_ns
        Host time of its first launch, which uploads what was not uploaded before.
    device_memory_bytes
        Estimated, see docs/limits.md.
    could_update_graph_exec_id
        The earlier executable of which an update would have done (derived).
    """

    graph_exec_id: int
    instantiate_ns: int | None
    flags: int | None
    upload_ns: int | None
    first_launch_ns: int | None
    launch_count: int
    destroyed_ns: int | None
    device_memory_bytes: int | None
    could_update_graph_exec_id: int | None
    updates: tuple[rows.GraphUpdate, ...]


@dataclass(frozen=True, slots=True)
class GraphLife:
    """A graph's life.

    Attributes
    ----------
    capture_mode
        global, thread local or relaxed; None: not captured.
    relaunch_median_ns
        Median host time of launches after the first that were not recorded node by node.
    """

    graph_id: int
    capture_ns: int | None
    capture_mode: str | None
    capture_thread_id: int | None
    capture_stream_id: int | None
    relaunch_median_ns: float | None
    destroyed_ns: int | None
    execs: tuple[ExecLife, ...]


@dataclass(frozen=True, slots=True)
class FailedCapture:
    """A capture that gave no graph.

    Attributes
    ----------
    place
        The user's own innermost Python line in the call that broke it; None: not known.
    node_count
        Nodes captured until then.
    """

    failure: rows.CaptureFailure
    place: rows.Location | None
    node_count: int


@dataclass(frozen=True, slots=True)
class Reinstantiations:
    """Instantiations that an update of an earlier executable would have replaced.

    ``total_ns`` is the host time that they took (measured); an update takes time as well.
    """

    count: int
    total_ns: int


#: CUgraphInstantiate_flags (cuda.h, CUDA 13.0).
_FLAGS = {1: "auto free on launch", 2: "upload", 4: "device launch", 8: "use node priority"}


def flag_names(flags: int | None) -> tuple[str, ...]:
    """Return the names of instantiation flags; a bit without a name by its number."""
    bits = [1 << i for i in range(64) if flags is not None and flags >> i & 1]
    return tuple(_FLAGS.get(bit, f"flag {bit}") for bit in bits)


def is_failed(graph: rows.Graph) -> bool:
    """Return whether a graph stands in the recording only because it could not be made."""
    return graph.origin.startswith("failed")


def mode_name(mode: int | None) -> str | None:
    """Return a capture mode in words."""
    if mode is None:
        return None
    try:
        return CaptureMode(mode).name.lower().replace("_", " ")
    except ValueError:
        return f"mode {mode}"


def graph_life(
    recording: Recording, graph: rows.Graph, updates: list[rows.GraphUpdate]
) -> GraphLife:
    """Return the life of a graph.

    Parameters
    ----------
    updates
        Those of the run (:meth:`Recording.fetch_graph_updates`).
    """
    from gviz.model.launch_calls import call_times

    execs = recording.fetch_graph_execs(graph.graph_id)
    first = recording.fetch_first_launches(graph.graph_id)
    calls = call_times(recording, graph.graph_id)
    is_plain = calls.state != CuptiState.RECORDED and not calls.is_cold
    by_exec: dict[int | None, list[rows.GraphUpdate]] = {}
    for update in updates:
        by_exec.setdefault(update.graph_exec_id, []).append(update)
    return GraphLife(
        graph_id=graph.graph_id,
        capture_ns=_between(graph.capture_start_ns, graph.capture_end_ns),
        capture_mode=mode_name(graph.capture_mode),
        capture_thread_id=graph.capture_thread_id,
        capture_stream_id=graph.capture_stream_id,
        relaunch_median_ns=calls.median_ns if is_plain else None,
        destroyed_ns=graph.destroyed_ns,
        execs=tuple(
            ExecLife(
                graph_exec_id=e.graph_exec_id,
                instantiate_ns=_between(e.instantiate_start_ns, e.instantiate_end_ns),
                flags=e.flags,
                upload_ns=_between(e.upload_start_ns, e.upload_end_ns),
                first_launch_ns=first.get(e.graph_exec_id),
                launch_count=e.launch_count,
                destroyed_ns=e.destroyed_ns,
                device_memory_bytes=e.device_memory_bytes,
                could_update_graph_exec_id=e.could_update_graph_exec_id,
                updates=tuple(by_exec.get(e.graph_exec_id, ())),
            )
            for e in execs
        ),
    )


def failed_captures(recording: Recording, run_id: int) -> tuple[FailedCapture, ...]:
    """Return the failed captures of a run, in order of time."""
    return tuple(
        FailedCapture(
            failure=failure,
            place=_own_place(recording, failure.stack_id),
            node_count=len(recording.fetch_nodes(failure.graph_id))
            if failure.graph_id is not None
            else 0,
        )
        for failure in recording.fetch_capture_failures(run_id)
    )


def reinstantiations(execs: list[ExecLife]) -> Reinstantiations | None:
    """Return how many instantiations an update would have replaced; None for none."""
    again = [e for e in execs if e.could_update_graph_exec_id is not None]
    if not again:
        return None
    return Reinstantiations(len(again), sum(e.instantiate_ns or 0 for e in again))


def _own_place(recording: Recording, stack_id: int | None) -> rows.Location | None:
    stack = [] if stack_id is None else recording.fetch_stack(stack_id)
    depth = own_frame(stack)
    return stack[depth] if depth is not None else stack[0] if stack else None


def _between(start_ns: int | None, end_ns: int | None) -> int | None:
    return None if start_ns is None or end_ns is None else end_ns - start_ns
