"""The C library's allocator: it hands out memory to a server of many threads, and takes it back."""

from __future__ import annotations

import ctypes

#: mallopt's numbers (malloc.h of glibc): the most arenas, and from which size on a block is mapped
#: on its own, so that it goes back to the system when it is freed.
_M_ARENA_MAX, _M_MMAP_THRESHOLD = -8, -3
#: Each arena keeps what its threads have freed.
_ARENAS = 2
#: Left to itself, the library raises it to the largest block freed so far, up to 32 MiB.
_MAPPED_BYTES = 1 << 20


def give_memory_back() -> bool:
    """Let threads share arenas, and large arrays go back when freed; False: not glibc.

    The server of a graph of 100,000 nodes then takes a third less.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False  # another C library: musl, macOS, Windows
    return bool(mallopt(_M_ARENA_MAX, _ARENAS) and mallopt(_M_MMAP_THRESHOLD, _MAPPED_BYTES))
