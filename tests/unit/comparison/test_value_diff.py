"""Values of two recordings compared: planted faults, each found where it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from valued_recordings import Ran, keep_values, write_values

from gviz.comparison.value_diff import (
    GraphValuesDiff,
    ValueLikeness,
    ValuesDiff,
    compare_values,
    likeness_of,
)
from gviz.cuda import ElementType
from gviz.model import MemoryContents
from gviz.recording.reader import Recording
from gviz.report import render_text, values_diff_document
from gviz.stats import NotComputed

#: C = f(A, B), D = g(C, A), E = h(D, D), F = k(E, B).
CHAIN = (Ran("f", "CAB"), Ran("g", "DCA"), Ran("h", "EDD"), Ran("k", "FEB"))
OTHER = (1.0, 1.0, 1.0, 3.0)


def compare(
    folder: Path,
    after: Sequence[Ran],
    memory: dict[str, Sequence[float]] | None = None,
    before_memory: dict[str, Sequence[float]] | None = None,
) -> GraphValuesDiff:
    paths = (
        write_values(folder / "a.gviz", CHAIN, memory=before_memory),
        write_values(folder / "b.gviz", after, memory=memory),
    )
    with Recording(paths[0]) as one, Recording(paths[1]) as two:
        (found,) = compare_values(one, two).graphs
    assert isinstance(found, GraphValuesDiff)
    return found


def changed(at: int, to: Sequence[float] = OTHER) -> list[Ran]:
    """Return the chain with a node, and all behind it, that output something else."""
    return [*CHAIN[:at], *(replace(one, left=to) for one in CHAIN[at:])]


def test_equal_values_are_said_to_be_bit_equal(tmp_path: Path) -> None:
    found = compare(tmp_path, CHAIN)
    assert (found.first, found.inputs) == (None, ())
    assert (found.equal_count, found.different_count, found.not_compared_count) == (4, 0, 0)


@pytest.mark.parametrize("at", range(4))
def test_first_node_that_computes_something_else_is_named(tmp_path: Path, at: int) -> None:
    found = compare(tmp_path, changed(at))
    assert found.first is not None
    assert [change.before.node_id for change in found.first.outputs] == [at]
    assert found.first.inputs == ()
    assert (found.equal_count, found.different_count) == (at, 4 - at)


def test_node_that_takes_its_input_from_elsewhere_keeps_its_partner(tmp_path: Path) -> None:
    # The third reads N, then P: the edge to it is gone, and the second looks as it did.
    ran = [Ran("m", given) for given in ("NDG", "PEB", "LNE", "MNE", "IAN")]
    after = [*ran[:2], Ran("m", "LPE", OTHER), *ran[3:]]
    edges = [(0, 2), (0, 3), (0, 4)]
    paths = (
        write_values(tmp_path / "a.gviz", ran, edges),
        write_values(tmp_path / "b.gviz", after, edges[1:]),
    )
    with Recording(paths[0]) as one, Recording(paths[1]) as two:
        (found,) = compare_values(one, two).graphs
    assert isinstance(found, GraphValuesDiff)
    assert found.first is not None
    assert [change.before.node_id for change in found.first.outputs] == [2]
    assert [change.after.node_id for change in found.first.outputs] == [2]


def test_what_stood_in_an_output_before_is_no_input(tmp_path: Path) -> None:
    # As in the second launch of a process: memory is as the first left it.
    held: dict[str, Sequence[float]] = dict.fromkeys("CDEF", (1.0,) * 4)
    found = compare(tmp_path, changed(1), {**held, "D": OTHER, "E": OTHER, "F": OTHER}, held)
    assert found.first is not None
    assert [change.before.node_id for change in found.first.outputs] == [1]
    assert found.first.inputs == ()


def test_other_input_is_told_from_a_fault_of_a_node(tmp_path: Path) -> None:
    found = compare(tmp_path, changed(0), {"A": (0.0, 5.0, 0.0, 0.0)})
    assert [(c.before.node_id, c.position) for c in found.inputs] == [(0, 1), (1, 2)]
    assert found.first is not None
    assert [change.position for change in found.first.inputs] == [1]


def test_close_numbers_are_told_from_different_ones(tmp_path: Path) -> None:
    close = (1.0, 1.0, 1.0, 1.0 + 2.0**-20)
    after = [CHAIN[0], replace(CHAIN[1], left=close), *changed(2)[2:]]
    found = compare(tmp_path, after)
    assert found.first is not None
    assert found.first_beyond is not None
    assert found.first.outputs[0].likeness == "close"
    assert found.first.outputs[0].before.node_id == 1
    assert found.first_beyond.outputs[0].before.node_id == 2
    assert [c.before_writers[0].node_id for c in found.first_beyond.inputs] == [1, 1]
    (change,) = found.first.outputs
    assert (change.element, change.tolerance) == ("float", 2.0**-17)
    assert (change.different_count, change.largest_difference) == (None, None)


def test_elements_are_counted_where_both_sides_kept_them(tmp_path: Path) -> None:
    other = (2.0, math.nan, 1.0, 1.25)
    after = [CHAIN[0], replace(CHAIN[1], left=other), *CHAIN[2:]]
    for name, values in (("a", CHAIN[1].left), ("b", other)):
        keep_values(tmp_path / f"{name}.gviz", values)
    found = compare(tmp_path, after)
    assert found.first is not None
    (change,) = found.first.outputs
    assert (change.different_count, change.largest_difference) == (3, 1.0)


def test_damaged_contents_are_named_and_all_else_is_compared(tmp_path: Path) -> None:
    after = [CHAIN[0], replace(CHAIN[1], left=OTHER), *CHAIN[2:]]
    kept = [
        keep_values(tmp_path / f"{name}.gviz", values)
        for name, values in (("a", CHAIN[1].left), ("b", OTHER))
    ]
    kept[1].write_bytes(kept[1].read_bytes()[:-5])
    found = compare(tmp_path, after)
    assert found.first is not None
    (change,) = found.first.outputs
    assert (change.likeness, change.different_count) == ("different", None)
    assert change.not_loaded is not None
    assert str(kept[1]) in change.not_loaded
    text = render_text(values_diff_document(ValuesDiff(1, (found,))), 400)
    assert f"Elements were not counted: cannot read the contents {kept[1]}" in text


def test_node_that_only_one_side_ran_is_named(tmp_path: Path) -> None:
    after = [CHAIN[0], *(replace(one, left=OTHER) for one in CHAIN[2:])]
    found = compare(tmp_path, after)
    assert [node.name for node in found.only_before] == ["g"]
    assert found.first is not None
    assert found.first.outputs[0].before.name == "h"
    assert [len(change.after_writers) for change in found.first.inputs] == [0, 0]


def test_graph_without_values_says_which_side(tmp_path: Path) -> None:
    paths = (
        write_values(tmp_path / "a.gviz", CHAIN),
        write_values(tmp_path / "b.gviz", CHAIN, values=False),
    )
    with Recording(paths[0]) as one, Recording(paths[1]) as two:
        (found,) = compare_values(one, two).graphs
    assert found == NotComputed("after: no values of graph 1 were read")


def held(hash_: int, greatest: float, nan_count: int = 0) -> MemoryContents:
    return MemoryContents(hash_, False, nan_count, 0, 0, 4, 0.0, greatest, greatest / 2)


@pytest.mark.parametrize(
    ("element", "greatest", "expected"),
    [
        (ElementType.FLOAT, 1 + 2.0**-18, ValueLikeness.CLOSE),
        (ElementType.FLOAT, 1 + 2.0**-15, ValueLikeness.DIFFERENT),
        (ElementType.BFLOAT16, 1 + 2.0**-6, ValueLikeness.CLOSE),
        (ElementType.HALF, 1 + 2.0**-6, ValueLikeness.DIFFERENT),
        (ElementType.INT32, 1 + 2.0**-18, ValueLikeness.DIFFERENT),
    ],
)
def test_tolerance_is_that_of_the_type(
    element: ElementType, greatest: float, expected: ValueLikeness
) -> None:
    assert likeness_of(held(1, 1.0), held(2, greatest), element) == expected
    assert likeness_of(held(1, 1.0), held(1, 1.0), element) == ValueLikeness.EQUAL
    assert likeness_of(held(1, 1.0), held(2, 1.0, 1), element) == ValueLikeness.DIFFERENT
