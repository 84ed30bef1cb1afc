"""Inputs of targets as bytes, as guided fuzzing changes them and as they are kept."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from random import Random

from fuzzing.refusals import beside
from fuzzing.targets import PAIRS, TARGETS
from gviz.spool.records.format import SEGMENT_SUFFIX, SPOOL_SUFFIX

_SEGMENT = f"{0:06d}{SEGMENT_SUFFIX}"


class Inputs:
    """Files of a target's inputs, made of bytes and read as bytes.

    A spool is its one segment, two files are both, after the size of the first.
    """

    def __init__(self, name: str, folder: Path, honest: Sequence[Path]) -> None:
        self.target = TARGETS[name]
        self._folder = folder
        self._is_spool = honest[0].is_dir()
        self._is_pair = name in PAIRS
        self._names = [
            f"input.gviz{SPOOL_SUFFIX}" if self._is_spool else f"input{honest[0].suffix}"
        ]
        if self._is_pair:
            other = beside(Path(self._names[0]))
            self._names.append(other.with_suffix(honest[-1].suffix).name)

    def honest(self, paths: Sequence[Path]) -> list[bytes]:
        """Return the bytes of a target's honest inputs."""
        if self._is_pair:
            return [join_pair(paths[0].read_bytes(), paths[-1].read_bytes())]
        return [self._read(path) for path in paths]

    def write(self, data: bytes, folder: Path) -> Path:
        """Write an input into an empty folder of its own; return what a target reads."""
        shutil.rmtree(folder, ignore_errors=True)
        path = folder / self._names[0]
        (path if self._is_spool else folder).mkdir(parents=True)
        parts = split_pair(data) if self._is_pair else (data,)
        for name, part in zip(self._names, parts, strict=True):
            (folder / name / _SEGMENT if self._is_spool else folder / name).write_bytes(part)
        return path

    def changed(self, data: bytes, seed: int) -> bytes:
        """Return an input changed as the unguided fuzzing changes it."""
        output = self._folder / "changed"
        shutil.rmtree(output, ignore_errors=True)
        output.mkdir(parents=True)
        self.write(data, self._folder / "to change")
        corpus = [self._folder / "to change" / name for name in self._names]
        path = self.target.mutate(Random(seed), corpus, output)
        if self._is_pair:
            return join_pair(path.read_bytes(), (output / self._names[1]).read_bytes())
        return self._read(path)

    def _read(self, path: Path) -> bytes:
        return (path / _SEGMENT if self._is_spool else path).read_bytes()


def join_pair(first: bytes, second: bytes) -> bytes:
    """Return two files as one."""
    return len(first).to_bytes(4, "little") + first + second


def split_pair(data: bytes) -> tuple[bytes, bytes]:
    """Return the two files that bytes stand for, whatever they are."""
    size = int.from_bytes(data[:4], "little")
    return data[4 : 4 + size], data[4 + size :]
