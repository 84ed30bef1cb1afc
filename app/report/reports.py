"""Analyses for pages: made beside the requests, kept with the version of the file."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from gviz.analysis.advice import Ignored
from gviz.analysis.analysis import GraphAnalysis, RunAnalysis, analyze
from gviz.app.graph_tree import GraphTree, read_tree
from gviz.app.open_recording import OpenRecording
from gviz.recording import rows

#: Analyses made at the same time; further ones wait, so that pages keep most of the machine.
_AT_ONCE = 2
#: Seconds a request waits for an analysis: most take less, and others need its thread.
_PATIENCE_S = 1.0

_Key = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Report:
    """What is said of a graph.

    Attributes
    ----------
    run
        Of its run; its only graph is this one.
    graph
        Of the graph.
    tree
        Its nodes, for links to them.
    ranges
        NVTX ranges of the run, by nvtx_path_id.
    """

    run: RunAnalysis
    graph: GraphAnalysis
    tree: GraphTree
    ranges: Mapping[int, rows.NvtxPath]


class Reports:
    """Makes reports in threads of its own: none of the server's waits until one is done.

    State of a report: absent -> being made -> kept with its file (or failed, which is told once).

    Parameters
    ----------
    ignored
        Findings that reports leave out.
    """

    def __init__(self, ignored: Sequence[Ignored] = ()) -> None:
        self._ignored = tuple(ignored)
        self._lock = threading.Lock()
        self._room = threading.BoundedSemaphore(_AT_ONCE)
        self._made: dict[_Key, Future[Report]] = {}

    def find(
        self, opened: OpenRecording, version: str, graph_id: int, patience_s: float = _PATIENCE_S
    ) -> Report | None:
        """Return the report of a graph in a version of a file; None: it is still being made.

        Raises
        ------
        RecordingError
            If there is no such graph, or the file is damaged or changed.
        """
        key = (opened.key, version, graph_id)
        with self._lock:
            found = self._made.get(key)
            if found is None:
                found = self._made[key] = Future()
                work = threading.Thread(
                    target=self._make, args=(found, opened, version, graph_id), daemon=True
                )
                work.start()
        try:
            return found.result(patience_s)
        except TimeoutError:
            if not found.done():
                return None
            raise
        finally:
            if found.done():
                with self._lock:
                    self._made.pop(key, None)

    def _make(
        self, found: Future[Report], opened: OpenRecording, version: str, graph_id: int
    ) -> None:
        with self._room:
            try:
                with opened.at(version):
                    made = opened.derive(
                        ("report", graph_id),
                        lambda: build_report(opened, graph_id, self._ignored),
                    )
            except Exception as error:  # whoever asked for it is told
                found.set_exception(error)
            else:
                found.set_result(made)


def build_report(opened: OpenRecording, graph_id: int, ignored: Sequence[Ignored] = ()) -> Report:
    """Analyze a graph; RecordingError if there is none that was instantiated."""
    recording = opened.recording
    (run,) = analyze(recording, graph_id=graph_id, ignored=ignored).runs
    (graph,) = run.graphs
    tree = opened.derive(("read", "tree", graph_id), lambda: read_tree(recording, graph_id))
    return Report(run, graph, tree, recording.fetch_nvtx_paths(run.run_id))
