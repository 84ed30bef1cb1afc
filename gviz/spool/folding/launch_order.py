"""The place of a launch among its graph's, when most launches have no row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from gviz.recording import decode
from gviz.spool.folding.graphs import Graphs
from gviz.spool.records import LaunchRecord
from gviz.spool.streams import LaunchStream


def count_launches(stream: LaunchStream) -> Counter[int]:
    """Return how many launches each executable has, with a row or without."""
    return stream.counts + Counter(record.exec_id for record in stream.rows)


def launch_ordinals(
    stream: LaunchStream, records: Sequence[LaunchRecord], graphs: Graphs
) -> list[int]:
    """Return the ordinal of each launch that has a row: launches of its graph called before it.

    A bin, of launches after the first million, counts as before when it begins before.

    Parameters
    ----------
    records
        In order of their calls.
    """
    starts = np.array([record.start_ns for record in records], np.int64)
    graph_of = np.array([graphs.execs[record.exec_id].graph_id for record in records], np.int64)
    found = np.zeros(len(records), np.int64)
    mine = {graph: np.flatnonzero(graph_of == graph) for graph in np.unique(graph_of).tolist()}
    for at in mine.values():
        found[at] = np.arange(len(at))
    for block in stream.blocks:
        rows = mine.get(graphs.execs[block.exec_id].graph_id)
        if rows is not None:
            called = np.sort(decode(block.columns["host_start"]))
            found[rows] += np.searchsorted(called, starts[rows])
    for bin_ in stream.bins.bins():
        rows = mine.get(graphs.execs[bin_.key.exec_id].graph_id)
        if rows is not None and bin_.key.measure == 0:
            later = rows[starts[rows] > bin_.start_ns]
            found[later] += int(bin_.histogram.count.sum())
    return found.tolist()
