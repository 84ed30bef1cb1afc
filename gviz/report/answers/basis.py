"""The basis of times of a graph: the median launch, and how many launches it rests on."""

from __future__ import annotations

from gviz.analysis import GraphAnalysis
from gviz.report.document import Sentence, ns, resting_on, say
from gviz.stats import NotComputed


def basis_sentences(graph: GraphAnalysis) -> tuple[Sentence, ...]:
    """Return what the times of an answer about a graph rest on; nothing where none are known."""
    found = graph.ledger
    if isinstance(found, NotComputed):
        return ()
    length = resting_on(ns(found.median.total_ns), found.evidence)
    return (say("The median launch takes ", length, ": times here rest on the same launches."),)
