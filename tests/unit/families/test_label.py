"""Labels of kernels: tests/labels.json has those of the bundled and golden recordings."""

from __future__ import annotations

import json

import pytest
from places import TESTS

from gviz.families import joined_labels, kernel_label

LABELS: dict[str, str] = json.loads((TESTS / "labels.json").read_text())
#: Names of libraries that no recording has.
MORE = {
    "ampere_sgemm_128x64_tn": "GEMM f32 tn 128x64",
    "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_nn": "GEMM f16 nn 128x64",
    "nvjet_sss_tf32_128x256_TNT": "GEMM tf32 tnt 128x256",
    "gemvNSP_kernel<__half, __half, float>": "GEMV f16 NSP",
    "flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128>>": "flash attention forward split-KV",
    "fmha_cutlassB_f16_aligned_64x64_k64_sm80": "FMHA backward f16 64x64",
    "ncclDevKernel_SendRecv": "NCCL SendRecv",
    "cupy_copy__float32_float16": "cast f32 f16",
    "triton_poi_fused_add_relu_0": "fused add_relu_0",
    "loop_add_fusion": "loop_add_fusion",
    "my_solver<float>": "my_solver<float>",
    "memcpy HtoD": "memcpy HtoD",
    "": "",
}


@pytest.mark.parametrize("name", [*LABELS, *MORE])
def test_label_is_the_few_words_by_which_a_reader_knows_the_kernel(name: str) -> None:
    assert kernel_label(name) == {**LABELS, **MORE}[name]


@pytest.mark.parametrize("name", LABELS)
def test_label_of_a_label_is_itself(name: str) -> None:
    label = kernel_label(name)
    assert kernel_label(label) == label
    assert len(label) <= len(name)


def test_kernels_of_one_label_compute_the_same() -> None:
    shared = {label for label in LABELS.values() if list(LABELS.values()).count(label) > 1}
    assert shared == {"add f32", "foreach sqrt f32", "mul scalar f16"}


def test_labels_of_a_replacement_stand_at_both_ends() -> None:
    fused = "splitKreduce_kernel<int, float> + 3 more → layer_norm<x>"
    assert joined_labels(fused) == "split-K reduction f32 + 3 more → layer_norm<x>"
