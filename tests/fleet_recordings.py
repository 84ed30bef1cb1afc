"""Ranks of a fleet, made of a real recording: one rank of it, perturbed, with the truth beside it.

The real one is a decode step of 8 layers that each end in an all-reduce (ranks_h200.gviz). Each
made rank keeps its graph, its launches and the gaps between its nodes. Kernels of a rank take a
little more or less, those of a planted straggler much more in one layer; whoever arrives early in
an all-reduce waits there until the last rank has come, and all leave it together. Times of a host
are on its own clock. Two passes, a rank at a time: the first finds when the last one arrives, the
second writes, in any order and in any process.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from places import ROOT

from gviz.cuda import topology_hash
from gviz.recording import rows, table_of
from gviz.stats import FloatArray, IntArray, node_statistics

BASE = ROOT / "assets" / "recordings" / "ranks_h200.gviz"
#: An all-reduce that nobody waits in (ns), and how far apart ranks leave it.
COLLECTIVE_NS, LEAVE_NS = 6_000, 150
#: From one launch to the next (ns), so that clocks have time to drift apart.
PERIOD_NS = 1_000_000_000
#: Variation of a kernel from launch to launch, and of a GPU beside others.
JITTER, GPU_SPREAD = 0.01, 0.003
RANKS_PER_HOST = 8
#: Of a rank that is slow all over, such as on a GPU with a lower clock.
EVERY_LAYER = -1


@dataclass(frozen=True, slots=True)
class Truth:
    """Differences planted in a fleet.

    Attributes
    ----------
    ranks
        Their number.
    seed
        Decides about all else that varies.
    slow
        Rank to its slow layer, and how many times as long its kernels take there.
    divergent
        Ranks that launch another graph.
    clocks
        Host to the offset of its clock (ns) and its drift (parts per million).
    since
        Slow rank to the launch, among those with node times, from which it is slow; else the first.
    group
        Ranks of a communicator, which follow each other; 0: all are in one.
    slow_links
        Communicator to how much longer (ns) its collectives take when nobody is awaited.
    throttled
        Ranks whose GPU is hot and clocked lower.
    """

    ranks: int
    seed: int = 0
    slow: Mapping[int, tuple[int, float]] = field(default_factory=dict)
    divergent: frozenset[int] = frozenset()
    clocks: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    since: Mapping[int, int] = field(default_factory=dict)
    group: int = 0
    slow_links: Mapping[int, int] = field(default_factory=dict)
    throttled: frozenset[int] = frozenset()

    def communicator(self, rank: int) -> int:
        """Return the communicator of a rank, numbered from 0."""
        return rank // self.group if self.group else 0

    def clock(self, rank: int) -> tuple[int, float]:
        """Return offset and drift of the clock of a rank's machine."""
        return self.clocks.get(host_of(rank), (0, 0.0))


def host_of(rank: int) -> str:
    """Return the machine of a rank."""
    return f"node{rank // RANKS_PER_HOST:04}"


def plant(ranks: int, seed: int, *, slow: int = 12, divergent: int = 3) -> Truth:
    """Return a fleet with stragglers, divergent ranks and clocks of its own, chosen by the seed."""
    random = np.random.default_rng([seed, ranks])
    chosen = random.choice(ranks, min(slow + divergent, ranks), replace=False).tolist()
    hosts = dict.fromkeys(host_of(rank) for rank in range(ranks))
    return Truth(
        ranks,
        seed,
        {r: (int(random.integers(8)), float(random.uniform(1.3, 2.0))) for r in chosen[:slow]},
        frozenset(chosen[slow:]),
        {h: (int(random.normal(0, 2e6)), float(random.normal(0, 20))) for h in hosts},
    )


@dataclass(frozen=True)
class _Base:
    """The launches of the real rank that have node times; rows are launches, columns nodes."""

    path: Path
    started_ns: int
    node_id: IntArray
    duration: FloatArray
    gap: FloatArray
    is_collective: np.ndarray
    launch_id: IntArray
    ordinal: IntArray

    @cached_property
    def collectives(self) -> list[int]:
        """Columns of collectives, in order of time."""
        found: list[int] = np.flatnonzero(self.is_collective).tolist()
        return found

    @cached_property
    def layer(self) -> IntArray:
        """The layer of each column: as many collectives are before it."""
        return np.cumsum(self.is_collective) - self.is_collective


@dataclass(frozen=True)
class RankWriter:
    """Writes the ranks of a fleet, each by itself, in whichever process has this."""

    truth: Truth
    base: _Base
    longest: Mapping[int, FloatArray]

    def path(self, rank: int) -> Path:
        """Return where the recording of a rank is written."""
        return self.base.path.with_name(f"rank{rank:05}.gviz")

    def write(self, rank: int) -> Path:
        """Write the recording of a rank."""
        longest = self.longest[self.truth.communicator(rank)]
        return _write_rank(self.path(rank), self.base, self.truth, rank, longest)

    def write_head(self, rank: int) -> Path:
        """Write a recording that says who the rank is, with the times of the real one."""
        with _copy(self.base, self.path(rank)) as database:
            _update_run(database, self.base, self.truth, rank)
        return self.path(rank)


