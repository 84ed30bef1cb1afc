"""Failures: captures, with the call that broke each, and instantiations that were refused."""

from __future__ import annotations

import re
from dataclasses import replace

from gviz.cuda import (
    CaptureError,
    capture_result_name,
    explain_capture,
    explain_instantiate,
    instantiate_result_name,
    node_type_name,
)
from gviz.recording import CaptureFailure, InstantiateFailure
from gviz.spool.folding.graphs import FAILED_CAPTURE, FAILED_INSTANTIATION, GraphFolder
from gviz.spool.records import (
    CAPTURE_LEGACY_STREAM,
    CAPTURE_STREAM_DESTROYED,
    NO_NODE,
    NO_STREAM,
    STACK_REASONS,
    WALK_FAILED,
    CaptureErrorRecord,
    CaptureFailedRecord,
    GraphWalk,
    InstantiateFailedRecord,
    LifeRecord,
    NodeRecord,
)
from gviz.spool.streams import Contents

#: CUPTI ends the names of runtime functions with the version that brought them.
_VERSION = re.compile(r"(_ptsz|_ptds)?_v\d+$")
_KEPT_GOING = 4


def fold_capture_failures(contents: Contents, folder: GraphFolder) -> list[CaptureFailure]:
    """Return a row for each failed capture, in order of begin; their nodes become graphs."""
    errors: dict[int, CaptureErrorRecord] = {}
    for error in contents.life.capture_errors:
        errors.setdefault(error.sequence, error)  # later ones are consequences
    ended = {record.sequence: (record, walks) for record, walks in contents.life.captures_failed}
    found = []
    for sequence in sorted({*errors, *ended}):
        first = errors.get(sequence)
        end, walks = ended.get(sequence, (None, []))
        if end is None and first is not None and first.flags & _KEPT_GOING:
            continue  # ended well later, on the right thread
        found.append(_Failure(contents, folder, first, end, walks).row())
    begun = {row.start_ns for row in found}
    found += [_left_open(life) for life in _never_ended(contents) if life.start_ns not in begun]
    found.sort(key=lambda row: row.start_ns)
    return [
        replace(row, capture_failure_id=number, run_id=folder.graphs.run_id)
        for number, row in enumerate(found, start=1)
    ]


class _Failure:
    """One failed capture, from its records to its row."""

    def __init__(
        self,
        contents: Contents,
        folder: GraphFolder,
        error: CaptureErrorRecord | None,
        end: CaptureFailedRecord | None,
        walks: list[GraphWalk],
    ) -> None:
        self._contents = contents
        self._folder = folder
        self._error = error
        self._end = end
        self._walks = walks

    def row(self) -> CaptureFailure:
        capture = self._end or self._error
        assert capture is not None  # one of them named the capture
        rule = explain_capture(self._facts())
        row = CaptureFailure(
            capture_failure_id=0,
            run_id=0,
            graph_id=self._graph(capture.graph_id),
            start_ns=capture.start_ns,
            end_ns=self._end.end_ns if self._end else None,
            mode=capture.mode,
            thread_id=capture.thread_id,
            stream_id=_stream(capture.stream_id),
            result=self._end.result if self._end else None,
            result_name=capture_result_name(self._end.result) if self._end else None,
            rule=rule.name,
            explanation=rule.explanation,
            fix=rule.fix,
        )
        return self._with_error(row) if self._error else row

    def _with_error(self, row: CaptureFailure) -> CaptureFailure:
        error = self._error
        assert error is not None
        stack = self._contents.stack_of(error.stack)
        has_stack = stack in self._contents.stacks
        facts = self._facts()
        return replace(
            row,
            error_ns=error.time_ns,
            error_call=facts.call,
            error_api=facts.runtime_call,
            error_result=error.result or None,
            error_result_name=capture_result_name(error.result) if error.result else None,
            error_thread_id=error.error_thread,
            error_stream_id=_stream(error.error_stream),
            stack_id=stack if has_stack else None,
            stack_reason=None if has_stack else STACK_REASONS.get(stack, "unknown"),
            nvtx_path_id=error.nvtx_path or None,
        )

    def _facts(self) -> CaptureError:
        error = self._error
        if error is None:
            return CaptureError(self._end.result if self._end else None)
        runtime = self._contents.life.runtime_call_names.get(error.runtime_call)
        call = self._contents.call_names.get(error.call)
        return CaptureError(
            result=error.result or None,
            call=call,
            runtime_call=_VERSION.sub("", runtime) if runtime else None,
            mode=error.mode,
            same_thread=error.error_thread == error.thread_id,
            legacy_stream=bool(error.flags & CAPTURE_LEGACY_STREAM),
            stream_destroyed=bool(error.flags & CAPTURE_STREAM_DESTROYED),
        )

    def _graph(self, cuda_graph_id: int) -> int | None:
        """Add the graph of the nodes captured so far; None where there are none."""
        walks, read = self._walks, bool(self._walks)
        if not read:
            walks = [_from_creation(self._contents, cuda_graph_id)]
        if not cuda_graph_id or not walks[0].nodes:
            return None
        graph_id = self._folder.add_failed(walks, FAILED_CAPTURE, edges_known=read)
        level = self._folder.graphs.levels[graph_id]
        capture = self._end or self._error
        assert capture is not None
        level.row = replace(
            level.row,
            capture_start_ns=capture.start_ns,
            capture_end_ns=self._end.end_ns if self._end else None,
            capture_mode=capture.mode,
            capture_thread_id=capture.thread_id,
            capture_stream_id=_stream(capture.stream_id),
        )
        return graph_id


