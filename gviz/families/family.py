"""A family of kernels: what they have in common."""

from __future__ import annotations

from enum import Enum

from gviz.dataclass import dataclass


class Kind(Enum):
    """Work of a kernel; values are its name in sentences."""

    GEMM = "GEMM"
    GEMV = "matrix-vector product"
    SPLIT_K_REDUCTION = "split-K reduction"
    CONVOLUTION = "convolution"
    ATTENTION = "attention"
    NORM = "norm"
    SOFTMAX = "softmax"
    ELEMENTWISE = "elementwise"
    REDUCTION = "reduction"
    SORT = "sort or scan"
    INDEX = "gather or scatter"
    STENCIL = "stencil"
    COPY = "copy"
    CAST = "cast"
    TRANSPOSE = "transpose"
    FILL = "fill"
    RANDOM = "random numbers"
    COLLECTIVE = "collective"
    UNKNOWN = "unknown"


class KernelLibrary(Enum):
    """Owner of a kernel's code; values are its name in sentences."""

    CUBLAS = "cuBLAS"
    CUTLASS = "CUTLASS"
    CUDNN = "cuDNN"
    CURAND = "cuRAND"
    CUB = "CUB"
    NCCL = "NCCL"
    DRIVER = "CUDA driver"
    PYTORCH = "PyTorch"
    FLASH_ATTENTION = "FlashAttention"
    TRITON = "Triton"
    CUPY = "CuPy"
    XLA = "XLA"


#: Kinds whose result has an element for each element read, at the same place.
_BY_ELEMENT = frozenset({Kind.ELEMENTWISE, Kind.COPY, Kind.CAST, Kind.FILL})
#: Kinds that multiply matrices, in tensor cores where types and GPU allow.
_PRODUCTS = frozenset({Kind.GEMM, Kind.CONVOLUTION, Kind.ATTENTION})


@dataclass(frozen=True, slots=True)
class KernelFamily:
    """Knowledge of a kernel from its name.

    Attributes
    ----------
    kind
        Work that it does.
    library
        Owner of its code; None: the name does not show it.
    data_types
        Types of the data that the name spells, each once and in its order, inputs first where the
        name has them first: f64, f32, tf32, f16, bf16, f8, i8 and so on. Empty: it spells none.
    tile
        Rows, columns and, where the name has it, depth of what a block computes; None: not spelled.
    tensor_cores
        Whether it multiplies in tensor cores; None: the name does not show it.
    is_split
        It computes a part of each sum (split-K): something must add the parts up.
    """

    kind: Kind
    library: KernelLibrary | None = None
    data_types: tuple[str, ...] = ()
    tile: tuple[int, ...] | None = None
    tensor_cores: bool | None = None
    is_split: bool = False

    @property
    def is_collective(self) -> bool:
        """Return whether it waits for other processes."""
        return self.kind is Kind.COLLECTIVE

    @property
    def is_elementwise(self) -> bool | None:
        """Return whether it works element by element; None: its name does not show it."""
        if self.kind is Kind.UNKNOWN:
            return None
        return self.kind in _BY_ELEMENT and self.library is not KernelLibrary.DRIVER

    @property
    def is_product(self) -> bool:
        """Return whether it multiplies matrices: a GEMM, a convolution or attention."""
        return self.kind in _PRODUCTS

    @property
    def is_moving(self) -> bool:
        """Return whether it only moves data or changes its type or layout."""
        return self.kind in (Kind.COPY, Kind.CAST, Kind.TRANSPOSE)
