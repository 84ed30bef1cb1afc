"""Fleets: how cost grows with the ranks, and what is found of what was planted.

Ranks are made of a real recording (tests/fleet_recordings.py), each where and when it is read: disk
holds a few of them at once. Rows are numbers of ranks; "wide" are ranks whose step has 2,410 nodes,
80 layers, not 49 of 8. A build has as many processes as there are cores. "making" is the processor
time of making a recording, "mapping" the wall time of a build a rank without it. Memory is the most
of the command and of its processes, summed; "at 10,000" what the data set would have of so many
such ranks; "disk" the most at once: the data set twice, while files are joined, and the recordings.
"slowest view" is that of all views, each asked for its first 100 rows. The page is that of 'gviz
fleet view' in headless Chromium, from navigation until its maps are drawn: by a server that has
just begun, with the processor time of the server, and again. Above the table stands what was found
of planted slow ranks, other graphs and clocks; the last line counts false alarms in fleets of which
no rank is slow.

Run: python -P bench/fleet.py [--ranks N ...] [--wide N ...] [--seeds N] [--group N]
(needs Chromium: GVIZ_CHROMIUM or on the path)
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from fleet_recordings import (
    Truth,
    cut_rank,
    host_of,
    plant,
    prepare_ranks,
    simulate_own_work,
)
from measuring.made_ranks import MakingMapper, save_writer
from measuring.pages import new_user, open_chromium
from measuring.processes import Server, forget_peak, memory_of, serve
from measuring.report import Figure, Report
from measuring.wide_step import widen_step
from playwright.sync_api import BrowserContext

from gviz.fleet import (
    FleetReport,
    ask,
    build_fleet,
    dask_mapper,
    read_report,
)
from gviz.fleet.answers.stragglers import find_slow
from gviz.fleet.answers.views import VIEWS

_FALSE_ALARM_RANKS = 256
#: Goals: of mapping with two cores 20 ranks a second; memory of 4,096 ranks, size of 10,000.
_MAP_MS, _ANSWER_S, _MOST_MB, _LARGEST_MB, _DISK_MB = 50, 2, 1_000, 1_000, 2_000
#: Times as many layers as the real step has.
_WIDER = 10
_DRAWN = """async () => {
  while (!document.querySelector("#fleet-body .gv-chart .hm image, #fleet-body [role=alert]")) {
    await new Promise((done) => setTimeout(done, 4));
  }
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  return performance.now();
}"""


def main() -> int:
    """Print the table, and false alarms."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", nargs="*", type=int, default=[16, 64, 256, 1_024, 4_096, 10_000])
    parser.add_argument("--wide", nargs="*", type=int, default=[256])
    parser.add_argument("--group", type=int, default=0, help="ranks of a communicator; 0: all")
    parser.add_argument("--seeds", type=int, default=100)
    arguments = parser.parse_args()
    report = Report("fleet", {"group": arguments.group})
    for is_wide, counts in enumerate((arguments.ranks, arguments.wide)):
        for ranks in counts:
            name = f"{ranks:,}{' wide' * is_wide}"
            print(name)
            with tempfile.TemporaryDirectory(prefix="gviz-bench-fleet-") as folder:
                report.rows[name] = _measure(
                    Path(folder), ranks, arguments.group, is_wide=bool(is_wide)
                )
    if report.rows:
        report.print()
    if arguments.seeds:
        with tempfile.TemporaryDirectory(prefix="gviz-bench-fleet-") as folder:
            _count_false_alarms(Path(folder), arguments.seeds)
    return 0


