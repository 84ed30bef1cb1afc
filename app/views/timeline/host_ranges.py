"""In which ranges of the host operations outside graphs were called.

Ranges are NVTX ranges and, in imported traces, PyTorch's operators: they nest alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gviz.model import SEPARATOR, OpenRanges, nested_ranges
from gviz.recording import rows
from gviz.stats import IntArray

if TYPE_CHECKING:
    from gviz.recording import Recording
#: No time lies before it: of operations whose call is not known.
_NEVER = -1
#: Ranges that were open at the end have not ended.
_FOREVER = np.iinfo(np.int64).max


def called_in(
    recording: Recording, run_id: int, thread_id: IntArray, called_ns: IntArray
) -> tuple[npt.NDArray[np.int32], list[str]]:
    """Return the ranges that were open at calls.

    Parameters
    ----------
    thread_id, called_ns
        Of each call; -1 where they are not known.

    Returns
    -------
    codes, texts
        For each call the index of its ranges' text, outermost first, as in
        ``step › aten::linear › aten::addmm``; -1: none was open, or the call is not known.
    """
    names = ("nvtx_path_id", "thread_id", "start_ns", "end_ns")
    known = called_ns[called_ns > _NEVER]
    found = recording.fetch_arrays(rows.NvtxRange, {"run_id": run_id}, names)
    if not len(known) or not len(found):
        return np.full(len(called_ns), -1, np.int32), []
    path, thread, start, end = (found.integers(name, _FOREVER) for name in names)
    paths = recording.fetch_nvtx_paths(run_id)
    # A range whose text was not recorded gives way to the one around it.
    around = (start <= known.max()) & (end > known.min()) & np.isin(path, list(paths))
    if not around.any():
        return np.full(len(called_ns), -1, np.int32), []
    path, thread, start, end = (column[around] for column in (path, thread, start, end))
    at = OpenRanges(thread, start, end).innermost(thread_id, called_ns)
    at[called_ns <= _NEVER] = -1
    which, codes = np.unique(np.where(at >= 0, path[at], -1), return_inverse=True)
    texts = [(nested_ranges(paths, i) or ("",))[-1] for i in which.tolist()]
    found_codes = codes.reshape(-1).astype(np.int32)
    found_codes[np.array([not text for text in texts])[found_codes]] = -1
    return found_codes, texts


def shared_ranges(texts: Sequence[str]) -> str | None:
    """Return the innermost ranges that all of several paths end with; None: there are none.

    Examples
    --------
    >>> shared_ranges(["step 1 › linear › addmm", "step 2 › linear › addmm"])
    'linear › addmm'
    """
    shared: list[str] = []
    for parts in zip(*(reversed(text.split(SEPARATOR)) for text in texts), strict=False):
        if len(set(parts)) > 1:
            break
        shared.insert(0, parts[0])
    return SEPARATOR.join(shared) or None
