"""The Ranks page: a launch of every rank on one axis, who waits, and what cannot be shown."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from app_tree import by_id, links, texts
from places import ROOT
from rank_recordings import COLLECTIVE, Planted, write_ranks
from recordings import Shape, Work, fork_join_shape, write_recording
from waiting import eventually

from gviz.app.components.addresses import Addresses, parse_query
from gviz.app.files.library import Library
from gviz.app.files.open_recording import OpenRecording
from gviz.app.pages.ranks.comparison import RankComparisons, compared_ranks
from gviz.app.pages.ranks.page import show_ranks
from gviz.app.pages.ranks.timeline import ranks_timeline
from gviz.app.server.address_page import render_page
from gviz.app.views.wire import unpack
from gviz.comparison.ranks.launch import collective_waits, longest_wait, typical_launch
from gviz.recording.merge import merge_recordings

BUNDLED = ROOT / "assets" / "recordings"
H200 = BUNDLED / "ranks_h200.gviz"
EVEN = Planted()
SLOW = Planted(slow=((0, 3_000), (2, -6_000)))


def opened(path: Path) -> OpenRecording:
    return Library([path]).file(path.stem)


def merged(folder: Path, *planted: Planted, launches: int = 20) -> Path:
    return merge_recordings(write_ranks(folder, planted, launches), folder / "all.gviz")


def answered(library: Library, versioned_key: str, search: str) -> Any:
    """Return what the page's callback answers, asked as a page does until all is compared."""
    comparisons, view = RankComparisons(library), {"file": versioned_key}

    def answer() -> tuple[Any] | None:
        body, polls = show_ranks(comparisons, library, view, 0, search, Addresses("/"))
        return None if isinstance(polls, int) else (body,)

    (body,) = eventually(answer, "ranks compared")
    return body


def shown(path: Path, query: str = "") -> Any:
    """Return the body of a page."""
    library = Library([path])
    versioned_key = library.file(path.stem).versioned_key
    return answered(library, versioned_key, f"?file={path.stem}{query}")


def timeline(file: OpenRecording, launch: int) -> dict[str, Any]:
    found = compared_ranks(file)
    payload = ranks_timeline(file.recording, found, found.graphs[0], launch, None, file.keep)
    header, arrays = unpack(payload)
    return {"header": header, **arrays}


# -- the timeline ----------------------------------------------------------------------------------


def test_launches_of_two_gpus_end_together_on_one_clock() -> None:
    file = opened(H200)
    graph = compared_ranks(file).graphs[0]
    for launch in range(2, len(graph.ordinal)):
        found = timeline(file, launch)
        ends = [found["header"][side]["total_ns"] for side in ("rank0", "rank1")]
        # Every layer ends in an all-reduce: clocks of one machine that differed would show here.
        assert abs(ends[0] - ends[1]) < 2_000
        starts = [found[f"{side}_start_ns"][0] for side in ("rank0", "rank1")]
        real = graph.start_ns[:, launch]
        assert starts[1] - starts[0] == pytest.approx(real[1] - real[0])


def test_rank_that_waits_is_drawn_as_waiting_for_the_other() -> None:
    file = opened(H200)
    graph = compared_ranks(file).graphs[0]
    launch = typical_launch(graph)
    found = timeline(file, launch)
    at = int(np.argmax(found["rank0_wait_end_ns"] - found["rank0_wait_start_ns"]))
    node = int(found["rank0_wait_node_id"][at])
    assert node == 35  # the all-reduce of layer 5
    assert found["rank0_wait_for"][at] == 1
    # The wait is the first part of its bar, and ends when rank 1 arrives.
    here = int(np.flatnonzero(found["rank0_node_id"] == node)[0])
    there = int(np.flatnonzero(found["rank1_node_id"] == node)[0])
    arrival = found["rank1_start_ns"][there]
    assert found["rank0_wait_start_ns"][at] == found["rank0_start_ns"][here]
    assert found["rank0_wait_end_ns"][at] == pytest.approx(arrival, abs=1_000)
    assert node not in found["rank1_wait_node_id"]


def test_partners_have_one_number_and_strings_are_those_of_their_side() -> None:
    found = timeline(opened(H200), 5)
    assert found["rank0_node_id"].tolist() == found["rank1_node_id"].tolist()
    strings = found["header"]["strings"]
    names = [[strings[i] for i in found[f"{side}_name"]] for side in ("rank0", "rank1")]
    assert sum(name.startswith("ncclDevKernel") for name in names[1]) == 8
    assert len(names[0]) == len(names[1]) == 40
    # A kernel has one colour on all ranks.
    pairs = {(names[at][i], int(slot)) for at, side in enumerate(("rank0", "rank1"))
             for i, slot in enumerate(found[f"{side}_family"])}  # fmt: skip
    assert len({slot for _, slot in pairs}) > 3
    assert len({name for name, _ in pairs}) == len(pairs)
    calls = [[strings[i] for i in found[f"{side}_call_name"]] for side in ("rank0", "rank1")]
    assert ["cuGraphLaunch"] == calls[0] == calls[1]


