"""Pack recordings of bench/gpu_findings.py as test data.

Run: python -P tests/golden/findings/pack.py gpu_findings_recordings.tar NAME...

Writes NAME.gviz.xz beside this file for each NAME.gviz of the archive. Folders of the machine, its
name and the state of its working copy are replaced; nothing else is changed.
"""

from __future__ import annotations

import argparse
import lzma
import re
import sqlite3
import tarfile
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
#: What stands before the folders bench/ and tests/ of gviz's sources.
_SOURCES = re.compile(r"^.*(?=/(bench|tests)/)")


def anonymise(path: Path) -> None:
    """Replace what names the machine."""
    name = path.name.removesuffix(".gviz")
    program, _, side = name.rpartition("-")
    command = f"python -P bench/gpu_findings.py --record '{program}' {side} {path.name}"
    with sqlite3.connect(path) as database:
        database.create_function("anonymous", 1, lambda text: _SOURCES.sub("/home/user/gviz", text))
        database.execute("UPDATE location SET file = anonymous(file)")
        database.execute(
            "UPDATE run SET command = ?, host = 'host', process_id = 1, git_revision = NULL, "
            "git_dirty = NULL",
            (command,),
        )
    database.close()
    with sqlite3.connect(path, isolation_level=None) as database:
        database.execute("VACUUM")
    database.close()


def main() -> int:
    """Pack the recordings named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("archive", type=Path)
    parser.add_argument("names", nargs="+", metavar="NAME")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, tarfile.open(arguments.archive) as tar:
        for name in arguments.names:
            tar.extract(f"{name}.gviz", folder, filter="data")
            path = Path(folder) / f"{name}.gviz"
            path.chmod(0o644)
            anonymise(path)
            packed = FOLDER / f"{name}.gviz.xz"
            packed.write_bytes(lzma.compress(path.read_bytes(), preset=9 | lzma.PRESET_EXTREME))
            print(f"{packed.name}: {packed.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
