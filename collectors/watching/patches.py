"""The patches of all frameworks whose graphs gviz can watch without CUPTI."""

from __future__ import annotations

from collections.abc import Mapping

from gviz.collectors.watching.collection import Patch, Watching
from gviz.collectors.watching.watch_cupy import CupyPatch
from gviz.collectors.watching.watch_torch import TorchPatch


def framework_patches(watching: Watching) -> Mapping[str, Patch]:
    """Return a patch for each framework, by the name of its module."""
    return {"torch": TorchPatch(watching), "cupy": CupyPatch(watching)}
