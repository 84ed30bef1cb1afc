"""Parameters of kernels: what signatures and frameworks tell of them, no more."""

from __future__ import annotations

from pathlib import Path

import pytest
from contract.backend import Backend
from contract.scripts import PREAMBLE, run_script

import gviz
from gviz.api.recorded_graph import RecordedGraph

#: Entries of kernels, each with its parameters; named as compilers and Triton name them.
ENTRIES = {
    "_Z5scalePfPKfif": ".param .u64 a, .param .u64 b, .param .u32 n, .param .f32 f",
    "_Z4wavePfi": ".param .u64 a, .param .u64 n",
    "plain": ".param .u32 n, .param .u64 a, .param .align 8 .b8 s[24]",
    "triton_add": ".param .u64 a, .param .u64 b, .param .u32 n, .param .u64 scratch",
}
PTX = ".version 7.0\n.target sm_50\n" + "\n".join(
    f".visible .entry {name}({given}) {{ ret; }}" for name, given in ENTRIES.items()
)
#: Triton's class, as far as gviz looks at it.
TRITON = """
from types import SimpleNamespace
class CompiledKernel:
    def __init__(self, name, signature):
        function = SimpleNamespace(arg_names=list(signature))
        self.src = SimpleNamespace(fn=function, signature=signature)
        self.metadata = SimpleNamespace(name=name)
"""
PROGRAM = f"""{PREAMBLE}
import ctypes
ctypes.CDLL("libstdc++.so.6")  # which has what tells types from a kernel's name
sys.path.insert(0, os.environ["FRAMEWORKS"])
from ctypes import c_float, c_uint, c_ulonglong
from contract.driver import Arguments
from triton.compiler.compiler import CompiledKernel
signature = {{"out": "*fp16", "x": "*kfp16", "n": "i32", "BLOCK": "constexpr"}}
kernel = CompiledKernel("triton_add", signature)
cuda.load_module({PTX.encode()!r}, {[name.encode() for name in ENTRIES]!r})
a, b = cuda.allocate(1024), cuda.allocate(1024)
class Structure(ctypes.Structure):
    _fields_ = [("size", c_ulonglong), ("data", c_ulonglong), ("more", c_ulonglong)]
graph, after = cuda.graph(), []
for name, *values in (
    ("_Z5scalePfPKfif", c_ulonglong(a), c_ulonglong(b), c_uint(256), c_float(0.5)),
    ("_Z4wavePfi", c_ulonglong(a), c_ulonglong(7)),
    ("plain", c_uint(3), c_ulonglong(a), Structure(8, b, 0)),
    ("triton_add", c_ulonglong(a), c_ulonglong(b), c_uint(4096), c_ulonglong(0)),
):
    after = [cuda.add_kernel(graph, after, name, Arguments(*values))]
graph_exec = cuda.instantiate(graph)
launch(graph_exec, 3)
print(sum(1 for name in sys.modules if name.partition(".")[0] in ("torch", "cupy")))
"""


@pytest.fixture(scope="module")
def graph(fake: Backend, tmp_path_factory: pytest.TempPathFactory) -> RecordedGraph:
    folder = tmp_path_factory.mktemp("parameters")
    package = folder / "frameworks" / "triton" / "compiler"
    package.mkdir(parents=True)
    for empty in (package.parent, package):
        (empty / "__init__.py").touch()
    (package / "compiler.py").write_text(TRITON)
    frameworks = str(folder / "frameworks")
    done = run_script(fake, folder, PROGRAM, "-o", "x.gviz", FRAMEWORKS=frameworks)
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr
    return gviz.open(Path(folder) / "x.gviz").graphs[0]


def texts(graph: RecordedGraph, kernel: str) -> list[str]:
    (node,) = (n for n in graph.recording.fetch_nodes(graph.row.graph_id) if kernel in n.name)
    return [argument.to_text() for argument in graph.arguments(node.node_id)]


def test_signature_of_a_name_has_types_values_and_what_is_const(graph: RecordedGraph) -> None:
    assert texts(graph, "scale") == ["float*", "const float*", "int = 256", "float = 0.5"]


def test_signature_that_the_sizes_contradict_is_left_out(graph: RecordedGraph) -> None:
    assert texts(graph, "wave") == ["8 B at 0", "8 B at 8"]


def test_without_a_signature_there_are_sizes_and_offsets(graph: RecordedGraph) -> None:
    assert texts(graph, "plain") == ["4 B at 0", "8 B at 8", "24 B at 16"]


def test_kernel_of_triton_has_the_names_that_it_declares(graph: RecordedGraph) -> None:
    assert texts(graph, "triton") == ["half* out", "const half* x", "int n = 4096", "8 B at 24"]
