"""Faults of a run: which calls fail, and the seed that says of which part it is the turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from contract.faults.steering import CALLS, Fault
from places import ROOT

#: Holds the seed of the last run in this working copy.
_LAST_SEED = ROOT / "build" / "fault-seed"


@dataclass(frozen=True, slots=True)
class Extent:
    """Number of the calls that fail.

    Attributes
    ----------
    all_up_to
        Of a name with no more calls, each fails with each of its errors.
    of_more
        Of one with more, about so many: one in k, from a random one on, with one error each.
    parts
        Runs, with one seed after the other, that share these faults.
    """

    all_up_to: int
    of_more: int
    parts: int

    def faults(self, counts: dict[str, int], seed: int, delay: int = 0) -> Sequence[Fault]:
        """Return the faults of calls that were counted; ``delay``: all are held up so."""
        whole, random = [], Random(seed)
        for call, errors in CALLS.items():
            chosen = (delay,) if delay else errors
            places = range(1, counts[call] + 1)
            if len(places) <= self.all_up_to:
                whole += [Fault(call, at, error) for at in places for error in chosen]
                continue
            step = -(-len(places) // self.of_more)
            for at in places[random.randrange(step) :: step]:
                whole.append(Fault(call, at, random.choice(chosen)))
        return whole[seed % self.parts :: self.parts]


def next_seed(last: Path = _LAST_SEED) -> int:
    """Return the seed after that of the run before; in a new working copy a random one."""
    seed = int(last.read_text()) + 1 if last.exists() else Random().randrange(1 << 31)
    last.parent.mkdir(exist_ok=True)
    last.write_text(str(seed))
    return seed
