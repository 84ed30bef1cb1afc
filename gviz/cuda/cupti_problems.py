"""Known problems of versions of CUPTI, each with the page that says so.

Only what affects how gviz uses CUPTI stands here, and only what its makers, or somebody who
measured it, published.
"""

from __future__ import annotations

from enum import Enum

from gviz.dataclass import dataclass

#: cuptiGetVersion counts this way since CUDA 13: 130001 is CUDA 13.0 Update 1 (CUPTI 13.0.85).
_FIRST_COUNTED = 130_000
_RELEASE_NOTES = "https://docs.nvidia.com/cupti/release-notes/release-notes.html"
_FORUM = "https://forums.developer.nvidia.com/t/cuda-profiler-tools-interface-cupti-"
#: Records after which a run counts as long; problems of long runs were seen at 25 million.
LONG_RUN_RECORDS = 10_000_000


class Concerns(Enum):
    """Kinds of recordings that a problem can touch."""

    ALL = "every recording"
    REPEATED = "the second and later recordings of one process"
    LONG = "recordings of many millions of node times"


@dataclass(frozen=True, slots=True)
class CuptiProblem:
    """A known fault of some versions.

    Attributes
    ----------
    first, fixed
        cuptiGetVersion of the first version that has it (0: not published) and of the first
        that has not (None: not known to be fixed).
    concerns
        Which recordings it can touch.
    text
        What goes wrong, and what to do.
    source
        Where it was published.
    """

    first: int
    fixed: int | None
    concerns: Concerns
    text: str
    source: str

    def affects(self, version: int) -> bool:
        """Return whether a version of CUPTI has it."""
        return self.first <= version and (self.fixed is None or version < self.fixed)


PROBLEMS = (
    CuptiProblem(
        130_000,
        130_001,
        Concerns.ALL,
        "CUPTI of CUDA 13.0 before Update 1 can deadlock when kernel records are switched off and "
        "crash when its buffers are flushed; install nvidia-cuda-cupti 13.0.85 or later",
        f"{_FORUM}13-0-is-now-available/341320",
    ),
    CuptiProblem(
        0,
        130_101,
        Concerns.REPEATED,
        "CUPTI before CUDA 13.1 Update 1 can give graph launches wrong correlation ids in a "
        "process's sessions after the first, and node times then belong to no launch or to "
        "another; record once in a process",
        _RELEASE_NOTES,
    ),
    CuptiProblem(
        130_001,
        130_002,
        Concerns.LONG,
        "with CUPTI 13.0.85 GPU memory was seen to grow, and after about 25 million kernel records "
        "their times to be missing or backwards; such records are counted in "
        "activity_records_invalid and left out",
        "https://github.com/parca-dev/parcagpu/issues/23",
    ),
    CuptiProblem(
        0,
        130_401,
        Concerns.LONG,
        "CUPTI before CUDA 13.4 Update 1 takes more and more processor time the longer activities "
        "are traced; ask for fewer launches with --node-launches",
        f"{_FORUM}13-4-is-now-available/383026",
    ),
)


def problems_of(version: int | None) -> tuple[CuptiProblem, ...]:
    """Return the known problems of a CUPTI, by its cuptiGetVersion; None: version not known.

    Versions before CUDA 13 count differently and are not judged.
    """
    if version is None or version < _FIRST_COUNTED:
        return ()
    return tuple(problem for problem in PROBLEMS if problem.affects(version))


def problems_in(
    version: int | None, *, recording_number: int, records: float, invalid: int
) -> tuple[CuptiProblem, ...]:
    """Return the problems that can have touched one recording.

    Parameters
    ----------
    version
        cuptiGetVersion.
    recording_number
        Which recording of its process it was, from 1.
    records, invalid
        Activity records taken, and those without a usable time.
    """
    touched = {Concerns.ALL}
    if recording_number > 1:
        touched.add(Concerns.REPEATED)
    if records >= LONG_RUN_RECORDS or invalid:
        touched.add(Concerns.LONG)
    return tuple(problem for problem in problems_of(version) if problem.concerns in touched)
