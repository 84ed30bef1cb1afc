"""Every recording of a real GPU: the bundled ones, and what golden files become."""

from __future__ import annotations

import lzma
import tarfile
from collections.abc import Iterator
from pathlib import Path

from gviz.assets import recordings as bundled
from gviz.formats.importer import import_files
from gviz.recording.identity import read_version
from gviz.recording.rows.versions import SCHEMA_VERSION
from gviz.recording.upgrades import upgrade_recording
from gviz.spool.folding.recording_fold import fold, read_contents

_ASSETS = Path(next(iter(bundled.__path__)))
_GOLDEN = Path(__file__).resolve().parent / "golden"
#: Traces with the dump of the same graph, where there is one.
_TRACES = {
    "both_torch_2.11.json.gz": None,
    "branches_torch_2.11.json.xz": "branches_torch_2.11.dot",
    "copies_nsys_2023.4.sqlite.xz": None,
    "copies_torch_2.11.json.gz": "copies_torch_2.11.dot",
    "eager_torch_2.11.json.xz": None,
    "encoder_torch_2.11.json.gz": "encoder_torch_2.11.dot",
    "foreach_torch_2.11.json.xz": "foreach_torch_2.11.dot",
    "nested_torch_2.11.json.gz": "nested_torch_2.11.dot",
}


def bundled_recordings() -> Iterator[tuple[str, Path]]:
    """Yield the bundled recordings: a name, and the file."""
    for path in sorted(_ASSETS.glob("*.gviz")):
        yield f"bundled/{path.stem}", path


def golden_recordings(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the recordings that golden files become: a name, and a file in ``folder``."""
    for packed in sorted((_GOLDEN / "findings").glob("*.gviz.xz")):
        target = _unpacked(packed, folder)
        yield f"findings/{target.stem}", _upgraded(target, target)
    for path in sorted((_GOLDEN / "recordings").glob("*.gviz")):
        yield f"recordings/{path.stem}", _upgraded(path, folder / path.name)
    for kind in ("recaptures", "spools"):
        for packed in sorted((_GOLDEN / kind).glob("*.spool.tar.xz")):
            name = packed.name.removesuffix(".spool.tar.xz")
            yield f"{kind}/{name}", _folded(packed, folder / f"{kind}_{name}.gviz")
    for packed in sorted((_GOLDEN / "traces").glob("*.gviz.xz")):
        target = _unpacked(packed, folder)
        yield f"traces/{target.stem}.gviz", _upgraded(target, target)
    for trace, dump in _TRACES.items():
        names = [name for name in (trace, dump) if name is not None]
        paths = [_unpacked(_GOLDEN / "traces" / name, folder) for name in names]
        name = trace.partition(".json")[0].partition(".sqlite")[0]
        target = folder / f"trace_{name}.gviz"
        import_files(paths, target)
        yield f"traces/{name}", target


def _unpacked(path: Path, folder: Path) -> Path:
    """Return a file that is not packed with xz."""
    if path.suffix != ".xz":
        return path
    target = folder / path.stem
    target.write_bytes(lzma.decompress(path.read_bytes()))
    return target


def _upgraded(path: Path, target: Path) -> Path:
    if read_version(path) == SCHEMA_VERSION:
        return path
    upgrade_recording(path, target)
    return target


def _folded(packed: Path, target: Path) -> Path:
    spool = target.with_suffix(".gviz-spool")
    with tarfile.open(packed) as tar:
        tar.extractall(spool, filter="data")
    fold(read_contents(spool), spool, target)
    return target
