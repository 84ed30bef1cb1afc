"""Words about a file: what it holds and cannot show."""

from __future__ import annotations

from gviz import __version__

#: The launches of a graph that is compared.
MEDIAN_LAUNCHES = "the median launch before and after"


def file_note(content: str, *names: str) -> str:
    """Return what stands at the foot of a file: what it holds, and of which recordings."""
    rest = "The recording has the rest" if len(names) == 1 else "The recordings have the rest"
    return (
        f"This file holds {content}. {rest}: gviz view {' '.join(names)}. "
        f"Saved by gviz {__version__}."
    )
