"""Parameters of kernels by what is recorded of them, and signatures with their values."""

from __future__ import annotations

import struct

from gviz.cuda.element_type import ElementType
from gviz.cuda.parameter_type import parse_type
from gviz.model.parameters.kernel_arguments import arguments_of
from gviz.model.parameters.kernel_parameters import (
    KernelParameter,
    KnownBy,
    declared_parameters,
)
from gviz.model.parameters.signature import signature_text
from gviz.recording import rows
from gviz.recording.rows import KernelFunction

POINTER = 0x7F00_8000_0000


def kernel(name: str) -> KernelFunction:
    return KernelFunction(function_id=1, run_id=1, mangled_name=name, name=name)


def given(*values: bytes) -> list[rows.Argument]:
    """Return arguments of a kernel whose parameters are aligned to 8 bytes."""
    starts = [sum(8 * -(-len(value) // 8) for value in values[:at]) for at in range(len(values))]
    return [
        rows.Argument(
            graph_id=1, node_id=1, position=at, size_bytes=len(value), value=value,
            allocation_address=POINTER if len(value) == 8 else None,
            allocation_bytes=4096 if len(value) == 8 else None,
            offset_bytes=starts[at],
        )
        for at, value in enumerate(values)
    ]  # fmt: skip


def address(offset: int = 0) -> bytes:
    return struct.pack("<Q", POINTER + offset)


def test_signature_has_types_and_values_of_a_name() -> None:
    of = kernel("void ns::add_norm<c10::Half>(c10::Half*, c10::Half const*, int, float)")
    arguments = arguments_of(
        [declared_parameters(of)],
        given(address(), address(64), struct.pack("<i", 4096), struct.pack("<f", 1e-5)),
    )
    shown = "add_norm<Half>(half*, const half*, int = 4096, float = 1e-05)"
    assert signature_text(of.name, arguments) == shown
    assert [a.parameter.is_read_only for a in arguments] == [False, True, False, False]
    assert [a.parameter.points_to for a in arguments[:3]] == [
        ElementType.HALF, ElementType.HALF, ElementType.BYTES,
    ]  # fmt: skip
    assert {a.parameter.known_by for a in arguments} == {KnownBy.NAME}


def test_a_class_shows_its_size_and_what_no_name_tells_where_it_stands_too() -> None:
    of = kernel("void gemm(cutlass::Params, int)")
    arguments = arguments_of([declared_parameters(of)], given(bytes(1728), bytes(4)))
    assert signature_text(of.name, arguments) == "gemm(Params (1.69 KiB), int = 0)"
    plain = kernel("sgemm_128x64")
    arguments = arguments_of([declared_parameters(plain)], given(address(), bytes(4)))
    assert signature_text(plain.name, arguments) == "sgemm_128x64(8 B at 0, 4 B at 8)"
    assert [a.parameter.type for a in arguments] == [None, None]
    assert [a.parameter.known_by for a in arguments] == [None, None]


def test_a_declaration_that_contradicts_a_size_is_left_out() -> None:
    of = kernel("f(float*, int)")
    arguments = arguments_of([declared_parameters(of)], given(address(), bytes(8)))
    assert [a.parameter.type for a in arguments] == [None, None]
    assert [a.parameter.size_bytes for a in arguments] == [8, 8]


def test_more_arguments_than_declared_contradict_it_and_fewer_do_not() -> None:
    of = kernel("f(float*, int)")
    more = arguments_of([declared_parameters(of)], given(address(), bytes(4), bytes(4)))
    assert [a.parameter.type for a in more] == [None] * 3
    # The first of many parameters: the rest did not fit into the record.
    (first,) = arguments_of([declared_parameters(of)], given(address()))
    assert first.to_text() == "float*"


def test_arguments_of_an_unknown_kernel_have_their_size() -> None:
    (argument,) = arguments_of((), given(bytes(4)))
    assert argument.to_text() == "4 B at 0"
    assert argument.value_text is None


def test_sizes_of_declared_parameters_are_those_of_their_types() -> None:
    found = declared_parameters(kernel("f(float*, double, ns::Params)"))
    assert [p.size_bytes for p in found] == [8, 8, None]
    assert declared_parameters(kernel("plain")) == ()


def triton(*declared: tuple[str, str]) -> tuple[KernelParameter, ...]:
    kinds = [(name, parse_type(kind)) for name, kind in declared]
    return tuple(
        KernelParameter(at, name, kind, "Triton", kind.size_bytes)
        for at, (name, kind) in enumerate(kinds)
    )


def test_names_are_those_of_triton_and_scratch_memory_has_none() -> None:
    declared = triton(("out", "*fp16"), ("x", "*kfp16"), ("n", "i32"))
    values = (address(), address(64), struct.pack("<i", 4096), bytes(8), bytes(8))
    arguments = arguments_of([declared], given(*values))
    shown = "fused_add_norm(half* out, const half* x, int n = 4096, 8 B at 24, 8 B at 32)"
    assert signature_text("fused_add_norm", arguments) == shown
    assert [a.parameter.known_by for a in arguments] == ["Triton"] * 3 + [None] * 2
    # Triton does not add three.
    assert arguments_of([declared], given(*values, bytes(8)))[0].parameter.name is None


def test_of_several_kernels_of_a_name_that_is_taken_in_which_they_agree() -> None:
    half, single = triton(("x", "*fp16"), ("n", "i32")), triton(("x", "*fp32"), ("m", "i32"))
    arguments = arguments_of([half, single], given(address(), bytes(4)))
    assert [a.to_text() for a in arguments] == ["x (8 B at 0)", "int = 0"]
    # Another size tells which it is.
    wide = triton(("x", "*fp32"), ("n", "i64"))
    arguments = arguments_of([half, wide], given(address(), bytes(4)))
    assert [a.to_text() for a in arguments] == ["half* x", "int n = 0"]
