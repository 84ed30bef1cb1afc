"""Arguments of a kernel node: its kernel's parameters with what the node gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gviz.dataclass import dataclass
from gviz.model.parameters.kernel_parameters import (
    Declarations,
    KernelParameter,
    fitting_parameters,
)
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
    offset_bytes
        Where it stands in the memory that the kernel's parameters take; None: not recorded.
    """

    parameter: KernelParameter
    value: bytes
    allocation_address: int | None
    allocation_bytes: int | None
    offset_bytes: int | None

    @property
    def value_text(self) -> str | None:
        """Return the value as its type tells it; None: the type is not known, or a class."""
        kind = self.parameter.type
        return None if kind is None else kind.value_text(self.value)

    def to_text(self) -> str:
        """Return it as signatures have it: type and name, and a number's value.

        Where the type is not known its size and offset stand there, of a class its size.
        """
        kind, name = self.parameter.type, self.parameter.name
        if kind is None:
            size = byte_size(len(self.value))
            where = size if self.offset_bytes is None else f"{size} at {self.offset_bytes}"
            return where if name is None else f"{name} ({where})"
        text = kind.text if name is None else f"{kind.text} {name}"
        if kind.is_pointer:
            return text
        value = self.value_text
        return f"{text} ({byte_size(len(self.value))})" if value is None else f"{text} = {value}"


def arguments_of(
    declarations: Declarations, given: Sequence[rows.Argument]
) -> tuple[KernelArgument, ...]:
    """Return what a node gives its kernel.

    Parameters
    ----------
    declarations
        What declares the kernel's parameters.
    given
        By position.
    """
    parameters = fitting_parameters(declarations, {a.position: a.size_bytes for a in given})
    return tuple(
        KernelArgument(
            parameters[a.position],
            a.value,
            a.allocation_address,
            a.allocation_bytes,
            a.offset_bytes,
        )
        for a in given
    )
