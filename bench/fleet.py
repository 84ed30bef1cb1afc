"""Cost and accuracy of fleets: ranks a second, bytes a rank, questions, what of planted is found.

    python -P bench/fleet.py [--ranks N ...]  by default 16, 64 and 256; --seeds N fleets without
                                              a slow rank are looked through for false alarms,
                                              --group N ranks are in a communicator (0: all)

Ranks are made of a real recording (tests/fleet_recordings.py), and built by as many processes as
there are cores.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from fleet_recordings import Truth, host_of, plant, simulate_own_work, write_fleet

from gviz.fleet import (
    FleetReport,
    ask,
    build_fleet,
    dask_mapper,
    find_sources,
    read_overview,
    read_report,
)
from gviz.fleet.answers.stragglers import find_slow
from gviz.fleet.answers.views import VIEWS

_FALSE_ALARM_RANKS = 256


def main() -> int:
    """Print a block of figures for each number of ranks."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", nargs="+", type=int, default=[16, 64, 256])
    parser.add_argument("--group", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=100)
    arguments = parser.parse_args()
    for ranks in arguments.ranks:
        with tempfile.TemporaryDirectory(prefix="gviz-bench-fleet-") as folder:
            _measure(Path(folder), ranks, arguments.group)
    if not arguments.seeds:
        return 0
    with tempfile.TemporaryDirectory(prefix="gviz-bench-fleet-") as folder:
        _count_false_alarms(Path(folder), arguments.seeds)
    return 0


def _measure(folder: Path, ranks: int, group: int) -> None:
    planted = plant(ranks, 1, slow=min(12, ranks // 5), divergent=min(3, ranks // 16))
    truth = replace(planted, group=group, slow_links={1: 3_000} if group else {})
    recordings, target = folder / "recordings", str(folder / "fleet")
    recordings.mkdir()
    _, made = _timed(lambda: sum(path.stat().st_size for path in write_fleet(recordings, truth)))
    sources = find_sources([str(recordings)])
    with dask_mapper() as mapper:

        class Open:
            def __enter__(self) -> Any:
                return mapper

            def __exit__(self, *error: object) -> None:
                return None

        built, seconds = _timed(lambda: build_fleet(sources, target, Open))
    size = sum(path.stat().st_size for path in Path(target).rglob("*") if path.is_file())
    print(f"{ranks} ranks: made in {made:.1f} s, built in {seconds:.1f} s "
          f"({built.added_count / seconds:.0f} ranks/s), {size / ranks / 1e3:.1f} kB a rank, "
          f"{_processor_seconds():.0f} CPU-s so far, {_peak_mb():.0f} MB at most here")  # fmt: skip
    for view in VIEWS:
        _, took = _timed(
            lambda name=view.name: ask(
                target, f"SELECT * FROM {name} LIMIT 100", most_rows=100, seconds=60
            )
        )
        print(f"  {view.name}: {took:.2f} s")
    report, took = _timed(lambda: read_report(target))
    print(f"  report: {took:.2f} s")
    _, took = _timed(lambda: read_overview(target))
    print(f"  overview: {took:.2f} s; {_peak_mb():.0f} MB at most here")
    _compare(report, truth)


def _compare(report: FleetReport, truth: Truth) -> None:
    """Print what was found of what was planted."""
    slow = {one.rank.rank: one for one in report.slow}
    planted = set(truth.slow)
    right = [r for r in planted & set(slow) if slow[r].layer == f"layer {truth.slow[r][0]}"]
    other = {one.rank.rank for one in report.divergent}
    print(f"  slow ranks found: {len(planted & set(slow))} of {len(planted)}, in the right layer "
          f"{len(right)}, false {len(set(slow) - planted)}; divergent found: "
          f"{len(other & truth.divergent)} of {len(truth.divergent)}, "
          f"false {len(other - truth.divergent)}")  # fmt: skip
    if truth.group:
        links = sorted((x.first_rank or 0) // truth.group for x in report.slow_links)
        print(f"  slow communicators found: {links}, planted {sorted(truth.slow_links)}")
    first = truth.clocks[host_of(0)]
    errors = [
        abs(clock.offset_ns - (truth.clocks[clock.host][0] - first[0]))
        for clock in report.clocks
        if clock.offset_ns is not None
    ]
    if errors:
        stated = max(clock.residual_ns or 0.0 for clock in report.clocks)
        print(f"  clocks of {len(errors)} machines: at most {max(errors):.0f} ns from the planted "
              f"offset; stated error {stated:.0f} ns")  # fmt: skip


def _count_false_alarms(folder: Path, seeds: int) -> None:
    """Print how many ranks are called slow in fleets of which none is."""
    alarms = []
    for own in simulate_own_work(folder, _FALSE_ALARM_RANKS, seeds):
        alarms.append(int(find_slow(own, own - np.median(own)).sum()))
    print(f"false alarms: {sum(alarms)} ranks in {sum(map(bool, alarms))} of {len(alarms)} fleets "
          f"of {_FALSE_ALARM_RANKS} ranks without a slow one")  # fmt: skip


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    begun = time.perf_counter()
    return work(), time.perf_counter() - begun


def _processor_seconds() -> float:
    found = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in found)


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


if __name__ == "__main__":
    sys.exit(main())
