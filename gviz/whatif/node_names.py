"""Names by which an edit finds the nodes of a graph."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

import numpy as np

from gviz.analysis import GraphSubject, find_model_layers
from gviz.errors import UsageError
from gviz.families import kernel_label
from gviz.model import range_texts
from gviz.stats import BoolArray, IntArray, NotComputed, group_rows
from gviz.text import likely_meant

#: Numbers of nodes: ``12``, ``#12``, ``3,10-40``.
_NUMBERS = re.compile(r"#?\d{1,15}(-\d{1,15})?(,#?\d{1,15}(-\d{1,15})?)*", re.ASCII)


class NodeNames:
    """Nodes of a graph by what they are called.

    A pattern is numbers of nodes as pages show them (``12`` or ``#12``, ``3,10-40``), or a shell
    pattern (``*``, ``?``), whatever its case, of a node's name as the driver has it, its short
    name, the name or kind of its family (``attention``), its layer (``layer 17``), or an NVTX
    range around it.

    Parameters
    ----------
    subject
        The graph; its nodes have times.
    """

    def __init__(self, subject: GraphSubject) -> None:
        self._subject = subject
        self._found: dict[str, IntArray] = {}

    def find(self, pattern: str) -> IntArray:
        """Return the nodes of a pattern: int64, ascending.

        Raises
        ------
        UsageError
            If there are none, or not all of its numbers; with the nearest name.
        """
        if pattern not in self._found:
            is_list = _NUMBERS.fullmatch(pattern)
            chosen = self._numbered(pattern) if is_list else self._named(pattern)
            if not chosen.any():
                raise UsageError(self._describe_nothing(pattern))
            self._found[pattern] = np.flatnonzero(chosen)
        return self._found[pattern]

    def _numbered(self, pattern: str) -> BoolArray:
        key = self._subject.graph.key
        found = np.zeros(len(key), bool)
        for part in pattern.split(","):
            first, _, last = part.removeprefix("#").partition("-")
            hits = (key >= int(first)) & (key <= int(last or first))
            if not hits.any():
                raise UsageError(self._describe_nothing(part))
            found |= hits
        return found

    def _named(self, pattern: str) -> BoolArray:
        wanted = pattern.casefold()
        found = np.zeros(len(self._subject.graph), bool)
        for names, code in self._labels():
            hits = np.array([fnmatchcase(name.casefold(), wanted) for name in names], bool)
            # Of code -1 there is no name.
            found |= np.append(hits, False)[code]
        return found

    def _labels(self) -> Iterator[tuple[Sequence[str], IntArray]]:
        """Yield names, and the place among them of each node's; -1: it has none."""
        subject = self._subject
        texts = subject.graph.nodes.texts("name")
        code = texts.codes.astype(np.int64)
        yield texts.values, code
        yield [kernel_label(name) for name in texts.values], code
        families = subject.named_families
        yield families.labels, families.code
        yield [kind.value for kind in families.kinds], families.code
        layers = subject.once(find_model_layers)
        if not isinstance(layers, NotComputed):
            yield layers.names, layers.of_node
        yield from self._ranges()

    def _ranges(self) -> Iterator[tuple[Sequence[str], IntArray]]:
        """Yield the NVTX ranges around nodes, the outermost of all first."""
        subject = self._subject
        paths = subject.recording.fetch_nvtx_paths(subject.row.run_id)
        none = min(paths, default=0) - 1
        ids, code = group_rows(subject.graph.nodes.integers("nvtx_path_id", none))
        texts = [range_texts(paths, path_id) for path_id in ids.tolist()]
        for depth in range(max(map(len, texts), default=0)):
            is_there = np.array([len(text) > depth for text in texts], bool)
            names = [text[depth] if len(text) > depth else "" for text in texts]
            yield names, np.where(is_there[code], code, -1)

    def _describe_nothing(self, pattern: str) -> str:
        families = self._subject.named_families
        names = [*families.labels, *(k.value for k in families.kinds)]
        names += [name for ranges, _ in self._ranges() for name in ranges]
        near = likely_meant(pattern, names)
        known = ", ".join(families.labels[:3])
        return f"no node of the graph matches {pattern!r}{near or f'; families are: {known}'}"
