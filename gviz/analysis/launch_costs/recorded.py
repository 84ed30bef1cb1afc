"""Figures and cost lines in recordings: written there, read back, found for a GPU."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from gviz.analysis.launch_costs.figure import Figure
from gviz.analysis.launch_costs.fit import CostLine, fit_lines
from gviz.dataclass import dataclass
from gviz.errors import GvizError
from gviz.recording import SUFFIX, Recording, RecordingWriter, rows

_RUN_ID = 1
_FITS = ("same", "same GPU, another driver", "another GPU")


@dataclass(frozen=True, slots=True)
class LaunchCosts:
    """Costs of graphs on one GPU: the lines that ``gviz bench`` fitted.

    Attributes
    ----------
    gpu, driver_version
        Where they were measured; driver_version is the driver's CUDA version.
    path
        The recording they are from.
    lines
        The cost lines.
    fits
        How well they fit the run at hand: ``same`` (GPU and driver), ``same GPU, another
        driver``, or ``another GPU``.
    origin
        Whose recording that is: ``given``, ``kept`` in the user's folder, or ``bundled``.
    """

    gpu: str
    driver_version: str | None
    path: Path
    lines: tuple[CostLine, ...]
    fits: str
    origin: str = "given"

    def line(
        self, subject: str, quantity: str, topology: str = "straight line", width: int = 1
    ) -> CostLine | None:
        """Return the line of a subject and quantity; None where it was not measured."""
        for line in self.lines:
            if (line.subject, line.quantity) == (subject, quantity) and (
                line.topology,
                line.width,
            ) == (topology, width):
                return line
        return None

    def topologies(self, subject: str, quantity: str) -> list[tuple[str, int]]:
        """Return the shapes, topology and width, that a subject and quantity have lines of."""
        return [
            (line.topology, line.width)
            for line in self.lines
            if (line.subject, line.quantity) == (subject, quantity)
        ]

    def describe(self) -> str:
        """Return in words where the costs are from."""
        driver = f", driver {self.driver_version}" if self.driver_version else ""
        where = "bundled with gviz" if self.origin == "bundled" else self.path.name
        fits = "" if self.fits == "same" else f"; {self.fits}"
        return f"launch costs of the GPU {self.gpu}{driver} ({where}{fits})"


def write_results(
    path: Path,
    run: rows.Run,
    device: rows.Device,
    figures: Sequence[Figure],
    gaps: Iterable[tuple[str, str]],
    warnings: Iterable[str],
    *,
    overwrite: bool = False,
) -> Path:
    """Write what was measured, and the lines fitted to it, as a recording of one run.

    Parameters
    ----------
    path
        Where it goes.
    run, device
        The run (its ``run_id`` is 1) and the GPU.
    figures
        What was measured.
    gaps
        What was not: experiment and reason.
    warnings
        What makes the figures doubtful.
    overwrite
        Replace a file at ``path``.

    Raises
    ------
    RecordingError
        If ``path`` exists and ``overwrite`` is false, or cannot be written.
    """
    with RecordingWriter(path, overwrite=overwrite) as writer:
        writer.insert(run, device)
        for number, figure in enumerate(figures, 1):
            writer.insert(rows.CostFigure(cost_figure_id=number, run_id=_RUN_ID, **_fields(figure)))
        for number, line in enumerate(fit_lines(figures), 1):
            writer.insert(rows.CostModel(cost_model_id=number, run_id=_RUN_ID, **_fields(line)))
        reasons: dict[str, list[str]] = {}
        for experiment, reason in gaps:
            reasons.setdefault(experiment, []).append(reason)
        for experiment, found in reasons.items():
            text = "; ".join(dict.fromkeys(found))
            writer.insert(rows.CostGap(run_id=_RUN_ID, experiment=experiment, reason=text))
        for number, text in enumerate(warnings, 1):
            writer.insert(rows.Note(note_id=number, run_id=_RUN_ID, kind="warning", text=text))
    return path


def _fields(value: Figure | CostLine) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def read_figures(recording: Recording, run_id: int) -> list[Figure]:
    """Return what ``gviz bench`` measured in a run; none where the run is no bench."""
    names = [field.name for field in dataclasses.fields(Figure)]
    return [
        Figure(**{name: getattr(row, name) for name in names})
        for row in recording.fetch_cost_figures(run_id)
    ]


def read_lines(recording: Recording, run_id: int) -> list[CostLine]:
    """Return the cost lines of a run."""
    names = [field.name for field in dataclasses.fields(CostLine)]
    return [
        CostLine(**{name: getattr(row, name) for name in names})
        for row in recording.fetch_cost_models(run_id)
    ]


# -- finding them for a GPU ----------------------------------------------------------------------


def bundled_costs() -> Path:
    """Return the bundled recording of ``gviz bench`` on an H100."""
    return Path(str(files("gviz.assets") / "launch_costs" / f"h100{SUFFIX}"))


def kept_folder() -> Path:
    """Return the user's folder of bench recordings: $XDG_DATA_HOME/gviz/bench.

    Source: XDG Base Directory Specification; its default is ~/.local/share.
    """
    base = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(base) / "gviz" / "bench"


def find_costs(
    gpu: str | None, driver_version: str | None, *, given: Iterable[Path] = ()
) -> LaunchCosts | None:
    """Return the launch costs that fit a GPU best, or None where no recording has any.

    Looked at are the given recordings, those of the user's folder, and the bundled one. The
    same GPU and driver win over the same GPU, that over another GPU; among equals the first
    given, the newest kept, then the bundled one.

    Parameters
    ----------
    gpu, driver_version
        As in tables device and run.
    given
        Recordings to look at first.

    Raises
    ------
    GvizError
        If a given recording cannot be read.
    """
    kept = sorted(kept_folder().glob(f"*{SUFFIX}"), key=lambda p: -p.stat().st_mtime)
    best: LaunchCosts | None = None
    for path, origin in [
        *((p, "given") for p in given),
        *((p, "kept") for p in kept),
        (bundled_costs(), "bundled"),
    ]:
        try:
            found = _costs_of(path, gpu, driver_version, origin)
        except (GvizError, OSError):
            if origin == "given":
                raise
            continue  # an old or broken file of the user's folder must not stop an analysis
        if found and (best is None or _FITS.index(found.fits) < _FITS.index(best.fits)):
            best = found
    return best


def costs_for_run(
    recording: Recording, run: rows.Run, *, named: Path | None = None
) -> LaunchCosts | None:
    """Return the launch costs to use for a run, or None where no recording has any.

    Those of a named file, whatever GPU it is of; else what fits best among the recording's own,
    those of the user's folder and the bundled ones, as in :func:`find_costs`.

    Raises
    ------
    GvizError
        If the named file cannot be read or holds no launch costs.
    """
    devices = recording.fetch_devices(run.run_id)
    gpu = devices[0].name if devices else None
    if named is None:
        return find_costs(gpu, run.driver_version, given=[recording.path])
    found = _costs_of(named, gpu, run.driver_version, "given")
    if found is None:
        raise GvizError(
            f"{named} holds no launch costs; 'gviz bench -o FILE' measures them on this GPU"
        )
    return found


def _costs_of(
    path: Path, gpu: str | None, driver_version: str | None, origin: str
) -> LaunchCosts | None:
    with Recording(path) as recording:
        for run in recording.fetch_runs():
            lines = read_lines(recording, run.run_id)
            devices = recording.fetch_devices(run.run_id)
            if not lines or not devices:
                continue
            if devices[0].name != gpu:
                fits = _FITS[2]
            elif run.driver_version != driver_version:
                fits = _FITS[1]
            else:
                fits = _FITS[0]
            return LaunchCosts(
                devices[0].name, run.driver_version, path, tuple(lines), fits, origin
            )
    return None
