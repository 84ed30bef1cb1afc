"""``gviz view`` of what a killed program left behind, and of several files."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

from places import TESTS

from gviz.recording.reader import Recording
from gviz.spool.records.format import SPOOL_SUFFIX

SPOOL = TESTS / "golden" / "spools" / "cupy_pipeline.spool.tar.xz"


def test_view_folds_a_left_over_spool_and_opens_it_beside_another(
    tmp_path: Path, small_recording: Path
) -> None:
    output = tmp_path / "killed.gviz"
    with tarfile.open(SPOOL) as tar:
        tar.extractall(f"{output}{SPOOL_SUFFIX}", filter="data")
    command = [sys.executable, "-P", "-m", "gviz", "view", str(output), str(small_recording)]
    with subprocess.Popen(
        [*command, "--no-browser", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as server:
        assert server.stdout is not None
        line = server.stdout.readline()
        server.terminate()
    assert "http://" in line, line
    assert not Path(f"{output}{SPOOL_SUFFIX}").exists()
    with Recording(output) as recording:
        (graph,) = recording.fetch_graphs()
        assert len(recording.fetch_nodes(graph.graph_id)) == 19
