"""States of the run's GPUs, as a process beside the program sampled them: rows, and a caveat."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np

from gviz.dataclass import dataclass
from gviz.model import summarize_gpu
from gviz.recording import LATEST_NS, rows
from gviz.spool.records import GPU_STATES, SPOOL_SUFFIX
from gviz.spool.streams import Contents

#: Rows of a GPU: samples that follow each other share one.
MOST_INTERVALS = 120
#: What no GPU has; such a sample was damaged.
_LIMIT = 10**6
_Sample = dict[str, Any]


@dataclass(slots=True)
class FoldedGpuStates:
    """Rows of table gpu_interval, and what a reader must know of them.

    Attributes
    ----------
    clock_max_mhz
        The highest clock of each GPU's multiprocessors, by its number.
    failures
        Why there are no samples, or no more of them.
    notes
        What lowered clocks mean for the run's times.
    was_sampled
        Whether a process sampled; none did beside a gviz before schema 10.
    """

    rows: list[rows.GpuInterval] = field(default_factory=list)
    clock_max_mhz: dict[int, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    was_sampled: bool = False

    def measurement(self) -> tuple[float | None, str, str] | None:
        """Return how many samples there are, as value, unit and method; None: nobody looked."""
        if not self.was_sampled:
            return None
        why = "; ".join(self.failures)
        count = sum(row.count for row in self.rows)
        if not count:
            return (
                None,
                "samples",
                f"not measured: {why or 'no sample was taken before the run was over'}",
            )
        method = "measured: clocks and temperature, by NVML in a process beside the program"
        return float(count), "samples", f"{method}{f'; then: {why}' if why else ''}"


def fold_gpu_states(contents: Contents, spool: Path, run_id: int) -> FoldedGpuStates:
    """Return the states of the GPUs that a process used, while it was recorded."""
    files = [file for file in _files(spool) if file.is_file()]
    found = FoldedGpuStates(was_sampled=bool(files))
    ended = [int(value) for name, value, *_ in contents.counters if name == "ended_ns"]
    begun = int(contents.metadata.get("started_ns") or 0)
    lines = [
        line
        for line in _read(files)
        if begun <= line["time_ns"] <= (ended[-1] if ended else LATEST_NS)
    ]
    for device in {device.ordinal: device for device in reversed(contents.devices)}.values():
        mine = [line for line in lines if line.get("gpu") in (device.pci_bus_id, None)]
        failures = [str(line["failure"]) for line in mine if "failure" in line]
        found.failures += [f"GPU {device.ordinal}: {why}" for why in dict.fromkeys(failures)]
        samples = [line for line in mine if "failure" not in line]
        if not samples:
            continue
        maxima = [m for m in (_value(one, "sm_clock_max_mhz") for one in samples) if m]
        if maxima:
            found.clock_max_mhz[device.ordinal] = int(max(maxima))
        places = np.array_split(np.arange(len(samples)), min(MOST_INTERVALS, len(samples)))
        intervals = [
            _interval(run_id, device.ordinal, samples[at[0] : at[-1] + 1]) for at in places
        ]
        found.rows += intervals
        caveat = summarize_gpu(device.ordinal, intervals).caveat()
        if caveat:
            found.notes.append(("warning", caveat))
    return found


def _files(spool: Path) -> list[Path]:
    """Return where the samples of a process may be: in its own spool, or in its job's."""
    of_job = [spool.parent] if spool.parent.name.endswith(SPOOL_SUFFIX) else []
    return [folder / GPU_STATES for folder in (spool, *of_job)]


def _read(files: Iterable[Path]) -> list[_Sample]:
    """Return samples in order of time, no two of a GPU at once."""
    found: dict[tuple[int, object], _Sample] = {}
    for file in files:
        for line in _lines(file):
            found.setdefault((line["time_ns"], line.get("gpu")), line)
    return sorted(found.values(), key=lambda line: int(line["time_ns"]))


def _lines(path: Path) -> Iterator[_Sample]:
    """Yield the lines that are whole: the process that writes them may have been ended in one."""
    for text in path.read_text(encoding="ascii", errors="replace").splitlines():
        try:
            line = json.loads(text)
        except ValueError:
            continue
        if isinstance(line, dict) and isinstance(line.get("time_ns"), int):
            yield line


def _interval(run_id: int, device_id: int, samples: Sequence[_Sample]) -> rows.GpuInterval:
    # A GPU that does not tell, as one that is divided (MIG), counts as busy.
    busy = [one for one in samples if one.get("busy_percent") != 0]
    clocks = _values(busy or samples, "sm_clock_mhz")
    reasons = [
        [str(reason) for reason in one["slowed_by"]]
        for one in busy
        if isinstance(one.get("slowed_by"), list) and one["slowed_by"]
    ]
    temperatures = _values(samples, "temperature_celsius")
    watts = _values(busy or samples, "power_watts")
    return rows.GpuInterval(
        run_id=run_id,
        device_id=device_id,
        start_ns=samples[0]["time_ns"],
        end_ns=samples[-1]["time_ns"],
        count=len(samples),
        busy_count=len(busy),
        sm_clock_mhz=float(np.median(clocks)) if clocks else None,
        sm_clock_low_mhz=min(clocks, default=None),
        temperature_celsius=max(temperatures, default=None),
        power_watts=float(np.mean(watts)) if watts else None,
        slowed_count=len(reasons),
        slowed_by=", ".join(dict.fromkeys(x for found in reasons for x in found)) or None,
    )


def _values(samples: Sequence[_Sample], name: str) -> list[float]:
    return [value for one in samples if (value := _value(one, name)) is not None]


def _value(sample: _Sample, name: str) -> float | None:
    value = sample.get(name)
    return float(value) if isinstance(value, int | float) and 0 <= value < _LIMIT else None
