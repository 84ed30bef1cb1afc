"""Parameters of kernels: the names and types that anything recorded tells.

The types are those of the kernel's name where it is a C++ name, which spells them with templates
resolved; of kernels that Triton or CuPy compiles names and types are those that it declares, or
that its source does. A declaration that contradicts the sizes that the driver has is left out as a
whole.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from gviz.cuda import ElementType, ParameterType, parameter_types, parse_type
from gviz.dataclass import dataclass

if TYPE_CHECKING:
    from gviz.recording import KernelFunction, Recording

#: Parameters that Triton adds at most behind those it declares: pointers to scratch memory.
_SCRATCH, _POINTER_BYTES = 2, 8


class KnownBy(StrEnum):
    """Sources of the names and types of parameters."""

    NAME = "the kernel's name"
    TRITON = "Triton"


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


#: Declarations of one kernel's parameters: by its name, and by frameworks.
Declarations = Sequence[Sequence[KernelParameter]]


def declared_parameters(kernel: KernelFunction) -> tuple[KernelParameter, ...]:
    """Return a kernel's parameters as its name declares them; empty: it does not."""
    return tuple(
        KernelParameter(at, None, kind, KnownBy.NAME, kind.size_bytes)
        for at, kind in enumerate(map(parse_type, parameter_types(kernel.name) or ()))
    )


def read_declared(recording: Recording, run_id: int) -> dict[int, Declarations]:
    """Return what declares the parameters of a run's kernels, by function_id."""
    functions = recording.fetch_functions(run_id).items()
    found = {function_id: [declared_parameters(kernel)] for function_id, kernel in functions}
    by_framework: dict[tuple[int, int], list[KernelParameter]] = {}
    for row in recording.fetch_declared_parameters(run_id):
        kind = parse_type(row.type)
        own = by_framework.setdefault((row.function_id, row.declaration), [])
        own.append(KernelParameter(row.position, row.name, kind, row.known_by, kind.size_bytes))
    for (function_id, _), own in by_framework.items():
        found[function_id].append(tuple(own))
    return {function_id: tuple(filter(None, of)) for function_id, of in found.items()}


def fitting_parameters(
    declarations: Declarations, sizes: Mapping[int, int]
) -> dict[int, KernelParameter]:
    """Return parameters by position, with the sizes that the driver has of them.

    Parameters
    ----------
    declarations
        Left out where one contradicts a size, or lacks a parameter. Of several that fit each name
        and type is taken that none of them contradicts.
    sizes
        In bytes, by position; those of a kernel of many parameters may be its first.
    """
    fitting = [one for one in declarations if _fits(one, sizes)]
    return {
        at: _agreed([one[at] for one in fitting if at < len(one)], at, size)
        for at, size in sizes.items()
    }


class FittedParameters:
    """Parameters of a run's kernels, fitted once for each set of sizes.

    Few kernels are launched by many nodes.

    Parameters
    ----------
    declared
        What declares them, by function_id.
    """

    def __init__(self, declared: Mapping[int, Declarations]) -> None:
        self._declared = declared
        self._fitted: dict[Hashable, dict[int, KernelParameter]] = {}

    def of(
        self, function_id: int | None, sizes: Mapping[int, int]
    ) -> Mapping[int, KernelParameter]:
        """Return a kernel's parameters by position, with their sizes in bytes; None: it is none."""
        key = function_id, tuple(sizes.items())
        if key not in self._fitted:
            declared = () if function_id is None else self._declared.get(function_id, ())
            self._fitted[key] = fitting_parameters(declared, sizes)
        return self._fitted[key]


def _fits(declared: Sequence[KernelParameter], sizes: Mapping[int, int]) -> bool:
    most = len(declared)
    if declared and declared[0].known_by == KnownBy.TRITON:
        most += _SCRATCH
    for at, size in sizes.items():
        expected = declared[at].size_bytes if at < len(declared) else _POINTER_BYTES
        if at >= most or expected not in (None, size):
            return False
    return True


def _agreed(found: Sequence[KernelParameter], at: int, size: int) -> KernelParameter:
    """Return the name and the type of a parameter that nothing contradicts."""
    names = {one.name for one in found if one.name is not None}
    types = {one.type for one in found}
    by = {one.known_by for one in found}
    return KernelParameter(
        at,
        names.pop() if len(names) == 1 else None,
        types.pop() if len(types) == 1 else None,
        by.pop() if len(by) == 1 else None,
        size,
    )
