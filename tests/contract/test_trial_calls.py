"""The slices of trials ask no more of the driver where the program has more blocks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from contract.backend import Backend
from contract.test_trials import CHAIN, SUMS, run_plain_and_tried, trials_of

#: A graph's launches in a program of some blocks more.
BLOCKS = f"""{SUMS}{CHAIN}
blocks = [cuda.allocate(4096) for _ in range(COUNT)]
launches(cuda.instantiate(graph), 60)
report()
"""


def slices_of(fake: Backend, folder: Path, text: str) -> list[Counter[str]]:
    """Run a program with trials; return the calls of each slice, while it has its memory."""
    path = folder / "calls.txt"
    _, recording = run_plain_and_tried(fake, folder, text, FAKE_CALLS=str(path))
    with recording:
        assert {t.refusal for t in trials_of(recording)} == {None}
    *parts, _ = path.read_text().split("cuMemFree_v2\n")
    found = [Counter(one.rpartition("cuMemAlloc_v2\n")[2].split()) for one in parts]
    return [one for one in found if one["cuMemsetD32Async"]]  # others are no slice's


@pytest.mark.parametrize("count", [0, 40])
def test_memory_is_saved_and_summed_up_by_a_launch_each(
    fake: Backend, tmp_path: Path, count: int
) -> None:
    slices = slices_of(fake, tmp_path, BLOCKS.replace("COUNT", str(count)))
    assert len(slices) >= 4
    # The first one measures the clock, too: by two launches. Each sums up before, after one launch
    # of a copy or two, and at the end.
    assert {one["cuLaunchKernel"] for one in slices[1:]} <= {4, 5}
    assert slices[0]["cuLaunchKernel"] == 5 + 2
    # Of the blocks one is written, and copied back after each launch.
    assert all(one["cuMemcpyDtoDAsync_v2"] == one["cuGraphLaunch"] for one in slices)
    assert {one["cuMemcpyHtoD_v2"] for one in slices} == {1}
