"""All experiments, one after the other, each kept as soon as it is measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import field

from gviz.analysis import Figure, describe_slowed
from gviz.collectors.launchcost import native
from gviz.collectors.launchcost.contention import (
    JITTER,
    THREADS,
    measure_jitter,
    measure_threads,
)
from gviz.collectors.launchcost.device_launch import EXPERIMENT as DEVICE_LAUNCH
from gviz.collectors.launchcost.device_launch import measure_device_launch
from gviz.collectors.launchcost.kernels import (
    GAIN,
    IDLE,
    KINDS,
    measure_gain,
    measure_idle,
    measure_kinds,
    measure_python,
)
from gviz.collectors.launchcost.launches import EXPERIMENT as LAUNCH
from gviz.collectors.launchcost.launches import (
    SECOND_STREAM,
    measure_launches,
    measure_second_stream,
)
from gviz.collectors.launchcost.lives import LIFE, LOOP, measure_lives, measure_loops
from gviz.collectors.launchcost.native import Gpu
from gviz.collectors.launchcost.plan import Experiment, Gap, Plan
from gviz.collectors.launchcost.traffic import EXPERIMENT as TRAFFIC
from gviz.collectors.launchcost.traffic import measure_traffic
from gviz.collectors.launchcost.transformer import EXPERIMENT as BATCH
from gviz.collectors.launchcost.transformer import measure_batches
from gviz.cuda import GpuState, open_gpu
from gviz.dataclass import dataclass
from gviz.errors import CollectorError

#: A GPU that others use this much of the time is called busy.
_BUSY_PERCENT = 10

EXPERIMENTS = (
    Experiment(LAUNCH, "launches by shape and length", measure_launches, 12),
    Experiment(SECOND_STREAM, "one stream, two streams", measure_second_stream, 1),
    Experiment(LIFE, "capture, instantiation, updates", measure_lives, 15),
    Experiment(LOOP, "instantiate, update or launch again", measure_loops, 3),
    Experiment(GAIN, "gain by kernel duration", measure_gain, 12),
    Experiment(IDLE, "idle share of short kernels", measure_idle, 1),
    Experiment(KINDS, "kernels, memsets, copies", measure_kinds, 1),
    Experiment(THREADS, "several host threads", measure_threads, 2),
    Experiment(JITTER, "idle and busy host", measure_jitter, 2),
    Experiment(DEVICE_LAUNCH, "launches by the GPU itself", measure_device_launch, 5),
    Experiment("python", "launches from Python", measure_python, 3),
    Experiment(TRAFFIC, "traffic over PCIe", measure_traffic, 8),
    Experiment(BATCH, "a small transformer by batch size", measure_batches, 6),
)


@dataclass(slots=True)
class Results:
    """Measurements so far.

    Attributes
    ----------
    gpu
        The GPU; None until it was found.
    figures, gaps
        What was measured, and what was not and why.
    warnings
        What makes the figures doubtful: a busy or slowed GPU or host, with the evidence.
    seconds
        How long each experiment took.
    interrupted
        Whether the user ended it early.
    """

    gpu: Gpu | None = None
    figures: list[Figure] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    interrupted: bool = False


#: Called before each experiment and after each figure: which one, and how much is done (0 to 1).
Progress = Callable[[Experiment, float], None]


def run_bench(plan: Plan, progress: Progress) -> Results:
    """Make every experiment; what was measured before an interrupt is kept.

    Raises
    ------
    CollectorError
        If there is no GPU, or its driver is too old: nothing can be measured then.
    """
    results = Results()
    with native.laboratory(plan.device):
        results.gpu = native.describe()
    _look(results, "before", idle=True)
    total = sum(experiment.weight for experiment in EXPERIMENTS)
    done = 0.0
    try:
        for experiment in EXPERIMENTS:
            progress(experiment, done / total)
            start = time.monotonic()
            for result in _measure(experiment, plan):
                if isinstance(result, Figure):
                    results.figures.append(result)
                else:
                    results.gaps.append(result)
                spent = min(experiment.weight, time.monotonic() - start)
                progress(experiment, (done + 0.95 * spent) / total)
            results.seconds[experiment.name] = time.monotonic() - start
            done += experiment.weight
        _look(results, "after", idle=False)
    except KeyboardInterrupt:
        results.interrupted = True
    results.warnings += describe_slowed(results.figures)
    return results


def _measure(experiment: Experiment, plan: Plan) -> Iterator[Figure | Gap]:
    """Yield an experiment's results; one that fails is a gap, and the others go on."""
    try:
        yield from experiment.measure(plan)
    except CollectorError as error:
        yield Gap(experiment.name, str(error))


def _look(results: Results, when: str, *, idle: bool) -> None:
    """Add the objections of the GPU's state to the figures."""
    assert results.gpu is not None
    with open_gpu(results.gpu.pci_bus_id) as gpu:
        if gpu is None:
            results.gaps.append(
                Gap(f"state: {when}", "the management library does not report on this GPU")
            )
            return
        results.warnings += describe_state(gpu.state(), when, idle=idle)


def describe_state(state: GpuState, when: str, *, idle: bool) -> list[str]:
    """Return a state's objections to figures measured around it, a sentence each."""
    found = []
    if idle and state.busy_percent is not None and state.busy_percent >= _BUSY_PERCENT:
        found.append(
            f"the GPU was busy {when} the measurement ({state.busy_percent}% of the last second); "
            "figures are too high where others' work came between"
        )
    if state.other_processes:
        found.append(
            f"{state.other_processes} other process(es) used the GPU {when} the measurement"
        )
    if state.slowed_by:
        clocks = ""
        if state.sm_clock_mhz and state.sm_clock_max_mhz:
            clocks = f" ({state.sm_clock_mhz} of {state.sm_clock_max_mhz} MHz)"
        reasons = ", ".join(state.slowed_by)
        found.append(f"the GPU's clocks were lowered {when} the measurement: {reasons}{clocks}")
    return found
