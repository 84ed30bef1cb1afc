"""Faults planted in random graphs: values name the node, or the race."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contract.backend import Backend
from contract.scripts import run_script
from contract.test_values import COUNT, MIXES, PIECES, Floats, perform

from gviz.analysis import GraphSubject, read_graph_data
from gviz.comparison.graph_diff import read_compared_run
from gviz.comparison.graph_pairs import GraphPair
from gviz.comparison.value_diff import GraphValuesDiff, compare_graph_values
from gviz.recording.reader import Recording
from gviz.stats import NotComputed

INPUTS = PIECES // 2
#: Random graphs: some whenever tests run, all in the thorough tier. Each of four faults at each of
#: up to eight places is in five graphs.
COUNTS = [40, pytest.param(160, marks=pytest.mark.thorough)]
#: Of each graph: operations that write memory of their own, read what others wrote before or the
#: inputs, and a fault at one of them. Outputs hold zeros before.
FAULTY = f"""{MIXES}
INPUTS = {INPUTS}
rng = random.Random(29)
told = []
def planned():
    operations, written = [], []
    for out in rng.sample(range(INPUTS, PIECES), rng.randrange(2, INPUTS)):
        a, b = (rng.choice([*range(INPUTS), *written]) for _ in range(2))
        factor = rng.choice([1.0, 2.0, 0.5])
        operations.append((rng.choice(["mix"] * 4 + ["memcpy"]), out, a, b, factor))
        written.append(out)
    return operations
def spoil(operation, fault):
    kind, out, a, b, factor = operation
    if fault == "stale input":
        return kind, out, (a + 1) % INPUTS, b, factor
    return kind, out, a, b, factor + (fault == "baked constant")
for number in range(GRAPHS):
    operations = planned()
    fault = ["stale input", "baked constant", "one bit", "skipped node"][number % 4]
    place = rng.randrange(len(operations))
    told.append((operations, fault, place))
    before = cuda.download_floats(memory, INPUTS * COUNT)
    cuda.upload_floats(memory + 4 * INPUTS * COUNT, [0.0] * INPUTS * COUNT)
    if FAULTS:
        operations = [spoil(o, fault) if i == place else o for i, o in enumerate(operations)]
    if FAULTS and fault == "one bit":
        cuda.upload_floats(memory, [2.0 ** -23 + x if i % COUNT == 3 and x == 1.0 else x
                                    for i, x in enumerate(before)])
    graph = cuda.graph()
    nodes = add_ordered(graph, operations)
    graph_exec = cuda.instantiate(graph)
    if FAULTS and fault == "skipped node":
        cuda.set_enabled(graph_exec, nodes[place], False)
    launches(graph_exec, 9)
    cuda.destroy_exec(graph_exec)
    cuda.upload_floats(memory, before)
