"""Pack recordings of single programs as bundled data.

Run: python -P tests/golden/spools/pack_recordings.py [--program NAME.py] [--run] RECORDING.gviz...

Writes assets/recordings/RECORDING.gviz. What was measured stays as it is; replaced are the
machine's name, its folders, and the command. The git revision stays, but for programs that are in
no repository of their own (--run: recorded by gviz run from a copy of one of gviz's programs).
"""

from __future__ import annotations

import argparse
import re
import shutil
import sqlite3
import sys
from pathlib import Path

BUNDLED = Path(__file__).resolve().parents[3] / "assets" / "recordings"
_HOME = "/home/user"


def anonymous(file: str, program: str) -> str:
    """Return a source file's path as of a machine whose user has gviz in the home folder."""
    if file.endswith("/" + program):
        return f"{_HOME}/gviz/assets/recordings/{program}"
    if "/site-packages/" in file:
        return re.sub(r"^.*(?=/site-packages/)", f"{_HOME}/venv/lib/python3", file)
    file = re.sub(r"^.*/build/link-tree/", f"{_HOME}/venv/lib/python3/site-packages/", file)
    return re.sub(r"^.*/lib/python3\.\d+/", "/usr/lib/python3/", file)


def pack(database: sqlite3.Connection, program: str, output: str) -> None:
    """Take the machine out of a recording, in place; ``output`` "": ``gviz run`` made it."""
    command = f"python {program} {output}".rstrip()
    database.execute("UPDATE run SET host='host', command=?", (command,))
    if not output:
        database.execute("UPDATE run SET git_revision=NULL, git_dirty=NULL")
    for number, file in database.execute("SELECT location_id, file FROM location").fetchall():
        place = (anonymous(file, program), number)
        database.execute("UPDATE location SET file=? WHERE location_id=?", place)


def main() -> int:
    """Pack the recordings that are named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("recordings", nargs="+", type=Path)
    parser.add_argument("--program", help="the recording's own name with .py by default")
    parser.add_argument("--run", action="store_true", help="gviz run made them")
    arguments = parser.parse_args()
    for recording in arguments.recordings:
        target = BUNDLED / recording.name
        shutil.copyfile(recording, target)
        with sqlite3.connect(target) as database:
            output = "" if arguments.run else recording.name
            pack(database, arguments.program or f"{recording.stem}.py", output)
        database.execute("VACUUM")
        database.close()
        print(f"{target.name}: {target.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
