"""Layers of a model: by numbered ranges, by equal blocks, and autograd's last to first."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bare_recordings import BARE
from planned_recordings import Plan, Planned, chain_edges, in_a_row, subject_of

from gviz.analysis.model_layers import ModelLayers, class_of, find_model_layers
from gviz.analysis.results.dominant_nodes import Dominance, LayerTimes, dominance
from gviz.assets import recordings as bundled
from gviz.recording import rows
from gviz.recording.writer import RecordingWriter
from gviz.stats.figure_fields import NotComputed

BUNDLED = Path(next(iter(bundled.__path__)))
#: What each program's layers are called, how many there are, and how many nodes are in none.
PROGRAMS = {
    "cupy_pipeline": ("filter", 4, 7),
    "decode_step": ("layer", 16, 0),
    "decode_step_copies": ("layer", 16, 0),
    "decode_step_h200": ("layer", 16, 0),
    "decode_step_h200_fused": ("layer", 16, 0),
    "ranks_h200": ("layer", 8, 0),
    "token_step_1": ("layer", 4, 0),
    "token_step_4": ("layer", 4, 0),
    "training_step": ("TransformerEncoderLayer", 24, 6),
}
CAPTURING, AUTOGRAD = 7, 8


def found(path: Path) -> ModelLayers:
    result = find_model_layers(subject_of(path))
    assert isinstance(result, ModelLayers)
    return result


def chain(*nodes: Planned) -> Plan:
    return Plan(in_a_row(*nodes), chain_edges(len(nodes)), graph={"capture_thread_id": CAPTURING})


def block(*names: str, thread: int = CAPTURING) -> list[Planned]:
    return [Planned(name, 0, 1_000, columns={"created_thread_id": thread}) for name in names]


class Ranged(Plan):
    """A plan with a table of NVTX paths: (text, parent), numbered from 1."""

    paths: Sequence[tuple[str, int | None]] = ()

    def _write_run(self, writer: RecordingWriter) -> None:
        super()._write_run(writer)
        writer.insert(
            *(
                rows.NvtxPath(nvtx_path_id=at, run_id=1, parent_id=parent, domain=None, text=text)
                for at, (text, parent) in enumerate(self.paths, start=1)
            )
        )


def ranged(path: Path, texts: Sequence[tuple[str, int | None]], of: Sequence[int | None]) -> Path:
    """Write a chain of one node for each path id given."""
    nodes = [Planned("k", 0, 1_000, columns={"nvtx_path_id": x}) for x in of]
    plan = Ranged(in_a_row(*nodes), chain_edges(len(nodes)))
    plan.paths = texts
    return plan.write(path)


@pytest.mark.parametrize("program", PROGRAMS)
def test_layers_of_bundled_programs_are_named_and_numbered(program: str) -> None:
    layers = found(BUNDLED / f"{program}.gviz")
    kind, count, outside = PROGRAMS[program]
    assert layers.numbers.tolist() == list(range(count))
    assert layers.names[1] == f"{kind} 1"
    assert int((layers.of_node < 0).sum()) == outside


def test_layers_of_a_training_step_have_their_part_of_backward_and_update(tmp_path: Path) -> None:
    layers = found(without_numbers(tmp_path / "x.gviz"))
    # Forward 15, backward 57, update twice 12; the first layer needs no gradient of its input.
    counts = np.bincount(layers.of_node[layers.of_node >= 0])
    assert counts.tolist() == [93, *[96] * 23]
    assert int(layers.is_inferred.sum()) == counts.sum() - 24 * 15


def without_numbers(target: Path) -> Path:
    """Write the training step as a recording without PyTorch's sequence numbers."""
    target.write_bytes((BUNDLED / "training_step.gviz").read_bytes())
    with closing(sqlite3.connect(target)) as database, database:
        database.execute("UPDATE node SET sequence_nr = NULL, autograd_name = NULL")
    return target


