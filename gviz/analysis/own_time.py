"""gviz's own part of the host time that making graphs takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gviz.dataclass import dataclass

if TYPE_CHECKING:
    from gviz.recording import Recording


@dataclass(frozen=True, slots=True)
class OwnTime:
    """Part of gviz's own callbacks in a run's captures and instantiations.

    Attributes
    ----------
    capture, instantiate
        Fractions from 0 to 1 of the time of all such calls; None: not measured, as in recordings
        that an older gviz made.
    """

    capture: float | None
    instantiate: float | None


def own_time(recording: Recording, run_id: int) -> OwnTime:
    """Return gviz's own part of a run's calls, from the run's measurements."""
    measured = {m.name: m.value for m in recording.fetch_measurements(run_id)}
    return OwnTime(_fraction(measured, "capture"), _fraction(measured, "instantiate"))


def _fraction(measured: dict[str, float | None], kind: str) -> float | None:
    own, watched = (measured.get(f"{kind}_{x}_ns") for x in ("own", "watched"))
    if own is None or not watched:
        return None
    return min(max(own / watched, 0.0), 1.0)
