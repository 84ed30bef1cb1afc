"""The manifest of a data set: which files belong to it, and which recordings are in them."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import Any

from gviz.dataclass import dataclass
from gviz.errors import RecordingError
from gviz.fleet.heads import Failure, RunHead
from gviz.fleet.sources import RecordingSource
from gviz.fleet.tables import FLEET_VERSION, TABLES

#: Its name in the data set's folder.
MANIFEST = "manifest.json"


def is_fleet(path: Path) -> bool:
    """Return whether a folder of this machine is a data set, by the names in it."""
    return (path / MANIFEST).is_file() and any((path / name).is_dir() for name in TABLES)


@dataclass(frozen=True, slots=True)
class MappedRecording:
    """A recording that is in the data set."""

    recording_id: int
    build: int
    source: RecordingSource
    runs: tuple[RunHead, ...]


@dataclass(frozen=True, slots=True)
class Manifest:
    """Recordings and files of a data set.

    Attributes
    ----------
    job
        As :func:`gviz.fleet.heads.choose` has it.
    builds
        When each build began, in order (ISO 8601, UTC).
    recordings
        Those that are in it.
    files
        Paths in its folder, by name of the table.
    structures
        Fingerprints.
    failures
        Recordings that were given and are not in it.
    """

    job: str | None = None
    builds: tuple[str, ...] = ()
    recordings: tuple[MappedRecording, ...] = ()
    files: dict[str, tuple[str, ...]] = field(default_factory=dict)
    structures: frozenset[str] = frozenset()
    failures: tuple[Failure, ...] = ()

    @property
    def next_id(self) -> int:
        """Return the number of the next recording."""
        return max((one.recording_id for one in self.recordings), default=0) + 1

    def with_files(self, added: Mapping[str, Sequence[str]]) -> Manifest:
        """Return it with more files, by name of their table."""
        files = dict(self.files)
        for table, paths in added.items():
            files[table] = (*files.get(table, ()), *paths)
        return replace(self, files=files)

    def with_structures(self, added: Collection[str]) -> Manifest:
        """Return it with more structures, by their fingerprints."""
        return replace(self, structures=self.structures | frozenset(added))

    def encode(self) -> bytes:
        """Return it as JSON."""
        values = asdict(self) | {"structures": sorted(self.structures)}
        return json.dumps({"fleet_version": FLEET_VERSION, **values}).encode()


def decode_manifest(content: bytes, place: str) -> Manifest:
    """Return a manifest out of JSON.

    Parameters
    ----------
    place
        The data set, as errors name it.

    Raises
    ------
    RecordingError
        If a newer gviz wrote it, or it is damaged.
    """
    try:
        values = json.loads(content)
        version = values.pop("fleet_version")
        if version > FLEET_VERSION:
            raise RecordingError(
                f"{place} was built by a newer gviz (version {version} of its tables, this one "
                f"reads {FLEET_VERSION}); install that one"
            )
        return Manifest(
            job=values["job"],
            builds=tuple(values["builds"]),
            recordings=tuple(_recording(one) for one in values["recordings"]),
            files={table: tuple(paths) for table, paths in values["files"].items()},
            structures=frozenset(values["structures"]),
            failures=tuple(
                Failure(RecordingSource(**x["source"]), x["reason"]) for x in values["failures"]
            ),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RecordingError(
            f"{place}/{MANIFEST} is damaged ({error}); build the data set anew: "
            "gviz fleet build --anew"
        ) from error


def _recording(values: dict[str, Any]) -> MappedRecording:
    return MappedRecording(
        recording_id=values["recording_id"],
        build=values["build"],
        source=RecordingSource(**values["source"]),
        runs=tuple(RunHead(**run) for run in values["runs"]),
    )
