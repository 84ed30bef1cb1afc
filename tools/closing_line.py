"""closing_line.py LOG: the closing lines of several runs of pytest in a log, as one of its own."""

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


def sum_lines(log: str) -> str | None:
    """Return the closing line of all runs in a log, or None where there is none.

    The time is the sum of theirs. What one run deselects another may run: it is not counted.
    """
    closing = _CLOSING.findall(_COLOUR.sub("", log))
    if not closing:
        return None
    counts: Counter[str] = Counter()
    for text, _ in closing:
        counts.update({kind: int(count) for count, kind in _COUNT.findall(text)})
    del counts["deselected"]
    seconds = sum(float(time) for _, time in closing)
    parts = [f"{n} {_plural(kind, n)}" for kind in _KINDS if (n := counts[kind])]
    minutes, rest = divmod(round(seconds), 60)
    text = f" {', '.join(parts) or 'no tests ran'} in {seconds:.2f}s"
    return (text + f" ({minutes // 60}:{minutes % 60:02}:{rest:02}) ").center(80, "=")


def _plural(kind: str, count: int) -> str:
    return f"{kind}s" if kind in ("warning", "error") and count > 1 else kind


def main(path: str) -> int:
    """Print the line; return 1 where the log has none."""
    line = sum_lines(Path(path).read_text(encoding="utf-8", errors="replace"))
    print(line or f"{path} has no closing line of pytest")
    return 0 if line else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
