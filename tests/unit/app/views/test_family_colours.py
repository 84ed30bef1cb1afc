"""Colours of kernel families: the same for a node in every view."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from inspected import listed
from recordings import fork_join_shape, write_recording

from gviz.analysis import NamedFamilies
from gviz.analysis.node_families import read_node_families
from gviz.app.files.library import Library
from gviz.app.views import graph_view, table_payload
from gviz.app.views.breakdown import breakdown_payload
from gviz.app.views.family_colours import (
    REST,
    FamilyColours,
    family_slots,
    read_family_colours,
    shared_colours,
)
from gviz.app.views.payload import DagRequest, dag_payload, timeline_payload
from gviz.app.views.wire import unpack
from gviz.assets import recordings as bundled
from gviz.cuda import NodeType
from gviz.families import Kind
from gviz.model import read_timed_tree
from gviz.model.tree.keep import build_anew
from gviz.recording.reader import Recording

ASSETS = Path(next(iter(bundled.__path__)))


@pytest.fixture(scope="module", params=["training_step", "graph_lives"])
def recording(request: pytest.FixtureRequest) -> Iterator[Recording]:
    with Recording(ASSETS / f"{request.param}.gviz") as opened:
        yield opened


def slots_by_node(recording: Recording) -> dict[int, int]:
    tree = read_timed_tree(recording, 1)
    slots = read_family_colours(recording, tree, build_anew).slots()
    return dict(zip(tree.key.tolist(), slots.tolist(), strict=True))


def test_products_have_shades_of_one_colour_and_the_rest_is_one() -> None:
    kinds = [Kind.GEMM] * 7 + [Kind.ELEMENTWISE] * 20
    labels = tuple(f"family {i}" for i in range(len(kinds)))
    slots = family_slots(NamedFamilies(labels, tuple(kinds), np.zeros(0, np.int64)))
    assert [slots[label] for label in labels[:7]] == [0, 1, 2, 3, 4, REST, REST]
    assert [slots[label] for label in labels[7:]] == [*range(5, REST), *[REST] * 8]


def test_a_family_has_one_colour_in_several_graphs_and_the_first_has_its_own() -> None:
    def graph(**kinds: Kind) -> FamilyColours:
        code = np.arange(len(kinds))
        named = NamedFamilies(tuple(kinds), tuple(kinds.values()), code)
        return FamilyColours(named.labels, named.kinds, family_slots(named), code)

    first = graph(gemm=Kind.GEMM, add=Kind.ELEMENTWISE)
    second = graph(copy=Kind.COPY, other=Kind.GEMM, add=Kind.ELEMENTWISE, gemm=Kind.GEMM)
    assert [one.slots().tolist() for one in shared_colours([first, second])] == [
        [0, 5],
        [6, 1, 5, 0],
    ]


def test_nodes_of_a_type_that_is_not_known_here_have_a_family(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "x.gviz", fork_join_shape(1, 2, 1), launches=1)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE node SET type = 99 WHERE node_id % 2 = 0")
    with Recording(path) as opened:
        graph = read_timed_tree(opened, 1)
        found = read_node_families(opened, graph, 1, build_anew)
    kinds = {found.families[code].kind for code in found.code[graph.types == 99].tolist()}
    assert kinds == {Kind.UNKNOWN}


def test_nodes_have_one_colour_in_breakdown_graph_and_timeline(recording: Recording) -> None:
    expected = slots_by_node(recording)
    assert len(set(expected.values())) > 3
    header, arrays = unpack(breakdown_payload(recording, 1, build_anew))
    families = arrays["strip_row"] == len(header["strip"]) - 1
    for slot, first, end in zip(
        *(arrays[f"strip_{name}"][families].tolist() for name in ("slot", "first", "end")),
        strict=True,
    ):
        assert {expected[key] for key in arrays["strip_node"][first:end].tolist()} == {slot}
    header, arrays = unpack(dag_payload(recording, 1))
    slot_of = {int(at): slot for at, slot in header["family_slots"].items()}
    assert {
        key: slot_of[at]
        for key, at in zip(arrays["node_id"].tolist(), arrays["family"].tolist(), strict=True)
    }.items() <= expected.items()
    launches: list[int | str | None] = [None, "median", "all"]
    for launch in launches:
        _, arrays = unpack(timeline_payload(recording, 1, launch, None))  # type: ignore[arg-type]
        for side in ("graph", "stream"):
            nodes = arrays.get(f"{side}_node_id", np.zeros(0, np.uint32)).tolist()
            slots = arrays.get(f"{side}_family", np.zeros(0, np.uint8)).tolist()
            for node, slot in zip(nodes, slots, strict=True):
                assert expected.get(node, slot) == slot


def test_eager_work_that_matches_no_node_has_the_colour_of_its_family(
    recording: Recording,
) -> None:
    tree = read_timed_tree(recording, 1)
    found = read_family_colours(recording, tree, build_anew)
    types = np.array([NodeType.MEMCPY, NodeType.KERNEL, NodeType.MEMCPY])
    slots = found.slots_of_names(types, np.array([0, 1, -1]), ["MEMCPY DtoH", "seen_nowhere"])
    memcpy = found.slot_of.get("memcpy", REST)
    assert slots.tolist() == [memcpy, REST, memcpy]


def test_a_fold_has_the_colour_of_most_of_its_time_and_the_parts_of_all() -> None:
    with Recording(ASSETS / "training_step.gviz") as recording:
        header, arrays = unpack(dag_payload(recording, 1, DagRequest(folding="repeats")))
        median_ns = read_timed_tree(recording, 1).times.median_ns
        family = read_family_colours(recording, read_timed_tree(recording, 1), build_anew)
    fold = int(np.flatnonzero(arrays["fold"] >= 0)[0])
    first, end = arrays["item_offset"][fold : fold + 2]
    nodes = arrays["item_nodes"][first:end]
    total = np.bincount(family.code[nodes], median_ns[nodes], len(family.labels))
    order = np.argsort(-total)[: int((total > 0).sum())]
    first, end = arrays["mix_offset"][fold : fold + 2]
    assert [header["strings"][at] for at in arrays["mix_family"][first:end]] == [
        family.labels[at] for at in order
    ]
    assert arrays["mix_part"][first:end] == pytest.approx(total[order] / total.sum(), rel=1e-5)
    assert header["strings"][arrays["family"][fold]] == family.labels[order[0]]
    assert (arrays["family"] >= 0).all()


def test_table_has_the_family_of_each_node_and_its_colour() -> None:
    library = Library([ASSETS / "graph_lives.gviz"])
    columns = json.loads(table_payload(graph_view(library, "graph_lives", 1)))
    with Recording(ASSETS / "graph_lives.gviz") as recording:
        expected = slots_by_node(recording)
    assert dict(zip(columns["key"], columns["slot"], strict=True)) == expected
    named = [columns["families"][at] for at in columns["family"]]
    assert named.count("memset") == listed(columns, "kind").count("MEMSET") > 0