def numbered(target: Path, operation_of: dict[int, int]) -> Path:
    """Write the training step with sequence numbers.

    Each forward node has its id, each of autograd's nodes that of the forward node given.
    """
    with closing(sqlite3.connect(without_numbers(target))) as database, database:
        database.execute("UPDATE node SET sequence_nr = node_id WHERE nvtx_path_id = 2")
        database.executemany(
            "UPDATE node SET sequence_nr = ?, autograd_name = 'MulBackward0' WHERE node_id = ?",
            [(number, node) for node, number in operation_of.items()],
        )
    return target


def test_autograds_nodes_are_in_the_layer_of_their_operation(tmp_path: Path) -> None:
    by_order = found(without_numbers(tmp_path / "order.gviz"))
    backward = range(364, 1731)  # all of autograd's thread
    # Forward, layers have 15 nodes each; the loss that follows is in none.
    operation_of = {
        node: 15 * int(by_order.of_node[node]) + node % 15 if by_order.of_node[node] >= 0 else 361
        for node in backward
    }
    layers = found(numbered(tmp_path / "x.gviz", operation_of))
    assert layers.of_node.tolist() == by_order.of_node.tolist()
    assert int(layers.is_of_forward.sum()) == 57 * 23 + 54
    assert int(layers.is_inferred.sum()) == 2 * 24 * 12
    result = dominance(subject_of(tmp_path / "x.gviz"))
    assert isinstance(result, Dominance)
    assert isinstance(result.layers, LayerTimes)
    assert result.layers.of_forward_count == 57 * 23 + 54
    assert (result.forward_count, result.forward_range_count) == (len(backward), 0)


def test_operation_of_several_layers_puts_no_node_into_one(tmp_path: Path) -> None:
    # As of a compiled model: one operation, whose first node is in the first layer.
    path = numbered(tmp_path / "x.gviz", dict.fromkeys(range(364, 1731), 0))
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE node SET sequence_nr = NULL WHERE node_id BETWEEN 1 AND 363")
    layers = found(path)
    assert not layers.is_of_forward.any()
    assert (layers.of_node[364:1731] == -1).all()


@pytest.mark.parametrize("program", ["graph_lives", "nested_torch"])
def test_graphs_without_layers_have_none(program: str) -> None:
    result = find_model_layers(subject_of(BUNDLED / f"{program}.gviz"))
    assert result == NotComputed("no NVTX range is numbered, and no block of nodes repeats often")


def test_graph_without_edges_says_that_these_are_missing(tmp_path: Path) -> None:
    subject = subject_of(BARE["no_edges"](tmp_path / "x.gviz"))
    assert subject.why_no_edges is not None
    assert find_model_layers(subject) == NotComputed(subject.why_no_edges)


def test_ranges_called_layers_come_before_others_that_are_numbered(tmp_path: Path) -> None:
    texts = [("batch 0", None), ("layer 3", 1), ("layer 5", 1), ("head 0", 3), ("head 1", 3),
             ("batch 1", None), ("layer 3", 6), ("head 2", 7)]  # fmt: skip
    layers = found(ranged(tmp_path / "x.gviz", texts, [2, 4, 5, 7, 8, 1, None]))
    assert layers.names == ("layer 3", "layer 5")
    assert layers.of_node.tolist() == [0, 1, 1, 0, 0, -1, -1]
    assert layers.source == "ranges"
    assert not layers.is_inferred.any()


def test_parts_of_layers_beside_each_other_are_of_one_layer(tmp_path: Path) -> None:
    texts = [("layers.0.mlp", None), ("layers.0.norm", None), ("layers.1.mlp", None)]
    layers = found(ranged(tmp_path / "x.gviz", texts, [1, 2, 3]))
    assert (layers.names, layers.of_node.tolist()) == (("layers 0", "layers 1"), [0, 0, 1])


def test_modules_called_by_numbers_alone_are_layers(tmp_path: Path) -> None:
    layers = found(ranged(tmp_path / "x.gviz", [("0", None), ("1", None)], [1, 2]))
    assert layers.names == ("layer 0", "layer 1")


