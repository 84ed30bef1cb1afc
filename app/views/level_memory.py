"""The memory that the nodes of a graph level are given, as views keep it and speak of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gviz.app.files import Library
from gviz.app.views.graph_data import GraphView
from gviz.model import Access, LevelMemory, read_level, read_memory
from gviz.recording import rows


def kept_memory(library: Library, file: str, view: GraphView) -> LevelMemory:
    """Return the memory of the level that a view is of: what its payloads are made of too."""
    opened = library.file(file)
    recording = opened.recording
    key = view.tree.graph.graph_id, view.at

    def read() -> LevelMemory:
        level = read_level(recording, view.tree, view.at, opened.keep)
        return read_memory(recording, level)

    return opened.keep(("memory", *key), read)


def why_no_lifetimes(
    memory: LevelMemory,
    allocated: Sequence[rows.Allocation],
    samples: Sequence[rows.GraphMemory],
) -> str | None:
    """Return why no memory lives along a launch, and what was looked at; None where some does.

    Parameters
    ----------
    memory
        Of the level.
    allocated, samples
        Of the run.
    """
    uses = memory.uses
    makes = np.isin(uses.access, (Access.ALLOCATED, Access.FREED)) & (uses.allocation >= 0)
    if makes.any():
        return None
    found = ["No node of this graph allocates or frees memory (MEM_ALLOC, MEM_FREE)."]
    if allocated:
        found.append("Other graphs of this run do.")
    elif not samples:
        found.append(
            "The pool for graphs (cuDeviceGetGraphMemAttribute) was not queried: it is once a "
            "graph with an alloc node was instantiated."
        )
    if not memory.argument_count:
        found.append("No kernel arguments were recorded, so no address is known either.")
    elif not len(uses):
        found.append("No address is known among the arguments of its nodes.")
    return " ".join(found)
