"""The memory view's arrays: derived times, what lives when, and why there may be nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from memory_recordings import IDS, MIB, POOL, with_buffers, write_memory_recording
from planned_recordings import Plan, Planned, chain_edges, in_a_row
from recordings import fork_join_shape, write_recording

from gviz.app.files.library import Library
from gviz.app.inspector.memory_panel import render_memory_facts
from gviz.app.views.graph_data import graph_view
from gviz.app.views.payload import level_memory_payload, timeline_payload
from gviz.app.views.wire import Arrays, unpack
from gviz.errors import RecordingError
from gviz.recording.reader import Recording

NOBODY = 0xFFFFFFFF


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_memory_recording(tmp_path_factory.mktemp("memory") / "memory.gviz")


@pytest.fixture
def recording(memory: Path) -> Iterator[Recording]:
    with Recording(memory) as opened:
        yield opened


def sent(recording: Recording, launch_id: int | None = None) -> tuple[dict[str, Any], Arrays]:
    return unpack(level_memory_payload(recording, 1, launch_id))


def lives(arrays: Arrays) -> dict[int, int]:
    """Return the index of the lifetime that each alloc node begins."""
    return {int(node): at for at, node in enumerate(arrays["life_alloc"])}


def test_alloc_and_free_nodes_stand_where_what_they_wait_for_ended(recording: Recording) -> None:
    header, arrays = sent(recording, 2)
    spans = recording.fetch_spans(2)
    end = dict(zip(spans.node_id, spans.start_ns + spans.duration_ns, strict=True))
    start = dict(zip(spans.node_id, spans.start_ns, strict=True))
    at = lives(arrays)
    assert (header["axis"], header["ordinal"]) == ("time", 1)
    first = header["first"]
    a, c = at[IDS["alloc a"]], at[IDS["alloc c"]]
    # A root: from the first start on.
    assert arrays["life_start"][a] == first
    assert arrays["life_end"][a] == first + end[IDS["join"]]
    assert arrays["life_start"][c] == first + end[IDS["join"]]
    assert arrays["life_alloc_latest"][c] == first + start[IDS["reuse"]]
    assert np.isnan(arrays["life_free_latest"][c])


def test_axis_is_the_timelines(recording: Recording) -> None:
    header, arrays = sent(recording, 3)
    shown, spans = unpack(timeline_payload(recording, 1, 3, None))
    assert header["zero"] == shown["graph"]["zero"]
    assert header["total"] == shown["graph"]["total_ns"]
    timed = dict(zip(spans["graph_node_id"], spans["graph_start_ns"], strict=True))
    starts = dict(zip(arrays["node_id"], arrays["node_start"], strict=True))
    assert {node: starts[node] for node in timed} == timed


def test_memory_that_lives_beyond_the_launch_has_no_end(recording: Recording) -> None:
    header, arrays = sent(recording)
    d = lives(arrays)[IDS["alloc d"]]
    assert arrays["life_free"][d] == NOBODY
    assert np.isnan(arrays["life_end"][d])
    assert header["strings"][arrays["life_freed"][d]] == "not while gviz watched"


def test_memory_of_another_graph_has_no_start(recording: Recording) -> None:
    header, arrays = sent(recording)
    at = arrays["life_free"].tolist().index(IDS["free elsewhere"])
    assert arrays["life_alloc"][at] == NOBODY
    assert np.isnan(arrays["life_start"][at])
    assert arrays["life_bytes"][at] == 8 * MIB
    assert header["strings"][arrays["life_freed"][at]] == "in another graph"


def test_peak_is_what_lives_at_once(recording: Recording) -> None:
    _, arrays = sent(recording)
    # Another graph's 8 MiB, then a and b beside it.
    assert arrays["step_bytes"].max() == 11 * MIB
    assert arrays["step_bytes"][-1] == MIB // 4
    assert (np.diff(arrays["step_time"]) >= 0).all()
    assert arrays["step_time"][0] == 0


def test_address_used_again_stands_in_one_band(recording: Recording) -> None:
    _, arrays = sent(recording)
    at = lives(arrays)
    offset = arrays["life_offset"]
    assert offset[at[IDS["alloc a"]]] == offset[at[IDS["alloc c"]]] == 0
    assert offset[at[IDS["alloc b"]]] == MIB
    assert arrays["range_low"].tolist() == [POOL % 2**32, (POOL + 64 * MIB) % 2**32]
    assert arrays["range_offset"].tolist() == [0, 3 * MIB + MIB // 4]


def test_without_times_nodes_stand_in_their_order(tmp_path: Path) -> None:
    with Recording(write_memory_recording(tmp_path / "x.gviz", launches=0)) as recording:
        header, arrays = sent(recording)
    assert (header["axis"], header["ordinal"]) == ("order", None)
    at = lives(arrays)
    assert arrays["life_start"][at[IDS["alloc a"]]] == 0
    assert arrays["life_end"][at[IDS["alloc a"]]] == 4
    assert np.isnan(arrays["life_alloc_latest"]).all()


def test_pool_counts_from_its_first_sample(recording: Recording) -> None:
    header, arrays = sent(recording, 1)
    assert arrays["pool_time"].tolist() == [0, 4_000_000, 9_000_000]
    assert arrays["pool_reserved"].tolist() == [0, 32 * MIB, 32 * MIB]
    launch = recording.fetch_launch(1)
    first = recording.fetch_graph_memory(1)[0].time_ns
    assert header["launch_after_ns"] == (launch.host_start_ns or 0) - first


def test_launch_that_is_not_there_is_an_error(recording: Recording) -> None:
    with pytest.raises(RecordingError, match="has no launch 999"):
        sent(recording, 999)


def facts(path: Path) -> str:
    library = Library([path])
    return str(render_memory_facts(library, path.stem, graph_view(library, path.stem, 1)))


def test_facts_say_what_was_measured(memory: Path) -> None:
    text = facts(memory)
    assert "3.00 MiB used of 32.0 MiB reserved" in text
    assert "the last of 3 samples" in text
    assert "5 allocations" in text
    assert "memory not queried" in text
    assert "No node of this graph" not in text


def test_device_memory_of_executables_is_reported(tmp_path: Path) -> None:
    path = write_memory_recording(tmp_path / "x.gviz")
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE graph_exec SET device_memory_bytes=9437184")
    assert "9.00 MiB" in facts(path)


def test_graph_without_memory_nodes_says_what_was_looked_at(tmp_path: Path) -> None:
    shape = fork_join_shape()
    bare = facts(write_recording(tmp_path / "bare.gviz", shape, launches=1, eager=False))
    assert "No node of this graph allocates or frees memory (MEM_ALLOC, MEM_FREE)." in bare
    assert "was not queried" in bare
    assert "No kernel arguments were recorded" in bare
    given = with_buffers(shape)
    path = write_recording(tmp_path / "given.gviz", given, launches=1, eager=False)
    assert "No kernel arguments" not in facts(path)
    with Recording(path) as recording:
        header, arrays = sent(recording)
    assert header["note"].startswith("No node of this graph")
    assert len(arrays["life_alloc"]) == 0
    assert len(arrays["use_node"])


def test_pool_of_other_graphs_is_shown_without_memory_nodes(tmp_path: Path) -> None:
    path = write_memory_recording(tmp_path / "x.gviz")
    library = Library([path])
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM node WHERE graph_id=1 AND type IN (10, 11)")
        database.execute("DELETE FROM allocation WHERE graph_id=1")
    text = str(render_memory_facts(library, "x", graph_view(library, "x", 1)))
    assert "Other graphs of this run do." in text
    assert "3.00 MiB used of 32.0 MiB reserved" in text


def test_memory_of_copies_of_slices_is_along_the_median_of_all(tmp_path: Path) -> None:
    nodes = in_a_row(*(Planned(f"n{i}", 0, 10_000) for i in range(6)), gap_ns=0)
    untimed = [*nodes[:3], Planned("a"), *nodes[3:]]
    path = Plan(untimed, chain_edges(7), launches=4, slices=2).write(tmp_path / "x.gviz")
    with Recording(path) as recording:
        header, arrays = sent(recording, 1)
        _, timeline = unpack(timeline_payload(recording, 1, "median", None))
    assert (header["median_of"], header["launch_id"], header["ordinal"]) == (4, None, None)
    timed = [0, 1, 2, 4, 5, 6]
    assert arrays["node_start"][timed].tolist() == timeline["graph_start_ns"].tolist()
    # A node without a time stands where what it waits for has ended.
    assert arrays["node_start"][3] == arrays["node_end"][2]
    assert header["total"] == arrays["node_end"].max()
