"""Tiers of tests: ``make test`` runs the quick ones, ``make test-all`` the thorough ones too.

A test has the tier of its folder. One that is marked with the other tier has that one: ``quick``
for what notices most in a folder of slow tests, ``thorough`` for stress in a folder of fast ones.
"""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
TIERS = ("quick", "thorough")
#: The tier of each folder of tests.
FOLDERS = {
    "unit": "quick",
    "property": "quick",
    "docs": "quick",
    "contract": "thorough",
    "packaging": "thorough",
    "browser": "thorough",
    "gpu": "thorough",
}


def tier_of(item: pytest.Item) -> str:
    """Return a test's tier.

    Raises
    ------
    pytest.UsageError
        If its folder has none.
    """
    for mark in item.iter_markers():  # the test's own first, then its class's, then its module's
        if mark.name in TIERS:
            return mark.name
    folder = item.path.relative_to(TESTS).parts[0]
    if folder not in FOLDERS:
        raise pytest.UsageError(f"{item.nodeid} has no tier: name tests/{folder} in tests/tiers.py")
    return FOLDERS[folder]


def mark_tiers(items: list[pytest.Item]) -> None:
    """Mark each test with its tier, so that ``-m quick`` and ``-m thorough`` are all tests.

    A test of one tier never matches the other: of two marks, as on a class and on a test in it,
    the farther one is dropped.
    """
    for item in items:
        tier = tier_of(item)
        (other,) = set(TIERS) - {tier}
        if item.get_closest_marker(other):
            raise pytest.UsageError(
                f"{item.nodeid} is marked {tier} within what is marked {other}: mark the tests"
            )
        item.add_marker(tier)
