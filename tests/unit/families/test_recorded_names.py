"""Every kernel of the bundled and golden recordings, traces and dumps has a family or a reason."""

from __future__ import annotations

import gzip
import json
import lzma
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path

import pytest
from places import TESTS

from gviz.assets import recordings as bundled
from gviz.cuda import NodeType, short_name
from gviz.families import Kind, family_of, kernel_label

_BUNDLED = Path(next(iter(bundled.__path__)))
_GOLDEN = TESTS / "golden"
#: Kernels whose names say nothing of what they do, by who wrote them.
UNKNOWN = {
    "cupy_pipeline.py": {"blur"},
    "graph_lives.py": {"go_on", "heat", "judge", "relax"},
    "bench/gpu_findings.py": {"head_5us", "tail_5us", "work_5us", "work_15us"},
    "programs of schema_3.gviz and of the driver's dumps": {"k", "loop", "vector", "work"},
    "cuda samples' conditional graphs": {
        "doWhileEmptyKernel", "doWhileLoopKernel", "ifGraphKernelA", "ifGraphKernelC",
        "ifGraphKernelD", "switchGraphKernelA", "switchGraphKernelC", "switchGraphKernelD",
        "switchGraphKernelE", "switchGraphKernelF",
    },
}  # fmt: skip


def _of_recording(path: Path) -> Iterator[str]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        yield from (name for (name,) in connection.execute(
            "SELECT mangled_name FROM kernel_function UNION SELECT name FROM node WHERE type=? AND "
            "function_id IS NULL UNION SELECT name FROM stream_operation WHERE type=? AND "
            "function_id IS NULL",
            (NodeType.KERNEL, NodeType.KERNEL),
        ))  # fmt: skip


def _of_trace(path: Path) -> Iterator[str]:
    read = gzip.open if path.suffix == ".gz" else lzma.open
    with read(path) as file:
        events = json.load(file)["traceEvents"]
    yield from (e["name"] for e in events if e.get("cat") == "kernel")


@cache
def _names() -> dict[str, str]:
    """Return every name with a file that has it."""
    found: dict[str, str] = {}
    for path in sorted([*_BUNDLED.glob("*.gviz"), *_GOLDEN.rglob("*.gviz")]):
        found |= dict.fromkeys(_of_recording(path), path.name)
    for path in sorted(_GOLDEN.glob("traces/*.json.*")):
        found |= dict.fromkeys(_of_trace(path), path.name)
    for path in sorted(_GOLDEN.rglob("*.dot")):
        symbols = re.findall(r"_Z\w+", path.read_text(errors="replace"))
        found |= dict.fromkeys(symbols, path.name)
    return found


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the names with those of golden recordings."""
    found, folder = dict(_names()), tmp_path_factory.mktemp("golden")
    for path in sorted(_GOLDEN.rglob("*.gviz.xz")):
        unpacked = folder / path.stem
        unpacked.write_bytes(lzma.decompress(path.read_bytes()))
        found |= dict.fromkeys(_of_recording(unpacked), path.name)
    return found


def test_every_recorded_name_has_a_family_or_stands_among_the_unknown(
    names: dict[str, str],
) -> None:
    unknown = {short_name(name) for name in names if family_of(name).kind is Kind.UNKNOWN}
    assert len(names) > 100
    assert unknown == set().union(*UNKNOWN.values())


def test_short_name_has_the_kind_of_its_symbol(names: dict[str, str]) -> None:
    differing = {
        short_name(name) for name in names
        if family_of(name).kind is not family_of(short_name(name)).kind
    }  # fmt: skip
    # A cublasLt kernel whose namespace alone says whose it is.
    assert differing == {"globalKernel<float>"}


def test_gemms_of_recordings_have_types_tile_and_tensor_cores(names: dict[str, str]) -> None:
    families = {name: family_of(name) for name in names}
    gemms = {name: f for name, f in families.items() if f.kind is Kind.GEMM}
    assert {f.data_types[0] for f in gemms.values()} == {"f16", "f32"}
    assert all(f.tensor_cores is (f.data_types[0] == "f16") for f in gemms.values())
    assert {short_name(name)[:13] for name, f in gemms.items() if f.tile is None} == {
        "sgemm_largek_"
    }


def test_labels_of_recorded_names_stand_in_the_table(names: dict[str, str]) -> None:
    table = json.loads((TESTS / "labels.json").read_text())
    assert {short_name(name): kernel_label(name) for name in names} == table
