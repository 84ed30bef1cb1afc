"""Colours of a graph's nodes by their median duration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gviz.formats.svg.colours import ColourScale, Theme, ValueColours
from gviz.model import read_timed_tree

if TYPE_CHECKING:
    from gviz.model import TimedTree
    from gviz.recording import Recording


def colours_of_nodes(recording: Recording, tree: TimedTree, theme: Theme = "light") -> ValueColours:
    """Return them on one scale for all nodes of what is launched, also where a body is drawn."""
    if tree.graph.graph_id != tree.outermost.graph_id:
        tree = read_timed_tree(recording, tree.outermost.graph_id, columns=())
    return ValueColours(ColourScale.of(tree.times.median_ns), theme)
