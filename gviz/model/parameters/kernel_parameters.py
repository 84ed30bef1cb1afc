"""Parameters of kernels: the names and types that anything recorded tells.

The types are those of the kernel's name where it is a C++ name, which spells them with templates
resolved. A declaration that contradicts the sizes that the driver has is left out as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from gviz.cuda import ElementType, ParameterType, parameter_types, parse_type

if TYPE_CHECKING:
    from gviz.recording import KernelFunction, Recording


class KnownBy(StrEnum):
    """Sources of the names and types of parameters."""

    NAME = "the kernel's name"


@dataclass(frozen=True, slots=True)
class KernelParameter:
    """A parameter of a kernel.

    Attributes
    ----------
    position
        From 0.
    name
        None: nothing recorded tells it.
    type
        None: not known.
    known_by
        What told name and type; None: both are not known.
    size_bytes
        None: not recorded, and not what the type tells.
    """

    position: int
    name: str | None = None
    type: ParameterType | None = None
    known_by: str | None = None
    size_bytes: int | None = None

    @property
    def is_read_only(self) -> bool:
        """Return whether it is a pointer to const: the kernel reads what it points to."""
        return self.type is not None and self.type.is_const

    @property
    def points_to(self) -> ElementType:
        """Return the type of the elements that it points to; BYTES: not known."""
        if self.type is None or not self.type.is_pointer or self.type.element is None:
            return ElementType.BYTES
        return self.type.element


def declared_parameters(kernel: KernelFunction) -> tuple[KernelParameter, ...]:
    """Return a kernel's parameters as its name declares them; empty: it does not."""
    return tuple(
        KernelParameter(at, None, kind, KnownBy.NAME, kind.size_bytes)
        for at, kind in enumerate(map(parse_type, parameter_types(kernel.name) or ()))
    )


def read_declared(recording: Recording, run_id: int) -> dict[int, tuple[KernelParameter, ...]]:
    """Return the declared parameters of a run's kernels by function_id."""
    functions = recording.fetch_functions(run_id).items()
    return {function_id: declared_parameters(kernel) for function_id, kernel in functions}


def fitting_parameters(
    declared: Sequence[KernelParameter], sizes: Mapping[int, int]
) -> dict[int, KernelParameter]:
    """Return parameters by position, with the sizes that the driver has of them.

    Parameters
    ----------
    declared
        As something tells them; left out where one contradicts its size, or one is missing.
    sizes
        In bytes, by position; those of a kernel of many parameters may be its first.
    """
    contradicted = any(
        at >= len(declared) or declared[at].size_bytes not in (None, size)
        for at, size in sizes.items()
    )
    if contradicted:
        return {at: KernelParameter(at, size_bytes=size) for at, size in sizes.items()}
    return {
        at: KernelParameter(at, one.name, one.type, one.known_by, size)
        for at, size in sizes.items()
        for one in (declared[at],)
    }
