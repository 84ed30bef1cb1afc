"""Matching of nodes of edited graphs against the known truth; bench/comparison.py has
more graphs, more seeds and larger ones."""

from __future__ import annotations

import numpy as np
import pytest
from edited_graphs import (
    EditableGraph,
    Edits,
    from_recording,
    from_shape,
    judge,
    streams_graph,
)
from places import ROOT
from recordings import fork_join_shape, transformer_shape, wide_shape

from gviz.comparison.pairing.node_pairs import pair_nodes
from gviz.formats.dot.importer import import_dot

LEAST = 0.98
SMALL = ("insert", "delete", "rename", "reshape", "fuse", "split")


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, EditableGraph]:
    encoder = tmp_path_factory.mktemp("dot") / "encoder.gviz"
    import_dot(ROOT / "tests" / "golden" / "dot" / "torch_encoder8_verbose.dot", encoder)
    names = ("cupy_pipeline", "decode_step", "training_step")
    bundled = {n: from_recording(ROOT / "assets" / "recordings" / f"{n}.gviz") for n in names}
    return bundled | {
        "encoder": from_recording(encoder),
        "transformer": from_shape(transformer_shape(12)),
        "fork-join": from_shape(fork_join_shape(6, 4, 4)),
        "lanes": from_shape(wide_shape(12, 8)),
        "streams": streams_graph(300),
    }


def layers_of(name: str) -> list[list[int]]:
    first, size, count = {"transformer": (2, 15, 12), "decode_step": (0, 20, 16)}[name]
    return [list(range(first + size * k, first + size * (k + 1))) for k in range(count)]


def matched(edits: Edits) -> np.ndarray:
    found = pair_nodes(edits.base.to_compared(), edits.graph.to_compared())
    partners = found[found >= 0]
    assert len(set(partners.tolist())) == len(partners)
    return found


@pytest.mark.parametrize("kind", [*SMALL, "swap"])
@pytest.mark.parametrize("name", ["decode_step", "encoder", "transformer", "fork-join", "lanes"])
def test_edits_of_one_kind(graphs: dict[str, EditableGraph], name: str, kind: str) -> None:
    edits = Edits(graphs[name], seed=1)
    edits.make([kind], max(1, len(graphs[name].nodes) // 50))
    assert judge(edits, matched(edits)).worst >= LEAST


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "name",
    ["cupy_pipeline", "decode_step", "encoder", "transformer", "fork-join", "lanes", "streams"],
)
def test_edits_of_all_kinds_in_another_order(
    graphs: dict[str, EditableGraph], name: str, seed: int
) -> None:
    edits = Edits(graphs[name], seed)
    edits.make(SMALL, max(1, len(graphs[name].nodes) // 20))
    edits.rename_everywhere()
    edits.reorder()
    assert judge(edits, matched(edits)).worst >= LEAST


def test_training_step_with_edits_of_all_kinds(graphs: dict[str, EditableGraph]) -> None:
    edits = Edits(graphs["training_step"], seed=3)
    edits.make(SMALL, 115)
    edits.rename_everywhere()
    found = judge(edits, matched(edits))
    assert found.worst >= LEAST
    assert min(found.strict_precision, found.strict_recall) >= LEAST


@pytest.mark.parametrize("at", [1, 5, 9])
@pytest.mark.parametrize("more", [True, False])
@pytest.mark.parametrize("name", ["decode_step", "transformer"])
def test_layer_of_equal_ones_shifts_the_others(
    graphs: dict[str, EditableGraph], name: str, at: int, more: bool
) -> None:
    edits, layers = Edits(graphs[name], seed=0), layers_of(name)
    change = edits.add_layer if more else edits.remove_layer
    change(layers[at], layers[at + 1])
    partner = matched(edits)
    found = judge(edits, partner)
    assert (found.precision, found.recall) == (1.0, 1.0)
    # Whole layers: of what has no partner each kernel is there as often as in a layer.
    if more:
        alone = sorted(set(range(len(edits.graph.order))) - set(partner.tolist()))
        names = [edits.graph.nodes[edits.graph.order[i]].name for i in alone]
    else:
        names = [edits.base.nodes[edits.base.order[i]].name for i in np.flatnonzero(partner < 0)]
    assert sorted(names) == sorted(edits.base.nodes[key].name for key in layers[at])
    # And NVTX ranges tell which one it was.
    assert min(found.strict_precision, found.strict_recall) >= LEAST


@pytest.mark.parametrize("name", ["decode_step", "training_step", "transformer", "streams"])
def test_graph_captured_in_another_order_is_the_same(
    graphs: dict[str, EditableGraph], name: str
) -> None:
    edits = Edits(graphs[name], seed=2)
    edits.reorder()
    found = judge(edits, matched(edits))
    assert found.strict_precision == found.strict_recall == 1.0


def test_judge_sees_what_is_wrong(graphs: dict[str, EditableGraph]) -> None:
    edits = Edits(graphs["decode_step"], seed=0)
    right = matched(edits)
    assert judge(edits, right).worst == 1.0
    smeared = right.copy()
    smeared[40:80] = right[41:81]
    smeared[80] = -1
    assert judge(edits, smeared).precision < 0.9
    assert judge(edits, np.full_like(right, -1)).recall == 0.0


def test_judge_excuses_only_what_explains_as_well() -> None:
    edits = Edits(from_shape(wide_shape(4, 6)), seed=0)
    right = matched(edits)
    # Lanes are equal: two of them change places as a whole (their nodes follow each other).
    turned = right.copy()
    turned[1:7], turned[7:13] = right[7:13], right[1:7]
    assert judge(edits, turned).worst == 1.0
    assert judge(edits, turned).strict_precision < 1.0
    # One node of them alone tears both.
    torn = right.copy()
    torn[3], torn[9] = right[9], right[3]
    assert judge(edits, torn).precision < 1.0
