"""The plan of what is measured: quickly, or in full."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gviz.analysis import Figure
from gviz.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that was not measured: of which experiment, what of it, and why."""

    experiment: str
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    """Values to vary and numbers of readings.

    Attributes
    ----------
    device
        CUDA device ordinal.
    lengths
        Operations of straight lines.
    branched_lengths
        Operations of shapes with branches, about.
    line_widths
        Widths of parallel lines.
    repeats
        Readings of a launch; ``warm_up`` more come before.
    lives
        Executables made and destroyed for each graph.
    fresh
        Fresh contexts for what is done for the first time, each length; opening one takes
        0.2 to 0.5 s.
    kernel_us
        Kernel durations in microseconds.
    batches
        Batch sizes of the transformer.
    threads
        Host threads that launch at once.
    traffic_ms
        How long launches go on while traffic is watched.
    """

    device: int
    lengths: tuple[int, ...]
    branched_lengths: tuple[int, ...]
    line_widths: tuple[int, ...]
    repeats: int
    lives: int
    fresh: int
    kernel_us: tuple[float, ...]
    batches: tuple[int, ...]
    threads: tuple[int, ...]
    traffic_ms: int
    warm_up: int = 3


def full_plan(device: int = 0) -> Plan:
    """Return what ``gviz bench`` measures."""
    return Plan(
        device=device,
        lengths=(1, 2, 4, 8, 16, 32, 64, 100, 128, 256, 512, 1000, 2000),
        branched_lengths=(4, 16, 64, 100, 256, 1000, 2000),
        line_widths=(1, 2, 4, 8, 16, 32, 64),
        repeats=50,
        lives=12,
        fresh=5,
        kernel_us=(1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000),
        batches=(1, 2, 4, 8, 16, 32),
        threads=(1, 2, 4, 8, 16),
        traffic_ms=1500,
    )


def quick_plan(device: int = 0) -> Plan:
    """Return what ``gviz bench --quick`` measures."""
    return Plan(
        device=device,
        lengths=(1, 2, 8, 32, 100, 512, 2000),
        branched_lengths=(16, 100, 1000),
        line_widths=(1, 4, 16, 64),
        repeats=20,
        lives=5,
        fresh=2,
        kernel_us=(1, 5, 20, 100, 1000),
        batches=(1, 4, 16),
        threads=(1, 4, 8),
        traffic_ms=500,
    )


@dataclass(frozen=True, slots=True)
class Experiment:
    """One experiment: its name in the recording, what a progress bar calls it, and how it goes.

    ``weight`` is its share of the whole's time, in about seconds on an H100.
    """

    name: str
    title: str
    measure: Callable[[Plan], Iterator[Figure | Gap]]
    weight: float
