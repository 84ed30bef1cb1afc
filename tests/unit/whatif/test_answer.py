"""Answers to edits, and the ranking of families and layers."""

from __future__ import annotations

from pathlib import Path

import pytest
from planned_recordings import Plan, Planned, PlannedTrial, chain_edges, in_a_row, subject_of

from gviz.analysis import GraphSubject, rank_parts
from gviz.analysis.results import part_gains
from gviz.errors import RecordingError, UsageError
from gviz.recording import Recording
from gviz.stats import NotComputed
from gviz.whatif import (
    EditKind,
    GraphWhatIf,
    ask_recording,
    parse_edit,
    read_what_if,
)


def asked(plan: Plan, folder: Path) -> GraphWhatIf:
    return GraphWhatIf(subject_of(plan.write(folder / "planned.gviz")))


def subject_with(plan: Plan, folder: Path) -> GraphSubject:
    return subject_of(plan.write(folder / "planned.gviz"))


def chain(*times: int, names: str = "abcdefgh") -> Plan:
    nodes = [Planned(name, 0, ns) for name, ns in zip(names, times, strict=False)]
    return Plan(in_a_row(*nodes), chain_edges(len(nodes)))


def gain(found: GraphWhatIf, **edits: str) -> float:
    return found.ask([parse_edit(EditKind(kind), text) for kind, text in edits.items()]).gain_ns


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ({"off": "b"}, 5_400.0),
        ({"scale": "b=0.5"}, 2_500.0),
        ({"scale": "b=2"}, -5_000.0),
        ({"delay": "b=2us"}, -2_000.0),
        ({"fuse": "b-c"}, 400.0),
        ({"fuse": "0-3"}, 1_200.0),
        ({"off": "a", "scale": "c=0.5"}, 7_500.0),
    ],
)
def test_edit_of_a_chain_brings_its_time(
    tmp_path: Path, edits: dict[str, str], expected: float
) -> None:
    found = asked(chain(5_000, 5_000, 5_000, 5_000), tmp_path)
    assert gain(found, **edits) == pytest.approx(expected)


def test_nodes_that_were_left_out_have_what_was_measured(tmp_path: Path) -> None:
    plan = chain(5_000, 5_000, 5_000, 5_000)
    plan.trials = [PlannedTrial("off", 8_000.0, [(1, None, None), (2, None, None)])]
    found = asked(plan, tmp_path)
    both, one = (found.ask([parse_edit(EditKind.OFF, text)]) for text in ("1-2", "1"))
    assert (both.how, both.gain_ns, both.low_ns, both.high_ns) == ("measured", 8e3, 7.2e3, 8.8e3)
    assert both.changed_ns == both.launch_ns - 8_000.0
    assert one.how == "estimated"
    half = found.ask([parse_edit(EditKind.SCALE, "1-2=0.5")])
    assert half.how == "estimated"


def test_cut_dependency_lets_nodes_run_side_by_side(tmp_path: Path) -> None:
    found = asked(chain(5_000, 5_000, 5_000), tmp_path)
    assert gain(found, cut="b:c") == pytest.approx(5_400.0)


def test_fused_kernel_holds_what_waited_for_one_of_its_nodes(tmp_path: Path) -> None:
    nodes = [
        Planned("a", 0, 5_000),
        Planned("b", 5_400, 5_000),
        Planned("beside", 5_400, 9_000, queue=8),
    ]
    found = asked(Plan(nodes, [(0, 1), (0, 2)]), tmp_path)
    # What waited for a waits for both now: 10 us, its gap, and its own 9.
    assert gain(found, fuse="a-b") == pytest.approx(14_400.0 - 19_400.0)


def test_higher_priority_goes_first_when_it_is_asked_for(tmp_path: Path) -> None:
    nodes = [
        Planned("fork", 0, 5_000),
        Planned("low", 5_400, 10_000),
        Planned("high", 15_800, 10_000, queue=8, columns={"priority": -5}),
        Planned("after", 26_200, 10_000, queue=8),
    ]
    found = asked(Plan(nodes, [(0, 1), (0, 2), (2, 3)]), tmp_path)
    assert gain(found, order="priority") == pytest.approx(10_400.0, abs=400.0)


def test_waits_that_are_not_known_are_no_order_that_changes_nothing(tmp_path: Path) -> None:
    plan = chain(5_000, 5_000)
    plan.slices = 2
    with pytest.raises(UsageError, match="is not known: event copies time each node"):
        gain(asked(plan, tmp_path), order="priority")


