"""Rows per unit, found privately: noisy numbers of units by octaves of their rows, and the bound that holds nearly all of them.

Claim      epsilon-DP for the unit: the noisy counts, and with them the bound and the share of rows that it keeps
Neighbors  ADD_REMOVE, or CHANGE_ONE, of a unit with all of its rows
Why        A unit lies in one octave (1 row, 2, 3 to 4, 5 to 8, ...). Added or removed it moves one count by 1; changed, it moves
           two of them by 1. Discrete Laplace noise of scale 1 / epsilon, or 2 / epsilon, on every count hides that. The octaves
           end at a public cap. The bound and the share are functions of the noisy counts
Numerics   Whole numbers, exact noise
Source     unit_octaves.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpstats.accounting.groups import steps_between
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.text_tables import counted
from dpstats.mechanisms.discrete_laplace import sample_discrete_laplace

SEEN = Fraction(5, 2)
"""Scales of noise that a count must exceed to be seen. An octave without units next to the last one is seen with probability
exp(-2.5) / 2 = 4%, which doubles the bound. It was compared with 3.5 over all octaves on three real tables of 600 to 9,000
units and on drawn ones: there a tenth of the bounds were too large by far. A larger number misses the largest units earlier."""
BEYOND = 7
"""Scales of noise that the count beyond the cap must exceed before it is said that some units have more rows. With q =
exp(-1 / scale), the noise of an empty count exceeds 7 scales with probability q**(floor(7 scale) + 1) / (1 + q). That is below
exp(-7) = 1 in 1,096 at every scale, and about exp(-7) / 2 = 1 in 2,193 where the scale is large. At SEEN it would be 1 in 24. A
larger number lets more units beyond the cap go unseen: 140 at epsilon 0.05."""
_MARGIN = 2.12
"""Standard deviations that a sum of Laplace variables exceeds with probability at most 1/40: ln(20) / sqrt(2), as for one of
them; sums of several have lighter tails. The share has two such ends."""
_HALVINGS = 40


def octave_ends(most: int) -> tuple[int, ...]:
    """The largest number of rows in each octave: 1, 2, 4, 8, ... and at last `most`."""
    return (*(1 << place for place in range((most - 1).bit_length())), most)


def noise_scale(epsilon: Fraction, neighbors: Neighbors) -> Fraction:
    """The scale of the noise in each count."""
    return steps_between(neighbors, 1) / epsilon


def noisy_octaves(raw_counts: Sequence[int], epsilon: Fraction, neighbors: Neighbors, source: RandomSource) -> tuple[int, ...]:
    """The numbers of units in each octave, with noise: epsilon-DP."""
    noise = sample_discrete_laplace(noise_scale(epsilon, neighbors), len(raw_counts), source).tolist()
    return tuple(int(raw_count) + drawn for raw_count, drawn in zip(raw_counts, noise, strict=True))


@dataclass(frozen=True)
class UnitOctaves:
    """How many units have how many rows, as released, and what follows from it."""

    ends: tuple[int, ...]
    """The largest number of rows in each octave; the last one is the public cap."""
    counts: tuple[int, ...]
    """Noisy numbers of units in each octave, and at last of those with more rows than the cap."""
    scale: Fraction
    """Of the noise in each count."""

    def __post_init__(self) -> None:
        if len(self.counts) != len(self.ends) + 1:
            raise ValueError("each octave has a count, and one more is for units beyond them")

    @property
    def rows(self) -> int:
        """The bound: the end of the last octave of those that are seen without a gap from the fullest one outward; 1 where none
        is seen."""
        seen = [count > SEEN * self.scale for count in self.counts]
        place = max(range(len(self.counts)), key=lambda each: self.counts[each])
        if not seen[place]:
            return 1
        while place + 1 < len(seen) and seen[place + 1]:
            place += 1
        return self.ends[min(place, len(self.ends) - 1)]

    @property
    def beyond(self) -> bool:
        """Whether there are units with more rows than the cap: True where there are none in fewer than 1 of 1,000 releases."""
        return self.counts[-1] > BEYOND * self.scale

    def share(self) -> tuple[float, float] | None:
        """The share of rows that the bound keeps, from a low end to a high one, which hold it in at least 95% of cases; None
        where some units are seen to have more rows than the cap, so that nobody can say how many.

        Of a unit's rows only as many count as the cap allows.
        """
        if self.beyond:
            return None
        bound, cap, firsts, lasts = self.rows, self.ends[-1], (1, *(end + 1 for end in self.ends)), (*self.ends, self.ends[-1])
        low = self._largest([min(each, bound) for each in firsts], [max(0, each - bound) for each in lasts], -_MARGIN)
        high = self._largest(
            [min(each, bound) for each in (*self.ends, bound)], [max(0, min(each, cap) - bound) for each in firsts], _MARGIN
        )
        return low, max(low, high)

    def _largest(self, kept: Sequence[int], left: Sequence[int], margin: float) -> float:
        """The largest share that the counts allow, where a unit of each octave has that many rows that are kept and left out.

        A share s is allowed if (1 - s) kept - s left, added up over all units, is at least 0, up to `margin` standard deviations
        of its noise. Below 0 the margin makes this concave in s, above 0 convex, so that it changes its sign once.
        """
        deviation = math.sqrt(2) * float(self.scale)

        def allows(share: float) -> bool:
            weights = [(1 - share) * inside - share * outside for inside, outside in zip(kept, left, strict=True)]
            rows = math.fsum(weight * count for weight, count in zip(weights, self.counts, strict=True))
            return rows + margin * deviation * math.sqrt(math.fsum(weight**2 for weight in weights)) >= 0

        if allows(1.0):
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if allows(middle) else (low, middle)
        return low if margin < 0 else high

    def share_words(self) -> str:
        """About which share of the table's rows the bound keeps, in words; empty where that is not known."""
        share = self.share()
        if share is None:
            return ""
        low, high = math.floor(100 * share[0]), math.ceil(100 * share[1])
        return f"about {f'{low}% to {high}%' if low < high else f'{high}%'} of the table's rows"

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {"rows": self.rows, "ends": list(self.ends), "counts": list(self.counts), "scale": str(self.scale)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> UnitOctaves:
        """What `to_dict` wrote."""
        return cls(tuple(plain["ends"]), tuple(plain["counts"]), Fraction(plain["scale"]))

    def __str__(self) -> str:
        firsts = (1, *(end + 1 for end in self.ends))
        names = [str(first) if first == end else f"{first:,} to {end:,}" for first, end in zip(firsts, self.ends, strict=False)]
        each = ", ".join(
            f"{name}: {count:,}" for name, count in zip([*names, f"more than {self.ends[-1]:,}"], self.counts, strict=True)
        )
        return f"at most {counted(self.rows, 'row')} (about how many have how many rows: {each})"
