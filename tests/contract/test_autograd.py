"""PyTorch's autograd at the creation of nodes: a module stands for torch, the driver is there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from contract.backend import Backend

from gviz.model import read_tree
from gviz.recording import Recording

_TESTS = Path(__file__).parent.parent

#: Two operations of the forward pass, of two kernels and of one; then their backward pass on a
#: thread of its own, in which a gradient is added to a leaf's.
PROGRAM = """
import sys, threading, types
from contract.driver import Driver
from contract.cases import spin
import gviz

class Node:
    def __init__(self, name, number):
        self._name, self._number = name, number
    def name(self):
        return self._name
    def _sequence_nr(self):
        return self._number

state = threading.local()
torch = types.SimpleNamespace(_C=types.SimpleNamespace(
    _current_autograd_node=lambda: getattr(state, "node", None),
    _autograd=types.SimpleNamespace(_get_sequence_nr=lambda: getattr(state, "number", 0)),
))
sys.modules["torch"] = torch

cuda = Driver()
stream = cuda.stream()

def kernel():
    cuda.launch("spin", spin(2), stream)

def first():
    state.number = 5
    kernel()
    kernel()

def second():
    state.number = 6
    kernel()

def backward():
    cuda.make_current()
    for node in (Node("MulBackward0", 5), Node("torch::autograd::AccumulateGrad", 2**64 - 1),
                 Node("MulBackward0", 4)):
        state.node = node
        kernel()

with gviz.profile(sys.argv[1]):
    state.number = 3
    cuda.begin_capture(stream)
    first()
    second()
    thread = threading.Thread(target=backward)
    thread.start()
    thread.join()
    kernel()  # of the optimizer
    graph_exec = cuda.instantiate(cuda.end_capture(stream))
    cuda.launch_graph(graph_exec, stream)
    cuda.wait(stream)
"""


def test_backward_pass_leads_to_lines_of_the_forward_pass(backend: Backend, tmp_path: Path) -> None:
    program, output = tmp_path / "program.py", tmp_path / "out.gviz"
    program.write_text(PROGRAM)
    path = os.pathsep.join(filter(None, [str(_TESTS), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-P", str(program), str(output)],
        env={**backend.environment, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    with Recording(output) as recording:
        nodes = recording.fetch_nodes(1)
        operations = read_tree(recording, 1).operations
        stacks = [recording.fetch_stack(node.stack_id or 0) for node in nodes]
    accumulates = "torch::autograd::AccumulateGrad"
    assert [(node.autograd_name, node.sequence_nr) for node in nodes] == [
        (None, 4), (None, None), (None, 5), ("MulBackward0", 5), (accumulates, None),
        ("MulBackward0", 4), (None, None),
    ]  # fmt: skip
    assert operations.forward.tolist() == [-1, -1, -1, 2, 2, 0, -1]
    assert operations.is_exact.tolist() == [False] * 3 + [True, False, True, False]
    assert operations.operation.tolist() == [0, 0, 2, -1, -1, -1, -1]
    functions = [[place.function for place in stack] for stack in stacks]
    called = [[name for name in each if name in ("first", "second")] for each in functions]
    assert called == [["first"], ["first"], ["second"], [], [], [], []]
