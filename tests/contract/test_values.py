"""Values of nodes behind the gate: what is read and refused, and the program goes on as without."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from contract.backend import Backend
from contract.scripts import run_script
from contract.test_trials import CHAIN, PACKED, REFUSED, SUMS, UPDATE

from gviz.analysis import GraphSubject, MemoryState, read_node_data
from gviz.cuda import ElementType
from gviz.errors import RecordingError
from gviz.recording import NodeValue, ValueReading, contents_folder
from gviz.recording.reader import Recording
from gviz.stats import NotComputed

Floats = npt.NDArray[np.float32]
#: Readings are about what is read, also where a loaded machine takes many times as long for them.
WITHOUT_LIMIT = ("--values-budget", "1000")


def run_plain_and_read(
    fake: Backend, folder: Path, text: str, *options: str, **variables: str
) -> tuple[Any, Recording]:
    """Run a script plainly and with values; return what it printed, the same in both."""
    plain, read = folder / "plain", folder / "read"
    plain.mkdir()
    read.mkdir()
    expected = run_script(fake, plain, text, **variables)
    assert expected.returncode == 0, expected.stderr
    chosen = () if "--values-of" in options else ("--values",)
    given = (*chosen, *WITHOUT_LIMIT, *options, "-o", "x.gviz")
    done = run_script(fake, read, text, *given, **variables)
    assert (done.returncode, done.stdout) == (0, expected.stdout), done.stderr
    return json.loads(done.stdout), Recording(read / "x.gviz")


def readings_of(recording: Recording) -> list[ValueReading]:
    (graph,) = (g for g in recording.fetch_graphs() if g.origin == "explicit")
    return recording.fetch_value_readings(graph.graph_id)


def values_of(recording: Recording) -> list[NodeValue]:
    (made,) = readings_of(recording)
    return recording.fetch_node_values(made.reading_id)


#: Memory of 1 KiB, in pieces that nodes are given, each by its number: kernels that compute, copies
#: and memsets. Nodes that use the same memory are ordered where one writes; others are not.
PIECES, COUNT = 16, 16
MIXES = f"""
import ctypes
ctypes.CDLL("libstdc++.so.6")  # which has what tells types from a kernel's name
{SUMS}
import random
from ctypes import c_float, c_uint, c_ulonglong
from contract.driver import Arguments
given = ".param .u64 o, .param .u64 a, .param .u64 b, .param .f32 f, .param .u32 n"
entry = ".visible .entry _Z3mixPfPKfS1_fj(" + given + ") {{ ret; }}\\n"
ptx = ".version 7.0\\n.target sm_50\\n" + entry
cuda.load_module(ptx.encode(), [b"_Z3mixPfPKfS1_fj"])
PIECES, COUNT = {PIECES}, {COUNT}
memory = cuda.allocate(4 * PIECES * COUNT)
cuda.upload_floats(memory, [float(i % 7) for i in range(PIECES * COUNT)])
at = lambda piece: memory + 4 * COUNT * piece
def add_operation(graph, after, kind, out, a, b, factor, count=COUNT):
    if kind == "memcpy":
        return cuda.add_memcpy(graph, after, (2, at(out)), (2, at(a)), 4 * COUNT)
    if kind == "memset":
        return cuda.add_memset(graph, after, at(out), 0, COUNT)
    given = Arguments(*(c_ulonglong(at(i)) for i in (out, a, b)), c_float(factor), c_uint(count))
    return cuda.add_kernel(graph, after, "_Z3mixPfPKfS1_fj", given)
def add_ordered(graph, operations):
    nodes = []
    for i, (kind, out, a, b, factor) in enumerate(operations):
        after = [
            nodes[j] for j, (_, o, x, y, _) in enumerate(operations[:i])
            if out in (o, x, y) or o in (a, b)
        ]
        nodes.append(add_operation(graph, after, kind, out, a, b, factor))
    return nodes
def launch_all(graph, times):
    graph_exec = cuda.instantiate(graph)
    launches(graph_exec, times)
    cuda.destroy_exec(graph_exec)
def finish(graphs=()):
    contents = cuda.download_floats(memory, PIECES * COUNT)
    print(json.dumps({{"memory": contents, "graphs": list(graphs)}}))
