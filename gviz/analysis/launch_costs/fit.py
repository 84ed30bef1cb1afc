"""Cost lines: cost = fixed + per_node * nodes, fitted to figures of one shape."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from gviz.analysis.launch_costs.figure import Figure
from gviz.dataclass import dataclass

#: A line needs two lengths; its residuals say something from the third on.
_FEWEST = 2


@dataclass(frozen=True, slots=True)
class CostLine:
    """A fitted line.

    Attributes
    ----------
    subject, quantity, topology, width
        What the figures were about.
    fixed_ns, per_node_ns
        Cost in nanoseconds without any node (extrapolated), and of one more node.
    residual_fraction
        Root mean square of (measured - fitted) / measured.
    worst_fraction
        The largest of them in size, signed.
    smallest_node_count, largest_node_count, figure_count
        The graphs fitted.
    """

    subject: str
    quantity: str
    topology: str
    width: int
    fixed_ns: float
    per_node_ns: float
    residual_fraction: float
    worst_fraction: float
    smallest_node_count: int
    largest_node_count: int
    figure_count: int

    def cost_ns(self, node_count: float) -> float:
        """Return the fitted cost of a graph of so many nodes, in nanoseconds."""
        return self.fixed_ns + self.per_node_ns * node_count

    def covers(self, node_count: int) -> bool:
        """Return whether graphs of so many nodes lie among the fitted ones."""
        return self.smallest_node_count <= node_count <= self.largest_node_count

    def rescale_ns(self, measured_ns: float, node_count: int, other_count: float) -> float:
        """Return what a measured cost would be with more or fewer nodes of the same kind.

        The fixed part stays, at most all that was measured; the rest grows with the nodes, so
        that what nodes take beyond the line's empty kernels grows with them.

        Parameters
        ----------
        measured_ns
            With ``node_count`` nodes, at least 1.
        other_count
            Nodes requested.
        """
        fixed = min(max(self.fixed_ns, 0.0), measured_ns)
        return fixed + (measured_ns - fixed) * other_count / node_count


def fit_lines(figures: Iterable[Figure]) -> list[CostLine]:
    """Fit a line to each subject, quantity, topology and width that has two lengths or more.

    Only figures in nanoseconds of experiments ``launch`` and ``life`` take part.
    """
    groups: dict[tuple[str, str, str, int], list[Figure]] = defaultdict(list)
    for figure in figures:
        if figure.experiment in ("launch", "life") and figure.node_count and figure.unit == "ns":
            assert figure.topology is not None
            assert figure.width is not None
            key = (figure.subject, figure.quantity, figure.topology, figure.width)
            groups[key].append(figure)
    return [
        _fit(key, group)
        for key, group in groups.items()
        if len({figure.node_count for figure in group}) >= _FEWEST
    ]


def _fit(key: tuple[str, str, str, int], figures: list[Figure]) -> CostLine:
    """Fit least squares of the relative error: graphs of 2,000 nodes must not decide alone."""
    nodes = np.array([figure.node_count for figure in figures], dtype=np.float64)
    cost = np.array([figure.median for figure in figures])
    weight = 1 / np.maximum(cost, 1.0)
    design = np.stack([np.ones_like(nodes), nodes], axis=1)
    (fixed, per_node), *_ = np.linalg.lstsq(design * weight[:, None], cost * weight, rcond=None)
    residuals = (cost - (fixed + per_node * nodes)) * weight
    subject, quantity, topology, width = key
    return CostLine(
        subject=subject,
        quantity=quantity,
        topology=topology,
        width=width,
        fixed_ns=float(fixed),
        per_node_ns=float(per_node),
        residual_fraction=float(np.sqrt(np.mean(residuals**2))),
        worst_fraction=float(residuals[np.argmax(np.abs(residuals))]),
        smallest_node_count=int(nodes.min()),
        largest_node_count=int(nodes.max()),
        figure_count=len(figures),
    )
