"""Folders that tests read from, wherever a test stands."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
#: Bundled recordings whose nodes event copies timed: when each starts is not known, nor gaps.
BY_COPIES = frozenset({"decode_server", "decode_server_trials", "decode_step_copies"})
