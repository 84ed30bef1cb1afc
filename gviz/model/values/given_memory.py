"""Memory that a node is given, with what it held before the node ran and after it."""

from __future__ import annotations

from enum import StrEnum

from gviz.cuda import ElementType
from gviz.dataclass import dataclass
from gviz.model.parameters import KernelParameter
from gviz.recording import NodeValue

#: The extent of memory of which CUDA says how much it is, and the program's allocator.
_REPORTED, _BLOCK = "reported", "block"


class Direction(StrEnum):
    """Use of memory that a node may make, as CUDA or its kernel's types tell."""

    READ = "read"
    WRITTEN = "written"
    EITHER = "either"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class MemoryContents:
    """Contents of memory, in numbers; None where the type of its elements is not known.

    Attributes
    ----------
    hash
        Of all bytes, 64 bits: equal contents have equal ones.
    varies
        Whether a second launch of the same copy held something else there.
    least, greatest, mean
        Of the finite elements; None: there are none.
    """

    hash: int
    varies: bool
    nan_count: int | None
    infinite_count: int | None
    zero_count: int | None
    finite_count: int | None
    least: float | None
    greatest: float | None
    mean: float | None

    @property
    def hash_text(self) -> str:
        """Return the hash as 16 hexadecimal digits."""
        return f"{self.hash & (2**64 - 1):016x}"


@dataclass(frozen=True, slots=True)
class GivenMemory:
    """Memory that a node is given, to the next address that any node of the graph is given.

    Attributes
    ----------
    node
        Index in the graph's tree.
    reading_id, graph_id, node_id, position, offset, start
        Its key in table ``node_value``.
    place
        Of the node in the order in which the copy ran them.
    address, bytes
        Where it lies: from ``start`` behind the address that the node is given.
    extent
        Why it ends there, as table ``node_value`` has it.
    element, is_element_elsewhere
        What it holds; whether only another node's kernel tells that.
    direction
        What the node may do with it.
    parameter
        Of the kernel; None: of a copy or memset, or nothing tells it.
    before, after
        Before the node ran, and after it: the same object where nothing changed.
    """

    node: int
    reading_id: int
    graph_id: int
    node_id: int
    position: int
    offset: int
    start: int
    place: int
    address: int
    bytes: int
    extent: str
    element: ElementType
    is_element_elsewhere: bool
    direction: Direction
    parameter: KernelParameter | None
    before: MemoryContents
    after: MemoryContents

    @property
    def key(self) -> tuple[int, int, int, int]:
        """Return what tells it from all other memory of the graph's nodes."""
        return self.node, self.position, self.offset, self.start

    @property
    def end(self) -> int:
        """Return the address behind it."""
        return self.address + self.bytes

    @property
    def is_at_most(self) -> bool:
        """Return whether the node's buffer may end earlier: nobody states how long it is."""
        return self.extent not in (_REPORTED, _BLOCK)

    @property
    def is_changed(self) -> bool:
        """Return whether it held something else after the node than before it."""
        return self.before.hash != self.after.hash

    @property
    def is_written(self) -> bool:
        """Return whether the node is known to write it: it changed, or CUDA says so."""
        return self.is_changed or self.direction == Direction.WRITTEN

    @property
    def may_be_written(self) -> bool:
        """Return whether the node writes it, or its kernel's types let it."""
        return self.is_written or self.direction == Direction.EITHER

    @property
    def may_be_read(self) -> bool:
        """Return whether the node may read it."""
        return self.direction != Direction.WRITTEN

    @property
    def parameter_text(self) -> str | None:
        """Return the parameter's type and name, as far as they are known."""
        found = self.parameter
        parts = [] if found is None else [found.type.text if found.type else "", found.name or ""]
        return " ".join(filter(None, parts)) or None

    @property
    def use_text(self) -> str:
        """Return what the node did with it, in words."""
        if self.is_changed:
            return "changed" if self.direction == Direction.READ else "written"
        if self.direction in (Direction.READ, Direction.WRITTEN):
            return str(self.direction)
        return "unchanged"


def given_memory(
    node: int, before: NodeValue, after: NodeValue | None, parameter: KernelParameter | None
) -> GivenMemory:
    """Return memory that a node is given, from its rows.

    Parameters
    ----------
    after
        None: the node left all as it was.
    parameter
        Of a kernel: that of its position; None of a copy or memset.
    """
    held = _contents(before)
    return GivenMemory(
        node=node,
        reading_id=before.reading_id,
        graph_id=before.graph_id,
        node_id=before.node_id,
        position=before.position,
        offset=before.offset,
        start=before.start,
        place=before.place,
        address=before.address + before.start,
        bytes=before.bytes,
        extent=before.extent,
        element=ElementType(before.element),
        is_element_elsewhere=bool(before.element_elsewhere),
        direction=_direction(before, parameter),
        parameter=parameter,
        before=held,
        after=held if after is None else _contents(after),
    )


def _direction(value: NodeValue, parameter: KernelParameter | None) -> Direction:
    """Return what a node may do; kernels have parameters, what CUDA reports is of copies."""
    if parameter is None and value.extent == _REPORTED:
        return Direction.READ if value.position else Direction.WRITTEN
    kind = None if parameter is None else parameter.type
    if kind is None or not kind.is_pointer:
        return Direction.UNKNOWN
    return Direction.READ if kind.is_const else Direction.EITHER


def _contents(value: NodeValue) -> MemoryContents:
    return MemoryContents(
        hash=value.hash,
        varies=bool(value.varies),
        nan_count=value.nan_count,
        infinite_count=value.infinite_count,
        zero_count=value.zero_count,
        finite_count=value.finite_count,
        least=value.least,
        greatest=value.greatest,
        mean=value.mean,
    )
