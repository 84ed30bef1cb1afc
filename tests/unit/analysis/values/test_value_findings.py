"""Findings about values: each with its fault, and none without."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from planned_recordings import subject_of
from valued_recordings import Ran, address_of, write_values

from gviz.analysis import GraphData, NodeData, ValueFinding, read_graph_data, read_node_data
from gviz.cuda import ElementType, NodeType
from gviz.stats import NotComputed

NAN, INF = math.nan, math.inf
#: Three kernels in a row: C = f(A, B), D = g(C, A), E = h(D, D).
CHAIN = (Ran("f", "CAB"), Ran("g", "DCA"), Ran("h", "EDD"))


def data_of(path: Path) -> GraphData:
    found = read_graph_data(subject_of(path))
    assert isinstance(found, GraphData)
    return found


def findings_of(path: Path) -> list[ValueFinding]:
    return list(data_of(path).findings)


def ids(finding: ValueFinding) -> list[int]:
    return [node.node_id for node in finding.nodes]


def test_sound_values_have_no_finding(tmp_path: Path) -> None:
    assert findings_of(write_values(tmp_path / "x.gviz", CHAIN)) == []


@pytest.mark.parametrize(("number", "kind"), [(NAN, "nan"), (INF, "infinite")])
def test_first_node_that_outputs_strange_numbers_is_named(
    tmp_path: Path, number: float, kind: str
) -> None:
    bad = (1.0, number, 2.0, number)
    ran = (CHAIN[0], Ran("g", "DCA", bad), Ran("h", "EDD", bad))
    (found,) = findings_of(write_values(tmp_path / "x.gviz", ran))
    assert (found.kind, ids(found), found.is_suspicion) == (kind, [1], False)
    assert found.address == address_of("D")
    assert found.reason.startswith("node 1 (g) outputs 2 ")
    assert "of 4 elements (argument 0)" in found.reason
    assert "all that it is given is free of them" in found.reason


def test_nan_that_come_in_are_no_nodes_fault(tmp_path: Path) -> None:
    path = write_values(
        tmp_path / "x.gviz",
        (CHAIN[0], Ran("g", "DCA", (NAN,) * 4), CHAIN[2]),
        memory={"A": (0.0, NAN, 0.0, 0.0)},
    )
    (found,) = findings_of(path)
    assert (found.kind, ids(found)) == ("nan", [0])
    assert "argument 1 leads to, which no node of the graph wrote before" in found.reason


def test_nan_that_stood_there_before_are_a_suspicion(tmp_path: Path) -> None:
    bad = (NAN, 1.0, 1.0, 1.0)
    ran = (CHAIN[0], Ran("g", "DCA", bad), Ran("h", "EDD", bad))
    path = write_values(tmp_path / "x.gviz", ran, memory={"D": bad, "E": bad})
    (found,) = findings_of(path)
    assert (found.kind, ids(found), found.is_suspicion) == ("nan", [1], True)


def test_nan_that_a_node_writes_over_are_none(tmp_path: Path) -> None:
    path = write_values(tmp_path / "x.gviz", CHAIN, memory={"D": (NAN,) * 4})
    assert findings_of(path) == []


def test_what_varies_begins_at_the_first_node(tmp_path: Path) -> None:
    ran = (CHAIN[0], Ran("g", "DCA", varies=True), Ran("h", "EDD", varies=True))
    (found,) = findings_of(write_values(tmp_path / "x.gviz", ran))
    assert (found.kind, ids(found)) == ("varies", [1])
    assert "all that it is given was bit-equal" in found.reason


@pytest.mark.parametrize(
    ("second", "edges", "expected"),
    [
        (Ran("g", "CAA", (2.0,) * 4), (), [[0, 1]]),  # both write
        (Ran("g", "DCC"), (), [[0, 1]]),  # one writes, one is given
        (Ran("g", "DAB"), (), []),  # both read
        (Ran("g", "CAA", (2.0,) * 4), ((0, 1),), []),
    ],
    ids=["both write", "write and read", "both read", "ordered"],
)
def test_nodes_without_an_order_that_share_memory_may_race(
    tmp_path: Path, second: Ran, edges: Sequence[tuple[int, int]], expected: list[list[int]]
) -> None:
    path = write_values(tmp_path / "x.gviz", (CHAIN[0], second), edges)
    found = [x for x in findings_of(path) if x.kind == "race"]
    assert [ids(x) for x in found] == expected
    for one in found:
        assert one.is_suspicion
        assert one.address == address_of("C")
        assert "the dependency 0 → 1 or 1 → 0 is missing" in one.reason


def test_race_is_found_past_a_later_writer(tmp_path: Path) -> None:
    # 0 → 1 write C in order; 2 reads it beside both.
    ran = (CHAIN[0], Ran("g", "CAA", (2.0,) * 4), Ran("h", "EDC"))
    found = findings_of(write_values(tmp_path / "x.gviz", ran, ((0, 1),)))
    assert [ids(x) for x in found] == [[1, 2]]


def test_what_is_written_over_unseen_is_a_finding(tmp_path: Path) -> None:
    memset = Ran("memset", "C", (0.0,) * 4, kind=NodeType.MEMSET)
    path = write_values(tmp_path / "x.gviz", (CHAIN[0], memset, CHAIN[1]))
    (found,) = findings_of(path)
    assert (found.kind, ids(found)) == ("overwritten", [0])


def test_inputs_and_outputs_are_what_nobody_wrote_and_nobody_is_given(tmp_path: Path) -> None:
    data = data_of(write_values(tmp_path / "x.gviz", CHAIN))
    assert [x.address for x in data.inputs] == [address_of(x) for x in "AB"]
    assert [(x.address, x.node.node_id) for x in data.outputs] == [(address_of("E"), 2)]
    assert (data.node_count, data.range_count, data.results) == (3, 9, "equal")


def test_types_that_are_not_known_tell_no_nan_and_still_races(tmp_path: Path) -> None:
    ran = (CHAIN[0], Ran("g", "CAA", (NAN,) * 4))
    path = write_values(tmp_path / "x.gviz", ran, (), element=ElementType.BYTES)
    assert [x.kind for x in findings_of(path)] == ["race"]


def test_data_of_a_node_names_who_wrote_and_who_is_given_it(tmp_path: Path) -> None:
    found = read_node_data(subject_of(write_values(tmp_path / "x.gviz", CHAIN)), 1)
    assert isinstance(found, NodeData)
    out, first, second = found.memory
    assert [x.parameter for x in found.memory] == ["float*", "const float*", "const float*"]
    assert [x.use for x in found.memory] == ["written", "read", "read"]
    assert [n.node_id for n in first.written_by] == [0]
    assert ([n.node_id for n in out.given_to], second.written_by) == ([2], ())
    assert out.after is not None
    assert (out.before.mean, out.after.mean, out.before.zero_count) == (0.0, 1.0, 4)
    assert first.after is None


def test_refused_graph_says_why(tmp_path: Path) -> None:
    path = write_values(tmp_path / "x.gviz", (), refusal="it has host functions")
    found = read_graph_data(subject_of(path))
    assert found == NotComputed("it has host functions")
