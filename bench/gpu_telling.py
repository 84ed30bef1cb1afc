"""Cost of a launch that gviz is told of: told of and not, in turns in one process, on a GPU.

A machine has speeds of its own that last for seconds and differ by more than gviz adds, so that
processes cannot be compared. Under ``gviz run`` this program launches a PyTorch graph past its
copies, then in blocks in turns: with gviz told of launches, as it left the gate, and with the gate
not telling anybody. A plain process beside it shows what the stub and the machine add.
Figures: the launch call queued behind others, and a launch that is waited for; medians of blocks,
and of the differences of neighbours. Prints a table and a JSON line. ::

    python -P bench/gpu_telling.py [--nodes 10] [--rounds 40]
"""

from __future__ import annotations

import argparse
import ctypes
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent))

from gpu_residue import captured

if TYPE_CHECKING:
    import torch

SETTLE, QUEUED, WAITED = 400, 500, 100
#: Places of gate_api's members in words, see collectors/csrc/gate/gate.h.
NAME_OF, TELL = 5, 7
LAUNCHES = (b"cuGraphLaunch", b"cuGraphLaunch_ptsz")

Blocks = dict[str, list[tuple[float, float]]]


class Gate:
    """The gate of this process."""

    def __init__(self) -> None:
        words = (ctypes.c_void_p * (TELL + 1)).in_dll(ctypes.CDLL(None), "gviz_gate")
        name_of = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_uint32)(words[NAME_OF] or 0)
        self._tell = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_bool)(words[TELL] or 0)
        self._launches, number = [], 1
        while name := name_of(number):
            self._launches += [number] if name in LAUNCHES else []
            number += 1

    def tell(self, on: bool) -> None:
        """Tell of launches, or do not."""
        for number in self._launches:
            self._tell(number, on)


def block(graph: torch.cuda.CUDAGraph) -> tuple[float, float]:
    """Return the call of launches that queue, and of a launch that is waited for, in us."""
    import torch

    torch.cuda.synchronize()
    began = time.perf_counter_ns()
    for _ in range(QUEUED):
        graph.replay()
    call = (time.perf_counter_ns() - began) / QUEUED / 1e3
    torch.cuda.synchronize()
    waited = []
    for _ in range(WAITED):
        began = time.perf_counter_ns()
        graph.replay()
        torch.cuda.synchronize()
        waited.append((time.perf_counter_ns() - began) / 1e3)
    return call, statistics.median(waited)


def measure(nodes: int, rounds: int, sides: tuple[str, ...]) -> Blocks:
    """Return the blocks of each side, in turns."""
    import torch

    graph = captured(nodes)
    for _ in range(SETTLE):
        graph.replay()
        torch.cuda.synchronize()
    gate = Gate() if len(sides) > 1 else None
    found: Blocks = {side: [] for side in sides}
    for number in range(rounds):
        for side in sides if number % 2 else sides[::-1]:
            if gate:
                gate.tell(side == "told of")
            found[side].append(block(graph))
    return found


def child(arguments: argparse.Namespace, watched: bool) -> Blocks:
    """Measure in a process of its own, plain or under ``gviz run``."""
    own = [__file__, "--child", "watched" if watched else "plain"]
    own += ["--nodes", str(arguments.nodes), "--rounds", str(arguments.rounds)]
    with tempfile.TemporaryDirectory() as folder:
        gviz = ["-m", "gviz", "run", "-o", str(Path(folder) / "x.gviz")] if watched else []
        done = subprocess.run(
            [sys.executable, "-P", *gviz, *own], capture_output=True, text=True, check=True
        )
    blocks: Blocks = json.loads(done.stdout)
    return blocks


def main() -> int:
    """Measure both processes and print, or be one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--nodes", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--child", choices=("plain", "watched"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        sides = ("told of", "not told of") if arguments.child == "watched" else ("plain",)
        print(json.dumps(measure(arguments.nodes, arguments.rounds, sides)))
        return 0
    found = child(arguments, watched=False) | child(arguments, watched=True)
    print(f"{'us, medians of blocks':24}{'call':>10}{'waited':>10}")
    for side, blocks in found.items():
        call, waited = (statistics.median(one[i] for one in blocks) for i in (0, 1))
        print(f"{side:24}{call:10.3f}{waited:10.3f}")
    pairs = list(zip(found["told of"], found["not told of"], strict=True))
    added = [statistics.median(told[i] - bare[i] for told, bare in pairs) for i in (0, 1)]
    print(f"{'told of adds':24}{added[0]:10.3f}{added[1]:10.3f}")
    print(json.dumps({"bench": "gpu_telling", "nodes": arguments.nodes, **found}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