def test_without_one_clock_first_nodes_stand_below_each_other(tmp_path: Path) -> None:
    path = merged(tmp_path, EVEN, Planted(late_ns=5_000, host="node018"))
    found = timeline(opened(path), 3)
    assert found["rank0_start_ns"][0] == found["rank1_start_ns"][0]
    assert found["header"]["rank0"]["zero"] == "own first node"
    assert "Not on one clock, so starts are not compared" in texts(shown(path))


def test_late_rank_stands_later_on_one_clock_and_is_idle_before(tmp_path: Path) -> None:
    found = timeline(opened(merged(tmp_path, EVEN, Planted(late_ns=5_000))), 3)
    assert found["rank1_start_ns"][0] - found["rank0_start_ns"][0] > 4_000
    for side in ("rank0", "rank1"):
        assert found[f"{side}_gap_start_ns"][0] == 0
        assert (np.diff(found[f"{side}_gap_start_ns"]) > 0).all()


def test_waits_of_a_launch_are_counted_from_the_rank_that_took_least(tmp_path: Path) -> None:
    graph = compared_ranks(opened(merged(tmp_path, EVEN, EVEN, SLOW))).graphs[0]
    wait = longest_wait(graph, 0)
    assert wait is not None
    (level,), node = graph.levels, wait.node
    waits = collective_waits(level, 0)[:, 0]
    assert level.pairs.first.title[node] == COLLECTIVE
    durations = level.executions.durations[:, 0, node]
    assert waits[:, node].tolist() == (durations - durations.min()).tolist()
    assert np.isnan(np.delete(waits, node, axis=1)).all()
    assert (wait.level, wait.awaited, wait.wait_ns) == (0, 2, waits[:, node].max())


# -- the page --------------------------------------------------------------------------------------


def test_page_says_who_waits_for_whom_and_where() -> None:
    text = texts(shown(H200)).replace("\n", "")
    assert "rank 0 waits 17.2 µs for rank 1" in text
    assert "its longest wait, in NCCL AllReduce Sum f16 RING LL" in text
    assert "decode › layer 5" in text
    assert "On one clock: all runs are of host" in text
    assert "Skew over 24 launches" in text


def test_launch_and_nodes_of_the_address_are_shown() -> None:
    body = shown(H200, "&graph=1&launch=10&node=35")
    assert by_id(body, "ranks-launch").value == "10"
    view = by_id(body, "ranks-timeline")
    assert view.source.endswith("/1?launch=10")
    assert view.selected == [35]
    # The graph may be named by its number on any rank.
    assert by_id(shown(H200, "&graph=2&launch=10"), "ranks-launch").value == "10"
    assert "/ranks?file=ranks_h200&graph=1&launch=11" in links(body)
    assert "/graph?file=ranks_h200&graph=2&node=35" in links(body)


def test_launch_that_is_not_there_is_reported() -> None:
    text = texts(shown(H200, "&launch=59"))
    assert "Launch 59 has no node times on every rank" in text


def page_text(path: Path) -> str:
    page, _, title = render_page(Library([path]), Addresses("/"), "/ranks", f"?file={path.stem}")
    assert title.startswith("Ranks of")
    return texts(page)


def test_file_of_one_rank_says_what_to_do(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "one.gviz", fork_join_shape(), launches=2)
    assert "holds one rank only" in page_text(path)
    assert "gviz merge" in page_text(path)


def test_file_without_launches_says_so(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "none.gviz", fork_join_shape(), launches=0)
    assert "none of which launched a graph" in page_text(path)


def test_ranks_without_common_node_times_say_so(tmp_path: Path) -> None:
    path = merged(tmp_path, EVEN, EVEN, launches=4)
    with sqlite3.connect(path) as database:
        database.execute("UPDATE launch SET ordinal = ordinal + 100 WHERE run_id=2")
    database.close()
    assert "No launch has node times on every rank" in texts(shown(path))


def test_ranks_with_different_graphs_say_so(tmp_path: Path) -> None:
    paths = [
        write_recording(tmp_path / f"rank{i}.gviz", shape, launches=3, eager=False)
        for i, shape in enumerate(
            (
                Shape("first", (Work("gemm_kernel", 9_000), Work("norm_kernel", 4_000, (0,)))),
                Shape("second", tuple(Work(f"other_{n}", 3_000) for n in range(5))),
            )
        )
    ]
    for rank, path in enumerate(paths):
        with sqlite3.connect(path) as database:
            database.execute("UPDATE run SET rank=?, process_id=?, host='a'", (rank, rank + 1))
        database.close()
    path = merge_recordings(paths, tmp_path / "all.gviz")
    assert "No graph of rank 0 is a graph of another rank" in texts(shown(path))


def test_damaged_file_is_a_sentence() -> None:
    assert "Not compared." in texts(answered(Library([H200]), "ranks_h200@nothing", ""))


def test_address_of_the_page_comes_back() -> None:
    query = parse_query(Addresses("/").ranks("a", 3, 0, (1, 2)).partition("?")[2])
    assert (query.file, query.graph_id, query.launch_id, query.node_ids) == ("a", 3, 0, (1, 2))


def test_run_card_of_a_job_leads_to_its_ranks() -> None:
    library = Library([H200, BUNDLED / "cupy_pipeline.gviz"])
    page, *_ = render_page(library, Addresses("/"), "/", "")
    assert links(page).count("/ranks?file=ranks_h200") == 2
    assert not [link for link in links(page) if link.startswith("/ranks?file=cupy")]
