"""Signatures: calls of kernels as text, with the values that a node gives."""

from __future__ import annotations

from collections.abc import Sequence

from gviz.cuda import short_name
from gviz.model.parameters.kernel_arguments import KernelArgument


def signature_text(name: str, arguments: Sequence[KernelArgument]) -> str:
    """Return a call of a kernel as text: ``scale(half* out, const half* x, int n = 4096)``.

    Parameters
    ----------
    name
        Of the kernel, demangled or not.
    """
    return f"{short_name(name)}({', '.join(a.to_text() for a in arguments)})"
