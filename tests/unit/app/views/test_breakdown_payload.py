"""The breakdown and the verdict as the graph page gets them."""

from __future__ import annotations

from pathlib import Path

import pytest
from bare_recordings import write_no_times

from gviz.analysis import analyze
from gviz.app.views.breakdown import breakdown_payload, read_breakdown
from gviz.app.views.verdict import verdict_values
from gviz.app.views.wire import unpack
from gviz.assets import recordings as bundled
from gviz.model import read_tree
from gviz.model.tree.keep import build_anew
from gviz.recording.reader import Recording
from gviz.stats import NotComputed

ASSETS = Path(next(iter(bundled.__path__)))


@pytest.mark.parametrize("name", ["training_step", "decode_step", "graph_lives", "nested_torch"])
@pytest.mark.parametrize("form", ["strip", "whole"])
def test_payload_has_the_blocks_and_their_nodes_on_the_page(name: str, form: str) -> None:
    with Recording(ASSETS / f"{name}.gviz") as recording:
        header, arrays = unpack(breakdown_payload(recording, 1, build_anew))
        found = read_breakdown(recording, 1, build_anew)
        key = read_tree(recording, 1).key
    assert not isinstance(found, NotComputed)
    expected = getattr(found, form)
    assert header[form] == [row.name for row in expected.rows]
    assert (header["launch_ns"], header["idle_ns"]) == (expected.launch_ns, expected.idle_ns)
    assert arrays[f"{form}_node"].tolist() == key[expected.node].tolist()
    place = 0
    for at, row in enumerate(expected.rows):
        part = slice(place, place + len(row))
        place += len(row)
        assert (arrays[f"{form}_row"][part] == at).all()
        labels = [header["strings"][i] for i in arrays[f"{form}_label"][part].tolist()]
        assert labels == list(row.labels)
        for column in ("first", "end", "executions", "total_ns", "cover_ns", "width_ns"):
            assert arrays[f"{form}_{column}"][part].tolist() == getattr(row, column).tolist()
        if at:
            assert arrays[f"{form}_parent"][part].tolist() == row.parent.tolist()
        assert ((arrays[f"{form}_slot"][part] == 255) == (row.name != "family")).all()
    assert place == len(arrays[f"{form}_row"])


def test_without_node_times_there_is_a_reason(tmp_path: Path) -> None:
    with Recording(write_no_times(tmp_path / "x.gviz")) as recording:
        header, arrays = unpack(breakdown_payload(recording, 1, build_anew))
    assert "no launch has node times" in header["not_computed"]
    assert (header["strip"], arrays) == ([], {})


def test_verdict_names_nodes_by_their_numbers_on_the_page() -> None:
    with Recording(ASSETS / "training_step.gviz") as recording:
        (run,) = analyze(recording, graph_id=1).runs
        tree = read_tree(recording, 1)
        found = read_breakdown(recording, 1, build_anew)
        values = verdict_values(run, run.graphs[0], found, tree)
    finding = run.graphs[0].findings.findings[0]
    (named,) = (part for part in values["parts"] if part["nodes"])
    assert len(finding.nodes) == 100
    assert {ref.node_id for ref in finding.nodes} < set(named["nodes"])
    assert len(named["nodes"]) == finding.node_count == 358
    assert [tuple(p["block"]) for p in values["parts"] if p["block"]] == [(0, 0), (0, 1), (0, 2)]
    assert values["parts"][0]["title"].startswith("timed while node times were recorded")
    assert [one["gain"] for one in values["findings"]] == [
        "at most 7.07 ms", "estimated 963 µs to 1.28 ms", "at most 2.02 ms"
    ]  # fmt: skip
    assert all(one["nodes"] and one["fix"] for one in values["findings"])
    # In a chain the path is all nodes, whichever of the two.
    assert [len(path["nodes"]) for path in values["paths"]] == [2307, 2307]
    assert [path["text"] for path in values["paths"]] == [
        "13.9 ms, 2,307 nodes", "15.2 ms, 2,307 nodes"
    ]  # fmt: skip
    largest, gains = values["gains"]["parts"][0], values["gains"]
    assert gains["note"].startswith("Nothing has been tried on this graph")
    assert (largest["kind"], largest["name"]) == ("family", "GEMM f32 64x64")
    assert largest["texts"] == ["30.5%", "3.0%"]
    assert largest["low"] < largest["gain"] <= largest["high"] < largest["share"]
    assert {part["kind"] for part in gains["parts"]} == {"family", "layer"}
    assert values["more"] == len(run.graphs[0].findings.findings) + len(run.findings.findings) - 3
