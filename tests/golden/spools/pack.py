"""Pack spools from a real GPU as test data.

Run: python -P tests/golden/spools/pack.py SPOOL_DIR...

Writes NAME.spool.tar.xz beside this file for each NAME.gviz-spool, the bundled recording of it
(assets/recordings/NAME.gviz), and then NAME.txt, what folding gives, for review. The records stay
as they are, byte for byte, but for two kinds: the metadata and the Python stacks name folders, the
host and the working copy of the machine, which are replaced.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from gviz.spool.folding.recording_fold import fold, read_contents
from gviz.spool.records import format as f
from gviz.spool.records import table
from gviz.spool.records.format import RecordType
from gviz.spool.records.reader import SpoolReader

FOLDER = Path(__file__).resolve().parent
SUFFIX = ".spool.tar.xz"
BUNDLED = FOLDER.parents[2] / "assets" / "recordings"
_TEST = FOLDER.parents[1] / "unit" / "spool" / "test_golden_spools.py"
#: Folders of the machine that recorded: of gviz's sources, and of the Python environment.
_FOLDERS = (
    (re.compile(r"[^\s\"']+(?=/assets/recordings/)"), "/home/user/gviz"),
    (re.compile(r"[^\s\"']+(?=/site-packages/)"), "/home/user/venv/lib/python3"),
)


def anonymous(value: object) -> object:
    """Return JSON data with the machine's folders replaced in every text."""
    if isinstance(value, str):
        for pattern, folder in _FOLDERS:
            value = pattern.sub(folder, value)
        return value
    if isinstance(value, list):
        return [anonymous(v) for v in value]
    if isinstance(value, dict):
        return {k: "host" if k == "host" else anonymous(v) for k, v in value.items()}
    return value


def name_of(spool: Path) -> str:
    """Return NAME of NAME.gviz-spool."""
    return spool.name.removesuffix(f.SPOOL_SUFFIX).removesuffix(".gviz")


def metadata(payload: bytes, name: str) -> bytes:
    """Return the run's metadata as of a run in the programs' own folder."""
    values = anonymous(json.loads(payload))
    assert isinstance(values, dict)
    if "command" in values:
        values |= {"command": f"python {name}.py {name}.gviz"}
        values |= {"git_revision": None, "git_dirty": None}
    return json.dumps(values).encode()


def segment(spool: Path) -> bytes:
    """Return all records of a spool as one segment, without the machine's folders."""
    body = bytearray()
    for record in SpoolReader(spool).records():
        payload = record.payload
        if record.type == RecordType.META:
            payload = metadata(payload, name_of(spool))
        elif record.type == RecordType.STACK:
            payload = json.dumps(anonymous(json.loads(payload))).encode()
        body += table.RECORD_HEADER.pack(record.type, len(payload)) + payload
        body += bytes(-len(body) % 8)
    end = table.SEGMENT_HEADER.size + len(body)
    return table.SEGMENT_HEADER.pack(f.MAGIC, f.VERSION, 0, end, end, 0) + bytes(body)


def pack(spool: Path) -> Path:
    """Write a spool's archive and return its path; equal spools give equal bytes."""
    archive = FOLDER / (name_of(spool) + SUFFIX)
    files = {f"000000{f.SEGMENT_SUFFIX}": segment(spool)}
    files |= {path.name: path.read_bytes() for path in spool.glob("graph_*.dot")}
    with tarfile.open(archive, "w:xz", format=tarfile.USTAR_FORMAT, preset=9) as tar:
        for name, data in sorted(files.items()):
            entry = tarfile.TarInfo(name)  # owner, group and time zero
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return archive


def bundle(archive: Path) -> Path:
    """Fold a packed spool into the recording that gviz brings along; return its path."""
    recording = BUNDLED / (archive.name.removesuffix(SUFFIX) + ".gviz")
    with tempfile.TemporaryDirectory() as folder:
        spool = Path(folder) / (recording.name + f.SPOOL_SUFFIX)
        with tarfile.open(archive) as tar:
            tar.extractall(spool, filter="data")
        made = fold(read_contents(spool), spool, Path(folder) / recording.name)
        recording.write_bytes(made.read_bytes())
    return recording


def main() -> int:
    """Pack, then rewrite the texts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("spools", nargs="+", type=Path)
    for spool in parser.parse_args().spools:
        archive = pack(spool)
        for path in (archive, bundle(archive)):
            print(f"{path.name}: {path.stat().st_size} bytes")
    command = [sys.executable, "-P", "-m", "pytest", "-q", str(_TEST)]
    environment = os.environ | {"GVIZ_UPDATE_GOLDEN": "1"}
    return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
