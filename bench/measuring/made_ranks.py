"""Ranks of a fleet that are made where they are read and removed after it: disk holds a few."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from fleet_recordings import RankWriter

from gviz.fleet import Mapper
from gviz.fleet.part import Batch
from gviz.fleet.sources import RecordingSource
from measuring.processes import forget_peak, memory_of


@dataclass(frozen=True, slots=True)
class _Made:
    """A result, and what making the recordings behind it took."""

    result: Any
    seconds: float
    bytes: int
    process_id: int
    peak_bytes: int


@dataclass(slots=True)
class MakingMapper:
    """A mapper whose recordings are made before they are read.

    Attributes
    ----------
    mapper
        That which reads them.
    writer
        File of the :class:`fleet_recordings.RankWriter`.
    seconds
        Processor time of making them.
    most_bytes
        The recordings of an item, at most.
    peaks
        The most memory of each process while it mapped, by its number.
    """

    mapper: Mapper
    writer: Path
    seconds: float = 0.0
    most_bytes: int = 0
    peaks: dict[int, int] = field(default_factory=dict)

    def __call__(
        self, function: Callable[[Any], Any], items: Iterable[Any]
    ) -> Iterator[tuple[Any, Any]]:
        """Yield items with what the function returns of them."""
        for item, made in self.mapper(partial(_make_and_map, str(self.writer), function), items):
            if made is None:
                yield item, None
                continue
            self.seconds += made.seconds
            self.most_bytes = max(self.most_bytes, made.bytes)
            before = self.peaks.get(made.process_id, 0)
            self.peaks[made.process_id] = max(before, made.peak_bytes)
            yield item, made.result


def save_writer(writer: RankWriter) -> tuple[Path, list[RecordingSource]]:
    """Return the file of a writer, and the recordings that it makes."""
    path = writer.base.path.with_suffix(".pickle")
    path.write_bytes(pickle.dumps(writer))
    size = writer.base.path.stat().st_size
    ranks = range(writer.truth.ranks)
    return path, [RecordingSource(str(writer.path(rank)), size, "made") for rank in ranks]


@lru_cache(maxsize=1)
def _writer(path: str) -> RankWriter:
    found: RankWriter = pickle.loads(Path(path).read_bytes())
    return found


def _make_and_map(writer: str, function: Callable[[Any], Any], item: Any) -> _Made:
    begun = time.process_time()
    paths = list(_make(_writer(writer), item))
    seconds = time.process_time() - begun
    size = sum(path.stat().st_size for path in paths)
    forget_peak()
    try:
        return _Made(function(item), seconds, size, os.getpid(), memory_of(os.getpid())[1])
    finally:
        for path in paths:
            path.unlink()


def _make(writer: RankWriter, item: Batch | Sequence[RecordingSource]) -> Iterator[Path]:
    """Write what a build reads of an item: of sources the heads."""
    if isinstance(item, Batch):
        for one in item.recordings:
            yield writer.write(_rank_of(one.head.source))
    else:
        for source in item:
            yield writer.write_head(_rank_of(source))


def _rank_of(source: RecordingSource) -> int:
    return int(Path(source.url).stem.removeprefix("rank"))
