"""The folds that a graph's page begins with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gviz.app.pages.dag_choices import is_fold_empty
from gviz.app.views import GraphView, kept_folds, kept_names
from gviz.dataclass import dataclass
from gviz.layout import FIRST_BLOCKS, open_to_read
from gviz.model import Keep, read_timed_level

if TYPE_CHECKING:
    from gviz.recording import Recording

#: Nodes of a graph whose repeats are folded at first, and the part of it that they cover then.
_FOLDED = range(60, 20_001)
_COVERS_MOST = 0.5
#: Above so many, nodes have no room for names in a pane of 500 px.
_MOST_NAMED = 120


@dataclass(frozen=True, slots=True)
class FirstFolds:
    """The folds that a graph's page begins with: one of the choice of folds, and what is open."""

    fold: str
    open: tuple[str, ...] = ()


def first_folds(recording: Recording, view: GraphView, keep: Keep) -> FirstFolds:
    """Return what a graph's page folds at first, and which folds are open then.

    Repeats are folded, but for the first block of each, where they cover most of a graph. Of
    others that are too large for names it is the first way of folding after which nodes and folds
    can be read. A small one is read without folds, in a pane of 500 px too; in a very large one
    finding them would hold the page up.
    """
    count = len(view.nodes)
    if view.edge_count is None or count not in _FOLDED:
        return FirstFolds("none")
    level = read_timed_level(recording, view.tree, 0, keep)
    tree = kept_folds(recording, level, "repeats", keep)
    covered = sum(len(fold.nodes) for fold in tree.folds if fold.can_split)
    if covered > _COVERS_MOST * count:
        return FirstFolds("repeats", (FIRST_BLOCKS,))
    if count <= _MOST_NAMED:
        return FirstFolds("none")
    for way in _ways(view):
        opened = open_to_read(kept_folds(recording, level, way, keep))
        if opened is not None:
            return FirstFolds(way, opened)
    return FirstFolds("none")


def find_folds(recording: Recording, view: GraphView, keep: Keep) -> None:
    """Find, and keep, the folds of each way of folding that a graph's page offers."""
    if view.edge_count is None:
        return
    level = read_timed_level(recording, view.tree, 0, keep)
    # Repeats are what a reader folds most, and ranges take as long again.
    for way in reversed(_ways(view)):
        kept_names(recording, level, way, keep)


def _ways(view: GraphView) -> list[str]:
    """Return the ways of folding that have something to go by, the plainest to read first."""
    return [name for name in ("ranges", "modules", "repeats") if not is_fold_empty(view, name)]
