"""Graphs keep the one of the driver's two speeds that they have without gviz."""

from __future__ import annotations

from pathlib import Path

import pytest
from contract.backend import Backend
from contract.recorded import RUN
from contract.scripts import PREAMBLE, run_script
from contract.test_trials import CHAIN, SUMS, run_plain_and_tried, trials_of

from gviz.recording.reader import Recording

#: Launches by steps on two streams, the last of each on the second; then how fast graphs are.
PROGRAM = """
import ctypes
from contract.cases import spin
from contract.nested import launch_programmatic
driver = ctypes.CDLL("libcuda.so.1")
other = cuda.stream()
def ordinary(on, times):
    for _ in range(times):
        cuda.launch("spin", spin(2), on)
def step(after):
    ordinary(stream, 10)
    launch_programmatic(cuda, stream, 2)
    ordinary(stream, after)
    cuda.wait(stream)
ordinary(other, 20)
cuda.wait(other)
for _ in range({steps}):
    step({after})
print("slow", driver.fake_graphs_are_slow())
graph = chain()
launch(graph, 3)
"""


@pytest.mark.parametrize(("after", "slow"), [(0, 0), (3, 0), (5, 0), (6, 1), (9, 1)])
def test_graphs_keep_their_speed(fake: Backend, tmp_path: Path, after: int, slow: int) -> None:
    text = PREAMBLE + PROGRAM.format(steps=6, after=after)
    plain = run_script(fake, tmp_path, text)
    watched = run_script(fake, tmp_path, text, "--collector", "events", "-o", "x.gviz")
    assert (plain.returncode, watched.returncode) == (0, 0), plain.stderr + watched.stderr
    assert f"slow {slow}" in plain.stdout
    assert f"slow {slow}" in watched.stdout
    with Recording(tmp_path / "x.gviz") as recording:
        operations = recording.fetch_run_stream_operations(RUN)
        measured = {m.name: m.value for m in recording.fetch_measurements(RUN)}
    # What gviz launches itself is not the program's. Times are lost where the machine is busy.
    lost = measured.get("eager_times_lost", 0)
    assert len(operations) + lost == 20 + 6 * (11 + after)


def test_graphs_keep_their_speed_beside_trials(fake: Backend, tmp_path: Path) -> None:
    text = (
        f"{SUMS}{CHAIN}from contract.cases import spin\nother = cuda.stream()\n"
        "for _ in range(20):\n    cuda.launch('spin', spin(2), other)\n"
        "launches(cuda.instantiate(graph), 200)\n"
        "report(slow=cuda.library.fake_graphs_are_slow())\n"
    )
    printed, recording = run_plain_and_tried(fake, tmp_path, text)
    with recording:
        assert len([t for t in trials_of(recording) if not t.refusal]) >= 4
    assert isinstance(printed, dict)
    assert printed["slow"] == 0
