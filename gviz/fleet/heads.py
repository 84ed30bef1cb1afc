"""Heads of recordings: who was recorded, read before any of their times."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from gviz.comparison import find_ranks
from gviz.dataclass import dataclass
from gviz.errors import GvizError
from gviz.fleet.sources import RecordingSource, local_file
from gviz.recording import Recording

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class RunHead:
    """A run: fields as in table run of a recording."""

    run_id: int
    name: str
    rank: int | None
    host: str | None
    process_id: int | None
    started_ns: int | None
    ended_ns: int | None
    command: str | None

    @property
    def job(self) -> str | None:
        """Its command line without numbers, which differ from rank to rank; None: not recorded."""
        return None if self.command is None else _NUMBER.sub("#", self.command)

    def is_same(self, other: RunHead) -> bool:
        """Return whether another is a copy of it."""
        mine = (self.host, self.process_id, self.started_ns, self.name)
        theirs = (other.host, other.process_id, other.started_ns, other.name)
        return self.started_ns is not None and mine == theirs

    def claims_rank_of(self, other: RunHead) -> bool:
        """Return whether both were one rank at one time, which no job has."""
        if self.rank is None or self.rank != other.rank:
            return False
        starts, ends = (self.started_ns, other.started_ns), (self.ended_ns, other.ended_ns)
        if None in starts:
            return True
        # A run that was killed has no end.
        known = [end for end in ends if end is not None]
        return not known or max(s or 0 for s in starts) < min(known)


@dataclass(frozen=True, slots=True)
class RecordingHead:
    """A recording's runs, or the reason for which it cannot be read."""

    source: RecordingSource
    runs: tuple[RunHead, ...]
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """A recording that is not in the data set, and why not."""

    source: RecordingSource
    reason: str

    @property
    def sentence(self) -> str:
        """The reason, with the recording named."""
        url = self.source.url
        return self.reason if url in self.reason else f"{url}: {self.reason}"


def read_heads(sources: Sequence[RecordingSource]) -> tuple[RecordingHead, ...]:
    """Return the heads of recordings; one that cannot be read has a reason instead."""
    return tuple(_read_head(source) for source in sources)


def _read_head(source: RecordingSource) -> RecordingHead:
    try:
        with local_file(source.url) as path, Recording(path) as recording:
            runs = tuple(
                RunHead(
                    run.run_id, run.name, run.rank, run.host, run.process_id,
                    run.started_ns, run.ended_ns, run.command,
                )
                for run in find_ranks(recording)
            )  # fmt: skip
            if not recording.is_whole:
                return RecordingHead(source, (), damaged(source.url))
    except (GvizError, OSError) as error:
        return RecordingHead(source, (), str(error))
    if not runs:
        return RecordingHead(source, (), f"no graph was launched in {source.url}; leave it out")
    return RecordingHead(source, runs)


def damaged(url: str) -> str:
    """Return why a damaged recording is left out, and what to do."""
    return (
        f"{url} is damaged, and what is left of it would stand beside whole ones; "
        "'gviz recover' writes that as a recording of its own"
    )


def choose(
    heads: Sequence[RecordingHead], known: Mapping[str, Sequence[RunHead]], job: str | None
) -> tuple[list[RecordingHead], list[Failure], str | None]:
    """Return the recordings that belong into a data set, the others, and the data set's job.

    Parameters
    ----------
    heads
        Of recordings that are not in it.
    known
        The runs that are in it, by address of their recording.
    job
        Its job, as :attr:`RunHead.job` has it; None: not known so far. Then it becomes that of most
        of the recordings.
    """
    if job is None:
        jobs = Counter(run.job for head in heads for run in head.runs if run.job is not None)
        job = jobs.most_common(1)[0][0] if jobs else None
    in_it = _Runs()
    for url, runs in known.items():
        in_it.add(url, runs)
    chosen, refused = [], []
    for head in heads:
        reason = head.reason or _other_job(head, job) or in_it.why_not(head)
        if reason is None:
            chosen.append(head)
            in_it.add(head.source.url, head.runs)
        else:
            refused.append(Failure(head.source, reason))
    return chosen, refused, job


class _Runs:
    """Runs that are in the data set, found by what a second one would share with them."""

    def __init__(self) -> None:
        self._found: dict[tuple[object, ...], list[tuple[str, RunHead]]] = {}

    def add(self, url: str, runs: Sequence[RunHead]) -> None:
        for run in runs:
            for key in self._keys(run):
                self._found.setdefault(key, []).append((url, run))

    def why_not(self, head: RecordingHead) -> str | None:
        for run in head.runs:
            for key in self._keys(run):
                for url, other in self._found.get(key, ()):
                    if run.is_same(other):
                        return f"{url} holds the same run ({run.name}); leave one of them out"
                    if run.claims_rank_of(other):
                        return (
                            f"{url} is of rank {run.rank} too, at the same time: they are of two "
                            "jobs, or one is a copy; leave one of them out"
                        )
        return None

    @staticmethod
    def _keys(run: RunHead) -> list[tuple[object, ...]]:
        same: list[tuple[object, ...]] = [("run", run.host, run.process_id, run.started_ns)]
        return same if run.rank is None else [*same, ("rank", run.rank)]


def _other_job(head: RecordingHead, job: str | None) -> str | None:
    others = [run.command for run in head.runs if run.job is not None and run.job != job]
    if not others:
        return None
    return (
        f"it is of another job than the rest: its command was {others[0]}; make a data set of its "
        "own for it"
    )
