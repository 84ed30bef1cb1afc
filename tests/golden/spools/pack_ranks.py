"""Pack the recording of a job as bundled data.

Run: python -P tests/golden/spools/pack_ranks.py ranks_h200.gviz

Writes assets/recordings/NAME.gviz. What was measured stays as it is; replaced are names of the
machine and its folders, and what depends on how the program is written: line numbers of ranks.py
become those of the program beside the recording, which runs the same calls. NVTX ranges of NCCL
that were opened with a payload were recorded as never closed and would stand around all that
followed; they are taken out, and the graphs named as gviz names them without.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sqlite3
import sys
from pathlib import Path

from gviz.cuda.graph_name import line_name

BUNDLED = Path(__file__).resolve().parents[3] / "assets" / "recordings"
PROGRAM = BUNDLED / "ranks.py"
#: By their text, lines of the program that was recorded, and of the one beside the recording.
_LINES = {
    "with torch.cuda.graph(g): step()": "with torch.cuda.graph(graph):",
    "else: work()": "work()",
    "y = torch.relu(y @ up) @ down": "y = torch.relu(y @ up) @ down",
    "dist.all_reduce(y)": "dist.all_reduce(y)",
}
_HOME = "/home/user"


def pack(database: sqlite3.Connection) -> None:
    """Take the machine out of a recording, in place."""
    database.execute("UPDATE run SET host='host', command='python -u ranks.py'")
    lines = [line.strip() for line in PROGRAM.read_text().splitlines()]
    for number, file, source in database.execute(
        "SELECT location_id, file, source FROM location"
    ).fetchall():
        if file.endswith("/ranks.py"):
            text = _LINES[source]
            place = (f"{_HOME}/gviz/assets/recordings/ranks.py", lines.index(text) + 1, text)
            database.execute(
                "UPDATE location SET file=?, line=?, source=? WHERE location_id=?",
                (*place, number),
            )
        else:
            file = re.sub(r"^.*(?=/site-packages/)", f"{_HOME}/venv/lib/python3", file)
            database.execute("UPDATE location SET file=? WHERE location_id=?", (file, number))
    _drop_unclosed_ranges(database)


def _drop_unclosed_ranges(database: sqlite3.Connection) -> None:
    unclosed = database.execute(
        "SELECT nvtx_path_id, parent_id FROM nvtx_path WHERE domain='NCCL' AND nvtx_path_id NOT IN "
        "(SELECT nvtx_path_id FROM nvtx_range) ORDER BY nvtx_path_id DESC"
    ).fetchall()
    for path, parent in unclosed:
        database.execute("UPDATE nvtx_path SET parent_id=? WHERE parent_id=?", (parent, path))
        database.execute("UPDATE node SET nvtx_path_id=? WHERE nvtx_path_id=?", (parent, path))
        database.execute(
            "UPDATE graph SET capture_nvtx_path_id=? WHERE capture_nvtx_path_id=?", (parent, path)
        )
        database.execute("DELETE FROM nvtx_path WHERE nvtx_path_id=?", (path,))
    for graph, stack in database.execute(
        "SELECT graph_id, capture_stack_id FROM graph WHERE capture_nvtx_path_id IS NULL"
    ).fetchall():
        frames = database.execute(
            "SELECT file, line, function FROM stack JOIN location USING (location_id) "
            "WHERE stack_id=? ORDER BY depth",
            (stack,),
        ).fetchall()
        database.execute("UPDATE graph SET name=? WHERE graph_id=?", (line_name(frames), graph))


def main() -> int:
    """Pack what is named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("recording", type=Path)
    recording = parser.parse_args().recording
    target = BUNDLED / recording.name
    shutil.copyfile(recording, target)
    with sqlite3.connect(target) as database:
        pack(database)
    database.execute("VACUUM")
    database.close()
    print(f"{target.name}: {target.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
