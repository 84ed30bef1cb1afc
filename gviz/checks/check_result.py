"""The result of ``gviz check``: classes whose fields are the keys of its JSON."""

from __future__ import annotations

from gviz.dataclass import dataclass
from gviz.stats import figure

PASSED, FAILED, UNJUDGED, SKIPPED = "passed", "failed", "unjudged", "skipped"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was checked."""

    run_id: int = figure("stated", "the run")
    graph_id: int | None = figure("stated", "the graph; null: the run as a whole")
    graph: str = figure(
        "stated",
        "its name, with what tells it from others of that name; of a run as a whole the run's",
    )
    what: str = figure(
        "stated", "key of the configuration, such as launch, findings.device-copy, regression.host"
    )
    status: str = figure(
        "derived",
        "passed, failed, unjudged (what it needs is not recorded), or skipped (nothing to compare)",
    )
    value: float | None = figure("derived", "the value; null: not recorded")
    limit: float | None = figure("stated", "the most it may be; null: there is no number")
    unit: str = figure("stated", "of both: ns, bytes, fraction, or empty for a count")
    baseline: float | None = figure("derived", "what it was in the baseline; null: without one")
    rate: float | None = figure(
        "derived",
        "of regressions with a rate up to this one, about this share are none (p values of "
        "'longer than the limit', adjusted for their number); null: not tested",
    )
    reason: str = figure("stated", "in words, where there is more to say; else empty")


@dataclass(frozen=True, slots=True)
class CheckReport:
    """A recording held against limits."""

    check_version: int = figure("stated", "version of these keys")
    path: str = figure("stated", "the recording")
    baseline: str | None = figure("stated", "the recording it was compared with; null: none")
    passed: bool = figure("derived", "whether the exit code is 0")
    unjudged_passes: bool = figure("stated", "whether what cannot be judged is let through")
    checks: tuple[Check, ...] = figure("derived", "all that was checked")

    def failures(self) -> tuple[Check, ...]:
        """Return the checks because of which it did not pass."""
        bad = (FAILED,) if self.unjudged_passes else (FAILED, UNJUDGED)
        return tuple(check for check in self.checks if check.status in bad)
