"""The ranks of a file compared, in the background."""

from __future__ import annotations

from gviz.app.files import PATIENCE_S, Background, Library, OpenRecording, split_version
from gviz.comparison import RankComparison, compare_ranks, find_ranks
from gviz.recording import rows


class RankComparisons:
    """Compares the ranks of files, each kept with its file."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._made: Background[RankComparison] = Background()

    def find(self, versioned_key: str, patience_s: float = PATIENCE_S) -> RankComparison | None:
        """Return the ranks of a file (``key@version``) compared; None: still being made.

        Raises
        ------
        RecordingError
            If the file is damaged or changed, has one rank only, or edges form a cycle.
        """
        return self._made.find(versioned_key, lambda: self._build(versioned_key), patience_s)

    def _build(self, versioned_key: str) -> RankComparison:
        key, version = split_version(versioned_key)
        with self._library.file(key).at(version) as opened:
            return compared_ranks(opened)


def compared_ranks(opened: OpenRecording) -> RankComparison:
    """Return the ranks of a file compared at once."""
    return opened.derive(("ranks compared",), lambda: compare_ranks(opened.recording))


def ranks_of(opened: OpenRecording) -> list[rows.Run]:
    """Return the runs of a file that are ranks of a job; one or none: it is of no job."""
    return opened.derive(("ranks",), lambda: find_ranks(opened.recording))
