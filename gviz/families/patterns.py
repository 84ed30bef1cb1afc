"""The table of kernel names: patterns in their order, and what a name that has one is.

The first pattern found in a name decides, so what is more exact stands first. A kernel that
belongs to no library is recognised by words in its name, which stand last.

References
----------
Names were read in recordings of CUDA 12 and 13 and in sources:

- CUTLASS: python/cutlass_library/gemm_operation.py, ``procedural_name``, and library.py,
  ``OpcodeClassNames`` (simt, tensorop, wmma_tensorop).
- cuBLAS: no grammar is published. The names of an FP32 GEMM without tensor cores (``ffma``,
  ``sgemm``) and of the same in TF32 (``tf32``) were held against math modes.
- PyTorch: aten/src/ATen/native/cuda; Triton kernels of inductor: torch/_inductor/codegen/triton.py
  (poi: pointwise, red and per: reductions, tem: templates, for: foreach).
- FlashAttention: csrc/flash_attn/src, hopper; FlashInfer: include/flashinfer/attention.
- NCCL: src/device/generate.py (``ncclDevKernel_``; ``ncclKernel_`` before 2.18) and symmetric
  kernels.
- CUB: cub/device/dispatch, names of ``__global__`` functions. CuPy: cupy/_core/_kernel.pyx.
- XLA: names of fusions, xla/service/gpu/fusions.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gviz.families.family import KernelLibrary as Library
from gviz.families.family import Kind


class Pattern(NamedTuple):
    """A pattern of names, and what kernels of such names are."""

    expression: re.Pattern[str]
    kind: Kind
    library: Library | None = None


def _row(expression: str, kind: Kind, library: Library | None = None) -> Pattern:
    return Pattern(re.compile(expression), kind, library)


#: Searched in the demangled name, or in the short one where no other is recorded.
PATTERNS: tuple[Pattern, ...] = (
    _row(r"\bnccl(?:Symk?)?(?:Dev)?Kernel", Kind.COLLECTIVE, Library.NCCL),
    _row(r"\bcross_device_reduce_[12]stage|(?:one|two)_?[sS]hot_?[aA]ll_?[rR]educe|multimem_all_",
         Kind.COLLECTIVE),
    # Attention before CUTLASS, in which much of it is written.
    _row(r"\bcudnn_\w*sdpa", Kind.ATTENTION, Library.CUDNN),
    _row(r"\bfmha_cutlass[FB]_", Kind.ATTENTION, Library.PYTORCH),
    _row(r"\bflash_(?:fwd|bwd)\w*|\bflash::|FlashAttn(?:Fwd|Bwd)", Kind.ATTENTION,
         Library.FLASH_ATTENTION),
    _row(r"Batch(?:Prefill|Decode)With|Single(?:Prefill|Decode)With|\bpaged_attention_v\d|\bfmha_v2",
         Kind.ATTENTION),
    # cuBLAS and cuDNN.
    _row(r"\bsplitKreduce_kernel\b", Kind.SPLIT_K_REDUCTION, Library.CUBLAS),
    _row(r"\bnvjet_", Kind.GEMM, Library.CUBLAS),
    _row(r"\bsm\d+_xmma_gemm_", Kind.GEMM, Library.CUBLAS),
    _row(r"\bsm\d+_xmma_(?:fprop|dgrad|wgrad)", Kind.CONVOLUTION, Library.CUDNN),
    _row(r"\b(?:maxwell|volta|turing|ampere|hopper)_\w*(?:scudnn|fprop|dgrad|wgrad)",
         Kind.CONVOLUTION, Library.CUDNN),
    _row(r"\b(?:maxwell|volta|turing|ampere|hopper)_\w*gemm", Kind.GEMM, Library.CUBLAS),
    _row(r"\bgemvx::kernel|\bgemv(?:NSP|2[TN])\w*", Kind.GEMV, Library.CUBLAS),
    _row(r"\bgemm(?:SN|k1)\w*|\bgemm_kernel1x1|\b[sdhcz]gemm_\w*(?:lds|largek|\d+x\d+)", Kind.GEMM,
         Library.CUBLAS),
    _row(r"\bcublasLt::epilogue|\bscal_kernel<|\baxpy_kernel<", Kind.ELEMENTWISE, Library.CUBLAS),
    _row(r"\bdot_kernel<|\breduce_1Block_kernel", Kind.REDUCTION, Library.CUBLAS),
    _row(r"\bimplicit_convolve_sgemm|\bcudnn\w*(?:conv|fprop|dgrad|wgrad)", Kind.CONVOLUTION,
         Library.CUDNN),
    _row(r"\bnchwToNhwc|\bnhwcToNchw", Kind.TRANSPOSE, Library.CUDNN),
    _row(r"\bbn_(?:fw|bw)_|\bcudnn::bn_", Kind.NORM, Library.CUDNN),
    # CUTLASS.
    _row(r"\bcutlass\w*_\w*(?:fprop|dgrad|wgrad)|cutlass::conv::", Kind.CONVOLUTION,
         Library.CUTLASS),
    _row(r"\bcutlass\w*_\w*gemm|cutlass::gemm::", Kind.GEMM, Library.CUTLASS),
    # PyTorch.
    _row(r"\b(?:b?float16|float8\w*)_copy_kernel_cuda", Kind.CAST, Library.PYTORCH),
    # Equal types and layouts are copied by the driver or by vectors: what is unrolled casts.
    _row(r"\bunrolled_elementwise_kernel<.*direct_copy_kernel_cuda", Kind.CAST, Library.PYTORCH),
    _row(r"\bdirect_copy_kernel_cuda|\bCatArrayBatchedCopy", Kind.COPY, Library.PYTORCH),
    _row(r"\belementwise_kernel\w*<.*\bFillFunctor|\w+_elementwise_kernel<.*\bFillFunctor",
         Kind.FILL, Library.PYTORCH),
    _row(r"\bindex_elementwise_kernel|\bindexSelect|\bvectorized_gather_kernel|\bindexFunc",
         Kind.INDEX, Library.PYTORCH),
    _row(r"\bmulti_tensor_apply_kernel", Kind.ELEMENTWISE, Library.PYTORCH),
    _row(r"\bdistribution_elementwise_grid_stride_kernel|\bfused_dropout_kernel", Kind.ELEMENTWISE,
         Library.PYTORCH),
    _row(r"\b(?:vectorized_|unrolled_|legacy_)?elementwise_kernel\w*<", Kind.ELEMENTWISE,
         Library.PYTORCH),
    _row(r"\bvectorized_layer_norm_kernel|\blayer_norm_grad_input_kernel|\bGammaBetaBackward"
         r"|\bRowwiseMoments|\bbatch_norm_\w+_kernel", Kind.NORM, Library.PYTORCH),
    _row(r"\bsoftmax_warp_(?:forward|backward)|\bcunn_SoftMax", Kind.SOFTMAX, Library.PYTORCH),
    _row(r"\breduce_kernel<.*\bReduceOp<", Kind.REDUCTION, Library.PYTORCH),
    # CUB, cuRAND and what the driver runs for copies and memsets.
    _row(r"\bDevice(?:Segmented)?Reduce\w*Kernel", Kind.REDUCTION, Library.CUB),
    _row(r"\bDevice(?:Segmented|Merge)?(?:Radix)?Sort\w*Kernel|\bDevice(?:Scan|Select)\w*Kernel",
         Kind.SORT, Library.CUB),
    _row(r"\bcurand\w*|\bexecute_dist<|\binit_curand", Kind.RANDOM, Library.CURAND),
    _row(r"^memcpy\d+(?:_\w+)?$", Kind.COPY, Library.DRIVER),
    _row(r"^memset\d+(?:_\w+)?$", Kind.FILL, Library.DRIVER),
    # Triton, as inductor names its kernels.
    _row(r"^triton_\w*(?:layer_norm|rms_norm|group_norm)", Kind.NORM, Library.TRITON),
    _row(r"^triton_\w*softmax", Kind.SOFTMAX, Library.TRITON),
    _row(r"^triton_\w*(?:attention|sdpa)", Kind.ATTENTION, Library.TRITON),
    _row(r"^triton_tem_\w*(?:mm|conv)", Kind.GEMM, Library.TRITON),
    _row(r"^triton_poi_fused__to_copy_\d+$", Kind.CAST, Library.TRITON),
    _row(r"^triton_(?:poi|for)_", Kind.ELEMENTWISE, Library.TRITON),
    _row(r"^triton_(?:red|per)_", Kind.REDUCTION, Library.TRITON),
    # XLA.
    _row(r"^(?:triton_)?gemm_fusion", Kind.GEMM, Library.XLA),
    _row(r"^input_\w*reduce\w*fusion", Kind.REDUCTION, Library.XLA),
    _row(r"^input_\w*transpose\w*fusion", Kind.TRANSPOSE, Library.XLA),
    _row(r"^loop_\w*fusion", Kind.ELEMENTWISE, Library.XLA),
    # CuPy; its reductions and scans are recognised by their words.
    _row(r"^cupy_copy__", Kind.COPY, Library.CUPY),
    _row(r"^cupy_fill__", Kind.FILL, Library.CUPY),
)  # fmt: skip


def _words(kind: Kind, text: str) -> dict[str, Kind]:
    return dict.fromkeys(text.split(), kind)


#: Words in names of kernels, by what they say; those that stand first decide.
WORDS: dict[str, Kind] = {
    **_words(Kind.COLLECTIVE, "allreduce allgather reducescatter alltoall"),
    **_words(Kind.ATTENTION, "attention fmha mha flash"),
    **_words(Kind.GEMV, "gemv"),
    **_words(Kind.GEMM, "gemm gemmex matmul cublas"),
    **_words(Kind.CONVOLUTION, "conv conv2d conv3d convolution"),
    **_words(Kind.SOFTMAX, "softmax"),
    **_words(Kind.NORM, "norm layernorm rmsnorm batchnorm groupnorm"),
    **_words(Kind.REDUCTION, "reduce reduction sum argmax argmin histogram"),
    **_words(Kind.SORT, "scan sort topk cumsum"),
    **_words(Kind.TRANSPOSE, "transpose"),
    **_words(Kind.ELEMENTWISE, "rotary"),
    **_words(Kind.INDEX, "gather scatter index embedding"),
    **_words(Kind.STENCIL, "stencil"),
    **_words(Kind.CAST, "cast convert"),
    **_words(Kind.FILL, "fill"),
    **_words(Kind.COPY, "copy"),
    **_words(
        Kind.ELEMENTWISE,
        "elementwise pointwise poi add sub subtract mul multiply div divide scale axpy saxpy clip "
        "clamp abs neg relu gelu silu sigmoid tanh exp log sqrt rsqrt where dropout bias",
    ),
}
