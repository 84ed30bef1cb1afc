"""Folds in the payload of the DAG: one value an item, nothing lost."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import pytest
from recordings import fork_join_shape, transformer_shape, write_recording

from gviz.app.components.dag_options import FOLDINGS
from gviz.app.views.dag.fold_sums import FOLD_TYPE
from gviz.app.views.dag.folding import fold_level
from gviz.app.views.payload import DagRequest, dag_payload
from gviz.app.views.wire import Arrays, unpack
from gviz.model.tree.graph_level import read_graph_level
from gviz.recording.reader import Recording

LAYERS = 12
SHAPE = transformer_shape(layers=LAYERS)


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recording]:
    path = tmp_path_factory.mktemp("fold") / "long.gviz"
    with Recording(write_recording(path, SHAPE, launches=3)) as recording:
        yield recording


def payload(
    recording: Recording, *opened: str, **requested: str
) -> tuple[dict[str, object], Arrays]:
    what = DagRequest(folding="repeats", unfolded=frozenset(opened), **requested)  # type: ignore[arg-type]
    return unpack(dag_payload(recording, 1, what))


def members(arrays: Arrays) -> list[list[int]]:
    offset = arrays["item_offset"]
    parts = np.split(arrays["item_nodes"], offset[1:-1])
    return [part.tolist() for part in parts]


def folds_of(header: dict[str, object], arrays: Arrays) -> list[str]:
    strings = header["strings"]
    assert isinstance(strings, list)
    return [strings[i] for i in arrays["fold"].tolist() if i >= 0]


def test_layers_are_one_item_with_a_strip(long: Recording) -> None:
    header, arrays = payload(long)
    strips = np.diff(arrays["strip_offset"])
    (item,) = np.flatnonzero(strips == LAYERS).tolist()
    assert arrays["type"][item] == FOLD_TYPE
    assert len(arrays["node_id"]) < len(SHAPE.works) // LAYERS
    _, plain = unpack(dag_payload(long, 1))
    times = dict(zip(plain["node_id"].tolist(), plain["median_ns"].tolist(), strict=True))
    total = np.nansum([times[n] for n in members(arrays)[item]])
    assert arrays["median_ns"][item] == pytest.approx(total, rel=1e-6)
    first, last = arrays["strip_offset"][item], arrays["strip_offset"][item + 1]
    assert arrays["strip_ns"][first:last].sum() == pytest.approx(total, rel=1e-6)
    assert header["folding"] == "repeats"


def test_every_node_is_in_one_item_whatever_is_open(long: Recording) -> None:
    _, plain = unpack(dag_payload(long, 1))
    opened: list[str] = []
    for _ in range(4):
        header, arrays = payload(long, *opened)
        assert sorted(chain.from_iterable(members(arrays))) == sorted(plain["node_id"].tolist())
        opened += folds_of(header, arrays)[:1]


def test_everything_open_is_the_graph(long: Recording) -> None:
    tree = fold_level(read_graph_level(long, 1), "repeats")
    _, arrays = payload(long, *(fold.id for fold in tree.walk()))
    _, plain = unpack(dag_payload(long, 1))
    assert (arrays["fold"] == -1).all()
    for name in ("median_ns", "slack_ns", "share", "name"):
        ours = dict(zip(arrays["node_id"].tolist(), arrays[name].tolist(), strict=True))
        theirs = dict(zip(plain["node_id"].tolist(), plain[name].tolist(), strict=True))
        assert ours == pytest.approx(theirs, nan_ok=True)
    assert _edges(arrays) == _edges(plain)


def _edges(arrays: Arrays) -> set[tuple[int, int]]:
    ids = arrays["node_id"]
    ends = ids[arrays["edge_from"]].tolist(), ids[arrays["edge_to"]].tolist()
    return set(zip(*ends, strict=True))


def test_open_fold_is_named_around_its_items(long: Recording) -> None:
    header, arrays = payload(long)
    (fold,) = [
        f for f, n in zip(folds_of(header, arrays), _sizes(arrays), strict=True) if n > LAYERS
    ][:1]
    header, arrays = payload(long, fold)
    strings = header["strings"]
    assert isinstance(strings, list)
    inside = [strings[i] for i in arrays["inside"].tolist() if i >= 0]
    assert inside == [fold] * LAYERS
    assert fold not in folds_of(header, arrays)


def _sizes(arrays: Arrays) -> list[int]:
    return [len(m) for m, f in zip(members(arrays), arrays["fold"], strict=True) if f >= 0]


@pytest.mark.parametrize("layout", ["structure", "lanes", "time"])
def test_items_have_a_place_in_every_layout(long: Recording, layout: str) -> None:
    header, arrays = payload(long, layout=layout)
    assert header["layout"] == layout
    assert len(arrays["x"]) == len(arrays["node_id"]) == len(members(arrays))
    assert (arrays["edge_from"] < len(arrays["x"])).all()


def test_critical_path_leads_along_the_edges_of_items(long: Recording) -> None:
    _, arrays = payload(long)
    path = arrays["critical"].tolist()
    edges = set(zip(arrays["edge_from"].tolist(), arrays["edge_to"].tolist(), strict=True))
    assert all(step in edges for step in pairwise(path))


@pytest.mark.parametrize("folding", FOLDINGS)
def test_graph_with_nothing_to_fold_stays(tmp_path: Path, folding: str) -> None:
    path = write_recording(tmp_path / "plain.gviz", fork_join_shape(), launches=0, eager=False)
    with Recording(path) as recording:
        requested = DagRequest(folding=folding, unfolded=frozenset({"no such fold"}))
        _, arrays = unpack(dag_payload(recording, 1, requested))
        count = len(recording.fetch_nodes(1))
    assert sum(len(m) for m in members(arrays)) == count
