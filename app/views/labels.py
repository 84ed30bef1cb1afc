"""Labels of nodes beside their names: what views write where there is little room."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy.typing as npt

from gviz.families import kernel_label
from gviz.stats import distinct_values


def labels_of(strings: Sequence[str], names: Iterable[npt.NDArray[Any]]) -> dict[int, str]:
    """Return labels by the index of their name in the strings; a name that is its own is left out.

    Parameters
    ----------
    strings
        Those of a payload.
    names
        Arrays of indices of names; negative ones mean none.
    """
    used = sorted({at for array in names for at in distinct_values(array).tolist() if at >= 0})
    labels = {at: kernel_label(strings[at]) for at in used}
    return {at: label for at, label in labels.items() if label != strings[at]}
