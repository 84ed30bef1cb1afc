"""Short names: what a person calls a kernel."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gviz.cuda import kernel_name
from gviz.cuda.kernel_name import demangle, parameter_types, short_name

_COPY = (
    "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() "
    "const::{lambda()#12}::operator()() const::{lambda(float)#1}"
)

#: (where the name comes from, the demangled name or symbol, the short name)
CASES = [
    (
        "functor",
        "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
        "std::array<char*, 1ul> >(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)",
        "vectorized_elementwise_kernel<FillFunctor<float>>",
    ),
    (
        "functor of functor",
        "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_13AUnaryFunctorIfffNS0_15binary_internal"
        "10MulFunctorIfEEEESt5arrayIPcLm2EEEEviT0_T1_",
        "vectorized_elementwise_kernel<AUnaryFunctor<float, MulFunctor>>",
    ),
    (
        "lambda in a wrapper",
        f"void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<{_COPY}>("
        f"at::TensorIteratorBase&, {_COPY} const&)::{{lambda(int)#1}}>(int, at::native::"
        f"gpu_kernel_impl_nocast<{_COPY}>(at::TensorIteratorBase&, {_COPY} const&)::"
        "{lambda(int)#1})",
        "elementwise_kernel<direct_copy_kernel_cuda>",
    ),
    (
        "extended lambda of nvcc",
        "void k<__nv_dl_wrapper_t<__nv_dl_tag<void (*)(float*, int), &(launch(float*, int)), 1u>, "
        "float*> >(int)",
        "k<launch>",
    ),
    (
        "extended host device lambda",
        "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<"
        "__nv_hdl_wrapper_t<false, true, false, "
        "__nv_dl_tag<float (*)(float), &at::native::sqrt_kernel, 1u>, "
        "float (float)> >(at::TensorIteratorBase&, X const&)::{lambda(int)#1}>(int)",
        "elementwise_kernel<sqrt_kernel>",
    ),
    (
        "reduction",
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
        "at::native::func_wrapper_t<float, at::native::sum_functor<float, float, float>::"
        "operator()(at::TensorIterator&)::"
        "{lambda(float, float)#1}>, unsigned int, float, 4> >(at::native::ReduceOp<float>)",
        "reduce_kernel<ReduceOp<float, sum_functor, unsigned int>>",
    ),
    (
        "anonymous namespace with a file's hash",
        "_ZN2at6native53_GLOBAL__N__21739cd4_20_layer_norm_kernel_cu_9c5ada8a28"
        "vectorized_layer_norm_kernelIN3c104HalfEfLb0EEEviT0_PKT_S8_S8_PS5_S9_PS6_",
        "vectorized_layer_norm_kernel<Half, float>",
    ),
    (
        "cublasLt",
        "_ZN8cublasLt19splitKreduce_kernelILi32ELi16Eif6__halffS1_Lb0EfS1_S1_Lb1ELb1ELb0ELb0EEEvNS_18"
        "cublasSplitKParamsIT4_EEPKT2_PKT8_PT7_PT3_PKS3_SG_PKT9_S7_PSH_PvlPS3_PiSM_SM_SG_SG_SG_SG_SG_",
        "splitKreduce_kernel<int, float, __half>",
    ),
    (
        "cutlass 2",
        "void cutlass::Kernel2<cutlass_80_tensorop_s16816gemm_bf16_64x64_64x6_tn_align8>("
        "cutlass_80_tensorop_s16816gemm_bf16_64x64_64x6_tn_align8::Params)",
        "Kernel2<cutlass_80_tensorop_s16816gemm_bf16_64x64_64x6_tn_align8>",
    ),
    (
        "cutlass 3",
        "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int>, "
        "cutlass::gemm::collective::CollectiveMma<X> > >(P)",
        "device_kernel<GemmUniversal<tuple, CollectiveMma>>",
    ),
    (
        "flash attention",
        "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 64, 64, 4, false, false, "
        "cutlass::half_t, Flash_kernel_traits<128, 64, 64, 4, cutlass::half_t> >, false, true>(P)",
        "flash_fwd_kernel<Flash_fwd_kernel_traits<half_t, Flash_kernel_traits>>",
    ),
    (
        "cub, with its policy left out",
        "void cub::CUB_200700_900_NS::detail::reduce::DeviceReduceKernel<cub::detail::policy_hub<"
        "float, int>::Policy1000, float const*, int, cuda::std::plus<void>, float>(float const*)",
        "DeviceReduceKernel<float const*, int, plus<void>, …>",
    ),
    (
        "nccl",
        "ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "ncclDevKernel_AllReduce_Sum_f16_RING_LL",
    ),
    (
        "xmma",
        "sm90_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize64x64x64_cublas",
        "sm90_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize64x64x64_cublas",
    ),
    ("triton", "triton_poi_fused_add_0", "triton_poi_fused_add_0"),
    ("cupy", "cupy_add__float32_float32_float32", "cupy_add__float32_float32_float32"),
    ("xla", "loop_add_fusion", "loop_add_fusion"),
    ("plain C++", "_Z5saxpyifPfS_", "saxpy"),
    ("numbers only", "void gemm<128, 64>(float const*)", "gemm<128, 64>"),
    ("shift operator", "Foo& operator<< <int>(Foo&, int)", "operator<<<int>"),
    ("less operator", "bool ns::operator< <int>(int, int)", "operator<<int>"),
    ("arrow operator", "A::operator->()", "operator->"),
    ("call operator", "void ns::A<float>::operator()<int>(int) const", "A<float>::operator()"),
    ("lambda in a function", "run(int*)::{lambda(int*)#1}::operator()(int*) const", "run"),
    (
        "lambda in a lambda",
        "f(int)::{lambda()#1}::operator()() const::{lambda(int)#2}::operator()(int) const",
        "f",
    ),
    (
        "function pointer as argument",
        "void run<void (*)(float*, int)>(void (*)(float*, int))",
        "run<void (*)(float*, int)>",
    ),
    ("returns a function pointer", "void (*g<int>(int))(float)", "g<int>"),
    (
        "returns a computed type",
        "std::enable_if<(1)<(2), void>::type ns::k<float>(float*)",
        "k<float>",
    ),
    ("decltype", "decltype(auto) ns::f<int, (E)3>(int)", "f<int>"),
    ("numba", "__main__::add[abi:v1][abi:cw51c](Array<float, 1, C, mutable, aligned>)", "add"),
    ("anonymous", "(anonymous namespace)::k(int)", "k"),
    ("unnamed", "void <unnamed>::softmax<float, float, true>(float*)", "softmax<float>"),
    ("clone", "axpy(int) [clone .constprop.0]", "axpy"),
    ("not a name: open bracket", "f(int", "f(int"),
    ("not a name: comparison", "a>b", "a>b"),
    ("not a name: parameters only", "()", "()"),
    ("empty", "", ""),
    ("not demangled", "_ZNonsense", "_ZNonsense"),
]


@pytest.mark.parametrize(("name", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_short_name_of_a_kernel_is_what_distinguishes_it(name: str, expected: str) -> None:
    assert short_name(name) == expected


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [
        ("_Z5saxpyifPfS_", "saxpy(int, float, float*, float*)"),
        ("triton_poi_fused_add_0", "triton_poi_fused_add_0"),
        ("_ZNonsense", "_ZNonsense"),
        ("", ""),
    ],
)
def test_demangle_gives_the_name_or_the_symbol(symbol: str, expected: str) -> None:
    assert demangle(symbol) == expected


def test_short_name_of_deeply_nested_brackets_is_the_name_itself_cut() -> None:
    name = "k" + "<a" * 5000 + ">" * 5000
    assert short_name(name) == f"{name[:99]}…{name[-99:]}"


@pytest.mark.parametrize(
    "name",
    [
        "k" * 4000,
        "_Z4000" + "k" * 4000 + "v",
        "_Z4000" + "k" * 3000,  # cut by somebody: no valid symbol any more
        "void ns::" + "k" * 4000 + "<float, int>(float*)",
        "k<" + ", ".join(f"A{i}" for i in range(1000)) + ">(int)",
        "ns::" * 1000 + "k(int)",
    ],
)
def test_short_name_of_four_thousand_characters_is_short(name: str) -> None:
    assert 1 <= len(short_name(name)) <= 200
    assert demangle(name)


@pytest.mark.parametrize("raw", [b"k\xff\xfe", b"_Z3f\xffov", b"_Z5saxpyifPfS_\x80", b"\x80" * 40])
def test_names_that_are_no_utf8_are_shown_all_the_same(raw: bytes) -> None:
    name = raw.decode("utf-8", "replace")  # as the spool's reader does
    assert demangle(name)
    assert short_name(name)


class TestWithoutDemangler:
    """A machine without libstdc++ and libc++abi."""

    @pytest.fixture(autouse=True)
    def no_library(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        monkeypatch.setattr(kernel_name, "_demangler", lambda: None)
        demangle.cache_clear()
        short_name.cache_clear()
        yield
        demangle.cache_clear()
        short_name.cache_clear()

    @pytest.mark.parametrize(
        ("symbol", "expected"),
        [
            ("_Z5saxpyifPfS_", "saxpy"),
            ("_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_13AUnaryFunctorIfffEEEEviT0_",
             "vectorized_elementwise_kernel"),
            ("_ZNK2ns1A4callEv", "call"),
            ("_ZNonsense", "_ZNonsense"),
            ("_Z99short", "_Z99short"),
            ("triton_poi_fused_add_0", "triton_poi_fused_add_0"),
        ],
    )  # fmt: skip
    def test_short_name_is_the_function_in_the_symbol(self, symbol: str, expected: str) -> None:
        assert demangle(symbol) == symbol
        assert short_name(symbol) == expected


def test_libraries_are_tried_alternately(monkeypatch: pytest.MonkeyPatch) -> None:
    requested: list[str | None] = []

    def load(name: str | None) -> object:
        requested.append(name)
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr(kernel_name.ctypes, "CDLL", load)
    monkeypatch.setattr("ctypes.util.find_library", lambda name: f"{name}.dylib")
    assert kernel_name._demangler.__wrapped__() is None
    assert requested == ["libstdc++.so.6", "libc++abi.so.1", "c++abi.dylib"]
    monkeypatch.setattr("ctypes.util.find_library", lambda name: None)
    assert kernel_name._demangler.__wrapped__() is None
    assert len(requested) == 5


def test_libraries_are_not_searched_where_one_is_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    def search(name: str) -> str:
        raise AssertionError("the search starts a compiler")

    monkeypatch.setattr("ctypes.util.find_library", search)
    demangler = kernel_name._demangler.__wrapped__()
    assert demangler is not None
    assert demangler("_Z1fv") == "f()"


def test_short_name_of_a_long_list_shows_three_arguments() -> None:
    assert short_name("k<A, B, C, D, E>(int)") == "k<A, B, C, …>"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("scale(float*, int)", ("float*", "int")),
        ("void ns::k<4, F<int, float>, std::array<char*, 2ul> >(int, F<int, float>, bool const*)",
         ("int", "F<int, float>", "bool const*")),
        ("void k(int, f(int)::{lambda(float)#1})", ("int", "f(int)::{lambda(float)#1}")),
        ("void k<(anonymous namespace)::A>((anonymous namespace)::A)", ("A",)),
        ("k()", ()),
        ("k(void)", ()),
        ("triton_poi_fused_add_0", None),
        ("k<(", None),
        ("", None),
    ],
)  # fmt: skip
def test_parameter_types_are_those_the_name_spells(
    name: str, expected: tuple[str, ...] | None
) -> None:
    assert parameter_types(name) == expected
