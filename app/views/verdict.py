"""The verdict on a graph as its page has it: the headline of its analysis, the best findings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gviz.analysis import GraphAnalysis, LaunchBreakdown, NodeRef, RunAnalysis
from gviz.model import GraphTree
from gviz.report import Suggestion, headline_of, plain, suggestions_of
from gviz.stats import NotComputed

#: Findings that a page lists; the Report has all.
_FINDINGS = 3


def verdict_values(
    run: RunAnalysis,
    graph: GraphAnalysis,
    found: LaunchBreakdown | NotComputed,
    tree: GraphTree,
) -> dict[str, Any]:
    """Return the headline and the best findings with the nodes that they are about.

    Parameters
    ----------
    run, graph
        The analysis of the graph, and that of its run, whose only graph it is.
    found
        The breakdown of its launch.
    tree
        Whose numbers of nodes the page has.

    Returns
    -------
    dict
        ``parts`` of the headline: ``text``, ``title`` (what may make its number wrong), ``block``
        (row and block of the strip, or null), ``nodes`` (numbers on the page) and ``count`` (how
        many they are a part of). ``caveats``: sentences. ``findings``: ``gain``, ``reason``,
        ``fix``, ``title``, ``nodes``, ``count``. ``more``: findings that are not among them.
    """
    headline = headline_of(graph, found)
    suggestions = suggestions_of(run)
    keys = _Keys(tree)
    return {
        "parts": [
            {
                "text": plain(part.content),
                "title": _caveats(part.content),
                "block": part.block,
                "nodes": keys.of(part.nodes),
                "count": part.node_count,
            }
            for part in headline.parts
        ],
        "caveats": list(headline.caveats),
        "findings": [_finding(one, keys) for one in suggestions[:_FINDINGS]],
        "more": max(0, len(suggestions) - _FINDINGS),
    }


def _caveats(content: Iterable[object]) -> str:
    caveats = (getattr(part, "caveat", None) for part in content)
    return "; ".join(dict.fromkeys(caveat for caveat in caveats if caveat))


def _finding(found: Suggestion, keys: _Keys) -> dict[str, Any]:
    bound = "" if found.bound == "about" else f"{found.bound} "
    per = "" if found.per == "launch" else f" per {found.per}"
    return {
        "gain": f"{bound}{found.gain.text}{per}",
        "reason": plain(found.reason),
        "fix": found.fix,
        "title": " ".join(filter(None, (found.gain.caveat, found.overlap))),
        "nodes": [] if found.nodes is None else keys.of(found.nodes.nodes),
        "count": 0 if found.nodes is None else found.nodes.count,
    }


class _Keys:
    """Numbers on the page of nodes that results name."""

    def __init__(self, tree: GraphTree) -> None:
        self._tree = tree
        self._level = {level.graph.graph_id: at for at, level in enumerate(tree.levels)}

    def of(self, refs: Iterable[NodeRef]) -> list[int]:
        """Return the numbers of those that the tree has."""
        found = (
            self._tree.key_in(self._level[ref.graph_id], ref.node_id)
            for ref in refs
            if ref.graph_id in self._level
        )
        return [key for key in found if key is not None]
