"""Fuzzing of one target guided by coverage: Atheris keeps inputs that reach new code of gviz.

Run: python -P -m fuzzing.guided TARGET CORPUS SECONDS [SEED], with tests/ on PYTHONPATH. It ends
with code 0 when the time is over, and with another at the first fault: a traceback, 10 seconds
for one input, or 1 GB. The input is kept beside the corpus.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import warnings
from contextlib import suppress
from pathlib import Path
from random import Random

import atheris

with atheris.instrument_imports(include=["gviz"]):
    from fuzzing.campaign import write_corpus
    from fuzzing.reading import check_refusal
    from fuzzing.targets import TARGETS, Target

from gviz.errors import GvizError
from gviz.spool.records.format import SEGMENT_SUFFIX, SPOOL_SUFFIX

_LIMIT_S = 10
_LIMIT_MB = 1024
#: Of changed inputs so many are changed as libFuzzer does, not as tests/fuzzing does.
_PLAIN_FRACTION = 0.3
_SEGMENT = f"{0:06d}{SEGMENT_SUFFIX}"


class _Inputs:
    """Files of a target's inputs, made of bytes and read as bytes; a spool is its one segment."""

    def __init__(self, target: Target, folder: Path, honest: Path) -> None:
        self.target = target
        self._folder = folder
        self._is_spool = honest.is_dir()
        self._name = f"input.gviz{SPOOL_SUFFIX}" if self._is_spool else f"input{honest.suffix}"

    def write(self, data: bytes, name: str) -> Path:
        """Write an input into an empty folder of its own."""
        folder = self._folder / name
        shutil.rmtree(folder, ignore_errors=True)
        path = folder / self._name
        (path if self._is_spool else folder).mkdir(parents=True)
        (path / _SEGMENT if self._is_spool else path).write_bytes(data)
        return path

    def changed(self, data: bytes, seed: int) -> bytes:
        """Return an input changed as the unguided fuzzing changes it."""
        output = self._folder / "changed"
        shutil.rmtree(output, ignore_errors=True)
        output.mkdir(parents=True)
        return read_bytes(self.target.mutate(Random(seed), [self.write(data, "to change")], output))


def read_bytes(path: Path) -> bytes:
    """Return the bytes of an input."""
    return (path / _SEGMENT if path.is_dir() else path).read_bytes()


def main(name: str, corpus: str, seconds: str, seed: str = "1") -> None:
    """Fuzz until the time is over or a fault is found."""
    folder, kept = Path(tempfile.mkdtemp()), Path(corpus)
    honest = write_corpus(name, folder / "honest")
    kept.mkdir(parents=True, exist_ok=True)
    for at, path in enumerate(honest):
        (kept / f"honest-{at}").write_bytes(read_bytes(path))
    inputs = _Inputs(TARGETS[name], folder, honest[0])

    def test_one(data: bytes) -> None:
        path = inputs.write(data, "input")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                inputs.target.read(path)
        except GvizError as error:
            check_refusal(error)

    def mutate(data: bytes, max_size: int, seed: int) -> bytes:
        if Random(seed).random() > _PLAIN_FRACTION:
            with suppress(Exception):  # too damaged to be changed by records or rows
                return inputs.changed(bytes(data), seed)[:max_size]
        return bytes(atheris.Mutate(data, len(data)))

    limits = [f"-timeout={_LIMIT_S}", f"-rss_limit_mb={_LIMIT_MB}", "-max_len=400000"]
    run = [f"-max_total_time={seconds}", f"-seed={seed}", f"-artifact_prefix={kept}/fault-"]
    atheris.Setup(["fuzz", *limits, *run, str(kept)], test_one, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
