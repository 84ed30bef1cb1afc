"""PyTorch's autograd: the operation that a node of a CUDA graph is created for.

In the forward pass an operation takes a sequence number from its thread for its autograd node, then
launches its kernels. In the backward pass the autograd node that runs has that number. Both are
asked of PyTorch when a node of a CUDA graph is created, with functions that torch exports; nothing
of PyTorch is patched, and it is never imported here.

References
----------
``Node`` in torch/csrc/autograd/function.h, "Sequence numbers"; ``at::sequence_number`` is a counter
of each thread.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

#: Autograd nodes that add to a leaf's gradient take the largest number there is, to run first.
_NO_SEQUENCE = 2**64 - 1


class AutogradPlace(NamedTuple):
    """The operation that the calling thread is in.

    Attributes
    ----------
    name
        Of the autograd node that runs, such as ``AddmmBackward0``; None: in the forward pass.
    sequence_nr
        Of that autograd node, or of the one that the operation of the forward pass has made; None:
        it has none (gradients that are added to a leaf's).
    """

    name: str | None
    sequence_nr: int | None


class _Functions(NamedTuple):
    """Functions of PyTorch: about the calling thread, and quick."""

    current_node: Callable[[], Any]
    next_sequence_nr: Callable[[], int]


class AutogradWatch:
    """Says where in autograd's work the calling thread is."""

    def __init__(self) -> None:
        self._functions: _Functions | None = None
        self._thread = threading.local()

    def place(self) -> AutogradPlace | None:
        """Return the operation that the calling thread is in; None where PyTorch knows none.

        In the forward pass only the first call after a new number gives one: what follows may be
        work without an autograd node, such as a mask's.
        """
        torch = sys.modules.get("torch")
        if torch is None:
            return None
        functions = self._functions
        if functions is None:
            functions = self._functions = _find(torch)
            if functions is None:
                return None
        node = functions.current_node()
        if node is not None:
            number = node._sequence_nr()
            return AutogradPlace(node.name(), number if number < _NO_SEQUENCE else None)
        # Whether gradients are wanted says nothing: a custom function's forward runs without.
        number = functions.next_sequence_nr() - 1
        if number < 0 or number == getattr(self._thread, "last", None):
            return None
        self._thread.last = number
        return AutogradPlace(None, number)


def _find(torch: Any) -> _Functions | None:
    """Return PyTorch's functions; None: it is being imported, or older than 2.1."""
    try:
        return _Functions(
            torch._C._current_autograd_node,
            torch._C._autograd._get_sequence_nr,
        )
    except AttributeError:
        return None
