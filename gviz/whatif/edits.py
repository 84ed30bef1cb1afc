"""Edits of a graph: the words in which what-if asks and trials try."""

from __future__ import annotations

from enum import StrEnum

from gviz.dataclass import dataclass
from gviz.text import duration, percent

#: The pattern of all nodes.
ANYTHING = "*"


class EditKind(StrEnum):
    """Kinds of edits; values are the options of ``gviz what-if`` without their dashes."""

    #: Nodes do not run; what waited for them waits for what they waited for.
    OFF = "off"
    #: Nodes take a multiple of their time.
    SCALE = "scale"
    #: Dependencies between nodes no longer hold.
    CUT = "cut"
    #: Nodes between two become one kernel of their summed time.
    FUSE = "fuse"
    #: Nodes that are ready at once start by their priority.
    ORDER = "order"
    #: A pause stands behind each node.
    DELAY = "delay"


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit of a graph, in words: which nodes these are, a graph says.

    Attributes
    ----------
    kind
        What it changes.
    nodes
        Pattern of the nodes (:class:`gviz.whatif.NodeNames` says what it matches); of ``cut``
        those that are waited for, of ``fuse`` the first, of ``order`` ``priority``.
    other
        Pattern of ``cut``'s nodes that no longer wait, of ``fuse``'s last; else empty.
    factor
        Of ``scale``: what durations are multiplied by; else 1.
    delay_ns
        Of ``delay``: how long the pause is; else 0.
    """

    kind: EditKind
    nodes: str
    other: str = ""
    factor: float = 1.0
    delay_ns: float = 0.0

    @property
    def value(self) -> str:
        """Return it as the value of its option; :func:`gviz.whatif.parse_edit` reads it back."""
        match self.kind:
            case EditKind.SCALE:
                return f"{self.nodes}={self.factor:g}"
            case EditKind.DELAY:
                return f"{self.nodes}={self.delay_ns:g}ns"
            case EditKind.CUT:
                return f"{self.nodes}:{self.other}"
            case EditKind.FUSE:
                return f"{self.nodes}-{self.other}"
            case _:
                return self.nodes

    def describe(self) -> str:
        """Return it in words, such as ``attention at 50% of its time``."""
        match self.kind:
            case EditKind.OFF:
                return f"{self.nodes} off"
            case EditKind.SCALE:
                return f"{self.nodes} at {percent(self.factor)} of its time"
            case EditKind.CUT:
                return f"{self.other} no longer waits for {_named(self.nodes)}"
            case EditKind.FUSE:
                return f"{self.nodes} to {self.other} fused"
            case EditKind.ORDER:
                return f"order by {self.nodes}"
            case EditKind.DELAY:
                return f"{duration(self.delay_ns)} behind {self.nodes}"


def _named(nodes: str) -> str:
    return "anything" if nodes == ANYTHING else nodes
