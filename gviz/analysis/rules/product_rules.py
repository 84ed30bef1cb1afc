"""Rules about matrix products: units they leave idle, and kernels that only serve them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from gviz.analysis.launch import LaunchChange
from gviz.analysis.rules.rule import Fact, Found, rule
from gviz.analysis.rules.work_rules import EMPTY_KERNEL_NS, without
from gviz.analysis.subject import GraphSubject
from gviz.cuda import CopyKind, NodeType
from gviz.families import KernelFamily, Kind
from gviz.stats import BoolArray, IntArray, distinct_values
from gviz.text import counted, percent

#: Multiplications in TF32 by the tensor cores of a multiprocessor, over those in FP32 by its other
#: units, of a clock, by compute capability: 512/64, 256/128, 256/128, 1024/128 and 2048/128.
_TF32_OVER_FP32 = {(8, 0): 8, (8, 6): 2, (8, 9): 2, (9, 0): 8, (10, 0): 16}
#: Copies and casts one after the other that are followed to the next product.
_MOST_MOVES = 4


def _is_fp32_product(family: KernelFamily) -> bool:
    """Return whether it is a GEMM or convolution in FP32 that uses no tensor cores."""
    is_product = family.kind in (Kind.GEMM, Kind.CONVOLUTION)
    return is_product and family.data_types == ("f32",) and family.tensor_cores is False


@rule(
    "fp32-without-tensor-cores",
    title="FP32 matrix products outside the tensor cores of a GPU that has them",
    fix="Where 10 bits of mantissa are enough allow TF32 (torch.set_float32_matmul_precision"
    "('high'), CUBLAS_TF32_TENSOR_OP_MATH, CUPY_TF32=1), or compute in BF16 or FP16 (autocast).",
    source="names of kernels; what tensor cores and other units do a clock: NVIDIA's architecture "
    "white papers (A100, GA102, AD102, H100) and data sheets (B200)",
    assumes="TF32 is precise enough, and the products wait for nothing but arithmetic: each then "
    "takes the time of the FP32 one over the ratio of the units",
    bound="at most",
)
def fp32_without_tensor_cores(subject: GraphSubject) -> Iterator[Found]:
    """Yield the FP32 products of a GPU whose tensor cores know TF32."""
    ratio = _TF32_OVER_FP32.get(subject.compute_capability() or (0, 0))
    held, model, families = subject.held, subject.model, subject.families
    node = subject.unrolled.node
    chosen = np.flatnonzero(families.where(_is_fp32_product)[node] & held.timed)
    if ratio is None or not len(chosen):
        return
    duration = model.duration_ns.copy()
    least = np.minimum(duration[chosen], EMPTY_KERNEL_NS)
    duration[chosen] = np.maximum(duration[chosen] / ratio, least)
    total = float(model.duration_ns[chosen].sum())
    fraction = total / float(model.duration_ns[held.timed].sum())
    yield Found(
        reason=f"{counted(len(chosen), 'FP32 matrix product')} without tensor cores, "
        f"{percent(fraction)} of the node time: {_by_tile(subject, chosen)}",
        vertices=_longest_first(subject, chosen),
        evidence=(
            Fact("node time", total, "ns", "derived"),
            Fact("share of the node time", fraction, "fraction", "derived"),
            Fact("TF32 over FP32, multiplications a clock", ratio, "", "stated"),
        ),
        gain=LaunchChange(duration_ns=duration),
    )


def _by_tile(subject: GraphSubject, vertices: IntArray) -> str:
    """Return whose products they are and in what tiles, those with the most time first."""
    families = subject.families
    spent: dict[str, float] = {}
    count: Counter[str] = Counter()
    for vertex in vertices.tolist():
        family = families.families[int(families.code[subject.unrolled.node[vertex]])]
        owner = "others" if family.library is None else family.library.value
        tile = "" if family.tile is None else f" in tiles of {'x'.join(map(str, family.tile))}"
        name = owner + tile
        spent[name] = spent.get(name, 0.0) + float(subject.model.duration_ns[vertex])
        count[name] += 1
    longest = sorted(spent, key=lambda name: -spent[name])
    named = [f"{count[name]:,} of {name}" for name in longest[:2]]
    return ", ".join(named) + (" and others" if len(spent) > 2 else "")


def _longest_first(subject: GraphSubject, vertices: IntArray) -> list[int]:
    order = np.argsort(-subject.model.duration_ns[vertices], kind="stable")
    found: list[int] = vertices[order].tolist()
    return found


@rule(
    "split-k-reduction",
    title="split-K products, each with a second kernel that adds its parts up",
    fix="Let one kernel do both: more rows at a time, a tile that fills the GPU without split-K, "
    "or stream-K and parts added up within a cluster (CUTLASS; other algorithms of cublasLt).",
    source="CUTLASS documentation, Efficient GEMM in CUDA: parallelized reductions; times and gaps "
    "in this recording",
    assumes="the product takes no longer than its part of a sum did: split-K was chosen to fill "
    "the GPU",
    bound="at most",
)
def split_k_reduction(subject: GraphSubject) -> Iterator[Found]:
    """Yield the reductions behind split-K products."""
    families, unrolled = subject.families, subject.unrolled
    split = families.where(lambda f: f.is_split)[unrolled.node]
    adds = families.of_kind(Kind.SPLIT_K_REDUCTION)[unrolled.node] & subject.held.timed
    pairs = split[unrolled.tail] & adds[unrolled.head]
    chosen = distinct_values(unrolled.head[pairs])
    if not len(chosen):
        return
    products = subject.model.duration_ns[distinct_values(unrolled.tail[pairs])]
    total = float(subject.model.duration_ns[chosen].sum())
    one = len(chosen) == 1
    yield Found(
        reason=f"{counted(len(chosen), 'split-K product')}{'' if one else ', each'} followed by a "
        f"kernel that adds the parts up: {percent(total / float(products.sum()))} of the time of "
        f"the product{'' if one else 's'}",
        vertices=_longest_first(subject, chosen),
        evidence=(
            Fact("time of the reductions", total, "ns", "derived"),
            Fact("time of the products", float(products.sum()), "ns", "derived"),
        ),
        gain=without(subject, chosen),
    )


@rule(
    "memset-before-product",
    title="memsets right before a matrix product",
    fix="Let the product write without reading (beta = 0), or choose an algorithm that needs no "
    "cleared memory: no split-K with semaphores, a deterministic one, another workspace.",
    source="cuBLAS documentation: beta = 0 means that the output is not read; times and gaps in "
    "this recording",
    assumes="the memset clears what the product adds to or its workspace, and the product takes no "
    "longer without",
    bound="at most",
)
def memset_before_product(subject: GraphSubject) -> Iterator[Found]:
    """Yield the memsets that only matrix products wait for."""
    unrolled, types = subject.unrolled, subject.graph.types
    is_fill = (types == NodeType.MEMSET)[unrolled.node] & subject.held.timed
    is_product = _products(subject)
    followed = is_fill[unrolled.tail] & is_product[unrolled.head]
    otherwise = unrolled.tail[~is_product[unrolled.head]]
    chosen = np.setdiff1d(unrolled.tail[followed], otherwise)
    if not len(chosen):
        return
    yield Found(
        reason=f"{counted(len(chosen), 'memset')} for which only a matrix product waits",
        vertices=_longest_first(subject, chosen),
        evidence=(
            Fact("time of the memsets", float(subject.model.duration_ns[chosen].sum()), "ns",
                 "derived"),
        ),
        gain=without(subject, chosen),
    )  # fmt: skip


def _products(subject: GraphSubject) -> BoolArray:
    """Return which vertices are matrix products: bool, one a vertex."""
    found: BoolArray = subject.families.where(lambda f: f.is_product)[subject.unrolled.node]
    return found


@rule(
    "copy-between-products",
    title="copies, casts and transposes that only bring data from one matrix product to the next",
    fix="Let the products read and write the wanted type and layout (output type, transposed "
    "operands, strides), cast weights once, and keep activations in one type.",
    source="cuBLAS documentation, cublasGemmEx: types, transposed operands and leading dimensions; "
    "times in this recording",
    assumes="the products beside them can read or write that type and layout, and take no longer",
    bound="at most",
)
def copy_between_products(subject: GraphSubject) -> Iterator[Found]:
    """Yield copies between products, and casts before one."""
    families, unrolled = subject.families, subject.unrolled
    moves = families.where(lambda f: f.is_moving)
    copies = subject.graph.types == NodeType.MEMCPY
    moves &= ~copies | (subject.graph.nodes.integers("copy_kind", 0) == CopyKind.DTOD)
    moving, product = moves[unrolled.node] & subject.held.timed, _products(subject)
    before = _reached(unrolled.tail, unrolled.head, product, moving)
    after = _reached(unrolled.head, unrolled.tail, product, moving)
    casts = families.of_kind(Kind.CAST)[unrolled.node]
    chosen = np.flatnonzero(moving & after & (before | casts))
    if not len(chosen):
        return
    kinds = Counter(
        families.families[code].kind.value for code in families.code[unrolled.node[chosen]].tolist()
    )
    named = " and ".join(
        counted(n, kind, "copies" if kind == "copy" else f"{kind}s") for kind, n in kinds.items()
    )
    one = "s" if len(chosen) == 1 else ""
    yield Found(
        reason=f"{named} bring{one} data from one matrix product to the next",
        vertices=_longest_first(subject, chosen),
        evidence=(
            Fact("node time", float(subject.model.duration_ns[chosen].sum()), "ns", "derived"),
        ),
        gain=without(subject, chosen),
    )


def _reached(tail: IntArray, head: IntArray, product: BoolArray, moving: BoolArray) -> BoolArray:
    """Return the vertices that an edge leads to from a product, also over moving ones."""
    found = np.zeros(len(product), bool)
    for _ in range(_MOST_MOVES):
        found[head[product[tail] | (moving & found)[tail]]] = True
    return found
