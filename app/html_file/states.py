"""The states of the DAG in a file: layouts, launches, and what of it is open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gviz.app.components import FOLDINGS, LAYOUTS
from gviz.app.views import DagRequest, fold_level, open_id
from gviz.layout import Fold
from gviz.model import GraphTree, TimedLevel

#: A file opens folds and bodies one at a time while all these states together have so many items:
#: of a training step of 2,307 nodes 27,000, which take 0.1 MB and some seconds to lay out.
MOST_ITEMS = 40_000


@dataclass(frozen=True, slots=True)
class FoldStates:
    """Open folds and bodies after a fold or a parent node is opened.

    Attributes
    ----------
    opened
        By the id of a fold: the ids of all that is open then.
    parent
        By the id of a fold: the fold around it, or None.
    together
        Folds of one depth open together: there are too many to open them one at a time.
    """

    opened: dict[str, tuple[str, ...]]
    parent: dict[str, str | None]
    together: bool

    def sets(self) -> list[frozenset[str]]:
        """Return each set of open folds once, the empty one first."""
        return list(dict.fromkeys([frozenset[str](), *map(frozenset, self.opened.values())]))

    def to_header(self) -> dict[str, Any]:
        """Return what the page needs: for each fold the place of its set, and its parent."""
        places = {names: at for at, names in enumerate(self.sets())}
        return {
            "sets": [sorted(names) for names in self.sets()],
            "folds": {f: [places[frozenset(self.opened[f])], self.parent[f]] for f in self.opened},
            "together": self.together,
        }


@dataclass(frozen=True, slots=True)
class Opening:
    """A fold or a parent node, which can be opened.

    Attributes
    ----------
    id
        As :attr:`gviz.app.views.payload.DagRequest.unfolded` has it.
    around
        The id of what has to be open for it to be seen; None: it is always.
    gained
        How many items more there are once it is open.
    """

    id: str
    around: str | None
    gained: int


def list_openings(
    tree: GraphTree, read: Callable[[int], TimedLevel], folding: str | None
) -> tuple[list[Opening], int]:
    """Return what can be opened, what is around before what is inside, and how many items a
    level has with all closed.

    Parameters
    ----------
    tree
        The level shown and what is nested in it.
    read
        Returns a level of the tree.
    folding
        By what nodes are folded; None: only nodes with bodies can be opened.
    """
    found: list[Opening] = []
    closed = [0] * len(tree.levels)
    # A level's parent nodes come after what it is in; the bodies in them are read then.
    around: list[str | None] = [None] * len(tree.levels)
    for at in range(len(tree.levels)):
        level = read(at)
        folds = None if folding is None else fold_level(level, folding)
        prefix = f"{at}." if at else ""
        outer = dict.fromkeys(range(len(level.nodes)), around[at])
        closed[at] = len(level.nodes)
        for fold in () if folds is None else folds.walk():
            # Outer folds come first: what is inside replaces them.
            first = int(fold.nodes[0])
            found.append(Opening(prefix + fold.id, outer[first], _gained(fold)))
            outer |= dict.fromkeys(fold.nodes.tolist(), prefix + fold.id)
        for fold in () if folds is None else folds.folds:
            closed[at] -= len(fold.nodes) - 1
        for parent in tree.parents_in(at):
            name = open_id(int(tree.key[parent]))
            found.append(Opening(name, outer[parent - level.first], 0))
            for body in tree.bodies(parent):
                around[body] = name
    gained: Counter[str] = Counter()
    for outside, count in zip(around, closed, strict=True):
        gained[outside or ""] += count
    return [replace(o, gained=o.gained or gained[o.id]) for o in found], closed[0]


def fold_states(openings: Sequence[Opening], closed: int, most: int = MOST_ITEMS) -> FoldStates:
    """Return the states of what can be opened: one at a time with what is around it, or all of one
    depth at a time.

    ``closed`` is how many items there are with nothing open, ``most`` how many all states together
    may have.
    """
    parent = {o.id: o.around for o in openings}
    gained = {o.id: o.gained for o in openings}
    chains: dict[str, tuple[str, ...]] = {}
    for o in openings:
        chains[o.id] = (*(chains[o.around] if o.around else ()), o.id)
    items = sum(closed + sum(gained[name] for name in chain) for chain in chains.values())
    if items <= most:
        return FoldStates(chains, parent, together=False)
    upto = {
        depth: tuple(name for name, chain in chains.items() if len(chain) <= depth)
        for depth in {len(chain) for chain in chains.values()}
    }
    return FoldStates({n: upto[len(c)] for n, c in chains.items()}, parent, together=True)


def _gained(fold: Fold) -> int:
    """Return how many items more there are once a fold is open."""
    return len(fold.nodes) - sum(len(child.nodes) - 1 for child in fold.children) - 1


def all_states(
    layouts: Sequence[str], launches: Sequence[int], folds: dict[str, FoldStates]
) -> Iterator[tuple[str, DagRequest]]:
    """Yield the request to the DAG for every state, with the key that the page finds it by.

    Always with what edges carry: the page leaves it out where it is not wanted.

    The key is ``layout|launch|folding|place of the open set``; see assets/web/stores/embedded.js.
    """
    shown: Sequence[int | None] = launches or (None,)
    for layout in layouts:
        for launch in shown:
            about = f"{layout}|{'' if launch is None else launch}"
            for folding, states in folds.items():
                by = None if folding == "none" else folding
                for place, names in enumerate(states.sets()):
                    request = DagRequest(layout, launch, by, names, data=True)
                    yield f"{about}|{folding}|{place}", request


def level_layouts(level: TimedLevel, default: str, timed: bool) -> list[str]:
    """Return the layouts that a level has; ``default`` alone where dependencies are not known."""
    if level.graph.topology_id is None:
        return [default]
    return [name for name in LAYOUTS if name != "time" or timed]


def level_folds(tree: GraphTree, read: Callable[[int], TimedLevel]) -> dict[str, FoldStates]:
    """Return the states of each folding of a level, "none" first: nodes with bodies open there too.

    No foldings where dependencies are not known.
    """
    foldings = FOLDINGS if tree.graph.topology_id is not None else ()
    found = {"none": fold_states(*list_openings(tree, read, None))}
    for folding in foldings:
        if fold_level(read(0), folding).folds:
            found[folding] = fold_states(*list_openings(tree, read, folding))
    return found
