"""The bounds of a launch: its critical paths, the longest nodes and gaps on it, where time goes."""

from __future__ import annotations

from dataclasses import replace

from gviz.analysis import GraphAnalysis
from gviz.report.analysis import critical_path, ledger
from gviz.report.answers.basis import basis_sentences
from gviz.report.document import Block, Document, Section, Verdict, based, not_computed
from gviz.stats import NotComputed

#: Details that are the answer here.
_WANTED = frozenset({"faster", "gaps"})


def bounds_document(graph: GraphAnalysis, title: str) -> Document:
    """Return what bounds a graph's launches."""
    path, where = graph.critical_path, graph.ledger
    observed = () if isinstance(path, NotComputed) else path.observed
    bounds = [not_computed(path)] if isinstance(path, NotComputed) else critical_path(path)
    parts = [not_computed(where)] if isinstance(where, NotComputed) else ledger(where, observed)
    paths = Section("bounds", "Critical paths of a launch", tuple(map(_shown, bounds)))
    times = Section("time", "Time of a launch", tuple(map(_shown, parts)))
    sections = (
        paths if isinstance(path, NotComputed) else based(paths, path.evidence),
        times if isinstance(where, NotComputed) else based(times, where.evidence),
    )
    return Document(title, (Verdict("", basis_sentences(graph), graph.doubts),), sections)


def _shown(block: Block) -> Block:
    if isinstance(block, Section) and block.key in _WANTED:
        return replace(block, is_detail=False)
    return block
