"""A trace joined with DOT dumps."""

from pathlib import Path
from typing import Any

import pytest
from kineto_traces import write_trace
from places import TESTS

from gviz.cli.command_line import main
from gviz.cuda.kernel_name import demangle
from gviz.cuda.node_type import NodeType
from gviz.errors import UsageError
from gviz.formats.dot.importer import find_parents, read_graphs
from gviz.formats.dot.model import DotNode
from gviz.formats.importer import import_files
from gviz.formats.traces.dot_join import families
from gviz.recording.reader import Recording

DUMPS = TESTS / "golden" / "dot"
EXEC = 9


def event(node: DotNode, exec_node: int | None, start: int, stream: int = 7) -> dict[str, Any]:
    args: dict[str, Any] = {"device": 0, "stream": stream, "correlation": 5}
    if exec_node is not None:
        args |= {"graph id": EXEC, "graph node id": EXEC << 32 | exec_node}
    category, name = "kernel", "?"
    if node.kernel is not None:
        name = demangle(node.kernel.mangled_name)
        args |= {
            "grid": list(node.kernel.grid_dim or ()),
            "block": list(node.kernel.block_dim or ()),
        }
    elif node.type == NodeType.MEMCPY:
        category, name = "gpu_memcpy", "Memcpy DtoD (Device -> Device)"
        args["bytes"] = node.memcpy.bytes if node.memcpy else None
    else:
        category, name = "gpu_memset", "Memset (Device)"
        args["bytes"] = node.memset.bytes if node.memset else None
    return {"ph": "X", "cat": category, "name": name, "pid": 0, "tid": stream, "ts": start,
            "dur": 2, "args": args}  # fmt: skip


def trace_of_dump(path: Path, *, node_ids: bool = True, shift: int = 0) -> dict[str, Any]:
    """Return a trace of one launch of a dump's first graph; ids in bodies are numbered anew."""
    _, graphs = read_graphs(path)
    family = families(graphs, find_parents(graphs))[0]
    top = family.levels[0].number
    events = [
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 1, "tid": 1,
         "ts": 1, "dur": 2, "args": {"correlation": 5}}
    ]  # fmt: skip
    for i, ((level, node_id), node) in enumerate(family.timed_nodes()):
        exec_node = node_id + shift if level == top else 1000 + i
        events.append(event(node, exec_node if node_ids else None, 10 + 3 * i))
    return {"traceEvents": events}


def join(tmp_path: Path, trace: dict[str, Any], *dumps: str) -> tuple[Recording, list[str]]:
    path = write_trace(trace, tmp_path / "t.json")
    output = tmp_path / "out.gviz"
    notes = import_files([path, *(DUMPS / d for d in dumps)], output, overwrite=True)
    return Recording(output), notes


@pytest.mark.parametrize(
    "dump", ["torch_encoder8_verbose", "edges_verbose", "edges_plain", "cupy_fork_join_verbose"]
)
def test_topology_from_the_dump_and_times_from_the_trace(dump: str, tmp_path: Path) -> None:
    path = DUMPS / f"{dump}.dot"
    recording, notes = join(tmp_path, trace_of_dump(path), path.name)
    _, graphs = read_graphs(path)
    with recording as got:
        top = got.fetch_graphs()[0]
        assert (top.origin, top.edges_inferred) == ("dot", False)
        edges = got.fetch_edges(top.topology_id)
        pairs = set(zip(edges.from_node.tolist(), edges.to_node.tolist(), strict=True))
        assert pairs == {(e.from_node, e.to_node) for e in graphs[0].edges}
        assert set(edges.type.tolist()) == {0}
        (launch,) = got.fetch_launches(top.graph_id)
        timed = [n for n in got.fetch_nodes(top.graph_id) if n.exec_node_id is not None]
        assert launch.span_count == len(timed) == len(got.fetch_statistics(top.graph_id))
        assert all(n.exec_node_id == n.node_id and n.not_timed_reason is None for n in timed)
    assert any(f"{len(timed):,} by their ids" in note for note in notes)
    assert not any("inferred" in note for note in notes)


