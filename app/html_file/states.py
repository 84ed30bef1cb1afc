"""The states of a comparison's DAG in a file: what of it is open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
