"""How the C library hands out memory to a server of many threads."""

from __future__ import annotations

import ctypes

#: mallopt's number for the most arenas (malloc.h of glibc).
_M_ARENA_MAX = -8
#: Each arena keeps what its threads have freed. With two, the server of a graph of 100,000 nodes
#: takes 380 MB where it takes 500 MB with one a thread.
_ARENAS = 2


def limit_arenas() -> bool:
    """Let all threads share two arenas; return whether the C library knows of them (glibc)."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False  # another C library: musl, macOS, Windows
    return bool(mallopt(_M_ARENA_MAX, _ARENAS))
