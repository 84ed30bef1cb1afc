"""``gviz info`` as a user starts it, and the layout of its text."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gviz.cli.recording_path import find_recording
from gviz.errors import RecordingError
from gviz.spool.records import format as f
from gviz.spool.records import table

Gviz = Callable[..., "subprocess.CompletedProcess[str]"]


def test_info_prints_text_on_stdout_only(gviz_here: Gviz, small_recording: Path) -> None:
    done = gviz_here("info", small_recording)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(str(small_recording))
    assert "47 nodes, 55 edges" in done.stdout


def test_info_json_is_the_documented_structure(gviz_here: Gviz, small_recording: Path) -> None:
    value = json.loads(gviz_here("info", "--json", "--slowest", "2", small_recording).stdout)
    assert list(value) == ["info_version", "path", "size_bytes", "schema_version", "runs"]
    (run,) = value["runs"]
    (graph,) = run["graphs"]
    assert graph["node_kinds"]["KERNEL"] == 42
    assert len(graph["slowest_nodes"]) == 2
    assert run["measurements"][0]["name"] == "records_dropped"
    assert run["stream_operations"]["matched_count"] == 45


@pytest.mark.parametrize("count", ["-1", "many"])
def test_info_refuses_a_bad_count(gviz_here: Gviz, small_recording: Path, count: str) -> None:
    done = gviz_here("info", f"--slowest={count}", small_recording)
    assert done.returncode == 2
    assert "--slowest" in done.stderr


def test_find_recording_refuses_what_is_no_file(tmp_path: Path, small_recording: Path) -> None:
    assert find_recording(small_recording) == small_recording
    with pytest.raises(RecordingError, match=r"there is no file .*missing\.gviz"):
        find_recording(tmp_path / "missing.gviz")
    with pytest.raises(RecordingError, match="is a directory"):
        find_recording(tmp_path)


def test_find_recording_prefers_a_recording_to_its_spool(small_recording: Path) -> None:
    spool = small_recording.with_name(small_recording.name + "-spool")
    spool.mkdir()
    try:
        assert find_recording(small_recording) == small_recording
    finally:
        spool.rmdir()


def _write_spool(folder: Path, **metadata: object) -> Path:
    """Write the spool that a program leaves when it is killed before it used CUDA."""
    payload = json.dumps(metadata).encode()
    payload += b" " * (-len(payload) % 8)
    record = table.RECORD_HEADER.pack(f.RecordType.META, len(payload)) + payload
    end = table.SEGMENT_HEADER.size + len(record)
    header = table.SEGMENT_HEADER.pack(f.MAGIC, f.VERSION, 0, end, end, 1)
    folder.mkdir()
    (folder / f"000000{f.SEGMENT_SUFFIX}").write_bytes(header + record)
    return folder


@pytest.fixture
def ended_process() -> int:
    """The id of a process that has ended."""
    return int(subprocess.run(["sh", "-c", "echo $$"], capture_output=True, check=True).stdout)


@pytest.mark.parametrize("named", ["x.gviz", "x.gviz-spool"])
def test_info_folds_a_left_over_spool(
    gviz_here: Gviz, tmp_path: Path, ended_process: int, named: str
) -> None:
    spool = _write_spool(tmp_path / "x.gviz-spool", name="killed", process_id=ended_process)
    done = gviz_here("info", "--json", tmp_path / named)
    assert (done.returncode, done.stderr) == (0, "")
    value = json.loads(done.stdout)
    assert value["path"] == str(tmp_path / "x.gviz")
    assert [(r["run"]["name"], r["run"]["state"]) for r in value["runs"]] == [("killed", "aborted")]
    assert (tmp_path / "x.gviz").exists()
    assert not spool.exists()


def test_info_leaves_the_spool_of_a_running_program_alone(gviz_here: Gviz, tmp_path: Path) -> None:
    spool = _write_spool(tmp_path / "x.gviz-spool", name="alive", process_id=os.getpid())
    before = sorted(path.read_bytes() for path in spool.iterdir())
    done = gviz_here("info", tmp_path / "x.gviz")
    assert done.returncode == 1
    assert f"process {os.getpid()}, which is still running" in done.stderr
    assert sorted(path.read_bytes() for path in spool.iterdir()) == before
    assert [path.name for path in tmp_path.iterdir()] == ["x.gviz-spool"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("garbage", b"\0" * 64),
        ("000000.segment", b"\0" * 64),
        ("000000.segment", b"short"),
        ("000000.segment", b"NOT GVIZ" + b"\1" * 200),
        ("000000.segment", table.SEGMENT_HEADER.pack(f.MAGIC, 99, 0, 64, 64, 1)),
        ("000000.segment", table.SEGMENT_HEADER.pack(f.MAGIC, 1, 0, 88, 88, 1) + b"\xff" * 24),
    ],
    ids=["other file", "zeros", "short", "no magic", "newer format", "broken record"],
)
def test_info_of_a_damaged_spool_exits_1_with_one_sentence(
    gviz_here: Gviz, tmp_path: Path, name: str, content: bytes
) -> None:
    spool = tmp_path / "x.gviz-spool"
    spool.mkdir()
    (spool / name).write_bytes(content)
    for argument in (tmp_path / "x.gviz", spool):
        done = gviz_here("info", argument)
        assert done.returncode == 1
        assert done.stderr.startswith("gviz: ")
        assert done.stderr.count("\n") == 1
        assert (spool / name).read_bytes() == content
        assert [path.name for path in tmp_path.iterdir()] == ["x.gviz-spool"]
