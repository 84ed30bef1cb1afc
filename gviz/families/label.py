"""Labels of kernels: the few words by which a reader knows a kernel, for every surface.

A label is made of one name alone, so that a kernel has the same one everywhere. It leaves out what
kernels of a library share (architecture, stages, alignment, how a functor is walked) and is not
unique: surfaces give the whole name beside it, as a tooltip or a column.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from gviz.cuda import short_name
from gviz.families.family import KernelFamily, KernelLibrary, Kind
from gviz.families.naming import family_of

#: Distinct names kept; a process rarely has more than a few thousand kernels.
_CACHE_SIZE = 65536
#: Whether operands are transposed, as cuBLAS and CUTLASS spell it; nvjet adds what it writes.
_LAYOUT = re.compile(r"_([nt]{2})(?:_[nt]_|_align|$|>)|_([NT]{3})$")
#: Blocks that work together in nvjet's names, behind tile and depth.
_TOGETHER = re.compile(r"nvjet_\w*?_\d+x\d+_\d+x\d+_(\d+x\d+)")
#: What a GEMM does with its sums before it writes them.
_EPILOGUE = re.compile(r"_(bias|relubias|relu|gelubias|gelu)(?=_)")
_FORWARD = re.compile(r"_fwd|fprop|cutlassF_|FlashAttnFwd|forward", re.IGNORECASE)
_BACKWARD = re.compile(r"_bwd|bprop|cutlassB_|FlashAttnBwd|backward|_grad_", re.IGNORECASE)
#: Functors around the one that says what is computed.
_AROUND = re.compile(
    r"^(?:[AB]?UnaryFunctor|BinaryFunctor|BUnaryFunctor|\w+Op(?:Scalar|List)?Functor\w*|ReduceOp"
    r"|TensorListMetadata|TensorListScalarListMetadata|FusedOptimizerTensorListMetadata|Half"
    r"|BFloat16|c10|unsigned|int|long|short|char|bool|float4?|double2?|CUDAGeneratorImpl|\d\w*)$"
)
_WITH_SCALAR = re.compile(r"[AB]UnaryFunctor<|CUDAFunctorOnSelf_")
#: Parts of a functor's name that say nothing of what it computes.
_NOISE = re.compile(
    r"^CUDAFunctor[A-Za-z]*_|^launch_|^(?:b?float16|float8\w*)_(?=copy)|^direct_"
    r"|_?(?:CUDA)?(?:[Ff]unctor|KernelImpl|Ops)$|_and_transform$"
    r"|_(?:cuda_kernel|kernel_cuda|kernel_impl|kernel|cuda|functor)$"
)
_WORD_START = re.compile(r"(?<=[a-z])(?=[A-Z])")
#: What joins the names of kernels that were replaced and those that replaced them.
_JOINS = re.compile(r"( → | \+ )")
_IDENTIFIER = re.compile(r"\w+")
#: How PyTorch walks the tensors of an elementwise kernel, where not by vectors.
_WALKS = {"elementwise_kernel": "strided", "unrolled_elementwise_kernel": "unrolled"}


@lru_cache(maxsize=_CACHE_SIZE)
def kernel_label(name: str) -> str:
    """Return the label of a kernel; of another node, and of a kernel of no library, its name.

    Parameters
    ----------
    name
        A symbol, a demangled name, or the short form of either.

    Examples
    --------
    >>> kernel_label("sm80_xmma_gemm_f32f32_f32f32_f32_nt_n_tilesize64x64x8_stage3_warpsize1x4x1_"
    ...              "ffma_aligna4_alignc4_execute_kernel__5x_cublas")
    'GEMM f32 nt 64x64'
    >>> kernel_label("vectorized_elementwise_kernel<CUDAFunctor_add<float>>")
    'add f32'
    """
    # Of the short name, which is all that some surfaces have, so that all have the same label.
    short = short_name(name)
    family = family_of(short)
    make = _BY_LIBRARY.get(family.library) if family.library else None
    words = make(short, family) if make else None
    if words:
        return " ".join(word for word in words if word)
    return short if family.library or name.startswith(("_Z", "void ")) else name


def joined_labels(names: str) -> str:
    """Return the labels of names that "→" and "+" join, as those of replacements are.

    Examples
    --------
    >>> joined_labels("ampere_sgemm_128x64_tn + 3 more → cupy_add__float32_float32_float32")
    'GEMM f32 tn 128x64 + 3 more → add f32'
    """
    parts = _JOINS.split(names)
    return "".join(part if at % 2 else kernel_label(part) for at, part in enumerate(parts))


def _library_words(short: str, family: KernelFamily) -> list[str] | None:
    """Return the words of a kernel of NVIDIA's libraries, PyTorch or FlashAttention."""
    make = _BY_KIND.get(family.kind)
    return make(short, family) if make else None


def _product(short: str, family: KernelFamily) -> list[str]:
    """Return kind, type of the operands, layout and tile."""
    layout, together = _LAYOUT.search(short), _TOGETHER.search(short)
    tile = _tile(family)
    return [
        family.kind.value,
        _operands(family),
        (layout.group(1) or layout.group(2).lower()) if layout else "",
        tile or short.split("<")[0],
        together.group(1) if together and together.group(1) != "1x1" else "",
        *_EPILOGUE.findall(short),
        "split-K" if family.is_split else "",
        "CUTLASS" if family.library is KernelLibrary.CUTLASS else "",
    ]


