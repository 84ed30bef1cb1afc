"""Signatures of kernels of Triton and CuPy, on stand-ins for what compiles them."""

from __future__ import annotations

import json
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from gviz.collectors import native
from gviz.collectors.hooks.kernel_signatures import KernelSignatureHook, triton_parameters


def source(names: list[str], signature: dict[Any, str], constants: Any = None) -> Any:
    return SimpleNamespace(
        fn=SimpleNamespace(arg_names=names), signature=signature, constants=constants
    )


@pytest.fixture
def appended(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    found: list[Any] = []
    monkeypatch.setattr(native, "append", lambda _, payload: found.append(json.loads(payload)))
    return found


@pytest.fixture
def kernel_class(monkeypatch: pytest.MonkeyPatch) -> Any:
    class CompiledKernel:
        def __init__(self, src: Any, name: str) -> None:
            self.src, self.metadata = src, SimpleNamespace(name=name)

    module: Any = ModuleType("triton.compiler.compiler")
    module.CompiledKernel = CompiledKernel
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return CompiledKernel


def test_compiled_kernels_are_recorded_while_installed(
    kernel_class: Any, appended: list[Any]
) -> None:
    original, hook = kernel_class.__init__, KernelSignatureHook()
    hook.install()
    given = source(["x", "n", "BLOCK"], {"x": "*fp16", "n": "i32", "BLOCK": "constexpr"})
    assert kernel_class(given, "add").src is given
    assert appended == [["add", "Triton", [["x", "*fp16"], ["n", "i32"]]]]
    hook.remove()
    assert kernel_class.__init__ is original
    kernel_class(given, "add")
    assert len(appended) == 1


def test_kernel_that_is_not_made_of_a_function_is_left_alone(
    kernel_class: Any, appended: list[Any]
) -> None:
    hook = KernelSignatureHook()
    hook.install()
    assert kernel_class(SimpleNamespace(), "from_text").metadata.name == "from_text"
    assert appended == []
    hook.remove()


def test_hook_leaves_a_wrapper_of_another_in_place(kernel_class: Any) -> None:
    hook = KernelSignatureHook()
    hook.install()
    own = kernel_class.__init__

    def other(self: Any, *arguments: Any) -> None:
        own(self, *arguments)

    kernel_class.__init__ = other
    hook.remove()
    assert kernel_class.__init__ is other


@pytest.mark.parametrize(
    "given",
    [
        # Places, and constants beside the signature, as Triton 3.2 had them; then by a path.
        source(["x", "n", "B"], {0: "*fp32", 1: "i32", 2: "i32"}, {2: 64}),
        source(["x", "n", "B"], {"x": "*fp32", "n": "i32", "B": "constexpr"}, {(2,): 64}),
        source(["x", "n", "B"], {"n": "i32", "x": "*fp32"}),
    ],
)
def test_parameters_are_those_that_are_not_compiled_in(given: Any) -> None:
    assert triton_parameters(given) == [("x", "*fp32"), ("n", "i32")]


def test_sources_that_cupy_compiles_are_read(
    monkeypatch: pytest.MonkeyPatch, appended: list[Any]
) -> None:
    def compiled(source: str, options: tuple[str, ...] = ()) -> str:
        return f"module of {len(source)}, {options}"

    module: Any = ModuleType("cupy.cuda.compiler")
    module._compile_module_with_cache = compiled
    monkeypatch.setitem(sys.modules, module.__name__, module)
    hook = KernelSignatureHook()
    hook.install()
    source = 'extern "C" __global__ void scale(float* y, int n) {}'
    assert module._compile_module_with_cache(source, ("-w",)) == compiled(source, ("-w",))
    assert appended == [["scale", "CuPy", [["y", "float*"], ["n", "int"]]]]
    assert module._compile_module_with_cache("no kernel") == compiled("no kernel")
    hook.remove()
    assert module._compile_module_with_cache is compiled
