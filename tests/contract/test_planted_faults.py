"""Programs with a planted fault (bench/fault_programs.py): found, and not found once repaired."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from contract.backend import Backend

from gviz.recording.reader import Recording

_BENCH = Path(__file__).resolve().parents[2] / "bench" / "gpu_findings.py"
#: What the fake driver's times show; the rest needs a GPU's gaps and calls.
_FAULTS = {
    "serialised branches": "single-stream-capture",
    "host nodes": "host-node-on-path",
    "tiny kernels": "fusable-chain",
    "rebuilt, unchanged": "graph-rebuilt",
    "barriers": "branches-wait-for-each-other",
    "narrow kernel": "below-one-wave",
}


def _record(backend: Backend, fault: str, side: str, path: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-P", str(_BENCH), "--record", fault, side, str(path)],
        env={**backend.environment, "PYTHONPATH": os.environ.get("PYTHONPATH", "")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("fault", _FAULTS)
def test_a_fault_is_found_until_it_is_repaired(
    backend: Backend, fault: str, tmp_path: Path
) -> None:
    faulty = _record(backend, fault, "faulty", tmp_path / "faulty.gviz")
    assert [f["rule"] for f in faulty["findings"]] == [_FAULTS[fault]]
    repaired = _record(backend, fault, "repaired", tmp_path / "repaired.gviz")
    assert repaired["findings"] == []


def test_own_part_of_making_graphs_is_reported(backend: Backend, tmp_path: Path) -> None:
    """Gviz's own part of captures and instantiations is recorded, and advice subtracts it."""
    found = _record(backend, "rebuilt, unchanged", "faulty", tmp_path / "x.gviz")
    with Recording(tmp_path / "x.gviz") as recording:
        measured = {m.name: m.value or 0.0 for m in recording.fetch_measurements(1)}
        graphs = recording.fetch_graphs(1)
        execs = [e for g in graphs for e in recording.fetch_graph_execs(g.graph_id)]
    made = [(e.instantiate_start_ns or 0, e.instantiate_end_ns or 0) for e in execs]
    captured = [(g.capture_start_ns or 0, g.capture_end_ns or 0) for g in graphs]
    for kind, spans in (("instantiate", made), ("capture", captured)):
        # Each is a call, or a capture, of the run: none is left out, none counts twice.
        assert measured[f"{kind}_watched_ns"] == sum(end - start for start, end in spans)
        assert 0 < measured[f"{kind}_own_ns"] < measured[f"{kind}_watched_ns"]
    (rebuilt,) = found["findings"]
    assert rebuilt["evidence"]["taken off: gviz's own callbacks"] > 0
    assert rebuilt["evidence"]["gain, at least"] < rebuilt["gain_us"] * 1e3


def test_the_predicted_gain_is_what_repairing_gains(fake: Backend, tmp_path: Path) -> None:
    """On the fake driver, whose kernels take as long side by side as alone."""
    sides = [
        _record(fake, "serialised branches", side, tmp_path / f"{side}.gviz")
        for side in ("faulty", "repaired")
    ]
    lengths = [side["graphs"][0]["recorded_us"] for side in sides]
    (finding,) = sides[0]["findings"]
    assert finding["gain_us"] == pytest.approx(lengths[0] - lengths[1], rel=0.05)
