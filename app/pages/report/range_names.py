"""Names of NVTX ranges in addresses of the graph page: so that it selects all nodes of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from gviz.model import SEPARATOR, GraphTree, nvtx_texts
from gviz.recording import rows

#: Names of one address (assets/web/page/names.js).
_MOST_NAMED = 6
_NO_RANGE = -1


class AddressedRanges:
    """Names of ranges on the graph page: ``nvtx:`` with all around them, or ``range:`` alone.

    Parameters
    ----------
    tree
        The graph.
    ranges
        NVTX ranges of its run, by nvtx_path_id.
    """

    def __init__(self, tree: GraphTree, ranges: Mapping[int, rows.NvtxPath]) -> None:
        # With their domains, which tables of a report leave out.
        self._texts = nvtx_texts(ranges)
        self._path_of = tree.nodes.integers("nvtx_path_id", _NO_RANGE).tolist()
        self._count = Counter(self._path_of)

    def names_of(
        self, by: Literal["range", "nesting"], depth: int, indices: Sequence[int]
    ) -> list[str]:
        """Return the names that select some nodes and no others; empty: there are none.

        Parameters
        ----------
        by
            Whether the nodes have their innermost range in common, or one around them.
        depth
            How many parts the text has that they have in common.
        indices
            The nodes, by their places in the tree.
        """
        texts: set[str] = set()
        for path in {self._path_of[index] for index in indices}:
            parts = self._texts.get(path, "").split(SEPARATOR)
            texts.add(SEPARATOR.join(parts[:depth] if by == "nesting" else parts[-depth:]))
        if "" in texts or len(texts) > _MOST_NAMED:
            return []
        selects = _begins if by == "nesting" else _ends
        named = {path for path, text in self._texts.items() if any(selects(text, x) for x in texts)}
        if sum(self._count[path] for path in named) != len(indices):
            return []
        kind = "nvtx" if by == "nesting" else "range"
        return [f"{kind}:{text}" for text in sorted(texts)]


def _begins(path: str, text: str) -> bool:
    return f"{path}{SEPARATOR}".startswith(f"{text}{SEPARATOR}")


def _ends(path: str, text: str) -> bool:
    return f"{SEPARATOR}{path}".endswith(f"{SEPARATOR}{text}")