def prepare_ranks(base_path: Path, truth: Truth) -> RankWriter:
    """Find when the last rank comes to each collective.

    Parameters
    ----------
    base_path
        The real rank (:func:`cut_rank`), beside which the others are written.
    """
    base = _read_base(base_path)
    shape = (len(base.launch_id), len(base.collectives))
    longest: dict[int, FloatArray] = {}
    for rank in range(truth.ranks):
        among = truth.communicator(rank)
        arrivals = _arrivals(base, *_work(base, truth, rank))
        longest[among] = np.maximum(longest.get(among, np.full(shape, -np.inf)), arrivals)
    return RankWriter(truth, base, longest)


def write_fleet(folder: Path, truth: Truth) -> Iterator[Path]:
    """Write the ranks of a fleet, each when it is asked for; folder is there."""
    writer = prepare_ranks(cut_rank(folder / "base.sqlite"), truth)
    for rank in range(truth.ranks):
        yield writer.write(rank)
    writer.base.path.unlink()


def simulate_own_work(folder: Path, ranks: int, seeds: int) -> Iterator[FloatArray]:
    """Yield the own work (ns) of each rank of fleets in which none is slow, a fleet a seed."""
    base = _read_base(cut_rank(folder / "base.sqlite"))
    for seed in range(seeds):
        truth = Truth(ranks, seed)
        yield np.array(
            [float(np.median(_work(base, truth, at)[0], axis=0).sum()) for at in range(ranks)]
        )
    base.path.unlink()


def cut_rank(path: Path) -> Path:
    """Write the first rank of the real recording, alone."""
    shutil.copy(BASE, path)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM span WHERE launch_id IN (SELECT launch_id FROM launch "
                         "WHERE run_id <> 1)")  # fmt: skip
        for table in ("node", "argument", "node_statistics", "node_parameter"):
            database.execute(f"DELETE FROM {table} WHERE graph_id <> 1")
        for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type='table'"):
            columns = {row[1] for row in database.execute(f"PRAGMA table_info({table})")}
            if "run_id" in columns:
                database.execute(f"DELETE FROM {table} WHERE run_id <> 1")
        for table in ("launch_cost", "launch_bin"):
            database.execute(f"DELETE FROM {table} WHERE graph_exec_id <> 1")
        database.commit()
        database.execute("VACUUM")
    return path


def _read_base(path: Path) -> _Base:
    with closing(sqlite3.connect(path)) as database:
        spans = np.array(database.execute(
            "SELECT launch_id, node_id, start_ns, duration_ns FROM span "
            "ORDER BY launch_id, start_ns"
        ).fetchall())  # fmt: skip
        launches = np.array(database.execute(
            "SELECT launch_id, ordinal FROM launch WHERE side = 'graph' AND span_count > 0 "
            "ORDER BY launch_id"
        ).fetchall())  # fmt: skip
        names = dict(database.execute("SELECT node_id, name FROM node"))
        (started,) = database.execute("SELECT started_ns FROM run").fetchone()
    shape = (len(launches), -1)
    node, start, duration = (spans[:, at].reshape(shape) for at in (1, 2, 3))
    gap = start - np.concatenate(
        (np.zeros((len(start), 1), np.int64), (start + duration)[:, :-1]), 1
    )
    return _Base(
        path, started, node[0], duration.astype(float), gap.astype(float),
        np.array([names[n].startswith("nccl") for n in node[0].tolist()]),
        launches[:, 0], launches[:, 1],
    )  # fmt: skip


def _work(base: _Base, truth: Truth, rank: int) -> tuple[FloatArray, FloatArray]:
    """Return a rank's durations of kernels (launch, node), and how late each launch starts."""
    random = np.random.default_rng([truth.seed, rank])
    usual = np.median(base.duration, axis=0)
    found = usual * random.normal(1.0, JITTER, base.duration.shape)
    found *= random.normal(1.0, GPU_SPREAD)
    if rank in truth.slow:
        layer, times = truth.slow[rank]
        chosen = np.flatnonzero((base.layer == layer) | (layer == EVERY_LAYER))
        found[truth.since.get(rank, 0) :, chosen] *= times
    found[:, base.is_collective] = 0.0
    late = random.exponential(2_000.0, len(found))
    if truth.group:
        # Each communicator goes at its own pace.
        among = np.random.default_rng([truth.seed, truth.communicator(rank), 2])
        late = late + among.exponential(30_000.0, len(found))
    return found, late


def _arrivals(base: _Base, work: FloatArray, late: FloatArray) -> FloatArray:
    """Return how long after the last collective a rank comes to the next one (launch, collective).

    To the first one: after the launch could have begun.
    """
    busy = np.cumsum(work + base.gap, axis=1)[:, base.collectives]
    arrivals: FloatArray = np.diff(busy, axis=1, prepend=0.0)
    arrivals[:, 0] += late
    return arrivals


