"""The verdict on a graph as its page has it: the headline of its analysis, the best findings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gviz.analysis import (
    GraphAnalysis,
    LaunchBreakdown,
    NodeRef,
    PartRanking,
    RunAnalysis,
    rank_findings,
)
from gviz.model import GraphTree
from gviz.report import (
    Suggestion,
    capitalized,
    critical_path_lines,
    error_text,
    gain_sentence,
    gain_text,
    headline_of,
    plain,
    suggestions_of,
)
from gviz.stats import NotComputed
from gviz.text import counted, percent

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
        (row and block of the strip, or null), ``nodes`` (numbers on the page), ``about`` (``idle``
        or ``eager``; empty: neither). ``caveats``: sentences. ``findings``: ``gain``, ``reason``,
        ``fix``, ``title``, ``nodes``. ``more``: findings that are not among them. ``paths``: the
        critical paths, each with ``name``, ``text`` and ``nodes``. ``gains``: what 10% off would
        bring, see :func:`_gains`.
    """
    headline = headline_of(graph, found)
    suggestions = suggestions_of(run)
    best = rank_findings((*graph.findings.findings, *run.findings.findings))[:_FINDINGS]
    return {
        "parts": [
            {
                "text": plain(part.content),
                "title": _caveats(part.content),
                "block": part.block,
                "nodes": _keys(tree, part.places),
                "about": part.about,
            }
            for part in headline.parts
        ],
        "caveats": list(headline.caveats),
        "findings": [
            _finding(suggestion, _keys(tree, one.places))
            for suggestion, one in zip(suggestions[:_FINDINGS], best, strict=True)
        ],
        "more": max(0, len(suggestions) - _FINDINGS),
        "paths": [
            {
                "name": path.name,
                "text": f"{path.length.text}, {counted(len(path.nodes), 'node')}",
                "nodes": _keys_of(tree, path.nodes),
            }
            for path in critical_path_lines(graph.critical_path)
        ],
        "gains": _gains(graph.part_gains),
    }


def _gains(found: PartRanking | NotComputed) -> dict[str, Any]:
    """Return what 10% off kernel families and layers would bring, beside their share of time.

    ``note``: how far to trust it, or why there is nothing. ``parts``: ``kind`` (family or layer),
    ``name``, ``sentence``, ``range``, ``texts`` of share and gain, ``share``, ``gain``, and
    ``low``, ``high`` of its range, as parts of the launch.
    """
    if isinstance(found, NotComputed):
        return {"note": capitalized(f"{found.not_computed}."), "parts": []}
    whole = found.launch_ns
    return {
        "note": error_text(found.error_fraction, found.trial_count),
        "parts": [
            {
                "kind": part.kind,
                "name": part.name,
                "sentence": gain_sentence(part),
                "range": gain_text(part.how, part.low_ns, part.high_ns),
                "texts": [percent(part.share), percent(part.gain_fraction)],
                "share": part.share,
                "gain": part.gain_fraction,
                "low": part.low_ns / whole,
                "high": part.high_ns / whole,
            }
            for part in found.parts
        ],
    }


def _caveats(content: Iterable[object]) -> str:
    caveats = (getattr(part, "caveat", None) for part in content)
    return "; ".join(dict.fromkeys(caveat for caveat in caveats if caveat))


def _keys(tree: GraphTree, places: Sequence[int]) -> list[int]:
    """Return the numbers on the page of nodes of the tree."""
    found: list[int] = tree.key[list(places)].tolist()
    return found


def _keys_of(tree: GraphTree, nodes: Sequence[NodeRef]) -> list[int]:
    """Return the numbers on the page of nodes by their ids; those of no level are left out."""
    levels = {level.graph.graph_id: at for at, level in enumerate(tree.levels)}
    ids: dict[int, list[int]] = {}
    for node in nodes:
        ids.setdefault(node.graph_id, []).append(node.node_id)
    return [
        key
        for graph_id, some in ids.items()
        if graph_id in levels
        for key in tree.keys_in(levels[graph_id], some).tolist()
    ]


def _finding(found: Suggestion, keys: list[int]) -> dict[str, Any]:
    return {
        # Of a launch is what the strip is about.
        "gain": plain(found.gain_line).replace(" per launch", ""),
        "reason": plain(found.reason),
        "fix": found.fix,
        "title": " ".join(filter(None, (found.gain.caveat, found.overlap))),
        "nodes": keys,
    }
