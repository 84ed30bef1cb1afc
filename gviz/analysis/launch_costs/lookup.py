"""Figures by what they are about, and what is derived from several of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gviz.analysis.launch_costs.figure import Figure
from gviz.analysis.launch_costs.repayment import RepaymentPoint, break_even
from gviz.analysis.launch_costs.shape import STRAIGHT_LINE
from gviz.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class LengthBreakEven:
    """Break-even of straight lines of one length."""

    node_count: int
    found: RepaymentPoint


class Figures:
    """Figures of one run, found by experiment, subject and quantity.

    Parameters
    ----------
    figures
        In any order.
    """

    def __init__(self, figures: Iterable[Figure]) -> None:
        self.all = tuple(figures)
        # By experiment and subject, and by experiment alone: a page asks a hundred times.
        self._found: dict[tuple[str, str | None], list[Figure]] = {}
        for figure in self.all:
            for subject in (figure.subject, None):
                self._found.setdefault((figure.experiment, subject), []).append(figure)

    def select(
        self,
        experiment: str,
        subject: str | None = None,
        quantity: str | None = None,
        topology: str | None = None,
        width: int | None = None,
    ) -> list[Figure]:
        """Return the figures that agree with all that is given, in the order measured."""
        return [
            figure
            for figure in self._found.get((experiment, subject), ())
            if quantity in (None, figure.quantity)
            and topology in (None, figure.topology)
            and width in (None, figure.width)
        ]

    def one(
        self,
        experiment: str,
        subject: str,
        quantity: str,
        node_count: int | None = None,
        topology: str | None = STRAIGHT_LINE,
    ) -> Figure | None:
        """Return the figure of a straight line (or other topology) of so many nodes, or None."""
        for figure in self.select(experiment, subject, quantity, topology):
            if node_count is None or figure.node_count == node_count:
                return figure
        return None

    def subjects(self, experiment: str) -> list[str]:
        """Return the subjects of an experiment in the order measured."""
        return list(dict.fromkeys(figure.subject for figure in self.select(experiment)))

    def node_counts(self, experiment: str, subject: str, quantity: str) -> list[int]:
        """Return the lengths of the straight lines measured, ascending."""
        found = self.select(experiment, subject, quantity, STRAIGHT_LINE)
        return sorted({f.node_count for f in found if f.node_count is not None})

    def break_evens(self) -> list[LengthBreakEven]:
        """Return the break-even of each length for which all its parts were measured.

        Host times, as in the published figures: what is paid once is capture,
        instantiation and what the first launch costs more than a later one.
        """
        found = []
        for nodes in self.node_counts("launch", "relaunch", "host"):
            parts = [
                self.one("launch", "stream", "host", nodes),
                self.one("life", "capture", "host", nodes),
                self.one("life", "instantiate", "host", nodes),
                self.one("launch", "first", "host", nodes),
                self.one("launch", "relaunch", "host", nodes),
            ]
            if any(part is None for part in parts):
                continue
            stream, capture, instantiate, first, again = (p.median for p in parts if p)
            found.append(
                LengthBreakEven(
                    nodes,
                    break_even(
                        stream_ns=stream,
                        capture_ns=capture,
                        instantiate_ns=instantiate,
                        first_ns=first,
                        again_ns=again,
                    ),
                )
            )
        return found

    def ratios(
        self, experiment: str, subjects: tuple[str, str], quantity: str
    ) -> Sequence[tuple[float, float]]:
        """Return (parameter value, median of the first subject / of the second) by parameter."""
        first, second = (
            {f.parameter_value: f.median for f in self.select(experiment, subject, quantity)}
            for subject in subjects
        )
        return [(x, first[x] / second[x]) for x in first if x is not None and second.get(x)]