def _measure(folder: Path, ranks: int, group: int, *, is_wide: bool) -> dict[str, Figure]:
    truth = plant(ranks, 1, slow=min(12, ranks // 5), divergent=min(3, ranks // 16))
    truth = replace(truth, group=group, slow_links={1: 3_000} if group else {})
    truth = replace(truth, throttled=frozenset({ranks // 3, ranks // 2}))
    base = cut_rank(folder / "base.sqlite")
    if is_wide:
        widen_step(base, layers=_WIDER, kernels=7)
        # As much of the step as in the other one: less than 1% is not reported.
        slow = {r: (layer, 1 + _WIDER * (times - 1)) for r, (layer, times) in truth.slow.items()}
        truth = replace(truth, slow=slow)
    target = str(folder / "fleet")
    figures = _build(base, truth, target)
    figures |= _ask(target)
    report, took = _timed(lambda: read_report(target))
    figures["report, s"] = Figure([took], _ANSWER_S)
    _compare(report, truth)
    return figures | _open_page(target)


# -- a build -----------------------------------------------------------------------------


def _build(base: Path, truth: Truth, target: str) -> dict[str, Figure]:
    writer, sources = save_writer(prepare_ranks(base, truth))
    with dask_mapper() as mapper:
        making = MakingMapper(mapper, writer)

        @contextmanager
        def opened() -> Iterator[MakingMapper]:
            yield making

        forget_peak()
        built, seconds = _timed(lambda: build_fleet(sources, target, opened))
    assert built.added_count == truth.ranks, built.failures[:1]
    workers = len(making.peaks)
    size = sum(path.stat().st_size for path in Path(target).rglob("*") if path.is_file())
    mine = memory_of(os.getpid())[1]
    memory = mine + sum(making.peaks.values())
    return {
        "built, s": Figure([seconds]),
        "making, ms": Figure([making.seconds / truth.ranks * 1e3]),
        "mapping, ms": Figure([(seconds - making.seconds / workers) / truth.ranks * 1e3], _MAP_MS),
        "memory, MB": Figure([memory / 1e6], _MOST_MB),
        "of it the command's, MB": Figure([mine / 1e6]),
        "kB a rank": Figure([size / truth.ranks / 1e3]),
        "at 10,000, MB": Figure([size / truth.ranks / 1e6 * 10_000], _LARGEST_MB),
        "disk, MB": Figure([(2 * size + workers * making.most_bytes) / 1e6], _DISK_MB),
        "manifest, MB": Figure([(Path(target) / "manifest.json").stat().st_size / 1e6]),
    }


# -- answers -----------------------------------------------------------------------------


def _ask(target: str) -> dict[str, Figure]:
    took = {}
    for view in VIEWS:
        sql = f"SELECT * FROM {view.name} LIMIT 100"
        _, took[view.name] = _timed(lambda sql=sql: ask(target, sql, most_rows=100, seconds=60))
    slowest = max(took, key=lambda name: took[name])
    print(f"  slowest view: {slowest}")
    return {"slowest view, s": Figure([took[slowest]], _ANSWER_S)}


def _open_page(target: str) -> dict[str, Figure]:
    command = ["-m", "gviz", "fleet", "view", target, "--no-browser", "--port", "0"]
    with serve(command) as server, open_chromium() as browser, new_user(browser, server) as context:
        before = server.cpu_s()
        first = _draw_page(context, server)
        taken = server.cpu_s() - before
        again = _draw_page(context, server)
        _, most = server.memory_bytes()
    return {
        "page, s": Figure([first], _ANSWER_S),
        "page cpu, s": Figure([taken]),
        "again, s": Figure([again], _ANSWER_S),
        "server, MB": Figure([most / 1e6]),
    }


def _draw_page(context: BrowserContext, server: Server) -> float:
    page = context.new_page()
    page.goto(server.address("fleet"), wait_until="commit")
    drawn = float(page.evaluate(_DRAWN)) / 1e3
    page.close()
    return drawn


# -- the planted truth -------------------------------------------------------------------


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
    hot = {one.rank.rank for one in report.gpu_outliers}
    print(f"  throttled GPUs found: {len(hot & truth.throttled)} of {len(truth.throttled)}, "
          f"false {len(hot - truth.throttled)}")  # fmt: skip
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


if __name__ == "__main__":
    sys.exit(main())
