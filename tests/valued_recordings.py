"""Recordings with values of nodes, as a test plans them: kernels given memory of four floats."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from planned_recordings import Plan, Planned, in_a_row

from gviz.cuda import ElementType, NodeType
from gviz.recording import NodeValue, ValueReading, contents_folder, contents_name
from gviz.recording.writer import RecordingWriter

#: Where the memory of a letter lies: A is the first.
BASE, BYTES = 0x7F00_0000_0000, 16


def address_of(letter: str) -> int:
    """Return where the memory of a letter begins."""
    return BASE + BYTES * (ord(letter) - ord("A"))


@dataclass(frozen=True)
class Ran:
    """A kernel ``(float* out, const float* x, const float* y)``, what it left, and what varies.

    ``given`` are letters of memory, one an argument.
    """

    name: str
    given: str
    left: Sequence[float] = (1.0, 1.0, 1.0, 1.0)
    varies: bool = False
    kind: NodeType = NodeType.KERNEL


def values_writer(
    ran: Sequence[Ran],
    memory: dict[str, Sequence[float]],
    *,
    element: ElementType = ElementType.FLOAT,
    refusal: str | None = None,
    eager: Sequence[Ran] | None = None,
) -> Callable[[RecordingWriter], None]:
    """Return what writes the values of nodes that ran one after the other.

    Parameters
    ----------
    memory
        What it holds before the launch, by letter; missing ones hold zeros.
    eager
        What the same work left by stream calls, which were read too; None: they were not.
    """

    def write(writer: RecordingWriter) -> None:
        writer.insert(
            ValueReading(
                reading_id=1, run_id=1, graph_id=1, graph_exec_id=1, results="equal",
                repeats="different" if any(one.varies for one in ran) else "equal", start_ns=1,
                held_ns=9_000_000, saved_bytes=1 << 20, probed_bytes=2 * BYTES * len(ran),
                plain_ns=5_000, probed_ns=50_000, unexplained_bytes=0,
            )
        )  # fmt: skip
        if refusal is not None:
            writer.insert(
                ValueReading(
                    reading_id=2, run_id=1, graph_id=1, graph_exec_id=1, refusal=refusal
                )
            )  # fmt: skip
        _write_ran(writer, 1, ran, memory, element)
        if eager is not None:
            of_calls = ValueReading(reading_id=3, run_id=1, graph_id=1, graph_exec_id=None)
            writer.insert(of_calls)
            _write_ran(writer, 3, eager, memory, element)

    return write


def _write_ran(
    writer: RecordingWriter, reading_id: int, ran: Sequence[Ran],
    memory: dict[str, Sequence[float]], element: ElementType,
) -> None:  # fmt: skip
    held = {letter: np.array(values, np.float32) for letter, values in memory.items()}
    for place, one in enumerate(ran):
        before = {x: held.get(x, np.zeros(4, np.float32)) for x in one.given}
        after = before | {one.given[0]: np.array(one.left, np.float32)}
        for position, letter in enumerate(one.given):
            sides = [("before", before[letter], False)]
            if before[letter].tobytes() != after[letter].tobytes():
                sides.append(("after", after[letter], one.varies))
            for side, values, varies in sides:
                found = _value(place, position, letter, side, values, varies, one.kind, element)
                writer.insert(replace(found, reading_id=reading_id))
        held |= after


def _value(
    place: int, position: int, letter: str, side: str, values: np.ndarray, varies: bool,
    kind: NodeType, element: ElementType,
) -> NodeValue:  # fmt: skip
    finite = values[np.isfinite(values)]
    told = element != ElementType.BYTES
    some = told and len(finite)
    return NodeValue(
        reading_id=1, graph_id=1, node_id=place, position=position, offset=0, start=0, side=side,
        place=place, address=address_of(letter), bytes=BYTES,
        extent="next" if kind == NodeType.KERNEL else "reported", element=element,
        hash=zlib.crc32(values.tobytes()), varies=int(varies),
        nan_count=int(np.isnan(values).sum()) if told else None,
        infinite_count=int(np.isinf(values).sum()) if told else None,
        zero_count=int((values == 0).sum()) if told else None,
        finite_count=len(finite) if told else None,
        least=float(finite.min()) if some else None,
        greatest=float(finite.max()) if some else None,
        mean=float(finite.mean()) if some else None,
    )  # fmt: skip


def keep_values(recording: Path, values: Sequence[float]) -> Path:
    """Keep contents beside a recording, as those of the memory that held them; return the file."""
    held = np.array(values, np.float32)
    name = contents_name(zlib.crc32(held.tobytes()), held.nbytes, BASE, ElementType.FLOAT)
    folder = contents_folder(recording)
    folder.mkdir(exist_ok=True)
    np.save(folder / f"{name}.npy", held)
    return folder / f"{name}.npy"


def write_values(
    path: Path,
    ran: Sequence[Ran],
    edges: Sequence[tuple[int, int]] | None = None,
    memory: dict[str, Sequence[float]] | None = None,
    values: bool = True,
    **options: Any,
) -> Path:
    """Write a recording of nodes with their values; ``edges``: None of a chain."""
    chain = [(at, at + 1) for at in range(len(ran) - 1)]
    plan = Plan(
        in_a_row(*(Planned(one.name, duration_ns=2_000, kind=one.kind) for one in ran)),
        chain if edges is None else edges,
        parameters="float*, const float*, const float*",
        more=values_writer(ran, memory or {}, **options) if values else None,
    )
    return plan.write(path)
