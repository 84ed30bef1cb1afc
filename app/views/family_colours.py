"""Colours of kernel families: one place in the table of colours each, the same in every view."""

from __future__ import annotations

from gviz.analysis import NamedFamilies
from gviz.families import Kind

#: Places of families that multiply matrices; assets/web/core/colour.js has them in shades of one.
_PRODUCT_SLOTS = 5
#: Places of the other families, behind these.
_OTHER_SLOTS = 12
#: The place of all families beyond these.
REST = _PRODUCT_SLOTS + _OTHER_SLOTS
_PRODUCTS = frozenset({Kind.GEMM, Kind.GEMV, Kind.CONVOLUTION, Kind.SPLIT_K_REDUCTION})


def family_slots(found: NamedFamilies) -> dict[str, int]:
    """Return the place of each family in the table of colours.

    Those with the most time have one of their own.
    """
    products, others = 0, _PRODUCT_SLOTS
    slots: dict[str, int] = {}
    for label, kind in zip(found.labels, found.kinds, strict=True):
        if kind in _PRODUCTS:
            slots[label] = products if products < _PRODUCT_SLOTS else REST
            products += 1
        else:
            slots[label] = min(others, REST)
            others += 1
    return slots
