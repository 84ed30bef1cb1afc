"""Arguments of a kernel node: its kernel's parameters with what the node gives them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gviz.model.parameters.kernel_parameters import KernelParameter, fitting_parameters
from gviz.text import byte_size

if TYPE_CHECKING:
    from gviz.recording import rows


@dataclass(frozen=True, slots=True)
class KernelArgument:
    """A parameter, and the value that a node gives it.

    Attributes
    ----------
    value
        Its bytes at instantiation, little endian.
    allocation_address, allocation_bytes
        The allocation that it points into; None: none is known, or it is no address.
    """

    parameter: KernelParameter
    value: bytes
    allocation_address: int | None
    allocation_bytes: int | None

    @property
    def value_text(self) -> str | None:
        """Return the value as its type tells it; None: the type is not known, or a class."""
        kind = self.parameter.type
        return None if kind is None else kind.value_text(self.value)

    def to_text(self) -> str:
        """Return it as signatures have it: type and name, and a number's value.

        Where the type is not known, or tells no size, the size stands there.
        """
        kind, name = self.parameter.type, self.parameter.name
        size = byte_size(len(self.value))
        if kind is None:
            return size if name is None else f"{name} ({size})"
        text = kind.text if name is None else f"{kind.text} {name}"
        if kind.is_pointer:
            return text
        value = self.value_text
        return f"{text} ({size})" if value is None else f"{text} = {value}"


def arguments_of(
    declared: Sequence[KernelParameter], given: Sequence[rows.Argument]
) -> tuple[KernelArgument, ...]:
    """Return what a node gives its kernel.

    Parameters
    ----------
    declared
        The kernel's parameters, as far as anything tells them.
    given
        By position.
    """
    parameters = fitting_parameters(declared, {a.position: a.size_bytes for a in given})
    return tuple(
        KernelArgument(parameters[a.position], a.value, a.allocation_address, a.allocation_bytes)
        for a in given
    )
