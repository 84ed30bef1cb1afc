"""Names of ranks on pages."""

from __future__ import annotations

from gviz.comparison import RankRef


def rank_name(ref: RankRef) -> str:
    """Return ``rank 3``; of a run without a rank its own name."""
    return ref.name if ref.rank is None else f"rank {ref.rank}"
