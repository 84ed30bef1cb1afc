"""The basis of times of a graph: the median launch, with its interval."""

from __future__ import annotations

from gviz.analysis import GraphAnalysis
from gviz.report.document import Sentence, give_or_take, ns, resting_on, say
from gviz.stats import NotComputed


def basis_sentences(graph: GraphAnalysis) -> tuple[Sentence, ...]:
    """Return how long the median launch takes; nothing where that is not known."""
    found = graph.ledger
    if isinstance(found, NotComputed):
        return ()
    length = give_or_take(ns(found.median.total_ns), graph.noise_ns)
    length = resting_on(length, found.evidence)
    return (say("The median launch takes ", length, "."),)
