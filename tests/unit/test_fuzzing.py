"""A part of the fuzzing in each run of the tests; bench/fuzz.py does as much as is wanted."""

from __future__ import annotations

import mmap
from pathlib import Path

import pytest
from fuzzing import campaign
from fuzzing.campaign import fuzz, write_corpus, write_input

#: Inputs of each target; together 2,000, in shares by what one of them takes.
COUNTS = {
    "dot": 800,
    "hip": 200,
    "own dot": 200,
    "kineto": 400,
    "nsys": 150,
    "gviz": 125,
    "spool": 125,
}


@pytest.mark.thorough
@pytest.mark.parametrize(("target", "count"), COUNTS.items())
def test_no_changed_input_is_a_crash_a_hang_or_out_of_memory(
    tmp_path: Path, target: str, count: int
) -> None:
    corpus = write_corpus(target, tmp_path / "corpus")
    outcome = fuzz(target, range(count), corpus)
    assert [f"seed {fault.seed}: {fault.what}" for fault in outcome.faults] == []
    assert outcome.count == count
    # Changes that are all refused at the door would test the door only.
    assert outcome.taken > count // 10


def test_inputs_follow_from_their_seed(tmp_path: Path) -> None:
    corpus = write_corpus("dot", tmp_path / "corpus")
    texts = []
    for name, seed in (("a", 7), ("b", 7), ("c", 8)):
        (tmp_path / name).mkdir()
        texts.append(write_input("dot", seed, corpus, tmp_path / name).read_bytes())
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.thorough
def test_hang_crash_and_memory_are_faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = write_corpus("dot", tmp_path / "corpus")
    monkeypatch.setattr(campaign, "LIMIT_S", 5)
    monkeypatch.setattr(campaign, "LIMIT_BYTES", 1 << 30)
    # What the tests before have mapped is not the input's: here as much as it may take itself.
    mapped = mmap.mmap(-1, campaign.LIMIT_BYTES)

    def read(target: str, seed: int, corpus: object, folder: Path) -> str:
        if seed == 1:
            raise SystemExit(3)
        while seed == 2:
            pass
        taken = bytearray(campaign.LIMIT_BYTES * 9 // 8 if seed == 4 else 1 << 20)
        return "taken" if taken else ""

    monkeypatch.setattr(campaign, "read_input", read)
    found = fuzz("dot", range(5), corpus)
    mapped.close()
    assert (found.taken, [fault.seed for fault in found.faults]) == (2, [1, 2, 4])
    assert "ended with code 3" in found.faults[0].what
    assert "took more than 5 s" in found.faults[1].what
    assert "ended with code 1" in found.faults[2].what
