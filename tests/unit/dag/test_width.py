"""Width of graphs whose nodes do not all count."""

from __future__ import annotations

import numpy as np

from gviz.dag.chains import cover_series
from gviz.dag.ranks import rank_rows
from gviz.dag.width import graph_width


def test_path_through_a_node_is_given_up_for_one_more() -> None:
    """Nodes 0, 2, 4, 6, 7, 8 and 9 count; paths go through the others, and are laid anew."""
    edges = [(0, 1), (0, 2), (0, 4), (0, 6), (1, 6), (1, 7), (2, 3), (2, 5), (2, 6), (2, 7),
             (3, 5), (3, 6), (4, 6), (4, 7), (4, 9), (5, 9), (6, 9), (7, 9)]  # fmt: skip
    tail, head = np.array(edges).T
    counted = np.isin(np.arange(10), [0, 2, 4, 6, 7, 8, 9])
    width = graph_width(cover_series(rank_rows(10, tail, head), tail, head), counted)
    # 6, 7 and 8, which has no edges: 2 and 4 both come before 6 and 7.
    assert (width.least, width.most) == (3, 3)
