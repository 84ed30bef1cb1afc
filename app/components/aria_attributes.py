"""ARIA attributes of components."""

from __future__ import annotations

from typing import Any


def aria(**values: str) -> dict[str, Any]:
    """Return ARIA attributes as keyword arguments of a component: ``**aria(label=...)``."""
    return {f"aria-{name}": value for name, value in values.items()}
