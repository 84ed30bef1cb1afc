"""Signatures: calls of kernels as text, with the values that a node gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gviz.cuda import short_name
from gviz.model.parameters.kernel_arguments import KernelArgument

if TYPE_CHECKING:
    from gviz.recording import KernelFunction


def signature_text(kernel: KernelFunction, arguments: Sequence[KernelArgument]) -> str:
    """Return a call of a kernel as text: ``scale(half* out, const half* x, int n = 4096)``."""
    return f"{short_name(kernel.name)}({', '.join(a.to_text() for a in arguments)})"
