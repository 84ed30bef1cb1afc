"""Parameters of kernels in sources of CUDA C++."""

from __future__ import annotations

import pytest

from gviz.cuda.kernel_source import declared_kernels


@pytest.mark.parametrize(
    ("given", "parameters"),
    [
        ("float* y, const float* __restrict__ x", "y: float*, x: const float* __restrict__"),
        ("const CArray<float, 1, 1> _raw_x, CIndexer<1> _ind",
         "_raw_x: const CArray<float, 1, 1>, _ind: CIndexer<1>"),
        ("int sizes[4], unsigned long long n", "sizes: int*, n: unsigned long long"),
        ("float *y /* out, of n */, // and more\n int n", "y: float *, n: int"),
        ("", ""),
    ],
)  # fmt: skip
def test_parameters_have_names_and_types(given: str, parameters: str) -> None:
    source = f'#include <x>\nextern "C" __global__ void f({given}) {{ g(1, 2); }}'
    (found,) = declared_kernels(source).values()
    assert ", ".join(f"{name}: {kind}" for name, kind in found) == parameters


def test_kernels_are_those_of_the_source() -> None:
    source = """
    __device__ void helper(int x) {}
    // __global__ void old(int n);
    __global__ __launch_bounds__(256) void first(int n) {}
    __global__ void __launch_bounds__(256, 2) second(int m) {}
    __global__ void unnamed(int) {}
    __global__ void half_named(float* x, unsigned int) {}
    """
    assert list(declared_kernels(source)) == ["first", "second"]
