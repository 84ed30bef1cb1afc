"""A part of the fuzzing in each run of the tests; bench/fuzz.py does as much as is wanted."""

from __future__ import annotations

import mmap
import os
import tempfile
import time
from pathlib import Path

import pytest
from fuzzing import campaign
from fuzzing.campaign import fuzz, read_kept, write_corpus, write_input
from fuzzing.kept import is_kept, kept_inputs
from fuzzing.seeds import chosen_seeds
from fuzzing.targets import TARGETS

from gviz.cli.command_line import COMMANDS

SEEDS = chosen_seeds()


@pytest.mark.thorough
@pytest.mark.parametrize("target", TARGETS)
def test_no_changed_input_is_a_crash_a_hang_or_out_of_memory(tmp_path: Path, target: str) -> None:
    corpus = write_corpus(target, tmp_path / "corpus")
    outcome = fuzz(target, SEEDS[target], corpus)
    assert [f"seed {fault.seed}: {fault.what}" for fault in outcome.faults] == []
    assert outcome.count == len(SEEDS[target])
    # Changes that are all refused at the door would test the door only.
    assert outcome.taken > outcome.count // 10


@pytest.mark.thorough
@pytest.mark.parametrize("target", [target for target in TARGETS if is_kept(target)])
def test_kept_inputs_are_taken_or_refused_in_words(tmp_path: Path, target: str) -> None:
    paths = kept_inputs(target, tmp_path)
    outcome = read_kept(target, paths)
    assert [f"{paths[fault.seed]}: {fault.what}" for fault in outcome.faults] == []
    assert outcome.count == len(paths) > 0


def test_targets_share_all_inputs_and_none_has_few() -> None:
    shares = [target.share for target in TARGETS.values()]
    assert sum(shares) == 100
    assert min(shares) >= 1


def test_each_command_is_looked_at_or_has_a_reason() -> None:
    from fuzzing.commands import ELSEWHERE, READING  # a second of imports

    assert READING.keys() | ELSEWHERE.keys() == COMMANDS.keys()
    assert not READING.keys() & ELSEWHERE.keys()


def test_each_form_of_export_is_written() -> None:
    from fuzzing.commands import WRITTEN_FORMS

    from gviz.cli.command_line import build_parser

    actions = build_parser("export").command("export")._actions
    (choices,) = (one.choices for one in actions if "--format" in one.option_strings)
    drawn = {"dot", "svg", "perfetto"}  # a graph at a time
    assert choices is not None
    assert set(choices) == drawn | {*WRITTEN_FORMS}


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
        if seed == 2:
            time.sleep(60)
        taken = bytearray(campaign.LIMIT_BYTES * 9 // 8 if seed == 4 else 1 << 20)
        return "taken" if taken else ""

    monkeypatch.setattr(campaign, "read_input", read)
    found = fuzz("dot", range(5), corpus)
    mapped.close()
    assert (found.taken, [fault.seed for fault in found.faults]) == (2, [1, 2, 4])
    assert "ended with code 3" in found.faults[0].what
    assert "took more than 5 s" in found.faults[1].what
    assert "ended with code 1" in found.faults[2].what


def test_process_that_is_ended_leaves_no_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaign, "_MEMORY", tmp_path)

    def read(target: str, seed: int, corpus: object, folder: Path) -> str:
        (folder / "read").touch()
        Path(tempfile.mkdtemp(), "written aside").touch()
        if seed == 1:
            os._exit(3)
        return "taken" if folder.is_relative_to(tmp_path) else "elsewhere"

    monkeypatch.setattr(campaign, "read_input", read)
    found = fuzz("dot", range(3), [])
    assert (found.taken, [fault.seed for fault in found.faults]) == (2, [1])
    assert list(tmp_path.iterdir()) == []