"""
RANDOM = f"""{MIXES}
rng = random.Random(SEED)
graphs = []
def operation():
    out, a, b = (rng.randrange(PIECES) for _ in range(3))
    kind = rng.choice(["mix"] * 5 + ["memcpy", "memset"])
    return kind, out, a, b, rng.choice([1.0, 2.0, -1.0, 0.5])
for _ in range(GRAPHS):
    operations = [operation() for _ in range(rng.randrange(1, 9))]
    graph = cuda.graph()
    add_ordered(graph, operations)
    launch_all(graph, LAUNCHES)
    graphs.append(operations)
finish(graphs)
"""


def perform(memory: Floats, operation: tuple[str, int, int, int, float]) -> None:
    """Do to the pieces what a node does."""
    kind, out, a, b, factor = operation
    if kind == "memcpy":
        memory[out] = memory[a]
    elif kind == "memset":
        memory[out] = 0
    else:
        memory[out] = np.fmod(np.float32(factor) * memory[a] + memory[b], np.float32(101))


def given(operation: tuple[str, int, int, int, float]) -> list[tuple[int, int]]:
    """Return (position, piece) of what a node is given."""
    kind, out, a, b, _ = operation
    return [(0, out), (1, a), (2, b)][: {"memset": 1, "memcpy": 2}.get(kind, 3)]


def statistics(memory: Floats) -> tuple[int, int, int, int, float, float, float]:
    """Return NaN, infinite, zero and finite ones, least, greatest and mean."""
    mean = float(memory.astype(np.float64).sum()) / memory.size
    zeros = int((memory == 0).sum())
    return 0, 0, zeros, memory.size, float(memory.min()), float(memory.max()), mean


class Simulation:
    """The values a reading is to have: (node, position, side, bytes, statistics)."""

    def __init__(self, operations: list[Any]) -> None:
        self.operations = operations
        addresses = [(o[0], piece) for o in operations for _, piece in given(o)]
        self.starts = sorted({piece for _, piece in addresses})
        self.typed = {piece for kind, piece in addresses if kind == "mix"}

    def part(self, memory: Floats, kind: str, piece: int) -> Floats:
        """Return what a node is given: to the next address that any is given, or as CUDA says."""
        ends = [start for start in self.starts if start > piece] or [PIECES]
        return memory[piece : piece + 1 if kind != "mix" else ends[0]]

    def read(self, memory: Floats, order: list[int]) -> set[tuple[Any, ...]]:
        """Return it of a launch that begins with this memory, which it changes."""
        found: set[tuple[Any, ...]] = set()
        for node in order:
            kind = self.operations[node][0]
            before = memory.copy()
            perform(memory, self.operations[node])
            for position, piece in given(self.operations[node]):
                parts = {"before": self.part(before, kind, piece)}
                after = self.part(memory, kind, piece)
                if parts["before"].tobytes() != after.tobytes():
                    parts["after"] = after
                for side, part in parts.items():
                    told = statistics(part) if piece in self.typed else (None,) * 7
                    found.add((node, position, side, part.nbytes, *told))
        return found


def read_in(values: list[NodeValue]) -> set[tuple[Any, ...]]:
    """Return the same of what was read."""
    assert all(v.offset == v.start == v.varies == 0 for v in values)
    assert {v.element for v in values} <= {ElementType.BYTES, ElementType.FLOAT}
    return {
        (
            *(v.node_id, v.position, v.side, v.bytes),
            *(v.nan_count, v.infinite_count, v.zero_count, v.finite_count),
            *(v.least, v.greatest, v.mean),
        )
        for v in values
    }


LAUNCHES = 9


@pytest.mark.parametrize(
    ("seed", "count"), [(28, 150), pytest.param(31, 150, marks=pytest.mark.thorough)]
)
def test_random_graphs_read_and_write_what_they_do(
    fake: Backend, tmp_path: Path, seed: int, count: int
) -> None:
    values = {"SEED": seed, "GRAPHS": count, "LAUNCHES": LAUNCHES}
    text = RANDOM
    for name, value in values.items():
        text = text.replace(name, str(value))
    printed, recording = run_plain_and_read(fake, tmp_path, text)
    memory = np.arange(PIECES * COUNT, dtype=np.float32).reshape(PIECES, COUNT) % 7
    read_count = 0
    with recording:
        graphs = sorted(recording.fetch_graphs(), key=lambda g: g.graph_id)
        for graph, operations in zip(graphs, printed["graphs"], strict=True):
            made = recording.fetch_value_readings(graph.graph_id)
            values = recording.fetch_node_values(made[0].reading_id)
            places = {v.place: v.node_id for v in values}
            order = [places[place] for place in sorted(places)] or list(range(len(operations)))
            simulation = Simulation(operations)
            launches = [simulation.read(memory, order) for _ in range(LAUNCHES)]
            if made[0].refusal is None:
                assert read_in(values) in launches
                assert (made[0].results, made[0].unexplained_bytes) == ("equal", 0)
                read_count += 1
    assert np.array_equal(memory.ravel(), np.asarray(printed["memory"], np.float32))
    # On a loaded machine the quiet moments of some graphs do not suffice.
    assert 2 * read_count >= count


@pytest.mark.parametrize(("added", "why"), REFUSED.values(), ids=REFUSED)
def test_graph_that_reaches_more_than_is_saved_is_refused(
    fake: Backend, tmp_path: Path, added: str, why: str
) -> None:
    text = f"{SUMS}{CHAIN}{added}launches(cuda.instantiate(graph), 60)\nreport()\n"
    _, recording = run_plain_and_read(fake, tmp_path, text)
    with recording:
        assert [r.refusal for r in readings_of(recording)] == [why]


def test_budget_ends_the_reading(fake: Backend, tmp_path: Path) -> None:
    text = f"{SUMS}{CHAIN}launches(cuda.instantiate(graph), 60)\nreport()\n"
    _, recording = run_plain_and_read(fake, tmp_path, text, "--values-budget", "1e-9")
    with recording:
        assert readings_of(recording)[-1].refusal == "its budget (--values-budget) was spent"


def test_pattern_chooses_nodes(fake: Backend, tmp_path: Path) -> None:
    text = (
        f"{MIXES}graph = cuda.graph()\nadd_ordered(graph, {OPERATIONS})\n"
        "launch_all(graph, 60)\nfinish()\n"
    )
    _, recording = run_plain_and_read(fake, tmp_path, text, "--values-of", "*MIX*")
    with recording:
        values = values_of(recording)
        (made,) = readings_of(recording)
    assert {v.node_id for v in values} == {1, 2}
    assert (made.results, made.unexplained_bytes) == ("equal", None)


#: A memset, a kernel that reads what it writes, one that reads that, a copy.
OPERATIONS = [
    ("memset", 0, 0, 0, 0.0),
    ("mix", 1, 1, 0, 1.0),
    ("mix", 2, 1, 3, 1.0),
    ("memcpy", 4, 2, 0, 0.0),
]


@pytest.mark.parametrize(
    ("variables", "refusal"),
    [
        ({"FAKE_NO_COMPILER": "1"}, None),
        ({"FAKE_OLD_DRIVER": "1"}, None),
        (
            {"FAKE_NO_COMPILER": "1", "FAKE_OLD_DRIVER": "1"},
            "gviz's kernels could not be loaded on this GPU",
        ),
    ],
)
def test_probe_is_machine_code_and_ptx_for_older_drivers(
    fake: Backend, tmp_path: Path, variables: dict[str, str], refusal: str | None
) -> None:
    text = f"{SUMS}{CHAIN}launches(cuda.instantiate(graph), 60)\nreport()\n"
    _, recording = run_plain_and_read(fake, tmp_path, text, **variables)
    with recording:
        assert readings_of(recording)[-1].refusal == refusal


def test_update_is_followed(fake: Backend, tmp_path: Path) -> None:
    text = (
        f"{SUMS}{CHAIN}graph_exec = cuda.instantiate(graph)\nlaunches(graph_exec, 3)\n"
        f"{UPDATE.format(exec='graph_exec', factor='0.0')}launches(graph_exec, 60)\nreport()\n"
    )
    _, recording = run_plain_and_read(fake, tmp_path, text)
    with recording:
        values = values_of(recording)
    # Times nothing the second sum adds nothing, and leaves all as it was.
    assert {v.node_id for v in values if v.side == "after"} == {0, 2, 3}


def test_kernel_that_writes_beyond_what_another_is_given_shows(
    fake: Backend, tmp_path: Path
) -> None:
    text = (
        f"{MIXES}graph = cuda.graph()\n"
        "long = add_operation(graph, [], 'mix', 0, 0, 8, 1.0, 4 * COUNT)\n"
        "add_operation(graph, [long], 'mix', 5, 2, 8, 1.0)\nlaunch_all(graph, 60)\nfinish()\n"
    )
    _, recording = run_plain_and_read(fake, tmp_path, text)
    with recording:
        values = [v for v in values_of(recording) if v.node_id == 0 and v.position == 0]
        (made,) = readings_of(recording)
    piece = 4 * COUNT
    written = {(v.start, v.bytes) for v in values if v.side == "after"}
    assert written == {(0, 2 * piece), (2 * piece, 3 * piece)}
    assert made.results == "equal"


def test_what_differs_from_launch_to_launch_shows(fake: Backend, tmp_path: Path) -> None:
    text = (
        f"{SUMS}{CHAIN}from contract.driver import Arguments\nfrom ctypes import c_ulonglong\n"
        "ptx = b'.version 7.0\\n.target sm_50\\n.visible .entry stamp(.param .u64 to) { ret; }'\n"
        "cuda.load_module(ptx, [b'stamp'])\n"
        "stamp = Arguments(c_ulonglong(cuda.allocate(8)))\n"
        "cuda.add_kernel(graph, [nodes[-1]], 'stamp', stamp)\n"
        "launches(cuda.instantiate(graph), 60)\nreport()\n"
    )
    _, recording = run_plain_and_read(fake, tmp_path, text)
    with recording:
        (made,) = readings_of(recording)
        values = values_of(recording)
    assert made.results == "different"
    # On a loaded machine a slice has no time for the second launch.
    assert made.repeats in ("different", "not tested")
    varying = {(v.node_id, v.side) for v in values if v.varies}
    assert varying == ({(4, "after")} if made.repeats == "different" else set())


def test_arguments_in_one_buffer_are_read(fake: Backend, tmp_path: Path) -> None:
    text = f"{SUMS}{CHAIN}{PACKED}launches(cuda.instantiate(graph), 60)\nreport()\n"
    _, recording = run_plain_and_read(fake, tmp_path, text)
    with recording:
        values = [v for v in values_of(recording) if v.node_id == 4]
    # x is read, y is added to.
    assert {(v.position, v.side) for v in values} == {
        (2, "before"), (3, "before"), (3, "after"),
    }  # fmt: skip


def test_gpu_without_room_to_save_memory_is_left_alone(fake: Backend, tmp_path: Path) -> None:
    text = (
        f"{SUMS}{CHAIN}held = cuda.allocate(30 << 20)\n"
        "launches(cuda.instantiate(graph), 60)\nreport()\n"
    )
    _, recording = run_plain_and_read(fake, tmp_path, text, FAKE_MEMORY_MB="72")
    why = "the GPU has too little free memory to save what the process has"
    with recording:
        assert [r.refusal for r in readings_of(recording)] == [why]


def test_profile_without_the_gate_reads_nothing_and_says_so(fake: Backend, tmp_path: Path) -> None:
    text = (
        f"{SUMS}{CHAIN}with gviz.profile('x.gviz', values=True):\n"
        "    launches(cuda.instantiate(graph), 10)\nreport()\n"
    )
    done = run_script(fake, tmp_path, text)
    assert (done.returncode, json.loads(done.stdout)["sums"][1]) == (0, 120.0), done.stderr
    assert "no values are read: that needs the gate; use 'gviz run --values PROGRAM'" in done.stderr
    with Recording(tmp_path / "x.gviz") as recording:
        assert readings_of(recording) == []
        notes = [note.text for note in recording.fetch_notes(1)]
    assert any("no values were read: that needs the gate" in note for note in notes)


def test_short_program_has_nothing_read_and_says_so(fake: Backend, tmp_path: Path) -> None:
    text = f"{SUMS}{CHAIN}launches(cuda.instantiate(graph), 3)\nreport()\n"
    _, recording = run_plain_and_read(fake, tmp_path, text)
    with recording:
        made = readings_of(recording)
    assert [r.refusal for r in made] == ["the program ended before all of it was read"]


def hash_of(contents: Floats) -> int:
    """Return the hash of memory that begins and ends with a word, as the probe computes it."""
    words = contents.view(np.uint64)
    x = words + np.arange(1, len(words) + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return int((x ^ x >> np.uint64(31)).sum())


def states_of(recording: Recording, node: int) -> list[MemoryState]:
    """Return what memory of a node held, before it and, where that changed, after it."""
    (graph,) = (g for g in recording.fetch_graphs() if g.origin == "explicit")
    found = read_node_data(GraphSubject(recording, graph), node)
    assert not isinstance(found, NotComputed)
    return [x for one in found.memory for x in (one.before, one.after) if x is not None]


def test_contents_are_kept_of_nodes_that_are_named(fake: Backend, tmp_path: Path) -> None:
    text = (
        f"{MIXES}graph = cuda.graph()\nadd_ordered(graph, {OPERATIONS})\n"
        "launch_all(graph, 60)\nfinish()\n"
    )
    _, recording = run_plain_and_read(fake, tmp_path, text, "--values", "--dump", "*mix*")
    with recording:
        states = [states_of(recording, node) for node in range(4)]
        folder = contents_folder(recording.path)
    # What the copy overwrites, no kernel is given.
    assert [state.contents is not None for state in states[3]] == [False, True]
    for state in (*states[1], *states[2]):
        held = state.load()
        assert (held.dtype, f"{hash_of(held):016x}") == (np.float32, state.hash)
        assert (held.min(), held.max()) == (state.least, state.greatest)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {kept.stat().st_mode & 0o777 for kept in folder.iterdir()} == {0o600}
    assert len({state.hash for state in (*states[1], *states[2])}) == len(list(folder.iterdir()))
    with pytest.raises(RecordingError, match="were not kept; record with 'gviz run --dump"):
        states[3][0].load()


#: A kernel that is given 4 MiB beside memory of others, on its own.
LARGE = f"""{MIXES}
graph = cuda.graph()
large = cuda.allocate(4 << 20)
given = Arguments(*map(c_ulonglong, (at(0), at(1), large)), c_float(1.0), c_uint(COUNT))
cuda.add_kernel(graph, [], "_Z3mixPfPKfS1_fj", given)
launch_all(graph, 60)
finish()
"""


def test_contents_above_their_limit_are_left_out_and_said(fake: Backend, tmp_path: Path) -> None:
    options = ("--dump", "*", "--dump-limit", "1")
    _, recording = run_plain_and_read(fake, tmp_path, LARGE, "--values", *options)
    with recording:
        kept = [state.contents is not None for state in states_of(recording, 0)]
        notes = [note.text for note in recording.fetch_notes(1)]
    assert (kept[0], kept[-1]) == (True, False)
    assert any(note.startswith("the contents of 1 range of memory are not kept") for note in notes)


def test_contents_may_take_more_than_is_left_unaccounted_for(fake: Backend, tmp_path: Path) -> None:
    # Kept twice, before and after: more than the 64 MiB that may be in use besides the program's.
    text = LARGE.replace("4 << 20", "40 << 20")
    options = ("--dump", "*", "--dump-limit", "100")
    _, recording = run_plain_and_read(fake, tmp_path, text, "--values", *options)
    with recording:
        assert [r.refusal for r in readings_of(recording)] == [None]
        kept = [state.contents is not None for state in states_of(recording, 0)]
    assert all(kept)


def test_dump_alone_reads_its_nodes_and_replaces_what_was_kept(
    fake: Backend, tmp_path: Path
) -> None:
    text = (
        f"{MIXES}graph = cuda.graph()\nadd_ordered(graph, {OPERATIONS})\n"
        "launch_all(graph, 60)\nfinish()\n"
    )
    stale = tmp_path / "x.gviz-contents" / "stale.npy"
    stale.parent.mkdir()
    stale.touch()
    done = run_script(fake, tmp_path, text, "--dump", "memcpy", *WITHOUT_LIMIT, "-o", "x.gviz")
    assert done.returncode == 0, done.stderr
    assert not stale.exists()
    with Recording(tmp_path / "x.gviz") as recording:
        assert {value.node_id for value in values_of(recording)} == {3}
        assert all(state.contents for state in states_of(recording, 3))


#: PyTorch's bookkeeping, as torch.cuda.memory_snapshot tells it: piece 0 and half of piece 1 are a
#: block, the rest of piece 1 is free, pieces 2 to 7 are a block, 8 is one, and all behind it.
ALLOCATOR = """
import sys, types
class Cuda:
    asked_on = []
    is_initialized = staticmethod(lambda: True)
    memory_stats = staticmethod(lambda device: {"active.all.current": BLOCKS})
    @classmethod
    def memory_snapshot(cls):
        import threading, time
        cls.asked_on.append(threading.get_ident() != threading.main_thread().ident)
        time.sleep(SECONDS)
        sizes = [(96, 90), (32, 0), (384, 384), (64, 60), (448, 448)]
        states = ["inactive", "active_allocated"]
        blocks = [dict(size=a, requested_size=b, state=states[b > 0]) for a, b in sizes]
        other = dict(device=1, address=memory, blocks=[dict(blocks[0], size=8, requested_size=8)])
        return [other, dict(device=0, address=memory, blocks=blocks)]
