"""Names of kernels read: families from patterns and words, types, tiles and tensor cores."""

from __future__ import annotations

import re
from functools import lru_cache

from gviz.cuda import demangle, short_name
from gviz.families.family import KernelFamily, KernelLibrary, Kind
from gviz.families.patterns import PATTERNS, WORDS

#: Distinct names kept; a process rarely has more than a few thousand kernels.
_CACHE_SIZE = 65536
#: Words of a name: parted by anything but letters, and where a capital begins one.
_WORD = re.compile(r"[A-Z]?[a-z]+\d?d?|[A-Z]+(?![a-z])")
_RANK = {word: rank for rank, word in enumerate(WORDS)}
#: Kinds that a word of heavier work within another word overrules.
_LIGHT = (
    Kind.UNKNOWN,
    Kind.ELEMENTWISE,
    Kind.COPY,
    Kind.CAST,
    Kind.FILL,
)
#: Kinds whose names spell a tile, and whether tensor cores are used.
_TILED = (Kind.GEMM, Kind.CONVOLUTION, Kind.ATTENTION)

#: Types as names spell them.
_TYPES = {
    "double": "f64", "f64": "f64", "fp64": "f64", "float64": "f64",
    "float": "f32", "f32": "f32", "fp32": "f32", "float32": "f32", "tf32": "tf32",
    "half": "f16", "f16": "f16", "fp16": "f16", "float16": "f16",
    "bfloat16": "bf16", "bf16": "bf16", "e4m3": "f8", "e5m2": "f8", "f8": "f8", "fp8": "f8",
    "e2m1": "f4", "i8": "i8", "s8": "i8", "int8": "i8", "i32": "i32",
}  # fmt: skip
_TYPE = re.compile(
    r"(?<![a-z])(?:nv_|float_)?(double|bfloat16|bf16|tf32|e4m3|e5m2|e2m1|float(?:16|32|64)?|half"
    r"|fp?(?:8|16|32|64)|int8|[is]8|i32)(?=\d|[^a-z0-9]|[a-z]+\d|_|$)",
    re.IGNORECASE,
)
#: The types of an xmma kernel: of its operands, of what it writes and of what it computes in.
_XMMA = re.compile(r"_xmma_\w+?_((?:[a-z]+\d+)+_(?:[a-z]+\d+)+_(?:[a-z]+\d+))_")
_XMMA_TYPE = re.compile(r"bf16|tf32|e4m3|e5m2|[fi]\d+?(?=[a-z]|_|$)")
#: The letters of nvjet, of its operands, its sums and what it writes.
_NVJET = re.compile(r"nvjet_(?:sm\d+_)?([a-z]+)_(tf32_)?")
_NVJET_LETTERS = {"h": "f16", "t": "bf16", "s": "f32", "d": "f64", "q": "f8"}
#: BLAS's letter of a GEMM: the type it computes in; behind it, that of tensor cores' instruction.
_BLAS = re.compile(r"(?:\b|_)([sdhcz])(\d{3,6}|\d+x\d+x\d+)?(?:tf32|bf16|f16)?gemm")
_BLAS_TYPES = {"s": "f32", "d": "f64", "h": "f16", "c": "c32", "z": "c64"}
_TENSOR = re.compile(
    r"_tensor\d+x|tensorop|warpgroupsize|_gmma|_wg?mma_|[a-z](?:884|1688|16816|16832|161616)gemm"
    r"|[is]\d+x\d+x\d+gemm"
)
_NO_TENSOR = re.compile(r"_ffma_|_simt_|\bgemm(?:SN|k1)\w*|(?:\b|_)[sdcz]gemm_")
_TILE = re.compile(
    r"tilesize(\d+)x(\d+)x(\d+)|_(\d+)x(\d+)x(\d+)(?=_|$)|_(\d+)x(\d+)_(\d+)x\d+(?=_|$)"
    r"|_(\d+)x(\d+)(?=_|$)"
)
_SPLIT = re.compile(r"split_?k(?!v|_?reduce)", re.IGNORECASE)


@lru_cache(maxsize=_CACHE_SIZE)
def family_of(name: str) -> KernelFamily:
    """Return the family of a kernel.

    Parameters
    ----------
    name
        A symbol, a demangled name, or the short form of either. The longer ones say more.

    Examples
    --------
    >>> found = family_of("ampere_sgemm_128x64_tn")
    >>> found.kind.value, found.data_types, found.tile, found.tensor_cores
    ('GEMM', ('f32',), (128, 64), False)
    """
    readable = demangle(name)
    kind, library = _kind(readable)
    if kind is Kind.UNKNOWN:
        return KernelFamily(kind)
    types = _data_types(readable)
    if name.startswith("cupy_"):
        library = KernelLibrary.CUPY
        kind = Kind.CAST if kind is Kind.COPY and len(types) > 1 else kind
    if kind not in _TILED:
        return KernelFamily(kind, library, types)
    return KernelFamily(
        kind,
        library,
        types,
        tile=_tile(readable),
        tensor_cores=_tensor_cores(readable),
        is_split=kind is Kind.GEMM and _SPLIT.search(readable) is not None,
    )


def _kind(readable: str) -> tuple[Kind, KernelLibrary | None]:
    for expression, kind, library in PATTERNS:
        if expression.search(readable):
            return kind, library
    words = {word.lower() for word in _WORD.findall(short_name(readable))}
    known = min((word for word in words if word in WORDS), key=_RANK.__getitem__, default=None)
    kind = Kind.UNKNOWN if known is None else WORDS[known]
    # A name such as hgemm or dotreduction1 has the word within one of its own.
    return (_word_within(words) or kind if kind in _LIGHT else kind), None


def _word_within(words: set[str]) -> Kind | None:
    if any("gemm" in word for word in words):
        return Kind.GEMM
    return Kind.REDUCTION if any("reduc" in word for word in words) else None


def _data_types(readable: str) -> tuple[str, ...]:
    nvjet = _NVJET.search(readable)
    if nvjet:
        letters = [_NVJET_LETTERS[x] for x in nvjet.group(1) if x in _NVJET_LETTERS]
        return tuple(dict.fromkeys(letters + ["tf32"] * bool(nvjet.group(2))))
    xmma = _XMMA.search(readable)
    if xmma:
        spelled = _XMMA_TYPE.findall(xmma.group(1))
        return tuple(dict.fromkeys(_TYPES.get(x, x) for x in spelled))
    found = [_TYPES[x.lower()] for x in _TYPE.findall(readable)]
    blas = _BLAS.search(readable)
    if blas:
        found.append(_BLAS_TYPES[blas.group(1)])
        # Tensor cores have no FP32: without another type it is computed in TF32.
        if blas.group(2) and set(found) == {"f32"}:
            found.append("tf32")
    return tuple(dict.fromkeys(found))


def _tensor_cores(readable: str) -> bool | None:
    if "nvjet_" in readable or _TENSOR.search(readable):
        return True
    return False if _NO_TENSOR.search(readable) else None


def _tile(readable: str) -> tuple[int, ...] | None:
    found = _TILE.search(readable)
    return tuple(int(x) for x in found.groups() if x is not None) if found else None
