"""One record of each node is kept: the earliest, whatever batch it comes in."""

from __future__ import annotations

import numpy as np

from gviz.runs import Activities, blank_activities
from gviz.spool.streams import Samples


def records(*values: tuple[int, int, int]) -> Activities:
    """Return records of (executable, node, start), in order of start."""
    found = blank_activities(len(values))
    found["exec_id"], found["node_id"], found["start_ns"] = np.array(values).T
    return found


def test_earliest_record_of_each_node_is_kept() -> None:
    samples = Samples()
    samples.add(records((2, 1, 10), (1, 7, 20), (2, 1, 30)))
    samples.add(records((2, 0, 5), (1, 7, 15), (2, 1, 40)))
    kept = samples.records
    places = [kept[name].tolist() for name in ("exec_id", "node_id", "start_ns")]
    assert places == [[1, 2, 2], [7, 0, 1], [15, 5, 10]]
    assert len(samples) == 3


def test_nodes_of_an_executable_are_found_in_the_order_requested() -> None:
    samples = Samples()
    samples.add(records((2, 1, 10), (1, 7, 20), (2, 5, 30)))
    found, has_one = samples.of(2, np.array([5, 7, 1]))
    assert (found["start_ns"].tolist(), has_one.tolist()) == ([30, 10], [True, False, True])


def test_nothing_is_found_where_nothing_was_recorded() -> None:
    found, has_one = Samples().of(1, np.array([0, 1]))
    assert (len(found), has_one.tolist()) == (0, [False, False])