@pytest.mark.parametrize(
    "texts", [[("batch 8 of 9", None)], [("2 x 3", None), ("relu", None)]], ids=["one", "shape"]
)
def test_a_number_that_is_the_same_everywhere_tells_no_layers(
    tmp_path: Path, texts: list[tuple[str, None]]
) -> None:
    path = ranged(tmp_path / "x.gviz", texts, list(range(1, len(texts) + 1)))
    assert isinstance(find_model_layers(subject_of(path)), NotComputed)


def test_few_nodes_in_numbered_ranges_are_no_layers(tmp_path: Path) -> None:
    texts = [("layer 0", None), ("layer 1", None)]
    path = ranged(tmp_path / "x.gviz", texts, [1, 2, *[None] * 7])
    assert isinstance(find_model_layers(subject_of(path)), NotComputed)


def test_blocks_of_autograd_are_numbered_last_to_first(tmp_path: Path) -> None:
    backward = block("da", "db", "dc", thread=AUTOGRAD)
    plan = chain(
        *block("a", "b") * 3, Planned("loss", 0, 1_000), *backward * 2,
        *block("da", "db", thread=AUTOGRAD), *block("step", "zero") * 3,
    )  # fmt: skip
    plan = replace(plan, nodes=in_a_row(*(replace(x, start_ns=0) for x in plan.nodes)))
    layers = found(plan.write(tmp_path / "x.gviz"))
    assert layers.names == ("layer 0", "layer 1", "layer 2")
    expected = [0, 0, 1, 1, 2, 2, -1, 2, 2, 2, 1, 1, 1, 0, 0, 0, 0, 1, 1, 2, 2]
    assert layers.of_node.tolist() == expected
    assert layers.is_inferred.tolist() == [False] * 7 + [True] * 14


def test_a_repeat_of_another_number_of_blocks_is_of_no_layer(tmp_path: Path) -> None:
    plan = chain(*block("a", "b", "c") * 4, *block("x", "y") * 3)
    plan = replace(plan, nodes=in_a_row(*(replace(x, start_ns=0) for x in plan.nodes)))
    layers = found(plan.write(tmp_path / "x.gviz"))
    assert layers.of_node.tolist() == [*np.repeat(range(4), 3).tolist(), *[-1] * 6]


def test_two_equal_blocks_may_be_so_by_chance(tmp_path: Path) -> None:
    path = chain(*block("a", "b"), *block("a", "b")).write(tmp_path / "x.gviz")
    assert isinstance(find_model_layers(subject_of(path)), NotComputed)


def test_time_by_layer_is_that_of_its_nodes(tmp_path: Path) -> None:
    texts = [("layer 4", None), ("layer 7", None)]
    result = dominance(subject_of(ranged(tmp_path / "x.gviz", texts, [1, 2, 2, None])))
    assert isinstance(result, Dominance)
    layers = result.layers
    assert isinstance(layers, LayerTimes)
    assert (layers.name, layers.number) == (("layer 4", "layer 7"), (4, 7))
    assert (layers.node_count, layers.total_ns) == ((1, 2), (1_000, 2_000))
    assert layers.fraction == (0.25, 0.5)
    assert layers.inferred_count == 0


@pytest.mark.parametrize(
    ("stacks", "expected"),
    [
        ([["main", "Net.forward", "Module._call_impl", "Layer.forward", "x"],
          ["main", "Net.forward", "Module._call_impl", "Layer.forward", "y"]], "Layer"),
        ([["main", "Net.forward", "run"], ["main", "Net.forward", "run"]], None),
        ([["main.<locals>.step", "a"], ["main.<locals>.step", "b"]], None),
        ([["main", "a"], ["other", "b"]], None),
        ([], None),
    ],
    ids=["module", "function", "inner function", "nothing common", "no stack"],
)  # fmt: skip
def test_blocks_are_named_after_the_innermost_common_class(
    stacks: list[list[str]], expected: str | None
) -> None:
    assert class_of(stacks) == expected
