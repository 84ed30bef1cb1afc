"""The basis of times of a graph: the median launch, with its interval."""

from __future__ import annotations

from dataclasses import replace

from gviz.analysis import GraphAnalysis
from gviz.report.document import Sentence, ns, resting_on, say
from gviz.stats import NotComputed


def basis_sentences(graph: GraphAnalysis) -> tuple[Sentence, ...]:
    """Return how long the median launch takes; nothing where that is not known."""
    found, noise = graph.ledger, graph.noise_ns
    if isinstance(found, NotComputed):
        return ()
    total = found.median.total_ns
    length = resting_on(ns(total), found.evidence)
    if noise is not None:
        length = replace(length, interval=(total - noise, total + noise))
    return (say("The median launch takes ", length, "."),)
