"""The data of one node: what it is given, what that held, who wrote it and who is given it next."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from gviz.analysis.node_ref import NodeRef
from gviz.analysis.subject import GraphSubject
from gviz.analysis.values.graph_data import VALUES_VERSION, values_read
from gviz.analysis.values.value_finding import LINE, node_place
from gviz.dataclass import dataclass
from gviz.errors import RecordingError
from gviz.model import GivenMemory, GraphValues, MemoryContents
from gviz.recording import load_contents
from gviz.stats import NotComputed, figure
from gviz.system import NO_PROGRESS, Progress


@dataclass(frozen=True, slots=True)
class MemoryState:
    """Contents of memory at a moment, in numbers; null where the type of elements is not known."""

    hash: str = figure("measured", "of all bytes, 64 bits in hexadecimal")
    varies: bool = figure(
        "measured", "whether a second launch of the same copy held something else"
    )
    nan_count: int | None = figure("measured", "elements that are NaN")
    infinite_count: int | None = figure("measured", "elements that are infinite")
    zero_count: int | None = figure("measured", "elements that are 0")
    least: float | None = figure("measured", "least finite element; null: there is none")
    greatest: float | None = figure("measured", "greatest finite element")
    mean: float | None = figure("derived", "mean of the finite elements")
    contents: str | None = figure(
        "measured", "file of its elements (gviz run --dump); null: they were not kept"
    )

    def load(self) -> npt.NDArray[np.generic]:
        """Return the elements; bytes where their type is not known.

        Types that NumPy lacks (bfloat16, float8) become float32, which holds their values exactly.

        Raises
        ------
        RecordingError
            If they were not kept, or their file cannot be read.
        """
        if self.contents is None:
            raise RecordingError(
                "the contents of this memory were not kept; record with 'gviz run --dump PATTERN', "
                "a pattern that the kernel's symbol matches"
            )
        return load_contents(Path(self.contents))


@dataclass(frozen=True, slots=True)
class NodeMemoryState:
    """Memory that a node is given, to the next address that any node of the graph is given."""

    position: int = figure(
        "measured", "argument that holds the address; of copies 0 is what they write, 1 is read"
    )
    parameter: str | None = figure("derived", "type and name, as far as they are known")
    offset: int = figure("measured", "where the address stands in that argument, in bytes")
    start: int = figure("measured", "where the memory begins, in bytes from that address")
    address: int = figure("measured", "where it lies")
    bytes: int = figure("measured", "its size")
    extent: str = figure(
        "stated", "why it ends there: reported, next, block, block end or allocation"
    )
    is_at_most: bool = figure(
        "stated", "whether the buffer may end earlier: CUDA does not say how long it is"
    )
    element: str = figure("derived", "what it holds; byte: not known")
    element_elsewhere: bool = figure("derived", "whether only another node's kernel tells that")
    use: str = figure("derived", "written, changed (though const), read, or unchanged")
    before: MemoryState = figure("measured", "before the node ran")
    after: MemoryState | None = figure("measured", "after it; null: as before")
    written_by: tuple[NodeRef, ...] = figure(
        "derived", "nodes that wrote it before, or may have; empty: none of the graph"
    )
    given_to: tuple[NodeRef, ...] = figure(
        "derived", "later nodes that are given what the node left there"
    )


@dataclass(frozen=True, slots=True)
class NodeData:
    """The data of a node."""

    values_version: int = figure("stated", "version of these keys")
    node: NodeRef = figure("stated", "the node")
    layer: str | None = figure("derived", "layer of the model; null: not known")
    line: str | None = figure("measured", LINE)
    place: int | None = figure("measured", "in the order in which the copy ran nodes; null: none")
    memory: tuple[NodeMemoryState, ...] = figure("measured", "what it is given")


def read_node_data(
    subject: GraphSubject, node: int, progress: Progress = NO_PROGRESS
) -> NodeData | NotComputed:
    """Return the data of a node, an index of the tree, or why nothing is known of it.

    Parameters
    ----------
    progress
        Told what is read, and when it is.
    """
    values = values_read(subject, progress)
    if isinstance(values, NotComputed):
        return values
    given = values.by_node.get(node, ())
    if not given:
        return NotComputed(
            "it is given no device memory, or was not chosen (gviz run --values-of), or reading "
            "ended before it" + "".join(f": {why}" for why in values.refusals)
        )
    layer, line = node_place(subject, node)
    memory = tuple(_state(subject, values, one) for one in given)
    return NodeData(VALUES_VERSION, subject.ref(node), layer, line, given[0].place, memory)


def _state(subject: GraphSubject, values: GraphValues, memory: GivenMemory) -> NodeMemoryState:
    return NodeMemoryState(
        position=memory.position,
        parameter=memory.parameter_text,
        offset=memory.offset,
        start=memory.start,
        address=memory.address,
        bytes=memory.bytes,
        extent=memory.extent,
        is_at_most=memory.is_at_most,
        element=memory.element.text,
        element_elsewhere=memory.is_element_elsewhere,
        use=memory.use_text,
        before=_moment(values, memory, memory.before),
        after=_moment(values, memory, memory.after) if memory.is_changed else None,
        written_by=tuple(map(subject.ref, values.writers(memory))),
        given_to=tuple(map(subject.ref, values.readers(memory))),
    )


def _moment(values: GraphValues, memory: GivenMemory, held: MemoryContents) -> MemoryState:
    kept = values.kept_file(memory, held)
    return MemoryState(
        hash=held.hash_text,
        varies=held.varies,
        nan_count=held.nan_count,
        infinite_count=held.infinite_count,
        zero_count=held.zero_count,
        least=held.least,
        greatest=held.greatest,
        mean=held.mean,
        contents=None if kept is None else str(kept),
    )
