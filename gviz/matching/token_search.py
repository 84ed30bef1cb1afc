"""Approximate search of one sequence of tokens in another.

The edit distance between the whole pattern and the best stretch that ends at each place
of the text is computed with bit-parallel dynamic programming: m steps on integers of n
bits, O(n m / 30) machine words, however often tokens repeat. Going back from an end over
kept columns gives the start and the alignment, O(n^2 / 30) a stretch.

References
----------
G. Myers, A fast bit-vector algorithm for approximate string matching based on dynamic
programming (1999), in the form of H. Hyyrö, A bit-vector algorithm for computing
Levenshtein and Damerau edit distances (2003).
"""

from __future__ import annotations

import bisect
import heapq
from collections import Counter, defaultdict
from collections.abc import Iterator


class TokenSearch:
    """Search for disjoint stretches of a text that are near a pattern in edit distance.

    Insertion, deletion and replacement of a token cost one each. Single use.

    Parameters
    ----------
    pattern, text
        Sequences of tokens; every token of the text occurs in the pattern.
    least
        Least number of equal tokens in a stretch, at least 1.
    """

    def __init__(self, pattern: list[int], text: list[int], least: int) -> None:
        self._pattern = pattern
        self._text = text
        self._least = least
        self._full = (1 << len(pattern)) - 1
        self._claimed: list[tuple[int, int]] = []  # disjoint half-open stretches, ascending

    def run(self) -> Iterator[list[tuple[int, int]]]:
        """Yield the alignments (place in pattern, place in text), best first."""
        distance = self._scan()
        count = len(self._pattern)
        limit = count - self._least
        queue = [(d, j) for j, d in enumerate(distance) if d <= limit]
        heapq.heapify(queue)
        is_rejected = bytearray(len(self._text))
        masks = _bit_masks(self._pattern[::-1])
        while queue:
            d, end = heapq.heappop(queue)
            low = self._free_before(end)
            # What is claimed by now may leave less room than the distance was computed for.
            bound = max(d, count - (end + 1 - low))
            if is_rejected[end] or end < low or bound > limit:
                continue
            if bound > d:
                heapq.heappush(queue, (bound, end))
                continue
            pairs, score = self._align_back(masks, end, low, d)
            if d < score <= limit:
                heapq.heappush(queue, (score, end))
                continue
            if score > limit or len(pairs) < self._least:
                first = pairs[0][1] if pairs else end
                is_rejected[first : end + 1] = b"\1" * (end + 1 - first)
                continue
            pairs = _trim(pairs, self._least)
            bisect.insort(self._claimed, (pairs[0][1], pairs[-1][1] + 1))
            yield pairs

    def _free_before(self, end: int) -> int:
        """Return the first place of the unclaimed run that ends at ``end``; past it if claimed."""
        i = bisect.bisect_right(self._claimed, (end, len(self._text) + 1))
        return self._claimed[i - 1][1] if i else 0

    def _scan(self) -> list[int]:
        """Return, for every place in the text, the distance of the best stretch ending there."""
        masks, full = _bit_masks(self._pattern), self._full
        shift = len(self._pattern) - 1
        up, down, score = full, 0, len(self._pattern)  # vertical differences +1 and -1
        found: list[int] = []
        for token in self._text:
            equal = masks[token] | down
            zero = (((equal & up) + up) ^ up) & full | equal
            plus = down | full ^ (zero | up)
            minus = up & zero
            score += (plus >> shift) - (minus >> shift)
            plus, minus = plus << 1 & full, minus << 1 & full
            up = minus | full ^ (zero | plus)
            down = plus & zero
            found.append(score)
        return found

    def _align_back(
        self, masks: dict[int, int], end: int, low: int, wanted: int
    ) -> tuple[list[tuple[int, int]], int]:
        """Align the pattern to the stretch that ends at ``end`` and starts at or after ``low``;
        return the equal pairs and the distance.

        The same recurrence, both sequences reversed and the start fixed; its columns are
        kept to walk back through them.
        """
        full, shift = self._full, len(self._pattern) - 1
        up, down, score = full, 0, len(self._pattern)
        columns: list[tuple[int, int]] = []
        best, best_score = 0, score
        for token in self._text[end : (low - 1 if low else None) : -1]:
            equal = masks[token] | down
            zero = (((equal & up) + up) ^ up) & full | equal
            plus = down | full ^ (zero | up)
            minus = up & zero
            score += (plus >> shift) - (minus >> shift)
            plus, minus = (plus << 1 | 1) & full, minus << 1 & full
            up = minus | full ^ (zero | plus)
            down = plus & zero
            columns.append((up, down))
            if score < best_score:
                best, best_score = len(columns), score
            # The distance is known, and no longer stretch can have it.
            if score <= wanted or len(columns) > len(self._pattern) + best_score:
                break
        last = len(self._pattern) - 1
        pairs = _trace(columns, best, last + 1)
        aligned = [(last - i, end - j) for i, j in pairs]
        equal_pairs = [(i, j) for i, j in aligned if self._pattern[i] == self._text[j]]
        return equal_pairs, best_score


def _trim(pairs: list[tuple[int, int]], least: int) -> list[tuple[int, int]]:
    """Leave out what an alignment reached at its ends only past as much that it does not have.

    A replaced token costs no more than a missing one, so a graph that goes on where its pass
    has ended would take equal operations out of the iteration after it.
    """
    stop = len(pairs) - _costly(pairs[::-1])
    start = _costly(pairs[:stop])
    return pairs[start:stop] if stop - start >= least else pairs


def _costly(pairs: list[tuple[int, int]]) -> int:
    """Return how many of the first pairs are no more than the places of the text between them."""
    score = lowest = count = 0
    for i in range(len(pairs) - 1):
        score += 2 - abs(pairs[i + 1][1] - pairs[i][1])
        if score <= lowest:
            lowest, count = score, i + 1
    return count


def _bit_masks(pattern: list[int]) -> dict[int, int]:
    masks: dict[int, int] = defaultdict(int)
    for i, token in enumerate(pattern):
        masks[token] |= 1 << i
    return masks


def _trace(columns: list[tuple[int, int]], row: int, i: int) -> list[tuple[int, int]]:
    """Walk back from pattern place ``i`` in column ``row``; return diagonal steps, last first."""
    pairs: list[tuple[int, int]] = []
    while row and i:
        up, _ = columns[row - 1]
        if up >> (i - 1) & 1:
            i -= 1  # a node without an operation
            continue
        row -= 1
        if row and columns[row - 1][1] >> (i - 1) & 1:
            continue  # an operation without a node
        i -= 1
        pairs.append((i, row))
    return pairs


def window_overlaps(tokens: list[int], wanted: Counter[int], length: int) -> list[int]:
    """Return, for every start, how many tokens of the next ``length`` the pattern also has."""
    missing = dict(wanted)
    overlap = 0
    found: list[int] = []
    for stop in range(len(tokens) + length):
        if stop < len(tokens):
            overlap += missing[tokens[stop]] > 0
            missing[tokens[stop]] -= 1
        if stop >= length:
            missing[tokens[stop - length]] += 1
            overlap -= missing[tokens[stop - length]] > 0
        if stop >= length - 1:
            found.append(overlap)
    return found[: len(tokens)]