def _from_creation(contents: Contents, cuda_graph_id: int) -> GraphWalk:
    """Return what is known of a graph's nodes from the moment each was created: kind and place."""
    walk = GraphWalk(cuda_graph_id, WALK_FAILED, 0, 0)
    for node_id, created in contents.created.items():
        if node_id >> 32 == cuda_graph_id:
            walk.nodes.append(_bare_node(node_id, created.type))
    return walk


def _bare_node(node_id: int, kind: int) -> NodeRecord:
    return NodeRecord(
        graph_id=node_id >> 32, node_id=node_id & 0xFFFFFFFF, type=kind, device_id=-1,
        function=0, grid=(0, 0, 0), block=(0, 0, 0),
        shared_mem_bytes=0, max_blocks=-1, priority=-(2**31), cooperative=-1, source_type=0,
        destination_type=0, bytes=0, source=0, destination=0, value=0, element_bytes=0,
        child_graph_id=0, argument_count=0,
    )  # fmt: skip


def _stream(stream_id: int) -> int | None:
    return None if stream_id == NO_STREAM else stream_id


# -- left open ------------------------------------------------------------------------------------


def _never_ended(contents: Contents) -> list[LifeRecord]:
    """Return the begins of captures that no end followed, if the recording was closed in order."""
    open_by_stream: dict[int, LifeRecord] = {}
    for life in sorted(contents.lives, key=lambda life: life.start_ns):
        name = contents.call_names.get(life.call, "")
        if name.startswith("cuStreamBeginCapture") and life.result == 0:
            open_by_stream[life.stream_id] = life
        elif name.startswith("cuStreamEndCapture"):
            open_by_stream.pop(life.stream_id, None)
    return list(open_by_stream.values()) if contents.ended else []


def _left_open(life: LifeRecord) -> CaptureFailure:
    rule = explain_capture(CaptureError(None))
    return CaptureFailure(
        capture_failure_id=0,
        run_id=0,
        graph_id=None,
        start_ns=life.start_ns,
        mode=life.mode,
        thread_id=life.thread_id,
        stream_id=_stream(life.stream_id),
        rule=rule.name,
        explanation=rule.explanation,
        fix=rule.fix,
    )


# -- instantiations ------------------------------------------------------------------------------


def fold_instantiate_failures(contents: Contents, folder: GraphFolder) -> list[InstantiateFailure]:
    """Return a row for each refused instantiation, in order; graphs seen only there are added."""
    added: dict[int, int] = {}
    found: list[InstantiateFailure] = []
    for record, walks in contents.life.instantiates_failed:
        graph_id = _known(folder, record.graph_id) or added.get(record.graph_id)
        if graph_id is None and walks:
            graph_id = folder.add_failed(walks, FAILED_INSTANTIATION, edges_known=True)
            added[record.graph_id] = graph_id
        node_id = None if record.error_node == NO_NODE else record.error_node & 0xFFFFFFFF
        detail = None if record.detail < 0 else record.detail
        found.append(
            InstantiateFailure(
                instantiate_failure_id=len(found) + 1,
                run_id=folder.graphs.run_id,
                graph_id=graph_id,
                call=contents.call_names.get(record.call, f"driver call {record.call}"),
                start_ns=record.start_ns,
                end_ns=record.end_ns,
                thread_id=record.thread_id,
                flags=record.flags,
                result=record.result,
                detail=detail,
                detail_name=instantiate_result_name(detail),
                node_id=node_id,
                explanation=explain_instantiate(
                    record.result,
                    detail,
                    _node_in_words(folder, graph_id, node_id),
                    _types(folder, graph_id, walks),
                    _living(folder, graph_id, record),
                ),
            )
        )
    return found


def _known(folder: GraphFolder, cuda_graph_id: int) -> int | None:
    """Return the id of a graph that was instantiated as well."""
    found = [
        level.row.graph_id
        for level in folder.graphs.levels.values()
        if cuda_graph_id and level.row.cuda_graph_id == cuda_graph_id
    ]
    return found[-1] if found else None


def _node_in_words(folder: GraphFolder, graph_id: int | None, node_id: int | None) -> str | None:
    if node_id is None:
        return None
    level = folder.graphs.levels.get(graph_id) if graph_id is not None else None
    node = level.find(node_id) if level else None
    if node is None:
        return f"node {node_id}"
    return f"node {node_id} ({node_type_name(int(node['type']))} {node['name']})"


def _types(folder: GraphFolder, graph_id: int | None, walks: list[GraphWalk]) -> frozenset[int]:
    types = {node.type for walk in walks for node in walk.nodes}
    if graph_id is not None:
        family = folder.graphs.family(graph_id)
        types |= {kind for level in family for kind in level.nodes["type"].tolist()}
    return frozenset(types)


def _living(folder: GraphFolder, graph_id: int | None, record: InstantiateFailedRecord) -> int:
    """Return how many executables of a graph existed when another one was refused."""
    return sum(
        row.graph_id == graph_id
        and (row.instantiate_end_ns or 0) <= record.start_ns
        and (row.destroyed_ns is None or row.destroyed_ns > record.start_ns)
        for row in folder.graphs.execs.values()
    )
