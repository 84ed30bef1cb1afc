"""closing_line.py LOG [AGAIN]: the closing lines of several runs of pytest, as one of its own.

AGAIN is the log of runs of tests that failed in those of LOG: their second outcome counts.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

#: "=== 1 failed, 12 passed in 61.20s (0:01:01) ===", once colours are off.
_CLOSING = re.compile(r"^=+ (.+) in ([\d.]+)s(?: \([\d:]+\))? =+$", re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
#: In pytest's order.
_KINDS = ("failed", "passed", "skipped", "deselected", "xfailed", "xpassed", "warning", "error")
_COUNT = re.compile(rf"(\d+) ({'|'.join(_KINDS)})")


def sum_lines(log: str, again: str = "") -> str | None:
    """Return the closing line of all runs in a log, or None where there is none.

    The time is the sum of theirs. What one run deselects another may run: it is not counted.
    """
    counts, seconds = _sum(log)
    if not counts:
        return None
    second, more_seconds = _sum(again)
    for kind in ("failed", "error"):
        counts[kind] -= min(counts[kind], second.total() - second["warning"])
    counts.update(second)
    seconds += more_seconds
    parts = [f"{n} {_plural(kind, n)}" for kind in _KINDS if (n := counts[kind])]
    minutes, rest = divmod(round(seconds), 60)
    text = f" {', '.join(parts) or 'no tests ran'} in {seconds:.2f}s"
    return (text + f" ({minutes // 60}:{minutes % 60:02}:{rest:02}) ").center(80, "=")


def _sum(log: str) -> tuple[Counter[str], float]:
    closing = _CLOSING.findall(_COLOUR.sub("", log))
    counts: Counter[str] = Counter()
    for text, _ in closing:
        counts.update({kind: int(count) for count, kind in _COUNT.findall(text)})
    del counts["deselected"]
    return counts, sum(float(time) for _, time in closing)


def _plural(kind: str, count: int) -> str:
    return f"{kind}s" if kind in ("warning", "error") and count > 1 else kind


def main(*paths: str) -> int:
    """Print the line; return 1 where the log has none."""
    line = sum_lines(*(Path(path).read_text(encoding="utf-8", errors="replace") for path in paths))
    print(line or f"{paths[0]} has no closing line of pytest")
    return 0 if line else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