def test_answer_says_what_it_is_about_and_that_nothing_was_tried(tmp_path: Path) -> None:
    found = asked(chain(5_000, 15_000), tmp_path).ask([parse_edit(EditKind.OFF, "b")])
    assert found.edits == ("b off",)
    assert (found.node_count, found.node_share) == (1, 0.75)
    assert (found.launch_ns, found.changed_ns) == (20_400.0, 5_000.0)
    assert (found.how, found.error_fraction, found.trial_count) == ("estimated", None, 0)
    assert found.low_ns < found.gain_ns <= found.high_ns


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ({"cut": "a:c"}, "no dependency leads from 'a' to 'c'"),
        ({"cut": "*:a"}, "'a' waits for nothing; 'gviz node'"),
        ({"fuse": "c-a"}, "no way leads from 'c' to 'a'"),
        ({"order": "priority"}, "changes nothing"),
        ({"off": "x"}, "no node of the graph matches 'x'"),
    ],
)
def test_edit_that_changes_nothing_is_an_error(
    tmp_path: Path, edits: dict[str, str], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        gain(asked(chain(5_000, 5_000, 5_000), tmp_path), **edits)


def test_kernels_that_would_wait_for_each_other_cannot_be_fused(tmp_path: Path) -> None:
    nodes = in_a_row(*(Planned(name, 0, 5_000) for name in ("a1", "b1", "b2", "a2")))
    found = asked(Plan(nodes, [(0, 3), (1, 2), (0, 2), (1, 3)]), tmp_path)
    with pytest.raises(UsageError, match="wait for each other"):
        found.ask([parse_edit(EditKind.FUSE, "a1-a2"), parse_edit(EditKind.FUSE, "b1-b2")])


def test_untimed_node_cannot_be_changed(tmp_path: Path) -> None:
    plan = chain(5_000, 5_000, 5_000)
    plan.nodes[1].duration_ns = None
    plan.nodes[2].start_ns -= 5_000
    with pytest.raises(UsageError, match="no node of 'b' ran with a time"):
        gain(asked(plan, tmp_path), off="b")


def test_graph_without_times_is_refused_with_the_reason(tmp_path: Path) -> None:
    plan = chain(5_000, 5_000)
    plan.launches = 0
    with pytest.raises(RecordingError, match="nothing can be computed: no launch has node times"):
        asked(plan, tmp_path)


def test_ranking_tells_share_of_time_from_gain(tmp_path: Path) -> None:
    nodes = [
        Planned("fork", 0, 1_000),
        Planned("long", 1_000, 100_000, queue=7),
        Planned("short", 1_000, 90_000, queue=8),
    ]
    found = rank_parts(subject_with(Plan(nodes, [(0, 1), (0, 2)]), tmp_path))
    by_name = {part.name: part for part in found.parts}
    assert [part.name for part in found.parts] == ["long", "fork", "short"]
    long, short = by_name["long"], by_name["short"]
    assert long.gain_ns == pytest.approx(10_000.0)
    assert short.gain_ns == pytest.approx(0.0)
    # Of the time side by side each has a half.
    assert (long.share, short.share) == pytest.approx((55 / 101, 45 / 101))
    assert long.gain_fraction == pytest.approx(10 / 101)


def test_layers_are_ranked_beside_families(tmp_path: Path) -> None:
    block = [("norm", 2_000), ("product", 5_000), ("act", 1_000)]
    nodes = [Planned(name, 0, ns) for _ in range(4) for name, ns in block]
    found = rank_parts(subject_with(Plan(in_a_row(*nodes), chain_edges(12)), tmp_path))
    layers = [part for part in found.parts if part.kind == "layer"]
    assert {part.name for part in layers} == {f"layer {n}" for n in range(4)}
    assert [part.node_count for part in layers] == [3] * 4


def test_recording_without_the_graph_is_an_error(tmp_path: Path) -> None:
    path = chain(5_000).write(tmp_path / "a.gviz")
    with Recording(path) as recording:
        with pytest.raises(RecordingError, match="9"):
            read_what_if(recording, 9)
        found = ask_recording(recording, 1)
    assert found.answer is None
    assert found.ranking is not None


def test_report_leaves_the_ranking_of_a_large_graph_to_what_if(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = subject_with(chain(5_000, 5_000), tmp_path)
    assert isinstance(part_gains.part_ranking(subject), part_gains.PartRanking)
    monkeypatch.setattr(part_gains, "_MOST_VERTICES", 1)
    found = part_gains.part_ranking(subject)
    assert isinstance(found, NotComputed)
    assert "gviz what-if" in found.not_computed
