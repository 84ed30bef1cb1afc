"""``gviz top``: a program that runs, looked at again and again until it ends."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import IO

import pytest
from live_spool import NODES, LiveProgram

from gviz.cli import command_line as cli
from gviz.cli.commands.record import top as command
from gviz.recording import Recording, rows
from gviz.report import (
    RecordingSummary,
    launch_counts,
    live_document,
    render_text,
    summarize,
)
from gviz.report.summary import StreamSummary, WindowSummary
from gviz.spool.processes.snapshot import Answer
from gviz.system import own_command, own_environment
from gviz.text import percent

Gviz = Callable[..., "subprocess.CompletedProcess[str]"]


def _row(lines: IO[str], launches: int) -> list[str]:
    """Return the graph's next row that has so many launches; waits for it."""
    seen = []
    for line in lines:
        seen.append(line)
        words = line.split()
        if words[:1] == ["1"] and str(launches) in words:
            return words
    raise AssertionError(seen)


def test_launches_are_counted_as_they_come_until_the_program_ends(tmp_path: Path) -> None:
    program = LiveProgram(tmp_path / "live.gviz")
    program.instantiate()
    program.launch(5)
    command = [sys.executable, "-P", "-m", "gviz", "top", "--every", "0.1"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as top:
        assert top.stdout is not None
        row = _row(top.stdout, 5)
        assert str(NODES) in row
        assert "0" in row, "nothing was launched between the two looks"
        program.launch(10)
        row = _row(top.stdout, 15)
        program.end()
        assert top.stderr is not None
        assert top.stderr.read().endswith(
            "gviz: live.gviz is recorded no more; 'gviz info' says what is in it\n"
        )
    assert top.returncode == 0


def test_signal_leaves_no_snapshot_and_no_word(tmp_path: Path) -> None:
    program = LiveProgram(tmp_path / "live.gviz")
    program.instantiate()
    program.launch(5)
    (temporary := tmp_path / "temporary").mkdir()
    command = [sys.executable, "-P", "-m", "gviz", "top", "--every", "0.1"]
    with subprocess.Popen(
        command, cwd=tmp_path, env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as top:  # fmt: skip
        assert top.stdout is not None
        _row(top.stdout, 5)
        assert list(temporary.iterdir())
        top.terminate()
        assert top.stderr is not None
        assert top.stderr.read() == ""
    assert top.returncode == 128 + signal.SIGTERM
    assert list(temporary.iterdir()) == []


def test_once_prints_one_screen(gviz: Gviz, tmp_path: Path) -> None:
    program = LiveProgram(tmp_path / "live.gviz")
    program.instantiate()
    program.launch(5)
    done = gviz("top", tmp_path / "live.gviz", "--once", "--every", "0.1")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("live.gviz, recorded now; rates over the last ")
    assert "\x1b" not in done.stdout
    assert done.stdout.count("A second") == 1


@pytest.mark.parametrize(
    ("end", "sentence"),
    [
        (None, "Recording is paused: launches are not counted; 'gviz start 7' begins."),
        ("request", "Recording is paused: launches are not counted; 'gviz start 7' begins."),
        ("duration", "Recording is paused: launches are not counted."),
        ("", ""),  # a period goes on
    ],
)
def test_paused_program_is_said_to_be(
    small_recording: Path, end: str | None, sentence: str
) -> None:
    with Recording(small_recording) as recording:
        found = summarize(recording)
    (run,) = found.runs
    ended = rows.Period(
        run_id=1, period_id=0, start_ns=1, end_ns=2 if end else None, start_reason="request",
        end_reason=end or None,
    )  # fmt: skip
    graphs = () if end is None else run.graphs
    row = replace(run.run, state="recording", process_id=7)
    run = replace(run, run=row, graphs=graphs, periods=() if end is None else (ended,))
    text = render_text(live_document(replace(found, runs=(run,)), {}, "x"), 100)
    assert sentence in text
    assert bool(sentence) == ("paused" in text)


def _with_eager(found: RecordingSummary, *, windows: int, left_out: int) -> RecordingSummary:
    """Return a summary whose operations outside graphs took 300 µs."""
    (run,) = found.runs
    left = rows.Measurement(
        run_id=1, name="stream_operations_left_out", value=left_out, unit="records", method="rule"
    )
    run = replace(
        run, stream_operations=StreamSummary(3, 0, 300_000, {"KERNEL": 3}),
        windows=WindowSummary(windows, 0, {}), measurements=(left,) if left_out else (),
    )  # fmt: skip
    return replace(found, runs=(run,))


@pytest.mark.parametrize(
    ("windows", "left_out", "words"),
    [
        (0, 0, "{plain} of the GPU's time so far, warm-up included, in 3 operations."),
        (0, 7, "at least {plain} of the GPU's time so far, warm-up included, in 3 operations."),
        (2, 0, "{in_windows} of the node time in CUPTI's windows, in 3 operations."),
    ],
)
def test_share_outside_graphs_is_of_all_launches(
    small_recording: Path, windows: int, left_out: int, words: str
) -> None:
    with Recording(small_recording) as recording:
        found = _with_eager(summarize(recording), windows=windows, left_out=left_out)
    (graph,) = found.runs[0].graphs
    (side,) = [one for one in graph.launches if one.side == "graph"]
    launched = sum(one.launch_count for one in graph.execs) * (side.length.median_ns or 0)
    assert graph.node_time_ns
    assert graph.node_time_ns != launched
    shares = {
        "plain": percent(300_000 / (300_000 + launched)),
        "in_windows": percent(300_000 / (300_000 + graph.node_time_ns)),
    }
    text = " ".join(render_text(live_document(found, {}, "x"), 100).split())
    assert f"Outside graphs: {words.format(**shares)}" in text.replace(" [derived]", "")


def test_share_outside_graphs_is_not_said_where_launches_have_no_times(
    small_recording: Path,
) -> None:
    with Recording(small_recording) as recording:
        found = _with_eager(summarize(recording), windows=0, left_out=0)
    (run,) = found.runs
    untimed = tuple(replace(graph, launches=()) for graph in run.graphs)
    found = replace(found, runs=(replace(run, graphs=untimed),))
    assert "Outside graphs" not in render_text(live_document(found, {}, "x"), 100)


class _EndedAfterALook:
    """A reader of a spool that is gone at the second look."""

    recording: Path

    def __init__(self, spool: Path, output: Path) -> None:
        self._output = output
        self._answers = [Answer(written=True), Answer(is_over=True, failure="gone")]

    def request(self) -> Answer:
        """Return the next answer."""
        shutil.copy(self.recording, self._output)
        return self._answers.pop(0)

    def close(self) -> None:
        """Do nothing."""


def test_program_that_ended_between_two_looks_is_given_no_rates(
    small_recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    LiveProgram(tmp_path / "live.gviz")
    monkeypatch.setattr(_EndedAfterALook, "recording", small_recording, raising=False)
    monkeypatch.setattr(command, "SnapshotProcess", _EndedAfterALook)
    assert cli.main(["top", "--once", "--every", "0", str(tmp_path / "live.gviz")]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "gviz: live.gviz is recorded no more; 'gviz info' says what is in it\n"


def test_json_names_the_recording_and_no_snapshot(gviz: Gviz, tmp_path: Path) -> None:
    program = LiveProgram(tmp_path / "live.gviz")
    program.instantiate()
    program.launch(5)
    done = gviz("top", tmp_path / "live.gviz", "--once", "--json", "--every", "0.1")
    assert json.loads(done.stdout)["summary"]["path"] == str(program.spool)


def test_nothing_that_is_recorded_is_a_sentence(
    gviz_here: Gviz, tmp_path: Path, small_recording: Path
) -> None:
    done = gviz_here("top", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "nothing is being recorded here; start 'gviz run PROGRAM'" in done.stderr
    done = gviz_here("top", small_recording)
    assert "is not being recorded; 'gviz info" in done.stderr
    done = gviz_here("top", "nothing.gviz", cwd=tmp_path)
    assert "'gviz run -o nothing.gviz PROGRAM' does" in done.stderr


@pytest.mark.parametrize("width", range(40, 60))
def test_narrow_terminal_shows_every_figure(small_recording: Path, width: int) -> None:
    with Recording(small_recording) as recording:
        found = summarize(recording)
    rates = dict.fromkeys(launch_counts(found), 1_234.5)
    text = render_text(live_document(found, rates, "train.gviz, recorded now"), width)
    assert max(map(len, text.split("\n"))) <= width
    words = " ".join(text.split())
    for figure in ("Nodes", "Launches", "A second", "Launch", "Host call", "GPU in it"):
        assert figure in words
    wide = render_text(live_document(found, rates, "train.gviz, recorded now"), 120)
    (row,) = [line for line in wide.split("\n") if "graph 1" in line or " 1 " in line][:1]
    assert all(figure in words for figure in row.split())


def test_reader_ends_quietly_when_who_asked_is_gone(tmp_path: Path) -> None:
    program = LiveProgram(tmp_path / "live.gviz")
    program.instantiate()
    program.launch(5)
    command = own_command("gviz.spool.processes.snapshot", str(program.spool), str(tmp_path / "x"))
    with subprocess.Popen(
        command, env=own_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    ) as reader:  # fmt: skip
        assert reader.stdout is not None
        reader.stdout.close()
        _, said = reader.communicate("\n", timeout=120)
    assert (reader.returncode, said) == (0, "")
