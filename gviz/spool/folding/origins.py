"""Origins of graphs: their names, and which of them were to be timed."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import PurePath

from gviz.cuda import graph_name
from gviz.recording import rows
from gviz.spool.records import ORIGIN_CAPTURE, OriginRecord
from gviz.spool.streams import Contents


class Origins:
    """The recorded places where the graphs of a spool were captured and instantiated."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._made: dict[int, OriginRecord] = {}
        for origin in contents.origins:
            known = self._made.get(origin.graph_id)
            # A graph is named after its capture; what is built node by node, or was captured
            # before gviz attached, after its first instantiation.
            if known is None or (origin.kind == ORIGIN_CAPTURE != known.kind):
                self._made[origin.graph_id] = origin

    def applied(self, row: rows.Graph) -> rows.Graph:
        """Return a top-level graph's row with its base name ("" where nothing is known)."""
        origin = self._made.get(row.cuda_graph_id or 0)
        if origin is None:
            return replace(row, name="")
        stack = self._contents.stack_of(origin.stack)
        return replace(
            row,
            name=self._name(origin) or self._program() or "",
            capture_stack_id=stack if stack in self._contents.stacks else None,
            capture_nvtx_path_id=origin.nvtx_path or None,
        )

    def complaint(self, names: list[str]) -> str | None:
        """Return the message for when none of the graphs' base names matches the pattern given."""
        pattern = self._contents.metadata.get("graph_pattern")
        if not pattern or any(graph_name.matches(name, str(pattern)) for name in names):
            return None
        seen = ", ".join(sorted(set(names))) or "none: no graph was instantiated"
        return f"no graph is called {str(pattern)!r}, so no nodes were timed; graphs seen: {seen}"

    def _name(self, origin: OriginRecord) -> str | None:
        return graph_name.base_name(
            origin.name_kind,
            origin.name,
            self._ranges(origin.nvtx_path),
            self._contents.stacks.get(self._contents.stack_of(origin.stack), ()),
        )

    def _ranges(self, path: int) -> str:
        texts: list[str] = []
        while path in self._contents.nvtx_paths:
            path, _, text = self._contents.nvtx_paths[path]
            texts.append(text)
        return "/".join(reversed(texts))

    def _program(self) -> str | None:
        """Return what graphs of a program without Python are called: the program's name."""
        metadata = self._contents.metadata
        command = shlex.split(str(metadata.get("command") or ""))
        if metadata.get("python_version") or not command:
            return None
        return PurePath(command[0]).name


def name_graphs(graphs: list[rows.Graph]) -> list[rows.Graph]:
    """Return top-level graphs with their final names: no two equal, none empty."""
    filled = [row.name or f"graph {number}" for number, row in enumerate(graphs, start=1)]
    names = graph_name.numbered(filled)
    return [replace(row, name=name) for row, name in zip(graphs, names, strict=True)]