print(json.dumps(told))
"""


def record(fake: Backend, folder: Path, count: int, *, faults: bool) -> tuple[Any, Recording]:
    folder.mkdir()
    text = FAULTY.replace("FAULTS", str(faults)).replace("GRAPHS", str(count))
    done = run_script(fake, folder, text, "--values", "-o", "x.gviz")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), Recording(folder / "x.gviz")


def inputs(*, flipped: bool) -> Floats:
    memory = np.zeros((PIECES, COUNT), np.float32)
    memory[:INPUTS] = np.arange(INPUTS * COUNT, dtype=np.float32).reshape(INPUTS, COUNT) % 7
    if flipped:
        column = memory[:INPUTS, 3]
        column[column == 1] += np.float32(2.0**-23)
    return memory


def spoiled(operation: Any, fault: str) -> Any:
    kind, out, a, b, factor = operation
    if fault == "stale input":
        return kind, out, (a + 1) % INPUTS, b, factor
    return kind, out, a, b, factor + (fault == "baked constant")


def first_difference(operations: Any, fault: str, at: int) -> int | None:
    """Return the first operation that leaves something else, by computing both."""
    plain, faulty = inputs(flipped=False), inputs(flipped=fault == "one bit")
    for number, operation in enumerate(operations):
        perform(plain, operation)
        is_spoiled = number == at
        if not (is_spoiled and fault == "skipped node"):
            perform(faulty, spoiled(operation, fault) if is_spoiled else operation)
        if plain[operation[1]].tobytes() != faulty[operation[1]].tobytes():
            return number
    return None


@pytest.mark.parametrize("count", COUNTS)
def test_first_difference_of_planted_faults_is_exact(
    fake: Backend, tmp_path: Path, count: int
) -> None:
    told, before = record(fake, tmp_path / "plain", count, faults=False)
    _, after = record(fake, tmp_path / "faulty", count, faults=True)
    sides = [read_compared_run(one, one.fetch_runs()[0]) for one in (before, after)]
    ids = [sorted(g.graph_id for g in one.fetch_graphs()) for one in (before, after)]
    found: dict[str, int] = {}
    for (operations, fault, at), *pair in zip(told, *ids, strict=True):
        diff = compare_graph_values(*sides, GraphPair(*pair, "asked", 1.0))
        if not isinstance(diff, GraphValuesDiff):
            continue  # on a loaded machine the quiet moments of some graphs do not suffice
        expected = first_difference(operations, fault, at)
        assert (diff.first is None) == (expected is None), (fault, pair)
        if diff.first is not None and expected is not None:
            left = diff.first.outputs[0].before.node_id
            names = sorted(x.node_id for x in before.fetch_nodes(pair[0]))
            assert names.index(left) == expected, (fault, pair)
            knows_inputs = not diff.first.inputs and not diff.first.not_compared_count
            assert knows_inputs == (fault in ("baked constant", "skipped node")), (fault, pair)
        if fault != "stale input" and expected is not None:
            assert bool(diff.inputs) == (fault == "one bit"), (fault, pair)
        found[fault] = found.get(fault, 0) + (expected is not None)
    before.close()
    after.close()
    assert len(found) == 4
    assert (
        min(found.values()) >= count // 32
    )  # of a quarter of the graphs: many a bit changes nothing


#: Of each graph: operations that add to memory of their own what stands in an input, or in what
#: another one writes. Every second graph lacks one of the dependencies that follow.
RACING = f"""{MIXES}
INPUTS = {INPUTS}
rng = random.Random(30)
told = []
for number in range(GRAPHS):
    outs = rng.sample(range(INPUTS, PIECES), rng.randrange(3, INPUTS))
    added = [rng.choice([*range(INPUTS), *outs[:i], *outs[:i]]) for i in range(len(outs))]
    needed = [(outs.index(b), i) for i, b in enumerate(added) if b in outs]
    missing = rng.choice(needed) if number % 2 and needed else None
    graph, nodes = cuda.graph(), []
    for i, (out, b) in enumerate(zip(outs, added)):
        after = [nodes[j] for j, k in needed if k == i and (j, k) != missing]
        nodes.append(add_operation(graph, after, "mix", out, out, b, 1.0))
    launch_all(graph, 9)
    told.append(missing)
print(json.dumps(told))
"""


@pytest.mark.parametrize("count", COUNTS)
def test_planted_races_are_named_and_no_others(fake: Backend, tmp_path: Path, count: int) -> None:
    text = RACING.replace("GRAPHS", str(count))
    done = run_script(fake, tmp_path, text, "--values", "-o", "x.gviz")
    assert done.returncode == 0, done.stderr
    found: Counter[bool] = Counter()
    with Recording(tmp_path / "x.gviz") as recording:
        graphs = sorted(recording.fetch_graphs(), key=lambda g: g.graph_id)
        for graph, missing in zip(graphs, json.loads(done.stdout), strict=True):
            data = read_graph_data(GraphSubject(recording, graph))
            if isinstance(data, NotComputed):
                continue  # on a loaded machine the quiet moments of some graphs do not suffice
            names = sorted(node.node_id for node in recording.fetch_nodes(graph.graph_id))
            races = [
                sorted(names.index(node.node_id) for node in finding.nodes)
                for finding in data.findings
                if finding.kind == "race"
            ]
            assert races == ([missing] if missing else [])
            found[bool(missing)] += 1
    assert min(found[True], found[False]) >= count // 8
