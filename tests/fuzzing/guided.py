"""Fuzzing of one target guided by coverage: Atheris keeps inputs that reach new code of gviz.

Run: python -P -m fuzzing.guided TARGET CORPUS SECONDS [SEED], with tests/ on PYTHONPATH. It ends
with code 0 when the time is over or some thousand inputs were tried, and with another at the first
fault: a traceback, 10 seconds for one input, or 1 GB. The input is kept beside the corpus.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from contextlib import suppress
from pathlib import Path
from random import Random

import atheris

with atheris.instrument_imports(include=["gviz"]):
    from fuzzing.campaign import LIMIT_BYTES, LIMIT_S, write_corpus
    from fuzzing.inputs import Inputs
    from fuzzing.refusals import check_refusal

from gviz.errors import GvizError

#: Of changed inputs so many are changed as libFuzzer does, not as tests/fuzzing does.
_PLAIN_FRACTION = 0.3
#: Inputs of a process: what Atheris 3.0 adds to code loses up to 150 KB of memory an input (kineto;
#: without it the same inputs lose nothing).
_RUNS = 3_000


def main(name: str, corpus: str, seconds: str, seed: str = "1") -> None:
    """Fuzz until the time is over or a fault is found."""
    folder, kept = Path(tempfile.mkdtemp()), Path(corpus)
    kept.mkdir(parents=True, exist_ok=True)
    # What is imported when an input is first read is guided by, too.
    with atheris.instrument_imports(include=["gviz"]):
        honest = write_corpus(name, folder / "honest")
        inputs = Inputs(name, folder, honest)
        for data in inputs.honest(honest):
            with suppress(GvizError):
                inputs.target.read(inputs.write(data, folder / "input"))
    for at, data in enumerate(inputs.honest(honest)):
        (kept / f"honest-{at}").write_bytes(data)

    def test_one(data: bytes) -> None:
        path = inputs.write(data, folder / "input")
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

    limits = [f"-timeout={LIMIT_S}", f"-rss_limit_mb={LIMIT_BYTES >> 20}", "-max_len=400000"]
    limits += [f"-max_total_time={seconds}", f"-runs={_RUNS}"]
    run = [f"-seed={seed}", f"-artifact_prefix={kept}/fault-"]
    atheris.Setup(["fuzz", *limits, *run, str(kept)], test_one, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