@pytest.mark.parametrize("dump", ["nested_verbose", "conditional_mix_verbose"])
def test_nodes_of_bodies_are_found_though_their_ids_differ(dump: str, tmp_path: Path) -> None:
    path = DUMPS / f"{dump}.dot"
    recording, notes = join(tmp_path, trace_of_dump(path), path.name)
    with recording as got:
        levels = got.fetch_graphs()
        bodies = [g for g in levels if g.parent_graph_id is not None]
        inside = [n for g in bodies for n in got.fetch_nodes(g.graph_id) if n.exec_node_id]
        assert inside
        assert all(n.exec_node_id >= 1000 for n in inside)
        ids = [n.exec_node_id for g in levels for n in got.fetch_nodes(g.graph_id)
               if n.exec_node_id is not None]  # fmt: skip
        assert len(ids) == len(set(ids)) == got.fetch_launches(1)[0].span_count
    assert any("0 timed nodes of the dump and 0 of the trace were not" in n for n in notes)


@pytest.mark.parametrize("changes", [{"node_ids": False}, {"shift": 10_000}])
def test_without_common_ids_nodes_are_matched_by_what_they_do(
    changes: dict[str, Any], tmp_path: Path
) -> None:
    path = DUMPS / "torch_encoder8_verbose.dot"
    recording, notes = join(tmp_path, trace_of_dump(path, **changes), path.name)
    with recording as got:
        nodes = [n for n in got.fetch_nodes(1) if n.exec_node_id is not None]
        # The dump is in order of creation, and so the trace's times.
        assert [n.exec_node_id for n in nodes] == sorted(n.exec_node_id or 0 for n in nodes)
        assert len(nodes) == 88
    assert any("88 by kind, kernel, shape and dependencies" in note for note in notes)


def test_different_graphs_are_written_unjoined_and_reported(tmp_path: Path) -> None:
    trace = trace_of_dump(DUMPS / "torch_encoder8_verbose.dot")
    recording, notes = join(tmp_path, trace, "cupy_fork_join_verbose.dot")
    with recording as got:
        assert sorted(g.origin for g in got.fetch_graphs()) == ["dot", "trace"]
        dumped = next(g for g in got.fetch_graphs() if g.origin == "dot")
        assert not got.fetch_launches(dumped.graph_id)
    (reported,) = (note for note in notes if "is none of the trace's graphs" in note)
    assert "match no node of graph 9" in reported
    assert "88 of that match none of the dump's. Both are shown, unjoined." in reported


def test_unmatched_nodes_are_kept_and_counted(tmp_path: Path) -> None:
    path = DUMPS / "torch_encoder8_verbose.dot"
    trace = trace_of_dump(path)
    last = trace["traceEvents"].pop()
    trace["traceEvents"].append(last | {"name": "another"})
    recording, notes = join(tmp_path, trace, path.name)
    with recording as got:
        nodes = got.fetch_nodes(1)
        assert [n.name for n in nodes if "another" in n.name] == ["another"]
        assert [n.not_timed_reason for n in nodes if n.exec_node_id is None][-1] == (
            "the trace has no time of this node"
        )
    assert any("1 timed nodes of the dump and 1 of the trace were not" in n for n in notes)


def test_times_that_contradict_the_dump_are_reported(tmp_path: Path) -> None:
    path = DUMPS / "torch_encoder8_verbose.dot"
    trace = trace_of_dump(path)
    trace["traceEvents"][40]["ts"] = 5
    _, notes = join(tmp_path, trace, path.name)
    assert any("1 dependency was contradicted" in note and "as graph_1" in note for note in notes)


def test_one_trace_at_a_time(tmp_path: Path) -> None:
    path = write_trace({"traceEvents": []}, tmp_path / "a.json")
    other = write_trace({"traceEvents": []}, tmp_path / "b.json")
    with pytest.raises(UsageError, match="are both traces"):
        import_files([path, other], tmp_path / "out.gviz")
    dumps = [DUMPS / "edges_plain.dot", DUMPS / "edges_verbose.dot"]
    with pytest.raises(UsageError, match="are both DOT dumps"):
        import_files(dumps, tmp_path / "out.gviz")


def test_the_command_says_what_it_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = DUMPS / "edges_verbose.dot"
    trace = write_trace(trace_of_dump(path), tmp_path / "t.json.gz")
    assert main(["import", str(trace), str(path)]) == 0
    err = capsys.readouterr().err
    assert "by their ids" in err
    assert f"wrote {tmp_path / 't.gviz'}" in err
    assert main(["import", str(trace), str(path)]) == 1
    assert "exists" in capsys.readouterr().err


