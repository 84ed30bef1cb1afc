"""Kernels of collectives: work that waits for other processes."""

from __future__ import annotations

import re

#: Device kernels of NCCL (2.18 and later: ncclDevKernel_AllReduce_..., earlier:
#: ncclKernel_AllReduce_...).
_COLLECTIVE = re.compile(r"\bnccl(Dev)?Kernel")


def is_collective(name: str) -> bool:
    """Return whether a kernel's name is that of an NCCL collective."""
    return _COLLECTIVE.search(name) is not None
