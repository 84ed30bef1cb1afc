"""The order of a job's recordings: by rank."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gviz.errors import RecordingError
from gviz.recording import Recording


def in_order(paths: Sequence[Path]) -> list[Path]:
    """Return recordings by the rank of their first run; refuse a run that is in two of them."""
    seen: dict[tuple[object, ...], Path] = {}
    ranks: list[float] = []
    for path in paths:
        with Recording(path) as recording:
            runs = recording.fetch_runs()
        for run in runs:
            found = (run.host, run.process_id, run.started_ns, run.name)
            if run.started_ns is None:
                continue
            other = seen.setdefault(found, path)
            if other is not path and not other.samefile(path):
                raise RecordingError(
                    f"{path} and {other} hold the same run, {run.name} (process "
                    f"{run.process_id} of {run.host}); leave one of them out"
                )
        recorded = [run.rank for run in runs if run.rank is not None]
        ranks.append(min(recorded, default=float("inf")))
    # Files of equal rank stay in the order given.
    return [paths[i] for i in sorted(range(len(paths)), key=lambda i: ranks[i])]