native = types.SimpleNamespace(_cuda_isHistoryEnabled=lambda: HISTORY)
torch = types.ModuleType("torch")
torch.cuda, torch._C = Cuda, native
sys.modules["torch"] = torch
for _ in range(GRAPHS):
    graph = cuda.graph()
    add_ordered(graph, [("mix", 0, 2, 3, 1.0), ("mix", 1, 4, 8, 1.0)])
    launch_all(graph, 60)
finish(Cuda.asked_on)
"""


@pytest.mark.parametrize(
    ("variables", "is_known", "is_asked"),
    [
        ({}, True, True),
        ({"SECONDS": "0.5"}, False, True),  # more than the launch waits
        ({"BLOCKS": "20_001"}, False, False),
        ({"HISTORY": "True"}, False, False),
    ],
)
def test_blocks_of_the_programs_allocator_end_what_nodes_are_given(
    fake: Backend, tmp_path: Path, variables: dict[str, str], is_known: bool, is_asked: bool
) -> None:
    # A launch waits for 50 ms: on a loaded machine one answer of several may come later.
    graphs = 4 if is_known else 1
    known = {"SECONDS": "0", "BLOCKS": "3", "HISTORY": "False", "GRAPHS": str(graphs)} | variables
    named = "".join(f"{name} = {value}\n" for name, value in known.items())
    (tmp_path / "s").mkdir()
    text = MIXES + named + ALLOCATOR
    done = run_script(fake, tmp_path / "s", text, "--values", *WITHOUT_LIMIT, "-o", "x.gviz")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["graphs"] == [True] * (graphs if is_asked else 0)
    found = []
    with Recording(tmp_path / "s" / "x.gviz") as recording:
        for graph in recording.fetch_graphs():
            (made,) = recording.fetch_value_readings(graph.graph_id)
            places = {
                (value.node_id, value.position): (value.bytes, value.extent)
                for value in recording.fetch_node_values(made.reading_id)
                if value.side == "before" and not value.start
            }
            found.append([places[place] for place in ((0, 0), (1, 0), (1, 1), (1, 2))])
    assert len(found) == graphs
    piece = 4 * COUNT
    next_one = (piece, "next")
    known_ends = [(90 - piece, "block end"), (4 * piece, "block end"), (60, "block")]
    unknown_ends = [next_one, (4 * piece, "next"), (8 * piece, "allocation")]
    assert ([next_one, *known_ends] in found) == is_known
    assert all(ends in ([next_one, *known_ends], [next_one, *unknown_ends]) for ends in found)
