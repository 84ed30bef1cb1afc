"""Small bench recordings, written by the product's own writer."""

from __future__ import annotations

from pathlib import Path

from gviz.analysis.launch_costs.figure import Figure, Subject, make_figures
from gviz.analysis.launch_costs.recorded import write_results
from gviz.analysis.launch_costs.shape import Shape, straight_line
from gviz.recording import rows


def figure(
    subject: str, quantity: str, median: float, shape: Shape, experiment: str = "launch"
) -> Figure:
    """Return a figure of three equal readings."""
    (found,) = make_figures(Subject(experiment, subject, quantity, shape), [median] * 3)
    return found


def write(path: Path, gpu: str = "GPU A", driver: str = "13.0", scale: float = 1.0) -> Path:
    """Write a bench of two figures, with gaps and a warning; return its path."""
    figures = [figure("relaunch", "host", scale * n, straight_line(n)) for n in (10, 20)]
    run = rows.Run(run_id=1, name="b", state="completed", source="bench", driver_version=driver)
    device = rows.Device(run_id=1, device_id=0, name=gpu)
    gaps = [("traffic", "not told"), ("traffic", "not told"), ("batch", "no torch")]
    return write_results(path, run, device, figures, gaps, ["busy"])
