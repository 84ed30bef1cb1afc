"""A graph before and after, as the views of the Compare page share it."""

from __future__ import annotations

from dataclasses import replace

from gviz.app.components import Sides
from gviz.app.files import PATIENCE_S, Background, Library, OpenRecording, split_version
from gviz.app.pages.compare.page_levels import PageLevels
from gviz.app.pages.compare.union_keys import UnionKeys
from gviz.app.views import FamilyColours, read_family_colours, shared_colours
from gviz.comparison import (
    ComparedPair,
    GraphComparison,
    GraphDiff,
    RequestedPair,
    RunDiff,
    compare_graph,
)
from gviz.dataclass import dataclass
from gviz.model import TimedTree, read_timed_tree


@dataclass(frozen=True, slots=True)
class Comparison:
    """A graph and its counterpart, compared.

    Attributes
    ----------
    run
        The runs compared; their only graph is this one.
    pair
        The graph, level by level, node by node.
    trees
        The graph before and after, with all that is nested in it.
    keys
        The nodes' numbers on the page.
    page
        The levels that it draws: those of ``pair`` first.
    families
        Kernel families of each graph, in colours that both share.
    """

    run: RunDiff
    pair: ComparedPair
    trees: tuple[TimedTree, TimedTree]
    keys: UnionKeys
    page: PageLevels
    families: tuple[FamilyColours, FamilyColours]

    @property
    def graph(self) -> GraphDiff:
        """The graph as results have it."""
        return self.run.graphs[0]

    def level(self, at: int) -> GraphComparison:
        """Return a level that both have; its times are judged over all of these."""
        found = self.pair.levels[at]
        return replace(found.comparison, times=found.nodes.changes)

    def item_count(self, at: int) -> int:
        """Return how many nodes a level of the page has, those of both sides once."""
        level = self.page.levels[at]
        if level.alone:
            own = self.trees[level.side].levels[level.place]
            return own.end - own.first
        comparison = self.pair.levels[at].comparison
        return len(comparison.second) + len(comparison.removed)


class Comparisons:
    """Makes comparisons in the background, each kept with the file after."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._made: Background[Comparison] = Background()

    def find(self, versioned: Sides, patience_s: float = PATIENCE_S) -> Comparison | None:
        """Return the comparison of two graphs; None: it is still being made.

        Parameters
        ----------
        versioned
            Files as ``key@version``, and which graph before.

        Raises
        ------
        RecordingError
            If a file is damaged or changed, there is no such graph, it has no counterpart, or
            edges form a cycle.
        """
        return self._made.find(
            versioned, lambda: compare_sides(self._library, versioned), patience_s
        )


def compare_sides(library: Library, versioned: Sides) -> Comparison:
    """Return the comparison of two graphs at once; see :meth:`Comparisons.find`."""
    (before, before_at), (after, after_at) = map(split_version, (versioned.before, versioned.after))
    first, second = library.file(before), library.file(after)
    with first.at(before_at), second.at(after_at):
        key = ("compared", first.versioned_key, versioned.before_graph, versioned.after_graph)
        return second.derive(key, lambda: _compare(first, second, before_at, versioned))


def _compare(
    first: OpenRecording, second: OpenRecording, before_at: str | None, versioned: Sides
) -> Comparison:
    assert versioned.before_graph is not None
    requested = RequestedPair(versioned.before_graph, versioned.after_graph)
    with first.at(before_at):
        run, pair = compare_graph(first.recording, second.recording, requested)
        trees = _tree(first, pair.pair.first), _tree(second, pair.pair.second)
        before = read_family_colours(first.recording, trees[0], first.keep)
    # As on the page of the graph after, whose nodes are drawn.
    after = read_family_colours(second.recording, trees[1], second.keep)
    families = shared_colours((after, before))
    keys = UnionKeys.of(*trees, pair.levels)
    page = PageLevels.of(trees, keys, pair.levels)
    return Comparison(run, pair, trees, keys, page, (families[1], families[0]))


def _tree(opened: OpenRecording, graph_id: int) -> TimedTree:
    """Return a tree, the same that other pages are made of."""
    return read_timed_tree(opened.recording, graph_id, opened.keep)
