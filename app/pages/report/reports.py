"""Analyses for pages: made in the background, kept with the version of the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gviz.analysis import (
    GraphAnalysis,
    Ignored,
    NamedFamilies,
    RunAnalysis,
    analyze,
    name_families,
    read_node_families,
)
from gviz.app.files import PATIENCE_S, Background, OpenRecording
from gviz.dataclass import dataclass
from gviz.model import GraphTree, read_tree
from gviz.recording import rows


@dataclass(frozen=True, slots=True)
class Report:
    """The report of a graph.

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
    families
        Families of the graph's nodes.
    """

    run: RunAnalysis
    graph: GraphAnalysis
    tree: GraphTree
    ranges: Mapping[int, rows.NvtxPath]
    families: NamedFamilies


class Reports:
    """Makes reports in the background, each kept with its file.

    Parameters
    ----------
    ignored
        Findings that reports leave out.
    """

    def __init__(self, ignored: Sequence[Ignored] = ()) -> None:
        self._ignored = tuple(ignored)
        self._made: Background[Report] = Background()

    def find(
        self, opened: OpenRecording, version: str, graph_id: int, patience_s: float = PATIENCE_S
    ) -> Report | None:
        """Return the report of a graph in a version of a file; None: it is still being made.

        Raises
        ------
        RecordingError
            If there is no such graph, or the file is damaged or changed.
        """

        def make() -> Report:
            with opened.at(version):
                return opened.derive(
                    ("report", graph_id), lambda: build_report(opened, graph_id, self._ignored)
                )

        return self._made.find((opened.key, version, graph_id), make, patience_s)


def build_report(opened: OpenRecording, graph_id: int, ignored: Sequence[Ignored] = ()) -> Report:
    """Analyze a graph; RecordingError if there is none that was instantiated."""
    recording = opened.recording
    (run,) = analyze(recording, graph_id=graph_id, ignored=ignored).runs
    (graph,) = run.graphs
    tree = read_tree(recording, graph_id, opened.keep)
    found = read_node_families(recording, tree, run.run_id, opened.keep)
    families = name_families(tree, found, np.zeros(len(tree)))
    return Report(run, graph, tree, recording.fetch_nvtx_paths(run.run_id), families)
