"""Blocks that PyTorch's allocator handed out, by its own bookkeeping."""

from __future__ import annotations

import sys
from typing import Any

from gviz.collectors import native

#: A snapshot makes a dictionary of each block, while Python does nothing else.
_MOST_BLOCKS = 20_000


class HandedOutHook:
    """Lets the native library ask for blocks while it is installed."""

    def install(self) -> None:
        """Answer from now on."""
        native.set_block_lister(handed_out_blocks)

    def remove(self) -> None:
        """Answer no more."""
        native.set_block_lister(None)


def handed_out_blocks(device: int) -> list[tuple[int, int]]:
    """Return addresses and requested bytes of the blocks of a device that are in use.

    There are none where PyTorch is not imported, holds more blocks than are asked for, or keeps a
    history of its allocations, which a snapshot would copy too. Nothing is initialised for it.
    """
    torch: Any = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized() or torch._C._cuda_isHistoryEnabled():
        return []
    count = torch.cuda.memory_stats(device).get("active.all.current", 0)
    if not 0 < count <= _MOST_BLOCKS:
        return []
    found = []
    for segment in torch.cuda.memory_snapshot():
        if segment["device"] != device:
            continue
        address = segment["address"]
        for block in segment["blocks"]:
            if block["state"] == "active_allocated":
                # Earlier versions tell the rounded size alone.
                found.append((address, block.get("requested_size", block["size"])))
            address += block["size"]
    return found
