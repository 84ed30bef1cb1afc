"""Recordings of the ranks of a job: one program on several GPUs, with a slow or a late one."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nested_recordings import Part, chain, write_nested_recording
from recordings import STARTED_NS, Shape, Work, write_recording

COLLECTIVE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
#: A layer: two kernels, then a collective.
_SHAPE = Shape(
    "step",
    (
        Work("gemm_kernel", 20_000),
        Work("norm_kernel", 6_000, (0,)),
        Work(COLLECTIVE, 10_000, (1,)),
        Work("update_kernel", 8_000, (2,)),
    ),
)


@dataclass(frozen=True, slots=True)
class Planted:
    """Differences planted in a rank.

    Attributes
    ----------
    slow
        Node by place to how much longer it takes (ns); the others wait in the collective.
    late_ns
        How much later its launches start.
    host
        Its machine.
    extra
        Kernels at the end that the others' graph lacks.
    """

    slow: tuple[tuple[int, int], ...] = ()
    late_ns: int = 0
    host: str = "node017"
    extra: tuple[str, ...] = ()


def write_ranks(folder: Path, planted: Sequence[Planted], launches: int = 20) -> list[Path]:
    """Write a recording a rank, ``rank0.gviz`` and so on."""
    return [_write_rank(folder, rank, plan, launches) for rank, plan in enumerate(planted)]


def step_with_loop(
    iterations: Sequence[int], *, slow_ns: int = 0, arrival_ns: int = 0, last: bool = False
) -> tuple[Part, ...]:
    """Return the nodes of a step with a loop, whose turns end in a collective, and a child graph.

    Parameters
    ----------
    turns
        Of the loop, by launch, over and over.
    slow_ns
        How much longer a kernel of the loop takes here.
    arrival_ns
        How much longer the collective takes: it waits for the rank which is slow.
    last
        Whether the loop has a kernel more at its end than elsewhere.
    """
    loop = (
        Part("attend", 9_000 + slow_ns),
        Part("project", 5_000, (0,)),
        Part(COLLECTIVE, 10_000 + arrival_ns, (1,)),
    )
    loop += (Part("extra", 3_000, (2,)),) if last else ()
    return (
        Part("load", 3_000),
        Part(
            "CONDITIONAL WHILE", after=(0,), kind="while", bodies=(loop,), taken=tuple(iterations)
        ),
        Part("GRAPH", after=(1,), kind="child", bodies=(chain("pack", "send"),)),
        Part("store", 2_500, (2,)),
    )


def write_nested_ranks(
    folder: Path, graphs: Sequence[tuple[Part, ...]], launches: int = 12
) -> list[Path]:
    """Write a recording a rank of graphs with bodies in them, ``rank0.gviz`` and so on."""
    return [
        _mark(
            write_nested_recording(
                folder / f"rank{rank}.gviz", parts, launches=launches, seed=rank
            ),
            rank,
            Planted(),
        )
        for rank, parts in enumerate(graphs)
    ]


def _write_rank(folder: Path, rank: int, plan: Planted, launches: int) -> Path:
    works = list(_SHAPE.works)
    for place, longer in plan.slow:
        works[place] = replace(works[place], duration_ns=works[place].duration_ns + longer)
    works += [Work(name, 3_000, (3,)) for name in plan.extra]
    path = write_recording(
        folder / f"rank{rank}.gviz", Shape("step", tuple(works)), launches=launches, eager=False,
        seed=rank,
    )  # fmt: skip
    return _mark(path, rank, plan)


def _mark(path: Path, rank: int, plan: Planted) -> Path:
    """Make a recording that of a rank."""
    with sqlite3.connect(path) as database:
        database.execute(
            "UPDATE run SET rank=?, host=?, process_id=?, started_ns=?, name=?",
            (rank, plan.host, 4242 + rank, STARTED_NS + rank, f"train rank {rank}"),
        )
        database.execute(
            "UPDATE launch SET gpu_start_ns = gpu_start_ns + ?, gpu_end_ns = gpu_end_ns + ?",
            (plan.late_ns, plan.late_ns),
        )
    database.close()
    return path
