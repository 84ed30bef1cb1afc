"""Build a data set: the recordings that are new, batch by batch, each whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeAlias, TypeVar

from gviz.dataclass import dataclass
from gviz.errors import RecordingError
from gviz.fleet.answers import find_communicators, open_tables
from gviz.fleet.cluster import Mapper
from gviz.fleet.heads import Failure, RecordingHead, choose, read_heads
from gviz.fleet.manifest import Manifest, MappedRecording
from gviz.fleet.parquet import pack_pieces
from gviz.fleet.part import Batch, FleetPart, Numbered, map_batch
from gviz.fleet.sources import RecordingSource
from gviz.fleet.store import Store
from gviz.fleet.tables import COMMUNICATORS
from gviz.system import NO_PROGRESS, Progress

_Item = TypeVar("_Item")
#: Starts processes only when it is entered.
OpenMapper: TypeAlias = Callable[[], AbstractContextManager[Mapper]]
#: Recordings of a part: more of them make fewer and larger files, and lose more work in a kill.
PER_PART = 64
#: Parts of a build, at least, where there are recordings enough: what workers share among them.
_LEAST_PARTS = 8
#: The share of a build's time in which heads are read.
_HEADS = 0.1


@dataclass(frozen=True, slots=True)
class Built:
    """Counts of a build, and what it left out.

    Attributes
    ----------
    build
        Its number; 0: there was nothing new.
    added_count, known_count
        Recordings that it added, and those given that were in the data set before.
    failures
        Those given that are not in it.
    manifest
        Of the data set, as it is now.
    """

    build: int
    added_count: int
    known_count: int
    failures: tuple[Failure, ...]
    manifest: Manifest


def build_fleet(
    sources: Sequence[RecordingSource],
    target: str,
    open_mapper: OpenMapper,
    *,
    anew: bool = False,
    progress: Progress = NO_PROGRESS,
) -> Built:
    """Add recordings to a data set, which is made where there is none.

    Parameters
    ----------
    sources
        The recordings. Those that are in it are left as they are.
    target
        Its folder.
    open_mapper
        Opens what maps recordings, if any is new.
    anew
        Leave out what is in it so far.

    Raises
    ------
    RecordingError
        If the folder cannot be written, or none of the recordings can be read.
    """
    store = Store(target)
    with store.begin():
        before = store.read_manifest() or Manifest()
        store.remove_unknown(before)
        if not anew:
            return _Build(store, before, open_mapper, progress).run(sources)
        # Readers have the old one until the new one is whole.
        empty = Manifest(builds=before.builds)
        built = _Build(store, empty, open_mapper, progress, saves=False).run(sources)
        store.write_manifest(built.manifest)
        store.remove_unknown(built.manifest)
        return built


class _Build:
    """One build. Single use.

    Parameters
    ----------
    saves
        Write the manifest after each part: readers then have the part, and a kill leaves it.
    """

    def __init__(
        self,
        store: Store,
        manifest: Manifest,
        open_mapper: OpenMapper,
        progress: Progress,
        *,
        saves: bool = True,
    ) -> None:
        self._store = store
        self._manifest = manifest
        self._open_mapper = open_mapper
        self._progress = progress
        self._saves = saves
        self._number = len(manifest.builds) + 1
        self._begun = datetime.now(UTC).isoformat(timespec="seconds")
        self._failures: list[Failure] = []

    def run(self, sources: Sequence[RecordingSource]) -> Built:
        """Add what is new of some recordings."""
        known = {one.source.url: one.source for one in self._manifest.recordings}
        new = [source for source in sources if source.url not in known]
        changed = [s for s in sources if s.url in known and s != known[s.url]]
        self._failures += [Failure(source, _CHANGED) for source in changed]
        count = len(self._manifest.recordings)
        if new:
            with self._open_mapper() as mapper:
                self._map(mapper, self._choose(mapper, new))
        added = len(self._manifest.recordings) - count
        if not self._manifest.recordings:
            raise RecordingError(self._why_nothing())
        if added:
            self._settle()
        saved = self._save()
        if added and self._saves:
            self._store.remove_unknown(saved)
        return Built(
            build=self._number if added else 0,
            added_count=added,
            known_count=len(sources) - len(new) - len(changed),
            failures=tuple(self._failures),
            manifest=saved,
        )

    def _choose(self, mapper: Mapper, new: Sequence[RecordingSource]) -> list[RecordingHead]:
        """Read the heads of recordings and return those that belong into the data set."""
        heads: dict[str, RecordingHead] = {}
        progress = self._progress.part(0.0, _HEADS)
        for head in _read_heads(mapper, new):
            heads[head.source.url] = head
            progress.at(len(heads) / len(new), head.source.url)
        runs = {one.source.url: one.runs for one in self._manifest.recordings}
        in_order = [heads[source.url] for source in new]
        chosen, refused, job = choose(in_order, runs, self._manifest.job)
        self._failures += refused
        self._manifest = replace(self._manifest, job=job)
        return chosen

    def _map(self, mapper: Mapper, chosen: Sequence[RecordingHead]) -> None:
        if not chosen:
            return
        first = self._manifest.next_id
        numbered = [Numbered(first + at, head) for at, head in enumerate(chosen)]
        self._manifest = replace(self._manifest, builds=(*self._manifest.builds, self._begun))
        progress, done = self._progress.part(_HEADS, 1.0), 0
        alone: list[Numbered] = []
        for batch, part in mapper(map_batch, self._batches(numbered, _part_size(numbered))):
            done += len(batch.recordings)
            if part is None:
                alone += batch.recordings
            else:
                self._add(batch, part)
            progress.at(done / len(numbered), batch.recordings[-1].head.source.url)
        # One of them ends the process that reads it: the others are read without it.
        for batch, part in mapper(map_batch, self._batches(alone, 1)):
            if part is None:
                self._failures.append(Failure(batch.recordings[0].head.source, _DIED))
            else:
                self._add(batch, part)

    def _batches(self, numbered: Sequence[Numbered], size: int) -> Iterator[Batch]:
        """Yield batches, each with the structures that are known by then."""
        for some in _parts(numbered, size):
            yield Batch(self._number, some, self._manifest.structures)

    def _add(self, batch: Batch, part: FleetPart) -> None:
        """Make a part one of the data set."""
        self._failures += part.failures
        name = f"{self._number:04}-{batch.recordings[0].recording_id:07}"
        manifest = self._store.write_part(name, part, self._manifest)
        added = [
            MappedRecording(one.recording_id, self._number, one.head.source, one.head.runs)
            for one in batch.recordings
            if one.recording_id in part.recording_ids
        ]
        self._manifest = replace(manifest, recordings=(*manifest.recordings, *added))
        self._save()

    def _settle(self) -> None:
        """Find what only all recordings tell, and make fewer files of many small ones."""
        with open_tables(self._store, self._manifest) as connection:
            found = find_communicators(connection)
        content = pack_pieces(COMMUNICATORS.arrow_schema(), [found])
        name = f"{self._number:04}"
        whole = self._store.replace_table(self._manifest, COMMUNICATORS.name, name, content)
        self._manifest = self._store.join_small(whole, name)

    def _save(self) -> Manifest:
        now = {one.source.url for one in self._failures}
        there = {one.source.url for one in self._manifest.recordings}
        older = [x for x in self._manifest.failures if x.source.url not in now | there]
        manifest = replace(self._manifest, failures=(*older, *self._failures))
        if self._saves:
            self._store.write_manifest(manifest)
        return manifest

    def _why_nothing(self) -> str:
        first = self._failures[0].sentence
        if len(self._failures) == 1:
            return first
        return f"none of {len(self._failures)} recordings can be used; of the first: {first}"


def _read_heads(mapper: Mapper, sources: Sequence[RecordingSource]) -> Iterator[RecordingHead]:
    """Yield the heads of recordings, those of a part together: a process is asked less often."""
    alone: list[RecordingSource] = []
    for some, heads in mapper(read_heads, _parts(sources, _part_size(sources))):
        if heads is None:
            alone += some
        else:
            yield from heads
    for (source,), heads in mapper(read_heads, _parts(alone, 1)):
        yield RecordingHead(source, (), _DIED) if heads is None else heads[0]


def _part_size(whole: Sequence[object]) -> int:
    return max(1, min(PER_PART, -(-len(whole) // _LEAST_PARTS)))


def _parts(whole: Sequence[_Item], size: int) -> Iterator[tuple[_Item, ...]]:
    for at in range(0, len(whole), size):
        yield tuple(whole[at : at + size])


_CHANGED = (
    "it was written again after it was added, and what was added stays; build the data set anew: "
    "gviz fleet build --anew"
)
_DIED = "the process that read it died, each time; 'gviz info' says whether the file is damaged"