def _write_rank(path: Path, base: _Base, truth: Truth, rank: int, longest: FloatArray) -> Path:
    work, late = _work(base, truth, rank)
    random = np.random.default_rng([truth.seed, rank, 1])
    waits = longest - _arrivals(base, work, late)
    alone = COLLECTIVE_NS + truth.slow_links.get(truth.communicator(rank), 0)
    work[:, base.collectives] = waits + alone + random.normal(0, LEAVE_NS, waits.shape)
    duration = np.maximum(np.rint(work), 1).astype(np.int64)
    end = np.cumsum(duration + np.rint(base.gap).astype(np.int64), axis=1)
    offset, drift = truth.clock(rank)
    true = base.ordinal * PERIOD_NS + np.rint(late).astype(np.int64)
    begun = base.started_ns + true + offset + np.rint(true * drift * 1e-6).astype(np.int64)
    with _copy(base, path) as database:
        _update_run(database, base, truth, rank)
        _update_times(database, base, end - duration, duration, begun)
        if rank in truth.divergent:
            _diverge(database)
    return path


@contextmanager
def _copy(base: _Base, path: Path) -> Iterator[sqlite3.Connection]:
    """Copy the real rank, and open the copy for one change."""
    shutil.copy(base.path, path)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode = OFF")
        database.execute("PRAGMA synchronous = OFF")
        database.execute("BEGIN")
        yield database
        database.execute("COMMIT")


def _update_run(database: sqlite3.Connection, base: _Base, truth: Truth, rank: int) -> None:
    offset, _ = truth.clock(rank)
    database.execute(
        "UPDATE run SET rank = ?, host = ?, process_id = ?, started_ns = ?, ended_ns = ?, "
        "name = ?, command = ?",
        (rank, host_of(rank), 1_000 + rank, base.started_ns + offset,
         base.started_ns + offset + 61 * PERIOD_NS, f"decode rank {rank}", "python ranks.py"),
    )  # fmt: skip
    random = np.random.default_rng([truth.seed, rank, 3])
    is_low = rank in truth.throttled
    state = rows.GpuInterval(
        run_id=1, device_id=0, start_ns=base.started_ns, end_ns=base.started_ns + PERIOD_NS,
        count=60, busy_count=60, sm_clock_mhz=1_980.0 - 15 * int(random.integers(2)) - 380 * is_low,
        temperature_celsius=float(random.normal(60, 2)) + 25 * is_low,
        slowed_count=60 * is_low, slowed_by="thermal slowdown" if is_low else None,
    )  # fmt: skip
    database.execute(table_of(rows.GpuInterval).insert_sql(), astuple(state))


def _update_times(
    database: sqlite3.Connection,
    base: _Base,
    start: IntArray,
    duration: IntArray,
    begun: IntArray,
) -> None:
    launches = np.repeat(base.launch_id, start.shape[1]).tolist()
    nodes = np.tile(base.node_id, len(start))
    spans = zip(
        start.ravel().tolist(), duration.ravel().tolist(), launches, nodes.tolist(), strict=True
    )
    database.executemany(
        "UPDATE span SET start_ns = ?, duration_ns = ? WHERE launch_id = ? AND graph_id = 1 "
        "AND node_id = ?",
        spans,
    )
    length = (start + duration)[:, -1]
    timed = zip(begun.tolist(), (begun + length).tolist(), (length + 8_000).tolist(),
                (begun - 9_000).tolist(), (begun - 3_000).tolist(),
                base.launch_id.tolist(), strict=True)  # fmt: skip
    database.executemany(
        "UPDATE launch SET gpu_start_ns = ?, gpu_end_ns = ?, event_duration_ns = ?, "
        "host_start_ns = ?, host_end_ns = ? WHERE launch_id = ?",
        timed,
    )
    found = node_statistics(nodes, duration.ravel(), start.ravel())
    columns = ("count", "total_ns", "median_ns", "p5_ns", "p95_ns", "min_ns", "max_ns")
    values = zip(*(getattr(found, name).tolist() for name in (*columns, "node_id")), strict=True)
    assignments = ", ".join(f"{name} = ?" for name in columns)
    database.executemany(
        f"UPDATE node_statistics SET {assignments} WHERE graph_id = 1 AND node_id = ?", values
    )


def _diverge(database: sqlite3.Connection) -> None:
    """Have a rank run another kernel in its first node."""
    other = "another_kernel"
    database.execute("UPDATE node SET name = ?, function_id = NULL WHERE node_id = 0", (other,))
    nodes = database.execute("SELECT type, name FROM node ORDER BY node_id").fetchall()
    edges = database.execute("SELECT from_node, to_node, type, from_port, to_port FROM edge "
                             "WHERE topology_id = 1").fetchall()  # fmt: skip
    shape = topology_hash([t for t, _ in nodes], [n for _, n in nodes], edges)
    database.execute("UPDATE topology SET hash = ? WHERE topology_id = 1", (shape,))
