"""A long run on a real GPU: nothing is lost, and the cost of node level is measured."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gviz.recording.reader import Recording

pytestmark = pytest.mark.gpu

PROGRAM = """
import sys
import torch, gviz
x = torch.ones(1024, device="cuda")
def step():
    for _ in range(10):
        x.add_(1.0)
with gviz.profile(sys.argv[1], node_launches=sys.argv[2], eager_operations=0):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        step()
    side.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    for i in range(20_000):
        graph.replay()
    torch.cuda.synchronize()
"""


@pytest.mark.quick
@pytest.mark.parametrize("policy", ["all", "every:100", "20"])
def test_every_launch_and_node_is_reported(tmp_path: Path, policy: str) -> None:
    pytest.importorskip("torch")
    output = tmp_path / "x.gviz"
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM, str(output), policy],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    with Recording(output) as recording:
        launches = recording.fetch_launch_arrays(1)
        assert len(launches) == 20_000
        assert (np.diff(launches.host_start_ns) > 0).all()
        measured = {m.name: m.value for m in recording.fetch_measurements(1)}
        assert measured["activity_records_dropped"] == 0
        assert measured["activity_records_invalid"] == 0
        assert measured["launches_without_node_times"] == 0
        assert "records_without_launch" not in measured
        assert (measured["launch_event_share"] or 0) < 0.01
        recorded = int(launches.node_level.sum())
        impossible = int(measured["launches_with_impossible_times"] or 0)
        for node in recording.fetch_statistics(1):
            assert node.count == recorded - impossible
            assert 0 < node.min_ns <= node.p5_ns * 1.01
            assert node.p5_ns <= node.median_ns <= node.p95_ns <= node.max_ns
        without, with_ = recording.fetch_launch_costs(1)
        assert without.gpu_median_ns is not None, without.method
        assert with_.gpu_median_ns is not None, with_.method
        # Ten short kernels launched back to back take about 1.3 to 1.8 times as long, an H100.
        assert 0.9 < with_.gpu_median_ns / without.gpu_median_ns < 5
    assert output.stat().st_size < 4e6
