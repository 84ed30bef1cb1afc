"""Node statistics: edge cases; tests/property compares with numpy node by node."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gviz.recording import rows
from gviz.recording.reader import Recording
from gviz.recording.writer import RecordingWriter
from gviz.stats.statistics import node_statistics


def ints(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, dtype=np.int64)


def test_statistics_of_known_spans_are_as_computed_by_hand() -> None:
    found = node_statistics(
        ints(7, 3, 7, 7, 3, 7), ints(10, 100, 20, 30, 300, 1000), ints(0, 5, 2, 4, 7, 6)
    )
    assert found.node_id.tolist() == [3, 7]
    assert found.count.tolist() == [2, 4]
    assert found.total_ns.tolist() == [400, 1060]
    assert found.median_ns.tolist() == [200.0, 25.0]
    assert found.min_ns.tolist() == [100, 10]
    assert found.max_ns.tolist() == [300, 1000]
    assert found.mad_ns.tolist() == [100.0, 10.0]
    assert found.start_median_ns.tolist() == [6.0, 3.0]
    assert found.p5_ns.tolist() == pytest.approx([110.0, 11.5])
    assert found.p95_ns.tolist() == pytest.approx([290.0, 854.5])


def test_statistics_of_no_spans_are_empty() -> None:
    assert len(node_statistics(ints(), ints(), ints())) == 0


def test_single_span_is_every_statistic_and_deviates_by_nothing() -> None:
    found = node_statistics(ints(2**32 - 1), ints(42), ints(-3))
    (row,) = found.to_tuples(ints(9), found.node_id)
    assert row == (9, 2**32 - 1, 1, 42, 42.0, 42.0, 42.0, 42, 42, 0.0, -3.0, 0, None)


def test_arrays_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="2 node ids, 1 durations and 2 starts"):
        node_statistics(ints(1, 2), ints(1), ints(1, 2))


def test_tuples_are_the_columns_of_the_table(tmp_path: Path) -> None:
    found = node_statistics(ints(1, 1, 2), ints(5, 7, 9), ints(0, 0, 8))
    with RecordingWriter(tmp_path / "a.gviz") as writer:
        writer.insert(rows.Run(run_id=1, name="r", state="completed", source="import"))
        writer.insert(rows.Graph(graph_id=4, run_id=1, name="g", origin="trace"))
        writer.insert_tuples(rows.NodeStatistics, found.to_tuples(ints(4, 4), found.node_id))
    with Recording(tmp_path / "a.gviz") as recording:
        first, second = recording.fetch_statistics(4)
    assert (first.node_id, first.count, first.total_ns, first.median_ns) == (1, 2, 12, 6.0)
    assert (second.node_id, second.start_median_ns) == (2, 8.0)
