"""NVTX paths as text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate

from gviz.recording import rows

#: Stands between a range and the one inside it.
SEPARATOR = " › "
#: The domain of PyTorch's operators, which are no NVTX ranges, in imported traces.
OPERATOR_DOMAIN = "PyTorch"
#: PyTorch's ranges around methods of optimizers: what stands behind the mark is the method.
_OPTIMIZER = re.compile(r"^Optimizer\.\w+#(?=.)")


def short_range(text: str) -> str:
    """Return the text of a range without what says no more than the rest of it.

    Examples
    --------
    >>> short_range("Optimizer.step#SGD.step"), short_range("layer 5")
    ('SGD.step', 'layer 5')
    """
    return _OPTIMIZER.sub("", text)


def range_texts(paths: Mapping[int, rows.NvtxPath], path_id: int | None) -> tuple[str, ...]:
    """Return the texts of a range and of all around it, outermost first; without domains."""
    texts: list[str] = []
    while path_id is not None and path_id in paths and len(texts) <= len(paths):
        texts.insert(0, paths[path_id].text)
        path_id = paths[path_id].parent_id
    return tuple(texts)


def nested_ranges(paths: Mapping[int, rows.NvtxPath], path_id: int | None) -> tuple[str, ...]:
    """Return a range and all around it, outermost first, each as it nests; without domains."""
    texts = range_texts(paths, path_id)
    return tuple(accumulate(texts, lambda outer, text: f"{outer}{SEPARATOR}{text}"))


def nvtx_texts(paths: Mapping[int, rows.NvtxPath]) -> dict[int, str]:
    """Return each NVTX path as text, outermost range first, by nvtx_path_id."""
    found: dict[int, str] = {}
    for key in paths:
        parts: list[str] = []
        step: int | None = key
        while step is not None and step in paths and len(parts) <= len(paths):
            path = paths[step]
            parts.append(f"{path.domain}: {path.text}" if path.domain else path.text)
            step = path.parent_id
        found[key] = SEPARATOR.join(reversed(parts))
    return found


def telling_parts(contexts: Sequence[str]) -> list[str]:
    """Return the parts of NVTX paths by which they differ; what all begin or end with is left out.

    Examples
    --------
    >>> telling_parts(["step › layer 1 › norm", "step › layer 2 › norm"])
    ['layer 1', 'layer 2']
    >>> telling_parts(["step › layer 1", "step › layer 1"])
    ['step › layer 1', 'step › layer 1']
    """
    paths = [text.split(SEPARATOR) for text in contexts]
    if len(set(contexts)) < 2:
        return list(contexts)
    shortest = min(len(path) for path in paths)
    first = 0
    while first < shortest and len({path[first] for path in paths}) == 1:
        first += 1
    last = 0
    while last < shortest - first - 1 and len({path[-1 - last] for path in paths}) == 1:
        last += 1
    return [SEPARATOR.join(path[first : len(path) - last]) for path in paths]
