"""Readings of one quantity, made into a figure: median, spread, outliers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from gviz.analysis.launch_costs.shape import Shape
from gviz.dataclass import dataclass
from gviz.stats import describe_readings

#: Tukey's outer fence (Exploratory Data Analysis, 1977): beyond it readings are "far out".
_FAR_OUT = 3.0


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured quantity.

    Attributes
    ----------
    experiment, subject, quantity
        What was measured (see table cost_figure).
    topology, width, node_count
        Shape of the work; None where it has none.
    parameter, parameter_value
        What else was varied.
    unit
        ``ns``, ``bytes`` or ``fraction``.
    median, low, high, minimum, maximum, p99, mean, deviation
        Over the readings; low and high are quartiles. Outliers are counted in.
    reading_count, outlier_count, warm_up_count
        How many readings there are, how many are far out, how many were discarded before.
    """

    experiment: str
    subject: str
    quantity: str
    median: float
    low: float
    high: float
    minimum: float
    maximum: float
    p99: float
    mean: float
    deviation: float
    reading_count: int
    outlier_count: int
    warm_up_count: int
    topology: str | None = None
    width: int | None = None
    node_count: int | None = None
    parameter: str | None = None
    parameter_value: float | None = None
    unit: str = "ns"


@dataclass(frozen=True, slots=True)
class Subject:
    """Subject of readings: everything of a figure but its numbers."""

    experiment: str
    subject: str
    quantity: str
    shape: Shape | None = None
    parameter: str | None = None
    parameter_value: float | None = None
    unit: str = "ns"


def make_figures(
    about: Subject, readings: Sequence[float] | npt.NDArray[np.generic], *, warm_up: int = 0
) -> Iterator[Figure]:
    """Yield the figure of readings; nothing where none was taken.

    Parameters
    ----------
    about
        What was measured.
    readings
        In the order they were taken. Negative ones were not taken and do not count.
    warm_up
        How many at the start to discard.
    """
    values = np.asarray(readings, dtype=np.float64)[warm_up:]
    values = values[values >= 0]
    if not len(values):
        return
    found = describe_readings(values)
    fence = _FAR_OUT * (found["high"] - found["low"])
    far = (values < found["low"] - fence) | (values > found["high"] + fence)
    shape = about.shape
    yield Figure(
        experiment=about.experiment,
        subject=about.subject,
        quantity=about.quantity,
        outlier_count=int(far.sum()),
        warm_up_count=min(warm_up, len(readings)),
        topology=shape.topology if shape else None,
        width=shape.width if shape else None,
        node_count=shape.node_count if shape else None,
        parameter=about.parameter,
        parameter_value=about.parameter_value,
        unit=about.unit,
        **found,
    )
