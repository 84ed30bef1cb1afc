"""Tables of a reader's own that a page of a graph, or of two, comes with."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gviz.app.files import Library


def laid_tables(
    library: Library, files: Mapping[str, str], address: Callable[[int], str]
) -> list[dict[str, str]]:
    """Return them as assets/web/overlay/carry.js has them: name, source, and of two graphs a side.

    Parameters
    ----------
    files
        By side the key of its recording; there is one where graphs are not compared.
    address
        Where the data of a table are, by its place in the library.
    """
    found = []
    for number, overlay in enumerate(library.overlays):
        sides = [side for side, file in files.items() if overlay.file in (None, file)]
        if sides:
            one = {"name": overlay.name, "source": address(number)}
            found.append(one | {"side": sides[0]} if len(sides) < len(files) else one)
    return found