def test_equal_branches_keep_their_nodes_together(tmp_path: Path) -> None:
    # 0 -> 1 -> 3 -> 5 -> 7 and 0 -> 2 -> 4 -> 6 -> 7, all of one kernel but the ends.
    pairs = [(0, 1), (0, 2), (1, 3), (2, 4), (3, 5), (4, 6), (5, 7), (6, 7)]
    kernel = {0: "begin", 7: "finish"}
    lines = ["digraph dot {", "subgraph cluster_1 {", 'label="graph_1" graph[style="dashed"];']
    for n in range(8):
        launch = f"{kernel.get(n, 'step')}\\<\\<\\<1,32,0\\>\\>\\>"
        label = f"{{KERNEL\n| {{ID | {n} (topoId: {n}) | {launch}}}\n}}"
        lines.append(f'"graph_1_node_{n}"[style="bold" shape="record" label="{label}"];')
    lines += [f'"graph_1_node_{a}" -> "graph_1_node_{b}" [headlabel=0];' for a, b in pairs]
    dump = tmp_path / "branches.dot"
    dump.write_text("\n".join([*lines, "}", "}"]))
    _, (graph,) = read_graphs(dump)
    assert len(graph.nodes) == len(graph.edges) == 8
    by_id = {node.node_id: node for node in graph.nodes}
    trace = trace_of_dump(dump, node_ids=False)
    call = trace["traceEvents"][0]
    # The streams run by turns: by time alone, or by number alone, branches would be mixed.
    ran = [(0, 7), (2, 8), (1, 7), (3, 7), (4, 8), (5, 7), (6, 8), (7, 7)]
    trace["traceEvents"] = [
        call,
        *(event(by_id[n], None, 10 + 3 * i, stream) for i, (n, stream) in enumerate(ran)),
    ]
    recording, notes = join(tmp_path, trace, str(dump))
    with recording as got:
        (launch,) = got.fetch_launches(1)
        spans = got.fetch_spans(launch.launch_id)
        stream = dict(zip(spans.node_id.tolist(), spans.stream_id.tolist(), strict=True))
        begin = dict(zip(spans.node_id.tolist(), spans.start_ns.tolist(), strict=True))
        for branch in ((1, 3, 5), (2, 4, 6)):
            assert len({stream[n] for n in branch}) == 1
            assert [begin[n] for n in branch] == sorted(begin[n] for n in branch)
    assert any("All dependencies of graph_1" in note for note in notes)
    assert any("6 nodes of graph_1" in note and "in 3 groups" in note for note in notes)


@pytest.mark.parametrize("node_ids", [True, False])
def test_a_memset_that_the_driver_ran_as_a_kernel_is_found(node_ids: bool, tmp_path: Path) -> None:
    path = DUMPS / "torch_encoder8_verbose.dot"
    trace = trace_of_dump(path, node_ids=node_ids)
    memsets = [e for e in trace["traceEvents"] if e["cat"] == "gpu_memset"]
    for event_ in memsets:
        event_ |= {"cat": "kernel", "name": "memset32"}
        event_["args"] |= {"grid": [2, 1, 1], "block": [512, 1, 1]}
        del event_["args"]["bytes"]
    recording, notes = join(tmp_path, trace, path.name)
    with recording as got:
        found = [n for n in got.fetch_nodes(1) if n.type == NodeType.MEMSET]
        assert len(found) == len(memsets) > 0
        assert all(n.exec_node_id is not None and n.grid_x is None for n in found)
        assert all(n.bytes for n in found)
    assert any(f"ran {len(memsets)} of the dump's copies" in note for note in notes)


def test_a_kernel_with_arguments_is_no_memset_of_the_driver(tmp_path: Path) -> None:
    path = DUMPS / "torch_encoder8_verbose.dot"
    trace = trace_of_dump(path)
    last = next(e for e in reversed(trace["traceEvents"]) if e["cat"] == "gpu_memset")
    last |= {"cat": "kernel", "name": "memset32(float*, int)"}
    last["args"] |= {"grid": [2, 1, 1], "block": [512, 1, 1]}
    recording, notes = join(tmp_path, trace, path.name)
    recording.close()
    assert any("1 timed nodes of the dump and 1 of the trace were not" in note for note in notes)
