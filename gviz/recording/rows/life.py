"""The rows of a graph's life: what failed, and what was updated."""

from __future__ import annotations

from gviz.recording.rows.tables import column, table


@table("capture_failure", primary_key=("capture_failure_id",), indexes=(("run_id",),))
class CaptureFailure:
    """A stream capture that gave no graph, and the call that broke it."""

    capture_failure_id: int = column("ours, from 1, unique in the file", key="capture_failure")
    run_id: int = column("the run", key="run")
    graph_id: int | None = column("graph of the nodes captured until then; NULL: none", key="graph")
    start_ns: int = column("cuStreamBeginCapture entered")
    end_ns: int | None = column("cuStreamEndCapture returned; NULL: not seen", default=None)
    mode: int = column("0 global, 1 thread local, 2 relaxed")
    thread_id: int = column("thread that began it")
    stream_id: int | None = column("stream it began on (CUPTI id)", default=None)
    result: int | None = column(
        "CUresult of cuStreamEndCapture, or of a begin that was refused; NULL: not ended",
        default=None,
    )
    result_name: str | None = column("CUDA's name of that result", default=None)
    error_ns: int | None = column("when the call that broke it returned", default=None)
    error_call: str | None = column("driver function that broke it; NULL: not seen", default=None)
    error_api: str | None = column(
        "CUDA runtime function that made that call; NULL: called directly", default=None
    )
    error_result: int | None = column("its CUresult", default=None)
    error_result_name: str | None = column("CUDA's name of it", default=None)
    error_thread_id: int | None = column("thread that made it", default=None)
    error_stream_id: int | None = column("stream it was given (CUPTI id)", default=None)
    stack_id: int | None = column("Python stack of that call", default=None, key="stack")
    stack_reason: str | None = column("why there is no Python stack", default=None)
    nvtx_path_id: int | None = column(
        "NVTX ranges open at that call", default=None, key="nvtx_path"
    )
    rule: str = column("rule that it broke, such as legacy default stream, synchronising call")
    explanation: str = column("what happened, in words")
    fix: str = column("what to change")


@table("instantiate_failure", primary_key=("instantiate_failure_id",), indexes=(("run_id",),))
class InstantiateFailure:
    """An instantiation that the driver refused."""

    instantiate_failure_id: int = column(
        "ours, from 1, unique in the file", key="instantiate_failure"
    )
    run_id: int = column("the run", key="run")
    graph_id: int | None = column("the graph; NULL: it was not read", key="graph")
    call: str = column("driver function")
    start_ns: int = column("entered")
    end_ns: int = column("returned")
    thread_id: int = column("calling thread")
    flags: int = column("instantiation flags")
    result: int = column("CUresult")
    detail: int | None = column(
        "CUgraphInstantiateResult; NULL: this function does not report it", default=None
    )
    detail_name: str | None = column("CUDA's name of it", default=None)
    node_id: int | None = column("node that the driver named", default=None)
    explanation: str = column("what happened, in words")


@table("graph_update", primary_key=("graph_update_id",), indexes=(("graph_exec_id",), ("run_id",)))
class GraphUpdate:
    """Equal updates of an executable, summed: one row may stand for thousands of calls."""

    graph_update_id: int = column("ours, from 1, unique in the file", key="graph_update")
    run_id: int = column("the run", key="run")
    graph_exec_id: int | None = column("the executable; NULL: unknown", key="graph_exec")
    kind: str = column("graph (cuGraphExecUpdate), node (new parameters), enable or disable")
    node_id: int | None = column("node that was updated; NULL: the whole graph, or not known")
    call: str = column("driver function")
    count: int = column("calls")
    first_ns: int = column("first of them entered")
    last_ns: int = column("last of them entered; where some passed, none is later")
    total_ns: int = column(
        "host time of all of them; those that passed (measurement updates_counted) have the mean "
        "of the timed ones"
    )
    result: int = column("CUresult of each; 0 is success")
    detail: int | None = column("CUgraphExecUpdateResult of a failed one", default=None)
    detail_name: str | None = column("CUDA's name of it", default=None)
    failing_node_id: int | None = column(
        "node of the new graph that the driver named", default=None
    )
    difference: str | None = column("what differed, in words", default=None)
