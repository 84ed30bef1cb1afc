"""Names of kernels, and the families they are of."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from gviz.families import KernelFamily, Kind, family_of
from gviz.families import KernelLibrary as Library


class Case(NamedTuple):
    """A name, and the fields of its family."""

    name: str
    kind: Kind
    library: Library | None = None
    data_types: tuple[str, ...] = ()
    tile: tuple[int, ...] | None = None
    tensor_cores: bool | None = None
    is_split: bool = False


CUBLAS, CUTLASS, PYTORCH = Library.CUBLAS, Library.CUTLASS, Library.PYTORCH
#: Products by the grammar of their libraries.
PRODUCTS = (
    Case("ampere_sgemm_128x64_tn", Kind.GEMM, CUBLAS, ("f32",), (128, 64), False),
    Case("volta_sgemm_64x32_sliced1x4_nn", Kind.GEMM, CUBLAS, ("f32",), (64, 32), False),
    Case("ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_nn", Kind.GEMM, CUBLAS,
         ("f16", "f32"), (128, 64), True),
    Case("turing_fp16_s1688gemm_fp16_256x128_ldg8_f2f_stages_32x1_nn", Kind.GEMM, CUBLAS,
         ("f16", "f32"), (256, 128), True),
    Case("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4_"
         "alignc4_execute_kernel__5x_cublas", Kind.GEMM, CUBLAS, ("f32",), (32, 32, 8), False),
    Case("sm80_xmma_gemm_f32f32_f32f32_f32_nt_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma_aligna4_"
         "alignc4_execute_split_k_kernel__5x_cublas", Kind.GEMM, CUBLAS, ("f32",), (64, 64, 8),
         False, is_split=True),
    Case("sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize64x64x64_stage4_warpsize2x2x1_tensor16x8x16"
         "_kernel", Kind.GEMM, CUBLAS, ("f16", "f32"), (64, 64, 64), True),
    Case("sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_warpgroupsize2x1x1_execute_"
         "segment_k_off_kernel__5x_cublas", Kind.GEMM, CUBLAS, ("f32", "tf32"), (128, 128, 32),
         True),
    Case("nvjet_sm90_hsh_64x8_64x16_4x1_v_bz_splitK_NNT", Kind.GEMM, CUBLAS, ("f16", "f32"),
         (64, 8, 64), True, is_split=True),
    Case("nvjet_tst_128x128_64x4_1x2_h_bz_coopA", Kind.GEMM, CUBLAS, ("bf16", "f32"),
         (128, 128, 64), True),
    Case("nvjet_sss_tf32_128x256_TNT", Kind.GEMM, CUBLAS, ("f32", "tf32"), (128, 256), True),
    Case("void sgemm_largek_lds64<true, false, 5, 5>(float*, float const*)", Kind.GEMM, CUBLAS,
         ("f32",), None, False),
    Case("void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>(cutlass_80_simt_sgemm_"
         "128x32_8x5_nn_align1::Params)", Kind.GEMM, CUTLASS, ("f32",), (128, 32, 8), False),
    Case("cutlass_80_tensorop_s1688gemm_128x128_16x4_nn_align4", Kind.GEMM, CUTLASS,
         ("f32", "tf32"), (128, 128, 16), True),
    Case("cutlass_80_tensorop_f16_s16816gemm_relu_f16_128x128_32x4_tn_align8", Kind.GEMM, CUTLASS,
         ("f16", "f32"), (128, 128, 32), True),
    Case("cutlass3x_sm90_tensorop_s64x128x16gemm_f16_f16_f32_f16_f16_128x128x64_2x1x1_0_tnn_align8",
         Kind.GEMM, CUTLASS, ("f16", "f32"), (128, 128, 64), True),
    Case("gemvNSP_kernel<__half, __half, float>", Kind.GEMV, CUBLAS, ("f16", "f32")),
    Case("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x64_4x1x1_cga1x1"
         "x1_kernel0_0", Kind.ATTENTION, Library.CUDNN, ("f16",), (64, 128, 64), True),
    Case("fmha_cutlassF_f32_aligned_64x64_rf_sm80", Kind.ATTENTION, PYTORCH, ("f32",), (64, 64)),
    Case("void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128>>(Flash_fwd_params)",
         Kind.ATTENTION, Library.FLASH_ATTENTION),
)  # fmt: skip
#: Kernels around them.
OTHERS = (
    Case("void cublasLt::splitKreduce_kernel<32, 16, int, float, __half>(float const*)",
         Kind.SPLIT_K_REDUCTION, CUBLAS, ("f32", "f16")),
    Case("ncclDevKernel_AllReduce_Sum_f16_RING_LL", Kind.COLLECTIVE, Library.NCCL, ("f16",)),
    Case("ncclKernel_AllReduce_RING_LL_Sum_float", Kind.COLLECTIVE, Library.NCCL, ("f32",)),
    Case("ncclDevKernel_SendRecv", Kind.COLLECTIVE, Library.NCCL),
    Case("void vllm::cross_device_reduce_1stage<__half, 2>(vllm::RankData*)", Kind.COLLECTIVE,
         None, ("f16",)),
    Case("my_ncclDevKernel", Kind.UNKNOWN),
    Case("vectorized_layer_norm_kernel<Half, float>", Kind.NORM, PYTORCH, ("f16", "f32")),
    Case("softmax_warp_forward<Half, float>", Kind.SOFTMAX, PYTORCH, ("f16", "f32")),
    Case("reduce_kernel<ReduceOp<float, sum_functor, unsigned int>>", Kind.REDUCTION, PYTORCH,
         ("f32",)),
    Case("vectorized_elementwise_kernel<CUDAFunctor_add<float>>", Kind.ELEMENTWISE, PYTORCH,
         ("f32",)),
    Case("vectorized_elementwise_kernel<FillFunctor<long>>", Kind.FILL, PYTORCH),
    Case("elementwise_kernel<direct_copy_kernel_cuda>", Kind.COPY, PYTORCH),
    Case("unrolled_elementwise_kernel<direct_copy_kernel_cuda>", Kind.CAST, PYTORCH),
    Case("vectorized_elementwise_kernel<bfloat16_copy_kernel_cuda>", Kind.CAST, PYTORCH,
         ("bf16",)),
    Case("memcpy32_post", Kind.COPY, Library.DRIVER),
    Case("cupy_add__float32_float32_float32", Kind.ELEMENTWISE, Library.CUPY, ("f32",)),
    Case("cupy_copy__float32_float16", Kind.CAST, Library.CUPY, ("f32", "f16")),
    Case("cupy_copy__float32_float32", Kind.COPY, Library.CUPY, ("f32",)),
    Case("triton_poi_fused_add_relu_0", Kind.ELEMENTWISE, Library.TRITON),
    Case("triton_per_fused_native_layer_norm_1", Kind.NORM, Library.TRITON),
    Case("triton_tem_fused_addmm_2", Kind.GEMM, Library.TRITON),
    Case("loop_add_fusion", Kind.ELEMENTWISE, Library.XLA),
    Case("input_reduce_fusion_1", Kind.REDUCTION, Library.XLA),
)  # fmt: skip
#: Kernels of no library, by words in their names.
WORDS = (
    Case("gemm_f16", Kind.GEMM, None, ("f16",)),
    Case("conv2d_nhwc", Kind.CONVOLUTION),
    Case("flash_attention", Kind.ATTENTION),
    Case("fused_add_rms_norm_kernel", Kind.NORM),
    Case("rotary_embedding_kernel", Kind.ELEMENTWISE),
    Case("reduce_rows", Kind.REDUCTION),
    Case("blockReduceAll", Kind.REDUCTION),
    Case("reluAndScale", Kind.ELEMENTWISE),
    Case("my_solver", Kind.UNKNOWN),
)


@pytest.mark.parametrize("case", PRODUCTS + OTHERS + WORDS, ids=lambda case: case.name[:40])
def test_family_is_what_the_name_says(case: Case) -> None:
    assert family_of(case.name) == KernelFamily(*case[1:])


def test_symbol_says_what_its_short_name_lacks() -> None:
    symbol = (
        "_ZN2at6native27unrolled_elementwise_kernelIZZZNS0_23direct_copy_kernel_cudaERNS_18Tensor"
        "IteratorBaseEENKUlvE1_clEvENKUlvE5_clEvEUlfE_St5arrayIPcLm2EELi4E23TrivialOffsetCalculat"
        "orILi1EjESB_NS0_6memory12LoadWithCastILi1EEENSC_13StoreWithCastILi1EEEEEviT_T0_T2_T3_T4_T5_"
    )
    assert family_of(symbol) == KernelFamily(Kind.CAST, PYTORCH, ("f32",))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("vectorized_elementwise_kernel<CUDAFunctor_add<float>>", True),
        ("cupy_add__float32_float32_float32", True),
        ("elementwise_kernel<direct_copy_kernel_cuda>", True),
        ("triton_poi_fused_add_relu_0", True),
        ("memcpy128", False),  # the driver's own: nothing can be fused with it
        ("nvjet_sm90_hsh_64x8_64x16_4x1_v_bz_NNT", False),
        ("splitKreduce_kernel<int, float, __half>", False),
        ("reduce_kernel<ReduceOp<float, sum_functor, unsigned int>>", False),
        ("vectorized_layer_norm_kernel<Half, float>", False),
        ("softmax_warp_forward<Half, float>", False),
        ("my_solver", None),
    ],
)
def test_kernels_that_work_element_by_element_are_known_by_name(
    name: str, expected: bool | None
) -> None:
    assert family_of(name).is_elementwise is expected
