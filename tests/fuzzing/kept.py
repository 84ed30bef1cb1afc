"""Kept inputs: those that guided fuzzing found to reach other code, packed a file a target.

Run: python -P -m fuzzing.kept TARGET CORPUS, with tests/ on PYTHONPATH, packs a corpus that
``bench/fuzz.py --guided`` has left. Of it the smallest inputs are kept that run lines of gviz which
the honest ones and smaller ones do not.
"""

from __future__ import annotations

import io
import sys
import tarfile
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Any

from fuzzing.campaign import read_path, write_corpus
from fuzzing.inputs import Inputs

_FOLDER = Path(__file__).parent / "kept"
#: Inputs of a target, and bytes of the file that they are packed in, for the repository's sake.
_MOST, _MOST_BYTES = 40, 40_000
#: Looked at of a corpus, from the smallest.
_LOOKED_AT = 400
_SPECS = map(find_spec, ("gviz", "gviz.app"))
#: Where the code of gviz stands: in a tree of links not where this file does.
_PARTS = tuple(f"{place}/" for spec in _SPECS if spec for place in spec.submodule_search_locations)

Lines = set[tuple[str, int]]


def is_kept(target: str) -> bool:
    """Return whether inputs of a target are kept."""
    return _packed(target).exists()


def kept_inputs(target: str, folder: Path) -> Sequence[Path]:
    """Write the kept inputs of a target into folders of their own below one, and return them."""
    inputs = Inputs(target, folder, write_corpus(target, folder / "honest"))
    with tarfile.open(_packed(target)) as tar:
        members = sorted(tar.getmembers(), key=lambda member: member.name)
        contents = [tar.extractfile(member) for member in members]
        return [
            inputs.write(content.read(), folder / f"{at}")
            for at, content in enumerate(contents)
            if content is not None
        ]


def _packed(target: str) -> Path:
    return _FOLDER / f"{target.replace(' ', '-')}.tar.xz"


def pack(target: str, corpus: Path) -> int:
    """Pack the smallest inputs that run other lines than the others; return how many."""
    found = sorted((p for p in corpus.iterdir() if p.is_file()), key=lambda p: p.stat().st_size)
    chosen: list[bytes] = []
    with tempfile.TemporaryDirectory() as name, lines_run() as ran:
        folder = Path(name)
        honest = write_corpus(target, folder / "honest")
        inputs = Inputs(target, folder, honest)
        for data in inputs.honest(honest):
            read_path(target, inputs.write(data, folder / "read"))
        for path in found[:_LOOKED_AT]:
            data, before = path.read_bytes(), len(ran)
            read_path(target, inputs.write(data, folder / "read"))
            if len(ran) > before and len(_archive([*chosen, data])) <= _MOST_BYTES:
                chosen.append(data)
            if len(chosen) == _MOST:
                break
    _FOLDER.mkdir(exist_ok=True)
    _packed(target).write_bytes(_archive(chosen))
    return len(chosen)


def _archive(inputs: Sequence[bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:xz") as tar:
        for at, data in enumerate(inputs):
            member = tarfile.TarInfo(f"{at:03d}")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return packed.getvalue()


@contextmanager
def lines_run() -> Iterator[Lines]:
    """Yield the lines of gviz that run from now on, in threads too: servers keep theirs."""
    ran: Lines = set()

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(_PARTS):
            return None
        ran.add((frame.f_code.co_filename, frame.f_lineno))
        return trace

    sys.settrace(trace)
    threading.settrace(trace)
    try:
        yield ran
    finally:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]


if __name__ == "__main__":
    print(sys.argv[1], pack(sys.argv[1], Path(sys.argv[2])))
