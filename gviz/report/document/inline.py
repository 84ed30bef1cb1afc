"""Lines: text with quantities and references to nodes in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, TypeAlias

from gviz.analysis import NodeRef
from gviz.dataclass import dataclass
from gviz.families import kernel_label
from gviz.report.document.quantity import Quantity
from gviz.stats import How
from gviz.text import counted

#: What nodes may have in common: kernel name, kernel family, node type, innermost NVTX range, range
#: around them, layer of the model.
Grouping = Literal["name", "family", "kind", "range", "nesting", "layer"]

#: Ends of a clause, and of a sentence.
_CLAUSE_END = (re.compile(r"[.;:] "), re.compile(r"[.:](?: |$)"))
#: Nodes that text names by id.
_IDS = 4


@dataclass(frozen=True, slots=True)
class NodeLink:
    """A node, by id and name."""

    node: NodeRef

    @property
    def text(self) -> str:
        """Return the node's id and the label of its kernel."""
        return f"{self.node.node_id} {kernel_label(self.node.name)}"

    @property
    def whole(self) -> str:
        """Return the node's id and whole name."""
        return f"{self.node.node_id} {self.node.name}"


@dataclass(frozen=True, slots=True)
class NodesLink:
    """Several nodes: how many, and which.

    Attributes
    ----------
    nodes
        Each once; of many, the first.
    count
        How many they are a part of.
    between
        Whether it is about what lies between the two of them in time: a gap.
    places
        All of them by their places in the graph's tree; empty: those named are all, or the places
        are not known.
    """

    nodes: tuple[NodeRef, ...]
    count: int
    between: bool = False
    places: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """Return how many there are, and the first ids."""
        return f"{counted(self.count, 'node')} ({self.ids})"

    def each(self) -> Iterator[NodeLink]:
        """Yield each node alone."""
        return (NodeLink(node) for node in self.nodes)

    @property
    def ids(self) -> str:
        """Return the first ids."""
        more = ", ..." if len(self.nodes) > _IDS else ""
        return ", ".join(str(node.node_id) for node in self.nodes[:_IDS]) + more


@dataclass(frozen=True, slots=True)
class EdgeLink:
    """An edge, by the ids of its ends."""

    dependency: NodeRef
    dependent: NodeRef

    @property
    def text(self) -> str:
        """Return the ids of both ends."""
        return f"{self.dependency.node_id} → {self.dependent.node_id}"


@dataclass(frozen=True, slots=True)
class AlikeLink:
    """All nodes that have something in common, by what that is."""

    by: Grouping
    whole: str

    @property
    def text(self) -> str:
        """Return what they have in common; of a kernel's name its label."""
        return kernel_label(self.whole) if self.by == "name" else self.whole


@dataclass(frozen=True, slots=True)
class GraphLink:
    """A graph, or a body in it."""

    graph_id: int

    @property
    def text(self) -> str:
        """Return the graph by its id."""
        return f"graph {self.graph_id}"


@dataclass(frozen=True, slots=True)
class RunLink:
    """A run, or a graph or node in it.

    Attributes
    ----------
    text
        What stands there.
    run_id
        The run.
    graph_id
        A graph in it; None: the run itself.
    node
        A node in it; None: none.
    path
        Its recording; None: the one that the document is about.
    """

    text: str
    run_id: int
    graph_id: int | None = None
    node: NodeRef | None = None
    path: str | None = None


@dataclass(frozen=True, slots=True)
class HowMark:
    """The word of how the numbers before it came about."""

    how: How

    @property
    def text(self) -> str:
        """Return the word in brackets."""
        return f"[{self.how}]"


#: What a page makes links of.
Link: TypeAlias = NodeLink | NodesLink | EdgeLink | AlikeLink | GraphLink | RunLink
#: A part of a line.
Inline: TypeAlias = str | Quantity | Link | HowMark
Line: TypeAlias = tuple[Inline, ...]
#: What a line can be made of.
Content: TypeAlias = Inline | Iterable[Inline]


def line(*content: Content) -> Line:
    """Return a line of parts, and of lines; texts beside each other become one."""
    parts: list[Inline] = []
    for part in _flat(content):
        if isinstance(part, str) and parts and isinstance(parts[-1], str):
            parts[-1] += part
        elif part != "":
            parts.append(part)
    return tuple(parts)


def _flat(content: Iterable[Content]) -> Iterator[Inline]:
    for part in content:
        if isinstance(part, str) or not isinstance(part, Iterable):
            yield part
        else:
            yield from _flat(part)


def gap_between(before: NodeRef, after: NodeRef) -> NodesLink:
    """Return a reference to the time between two nodes; of one, between its executions, to it."""
    ends = tuple(dict.fromkeys((before, after)))
    return NodesLink(ends, len(ends), between=len(ends) > 1)


def nodes(
    refs: Iterable[NodeRef], count: int | None = None, places: tuple[int, ...] = ()
) -> NodesLink | str:
    """Return a reference to nodes, each once; empty where there are none.

    Parameters
    ----------
    count
        How many they are a part of; None: these are all.
    places
        All of them, by their places in the graph's tree.
    """
    found = tuple(dict.fromkeys(refs))
    return NodesLink(found, max(len(found), count or 0), places=places) if found else ""


def joined(parts: Iterable[Content], separator: str = ", ") -> Line:
    """Return contents with a separator between them."""
    found: list[Content] = []
    for part in parts:
        found += [separator, part] if found else [part]
    return line(*found)


def capitalized(text: str) -> str:
    """Return a text with a capital first letter."""
    return text[:1].upper() + text[1:]


def marked(content: Line) -> Line:
    """Return a line in which it stands how its quantities came about."""
    return marked_by(content, _how_mark)


def _how_mark(found: Quantity) -> HowMark | None:
    how = found.own_how
    return None if how is None else HowMark(how)


def marked_by(content: Line, mark: Callable[[Quantity], Inline | None]) -> Line:
    """Return a line with marks of its quantities.

    A mark stands once for quantities that follow each other: at the end of the clause of the last
    of them, or behind it where one with another mark follows in the same clause.

    Parameters
    ----------
    mark
        Returns that of a quantity; None: it has none.
    """
    every = [(at, mark(part)) for at, part in enumerate(content) if isinstance(part, Quantity)]
    places = [(at, found) for at, found in every if found is not None]
    parts = list(content)
    end, after = len(parts), None
    for at, found in reversed(places):
        if found != after:
            _mark(parts, at, end, found, is_last=after is None)
        end, after = at, found
    return line(parts)


def _mark(parts: list[Inline], at: int, end: int, word: Inline, *, is_last: bool) -> None:
    """Put a word behind a part of a line, before the part ``end``."""
    mark: list[Inline] = [" ", word]
    for place in range(at + 1, end):
        text = parts[place]
        if isinstance(text, str) and (found := _CLAUSE_END[is_last].search(text)):
            parts[place : place + 1] = [text[: found.start()], *mark, text[found.start() :]]
            return
    place = end if is_last else at + 1
    parts[place:place] = mark


def plain(content: Line) -> str:
    """Return a line as text."""
    return "".join(part if isinstance(part, str) else part.text for part in content)


def with_whole_names(content: Line) -> str:
    """Return a line as text in which nodes have their whole names, for programs."""
    return "".join(part if isinstance(part, str) else _whole(part) for part in content)


def _whole(part: Quantity | Link | HowMark) -> str:
    return part.whole if isinstance(part, NodeLink | AlikeLink) else part.text
