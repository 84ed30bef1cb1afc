"""Parts of a data set: the recordings of one batch as Parquet, made where they are mapped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gviz.dataclass import dataclass
from gviz.errors import GvizError, RecordingError
from gviz.fleet.heads import Failure, RecordingHead, damaged
from gviz.fleet.mapped import Rows, map_run
from gviz.fleet.parquet import pack_pieces
from gviz.fleet.sources import local_file
from gviz.fleet.structures import Structure
from gviz.fleet.tables import EDGES, FINDINGS, GRAPHS, NODES, TABLES
from gviz.recording import Recording


@dataclass(frozen=True, slots=True)
class Numbered:
    """A recording that is to be mapped, with its number in the data set."""

    recording_id: int
    head: RecordingHead


@dataclass(frozen=True, slots=True)
class Batch:
    """Recordings that are mapped together.

    Attributes
    ----------
    build
        The build's number.
    recordings
        In order of their numbers.
    known
        Fingerprints of the structures that the data set has.
    """

    build: int
    recordings: tuple[Numbered, ...]
    known: frozenset[str]


@dataclass(frozen=True, slots=True)
class PackedStructure:
    """A structure, and its tables' rows as Parquet, by name of the table."""

    fingerprint: str
    name: str
    files: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class FleetPart:
    """Rows of a batch of recordings, and those of them that failed.

    Attributes
    ----------
    recording_ids
        Of the recordings in it.
    failures
        The others, each with its reason.
    files
        Parquet, by name of the table; without those that have no rows.
    structures
        Those that the data set did not have.
    """

    recording_ids: tuple[int, ...]
    failures: tuple[Failure, ...]
    files: Mapping[str, bytes]
    structures: tuple[PackedStructure, ...]


def map_batch(batch: Batch) -> FleetPart:
    """Return the recordings of a batch as a part; those that cannot be read are listed."""
    found, mapped, failures = Rows(), [], []
    packed: dict[str, PackedStructure] = {}
    for one in batch.recordings:
        try:
            rows = _map_recording(one, batch, found.structures)
            met = batch.known | found.structures.keys()
            new = {
                fingerprint: _pack_structure(structure)
                for fingerprint, structure in rows.structures.items()
                if fingerprint not in met
            }
        except (GvizError, OSError) as error:
            failures.append(Failure(one.head.source, str(error)))
            continue
        for table, pieces in rows.pieces.items():
            found.pieces.setdefault(table, []).extend(pieces)
        found.structures.update(rows.structures)
        packed.update(new)
        mapped.append(one.recording_id)
    return FleetPart(
        recording_ids=tuple(mapped),
        failures=tuple(failures),
        files={name: _pack(name, pieces) for name, pieces in found.pieces.items()},
        structures=tuple(packed.values()),
    )


def _map_recording(one: Numbered, batch: Batch, structures: Mapping[str, Structure]) -> Rows:
    """Return the rows of one recording, whole or not at all."""
    found = Rows(structures=dict(structures))
    wanted = {run.run_id for run in one.head.runs}
    first = {
        "recording_id": one.recording_id,
        "build": batch.build,
        "url": one.head.source.url,
    }
    with local_file(one.head.source.url) as path, Recording(path) as recording:
        for run in recording.fetch_runs():
            if run.run_id in wanted:
                map_run(recording, run, first, batch.known, found)
        if not recording.is_whole:
            raise RecordingError(damaged(one.head.source.url))
    return found


def _pack_structure(one: Structure) -> PackedStructure:
    key = {"graph_key": one.key}
    nodes = np.arange(len(one.names))
    rows = Rows()
    rows.add(
        GRAPHS,
        {
            **key,
            "fingerprint": one.fingerprint,
            "name": one.name,
            "node_count": len(one.names),
            "edge_count": len(one.edges),
            "collective_count": int(one.is_collective.sum()),
            "layer_count": len(one.layers),
        },
    )
    rows.add(
        NODES,
        {
            **key,
            "node": nodes,
            "name": list(one.names),
            "type": one.type,
            "family": list(one.families),
            "layer": one.layer,
            "layer_name": [one.layers[at] if at >= 0 else "" for at in one.layer.tolist()],
            "body": list(one.bodies),
            "is_collective": one.is_collective,
        },
    )
    edges = one.edges
    rows.add(EDGES, {**key, "source": edges.source, "target": edges.target, "type": edges.type})
    same = ("rule", "reason", "fix", "node_count", "gain_ns", "gain_bound", "gain_per")
    rows.add(FINDINGS, {**key, **{name: [getattr(x, name) for x in one.findings] for name in same}})
    files = {name: _pack(name, pieces) for name, pieces in rows.pieces.items()}
    return PackedStructure(one.fingerprint, one.name, files)


def _pack(table: str, pieces: Sequence[Mapping[str, Any]]) -> bytes:
    return pack_pieces(TABLES[table].arrow_schema(), pieces)