def _attention(short: str, family: KernelFamily) -> list[str]:
    subject = "FMHA" if "fmha" in short else "attention"
    types = "" if subject == "FMHA" and family.data_types == ("f32",) else _operands(family)
    if family.library is KernelLibrary.FLASH_ATTENTION:
        subject = "flash attention"
    split = "split-KV" if "splitkv" in short else ""
    return [subject, _direction(short), types, _tile(family), split]


def _norm(short: str, family: KernelFamily) -> list[str]:
    if short.startswith("GammaBetaBackward"):
        return ["layer norm gamma beta backward", _first_type(family)]
    words = re.match(r"(?:vectorized_)?(layer_norm|batch_norm|group_norm)", short)
    if words is None:
        return [short]
    direction = "backward" if _BACKWARD.search(short) else ""
    return [words.group(1).replace("_", " "), direction, _first_type(family)]


def _softmax(short: str, family: KernelFamily) -> list[str]:
    return ["softmax", _direction(short), _first_type(family)]


def _reduction(short: str, family: KernelFamily) -> list[str]:
    operation = _operation(short)
    return ["reduce", operation, _first_type(family)] if operation else [short]


def _matrix_vector(short: str, family: KernelFamily) -> list[str]:
    form = re.match(r"gemv(\w*?)_kernel", short)
    return ["GEMV", _operands(family), form.group(1) if form else ""]


def _split_k(_short: str, family: KernelFamily) -> list[str]:
    return [family.kind.value, *family.data_types]


def _elementwise(short: str, family: KernelFamily) -> list[str]:
    """Return the operation, its type, and what is unusual about how it is done."""
    if short.startswith("CatArrayBatchedCopy"):  # torch.cat; its type says only how wide
        way = "vectorized" if "_vectorized" in short else "aligned" if "_aligned" in short else ""
        return ["concatenate", way]
    operation = _operation(short)
    if operation is None:
        return [short]
    function = short.split("<")[0]
    types = family.data_types
    return [
        "foreach" if function.startswith("multi_tensor_apply") else "",
        "pointwise" if "PointwiseOp" in short else "",
        "cast" if family.kind is Kind.CAST else operation,
        "scalar" if _WITH_SCALAR.search(short) else "",
        # A distribution names the type that it draws in first, the type that it writes last.
        types[-1] if types and function.startswith("distribution") else _first_type(family),
        _WALKS.get(function, ""),
    ]


def _index(short: str, family: KernelFamily) -> list[str]:
    """Return how elements are picked, and the type of what is picked where the name says it."""
    if short.startswith("indexSelect"):
        return ["index select", _first_type(family)]
    return ["gather"] if short.startswith("vectorized_gather_kernel") else [short]


def _collective(short: str, _family: KernelFamily) -> list[str]:
    return ["NCCL", *short.split("<")[0].partition("_")[2].split("_")]


def _curand(short: str, _family: KernelFamily) -> list[str]:
    return [short.split("<")[0], *re.findall(r"<random_(\w+?)_functor", short)]


def _cupy(short: str, family: KernelFamily) -> list[str] | None:
    parts = re.fullmatch(r"cupy_(\w+?)__\w+", short)
    if parts is None:
        return None
    operation = "cast" if family.kind is Kind.CAST else parts.group(1).replace("_", " ")
    return [operation, *family.data_types]


def _triton(short: str, _family: KernelFamily) -> list[str] | None:
    parts = re.fullmatch(r"triton_(?:poi|red|per|tem|for)_fused_(\w+)", short)
    return ["fused", parts.group(1).strip("_")] if parts else None


def _operation(short: str) -> str | None:
    """Return what the innermost telling functor computes; None: there is none."""
    _, bracket, inside = short.partition("<")
    if not bracket:
        return None
    for word in _IDENTIFIER.findall(inside):
        if not _AROUND.match(word):
            while (shorter := _NOISE.sub("", word)) != word and shorter:
                word = shorter
            return _WORD_START.sub("_", word).replace("_", " ").strip().lower()
    return None


def _operands(family: KernelFamily) -> str:
    return "tf32" if "tf32" in family.data_types else _first_type(family)


def _first_type(family: KernelFamily) -> str:
    return family.data_types[0] if family.data_types else ""


def _tile(family: KernelFamily) -> str:
    """Return rows and columns; its depth is how they are made, not what is."""
    return "x".join(map(str, family.tile[:2])) if family.tile else ""


def _direction(short: str) -> str:
    if _BACKWARD.search(short):
        return "backward"
    return "forward" if _FORWARD.search(short) else ""


_Words = Callable[[str, KernelFamily], "list[str] | None"]

_BY_KIND: dict[Kind, _Words] = {
    Kind.GEMM: _product,
    Kind.CONVOLUTION: _product,
    Kind.GEMV: _matrix_vector,
    Kind.SPLIT_K_REDUCTION: _split_k,
    Kind.ATTENTION: _attention,
    Kind.NORM: _norm,
    Kind.SOFTMAX: _softmax,
    Kind.REDUCTION: _reduction,
    Kind.ELEMENTWISE: _elementwise,
    Kind.COPY: _elementwise,
    Kind.INDEX: _index,
    Kind.CAST: _elementwise,
    Kind.FILL: _elementwise,
}
_BY_LIBRARY: dict[KernelLibrary, _Words] = {
    **dict.fromkeys(
        (
            KernelLibrary.CUBLAS,
            KernelLibrary.CUTLASS,
            KernelLibrary.CUDNN,
            KernelLibrary.PYTORCH,
            KernelLibrary.FLASH_ATTENTION,
        ),
        _library_words,
    ),
    KernelLibrary.NCCL: _collective,
    KernelLibrary.CURAND: _curand,
    KernelLibrary.CUPY: _cupy,
    KernelLibrary.TRITON: _triton,
}
