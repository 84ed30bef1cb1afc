"""Names of graphs, and unwanted ones, out of a spool's records."""

from __future__ import annotations

import json

import pytest
from spool_writing import buffer, work

from gviz.cuda.graph_name import NameKind
from gviz.recording import rows
from gviz.spool.folding.origins import Origins, name_graphs
from gviz.spool.records import format as f
from gviz.spool.records import table
from gviz.spool.records.format import RecordType
from gviz.spool.records.reader import Record
from gviz.spool.streams.contents import Contents

_STACK = [["/v/site-packages/torch/cuda/graphs.py", 9, "begin", None], ["/me/a.py", 3, "f", None]]


def origin(
    graph_id: int,
    *,
    exec_id: int = 0,
    kind: int = f.ORIGIN_CAPTURE,
    nvtx: int = 0,
    stack: int = 0,
    flags: int = 0,
    name: tuple[NameKind, str] = (NameKind.NONE, ""),
) -> Record:
    fixed = (graph_id, exec_id, kind, nvtx, stack, 1, flags, int(name[0]), 5)
    return Record(RecordType.GRAPH_ORIGIN, table.GRAPH_ORIGIN.pack(*fixed) + name[1].encode())


def contents(*records: Record, **metadata: object) -> Contents:
    found = Contents()
    given = {"python_version": "3.12", "command": "python a.py"} | metadata
    found.add(Record(RecordType.META, json.dumps(given).encode()))
    found.add(Record(RecordType.STACK, json.dumps([1, _STACK]).encode()))
    found.add(Record(RecordType.AUTOGRAD, b"[9, 1, null, 0]"))
    for path, parent, text in ((1, 0, b"\ndecode"), (2, 1, b"domain\nlayer")):
        found.add(Record(RecordType.NVTX_PATH, table.NVTX_PATH.pack(path, parent) + text))
    for record in records:
        found.add(record)
    return found


def graph(cuda_graph_id: int | None, name: str = "") -> rows.Graph:
    return rows.Graph(
        graph_id=1, run_id=1, name=name, origin="capture", cuda_graph_id=cuda_graph_id
    )


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (origin(7, stack=1), ("a.py:3 f", 1, None)),
        (origin(7, stack=1, nvtx=2), ("decode/layer", 1, 2)),
        (origin(7, nvtx=1, name=(NameKind.EXPLICIT, "mine")), ("mine", None, 1)),
        (origin(7, stack=1, name=(NameKind.FRAMEWORK, "f [8]")), ("f [8]", 1, None)),
        (origin(7, stack=-1), ("", None, None)),
        (origin(7, stack=9), ("a.py:3 f", 1, None)),
        (origin(8, stack=1), ("", None, None)),
    ],
)
def test_graph_is_named_after_its_origin(
    record: Record, expected: tuple[str, int | None, int | None]
) -> None:
    row = Origins(contents(record)).applied(graph(7))
    assert (row.name, row.capture_stack_id, row.capture_nvtx_path_id) == expected


def test_capture_names_a_graph_before_its_instantiations() -> None:
    instantiated = origin(7, kind=f.ORIGIN_INSTANTIATE, exec_id=9, nvtx=1)
    again = origin(7, kind=f.ORIGIN_INSTANTIATE, exec_id=10, nvtx=2)
    captured = origin(7, stack=1)
    assert Origins(contents(captured, instantiated)).applied(graph(7)).name == "a.py:3 f"
    assert Origins(contents(instantiated, captured)).applied(graph(7)).name == "a.py:3 f"
    assert Origins(contents(instantiated, again)).applied(graph(7)).name == "decode"


def test_program_without_python_names_its_graphs() -> None:
    spool = contents(origin(7), python_version=None, command="./bin/jacobi --size 4")
    assert Origins(spool).applied(graph(7)).name == "jacobi"
    spool = contents(origin(7, nvtx=1), python_version=None, command="./bin/jacobi")
    assert Origins(spool).applied(graph(7)).name == "decode"


def test_final_names_are_distinct_and_never_empty() -> None:
    given = [graph(1, "a"), graph(2), graph(3, "a"), graph(4)]
    assert [row.name for row in name_graphs(given)] == ["a", "graph 2", "a (2)", "graph 4"]


def test_records_of_unwanted_executables_are_left_out() -> None:
    spool = contents(
        origin(7, kind=f.ORIGIN_INSTANTIATE, exec_id=9, flags=f.ORIGIN_UNWANTED),
        origin(7, kind=f.ORIGIN_INSTANTIATE, exec_id=10),
        Record(
            RecordType.BUFFER, buffer([work(9, 0, 1, 10), work(10, 1, 2, 20), work(9, 2, 1, 30)])
        ),
    )
    spool.finish()
    assert spool.activity_stream.samples.records["exec_id"].tolist() == [10]


@pytest.mark.parametrize(
    ("pattern", "names", "expected"),
    [
        (None, ["a"], None),
        ("a*", ["b", "ab"], None),
        ("x", ["b", "a", "a"], "graphs seen: a, b"),
        ("x", [], "no graph was instantiated"),
    ],
)
def test_pattern_without_a_graph_is_complained_about(
    pattern: str | None, names: list[str], expected: str | None
) -> None:
    found = Origins(contents(graph_pattern=pattern)).complaint(names)
    if expected is None:
        assert found is None
    else:
        assert found is not None
        assert found.startswith("no graph is called 'x'")
        assert expected in found
