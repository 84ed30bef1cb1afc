"""Differences between two runs besides the program, and the identity of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gviz.comparison.diff_result import Circumstance, RunRef
from gviz.recording import rows

if TYPE_CHECKING:
    from gviz.recording import Recording


def run_ref(recording: Recording, run: rows.Run) -> RunRef:
    """Return a run as results name it."""
    return RunRef(
        path=str(recording.path),
        run_id=run.run_id,
        name=run.name,
        started_ns=run.started_ns,
        git_revision=run.git_revision,
        git_dirty=None if run.git_dirty is None else bool(run.git_dirty),
    )


def pair_runs(
    first: Sequence[rows.Run], second: Sequence[rows.Run]
) -> list[tuple[rows.Run, rows.Run]]:
    """Return which run of a recording is which of another.

    By rank where all have one of their own, else in order; what is left over has no partner.
    """
    ranks = [[run.rank for run in side] for side in (first, second)]
    if all(None not in side and len(set(side)) == len(side) for side in ranks):
        by_rank = {run.rank: run for run in second}
        return [(run, by_rank[run.rank]) for run in first if run.rank in by_rank]
    return list(zip(first, second, strict=False))


def circumstances(
    first: Recording, before: rows.Run, second: Recording, after: rows.Run
) -> tuple[Circumstance, ...]:
    """Return what differs besides the program."""
    sides = [dict(_facts(r, run)) for r, run in ((first, before), (second, after))]
    return tuple(
        Circumstance(what, *(side.get(what, "") for side in sides))
        for what in dict.fromkeys(what for side in sides for what in side)
        if sides[0].get(what) != sides[1].get(what)
    )


def devices_text(recording: Recording, run_id: int) -> str:
    """Return the GPUs of a run: ``NVIDIA H100``, ``2 × NVIDIA H200``."""
    names = Counter(device.name for device in recording.fetch_devices(run_id))
    return ", ".join(name if n == 1 else f"{n} × {name}" for name, n in names.items())


def _facts(recording: Recording, run: rows.Run) -> Iterator[tuple[str, str]]:
    facts = (
        ("GPU", devices_text(recording, run.run_id)),
        ("host", run.host),
        ("CUDA of the driver", run.driver_version),
        ("Python", run.python_version),
        ("gviz", run.gviz_version),
        ("collector", run.collector),
        ("node times of", run.node_launches and f"{run.node_launches} launches"),
    )
    yield from ((what, value) for what, value in facts if value)
    for library in recording.fetch_libraries(run.run_id):
        yield library.name, library.version
