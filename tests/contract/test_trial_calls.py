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
launches(cuda.instantiate(graph), 200)
report()
"""


#: What a slice begins and ends with: room for the memory of the program, while it has it.
SAVES, GIVES_BACK = "cuMemAlloc_v2", "cuMemFree_v2"


def calls_of(fake: Backend, folder: Path, text: str) -> list[tuple[Counter[str], Counter[str]]]:
    """Run a program with trials; return of each slice the calls since the last one, and its own."""
    path = folder / "calls.txt"
    _, recording = run_plain_and_tried(fake, folder, text, FAKE_CALLS=str(path))
    with recording:
        assert {t.refusal for t in trials_of(recording)} == {None}
    *parts, _ = path.read_text().split(f"{GIVES_BACK}\n")
    found = [[Counter(side.split()) for side in p.rpartition(f"{SAVES}\n")[::2]] for p in parts]
    return [(before, own) for before, own in found if own["cuMemsetD32Async"]]


@pytest.mark.parametrize("count", [0, 40])
def test_memory_is_saved_and_summed_up_by_a_launch_each(
    fake: Backend, tmp_path: Path, count: int
) -> None:
    slices = [own for _, own in calls_of(fake, tmp_path, BLOCKS.replace("COUNT", str(count)))]
    assert len(slices) >= 4
    # The first one measures the clock, too: by two launches. Each sums up before, after one launch
    # of a copy or two, and at the end.
    assert {one["cuLaunchKernel"] for one in slices[1:]} <= {4, 5}
    assert slices[0]["cuLaunchKernel"] == 5 + 2
    # Of the blocks one is written, and copied back after each launch.
    assert all(one["cuMemcpyDtoDAsync_v2"] == one["cuGraphLaunch"] for one in slices)
    assert {one["cuMemcpyHtoD_v2"] for one in slices} == {1}


def test_graph_is_looked_through_once(fake: Backend, tmp_path: Path) -> None:
    slices = calls_of(fake, tmp_path, BLOCKS.replace("COUNT", "0"))
    looks = [before["cuFuncGetParamInfo"] for before, _ in slices[1:]]
    # And in the last moment once more: of the executable as it is then.
    assert len(looks) - looks.count(0) == 1


#: A kernel is given what is no address to the driver, until after a slice the program registers
#: that memory.
BECOMES = f"""{SUMS}{CHAIN}
from contract.driver import Arguments
from ctypes import addressof, c_float, c_size_t, c_uint, c_ulonglong, c_void_p, create_string_buffer
room = create_string_buffer(4096)
given = Arguments(c_uint(0), c_float(1), c_ulonglong(work.x), c_ulonglong(addressof(room)))
cuda.add_kernel(graph, [nodes[-1]], "axpy", given)
graph_exec = cuda.instantiate(graph)
while is_recorded and "cuMemsetD32Async" not in open(os.environ["FAKE_CALLS"]).read():
    launches(graph_exec, 1)
cuda.call("cuMemHostRegister_v2", room, c_size_t(4096), c_uint(0))
launches(graph_exec, 60)
print("{{}}")
"""


def test_graph_is_looked_through_again_once_memory_has_changed(
    fake: Backend, tmp_path: Path
) -> None:
    calls = str(tmp_path / "calls.txt")
    _, recording = run_plain_and_tried(fake, tmp_path, BECOMES, FAKE_CALLS=calls)
    with recording:
        *others, last = trials_of(recording)
    assert last.refusal == "a kernel of it is given host memory"
    assert "delay" not in {one.kind for one in others}
