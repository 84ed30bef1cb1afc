"""NVTX ranges of nodes that autograd's thread made while the capturing thread had one open."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from gviz.model import read_tree
from gviz.recording import Recording

TRAINING = Path(__file__).parents[3] / "assets" / "recordings" / "training_step.gviz"
_AUTOGRAD = "created_thread_id != (SELECT capture_thread_id FROM graph)"


def ranges(path: Path) -> tuple[list[str | None], list[bool]]:
    """Return the text of each node's range, and whether it is the capturing thread's."""
    with Recording(path) as recording:
        tree = read_tree(recording, 1)
        texts = [tree.nvtx.get(path or 0) for path in tree.nodes.listed("nvtx_path_id")]
        return texts, tree.has_range_of_capture.tolist()


def edited(target: Path, *statements: str) -> Path:
    target.write_bytes(TRAINING.read_bytes())
    with closing(sqlite3.connect(target)) as database, database:
        # Without operations of the forward pass, whose ranges come before those by time.
        database.execute("UPDATE node SET sequence_nr = NULL, autograd_name = NULL")
        for statement in statements:
            database.execute(statement)
    return target


def test_every_node_of_the_backward_pass_is_in_its_range() -> None:
    with closing(sqlite3.connect(f"file:{TRAINING}?mode=ro", uri=True)) as database:
        query = f"SELECT {_AUTOGRAD} FROM node ORDER BY node_id"
        by_autograd = [bool(x) for (x,) in database.execute(query)]
    texts, of_capture = ranges(TRAINING)
    assert of_capture == by_autograd
    assert sum(of_capture) == 1_367
    assert {text for text, own in zip(texts, of_capture, strict=True) if own} == {"backward"}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE graph SET capture_thread_id = NULL",
        "UPDATE graph SET capture_end_ns = NULL",
        f"UPDATE node SET created_ns = NULL WHERE {_AUTOGRAD}",
        f"UPDATE node SET created_thread_id = NULL WHERE {_AUTOGRAD}",
        # What the capturing thread makes outside its ranges is in none.
        "UPDATE node SET created_thread_id = (SELECT capture_thread_id FROM graph)",
        # Nothing that ran before or after the capture is in it.
        "UPDATE graph SET capture_end_ns = capture_start_ns",
        "DELETE FROM nvtx_range",
        "UPDATE nvtx_range SET thread_id = 1",
    ],
)
def test_node_has_no_range_where_that_is_not_recorded(tmp_path: Path, statement: str) -> None:
    texts, of_capture = ranges(edited(tmp_path / "edited.gviz", statement))
    assert not any(of_capture)
    assert texts.count(None) == 1_367


def test_innermost_range_counts_and_an_open_one_never_ends(tmp_path: Path) -> None:
    path = edited(
        tmp_path / "open.gviz",
        "UPDATE nvtx_range SET end_ns = NULL WHERE start_ns = "
        "(SELECT max(start_ns) FROM nvtx_range WHERE nvtx_path_id = 2)",
        "DELETE FROM nvtx_range WHERE nvtx_path_id = 3",
    )
    texts, of_capture = ranges(path)
    assert {text for text, own in zip(texts, of_capture, strict=True) if own} == {"forward"}
