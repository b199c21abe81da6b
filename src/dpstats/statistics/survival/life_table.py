"""Life tables: events and other exits in intervals of time, with noise, and the survival curve that they make.

In an interval that d events and c other exits end, n subjects having entered it, d / (n - c / 2) have the event: the actuarial
estimate. (Of whole times, fewer than half of the exits come before the events.) The curve is the product of what is left. Its
variance has three parts: Greenwood's, of the sampling; that of the noise, which follows from its law by how the curve moves with
each count; and that of where in an interval exits lie. The interval at a time is Wilson's, with as many subjects as give
Greenwood's variance (Rothman 1978), and with the other two beside it. All of it is arithmetic on released numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from dpstats.foundations.portable import rounded_ends
from dpstats.statistics.clipped.margins import critical_value, laplace_kurtosis
from dpstats.statistics.survival.curve import SurvivalCurve
from dpstats.statistics.survival.median import Steps
from dpstats.statistics.testing.noise import laplace_variance

LEAST_AT_RISK, NOISES = 10.0, 4.0
"""The curve ends where fewer subjects are left than this, or than so many deviations of the noise in their number."""


@dataclass(frozen=True)
class NoisyLifeTable:
    """Noisy numbers of events and other exits in intervals that end at some times; the last one has no end."""

    times: tuple[float, ...]
    events: tuple[int, ...]
    others: tuple[int, ...]
    epsilon: float
    """Of the Laplace noise in each number."""
    per_unit: int | None = None
    """All times are multiples of 1 over this; None where nothing says so."""
    ties: tuple[int, ...] = ()
    """How many of the private quantiles of the times of events are at each time; one, where nothing is said."""

    @property
    def rows(self) -> float:
        """All subjects."""
        return float(sum(self.events) + sum(self.others))

    def entered(self) -> list[float]:
        """How many subjects entered each interval."""
        exits = [event + other for event, other in zip(self.events, self.others, strict=True)]
        return [float(sum(exits[place:])) for place in range(len(exits))]

    def before(self) -> list[float]:
        """Of the other exits of each interval the part that comes before its events, if both are spread evenly: one half.

        Of times on a grain less: who leaves at a time is still watched at that time, and an interval may have few of them.
        """
        if self.per_unit is None:
            return [0.5] * (len(self.times) + 1)
        widths = [max((after - before) * self.per_unit, 1.0) for before, after in pairwise((0.0, *self.times))]
        return [*((width - 1) / (2 * width) for width in widths), 0.5]

    def curve(self, level: float | None) -> SurvivalCurve:
        """The survival curve at the ends of intervals, as far as enough subjects are at risk."""
        entered = self.entered()
        exposed = [count - part * other for count, part, other in zip(entered, self.before(), self.others, strict=True)]
        kept = self._kept(entered)
        shares = self._shares(exposed, kept)
        ends = [self._ends(place, entered, exposed, shares, level or 0.5) for place in range(kept)]
        low, high = falling([end[0] for end in ends]), falling([end[1] for end in ends])
        smooth = falling([min(max(share, 0.0), 1.0) for share in shares])
        times = self.times[:kept]
        steps = Steps.between(times, self.ties, self.per_unit)
        known = level is not None
        return SurvivalCurve(
            times,
            tuple(smooth),
            tuple(min(one, other) for one, other in zip(low, smooth, strict=True)) if known else (0.0,) * kept,
            tuple(max(one, other) for one, other in zip(high, smooth, strict=True)) if known else (1.0,) * kept,
            tuple(entered[:kept]),
            tuple(map(float, self.events[:kept])),
            steps.first_at(smooth, 0.5),
            steps.earliest_at(low, 0.5) if known else None,
            steps.first_at(high, 0.5) if known else None,
            self.rows,
            level,
        )

    def _kept(self, entered: Sequence[float]) -> int:
        """How many intervals come before the first one that leaves too few subjects."""
        for place in range(len(self.times)):
            cells = 2 * (len(entered) - place - 1)
            least = max(LEAST_AT_RISK, NOISES * math.sqrt(cells * laplace_variance(self.epsilon)))
            if entered[place + 1] < least:
                return place
        return len(self.times)

    def _shares(self, exposed: Sequence[float], kept: int) -> list[float]:
        """The product of what each interval leaves."""
        shares, left = [], 1.0
        for event, count in zip(self.events[:kept], exposed, strict=False):
            left *= 1 - event / count
            shares.append(left)
        return shares

    def _ends(
        self, place: int, entered: Sequence[float], exposed: Sequence[float], shares: Sequence[float], level: float
    ) -> tuple[float, float]:
        """The interval of the curve at the end of an interval."""
        share = min(max(shares[place], 1e-9), 1.0)
        weights = self._weights(place, exposed)
        places = math.fsum(self._place_doubt(each, exposed) for each in range(place + 1))
        noise = share**2 * (math.fsum(weight**2 for weight in weights) * laplace_variance(self.epsilon) + places**2)
        greenwood = math.fsum(
            max(event, 0.0) / (count * (count - event)) for event, count in zip(self.events[: place + 1], exposed, strict=False)
        )
        at_risk = exposed[place]
        subjects = (1 - share) / (share * greenwood) if greenwood > 0 else at_risk
        subjects = min(max(subjects, at_risk), max(entered[0], at_risk))
        part = noise / (noise + share * (1 - share) / subjects) if noise > 0 else 0.0
        square = critical_value(level, laplace_kurtosis(weights) * part**2) ** 2
        return rounded_ends(*wilson_with_noise(share, subjects, noise, square))

    def _place_doubt(self, place: int, exposed: Sequence[float]) -> float:
        """How far off the logarithm of the curve may be because nobody knows where in an interval other exits lie."""
        exits = 2 * self.before()[place] * max(self.others[place], 0.0)
        return max(self.events[place], 0.0) * exits / exposed[place] ** 2 / math.sqrt(12)

    def _weights(self, place: int, exposed: Sequence[float]) -> list[float]:
        """By how much the logarithm of the curve moves with each number of events, and of other exits."""
        weights, before = [], self.before()
        stays = [1 / (count - event) for event, count in zip(self.events[: place + 1], exposed, strict=False)]
        whole = [1 / count for count in exposed[: place + 1]]
        for cell in range(len(exposed)):
            last = min(place, cell)
            events = math.fsum((stays[i] if i != cell else 0.0) - whole[i] for i in range(last + 1))
            others = math.fsum((stays[i] - whole[i]) * (1 - before[i] if i == cell else 1.0) for i in range(last + 1))
            weights += [events, others]
        return weights


def wilson_with_noise(share: float, subjects: float, noise: float, square: float) -> tuple[float, float]:
    """The shares p with (share - p)**2 at most `square` times p (1 - p) / subjects + noise."""
    leading, middle = 1 + square / subjects, share + square / (2 * subjects)
    inside = max(middle**2 - leading * (share**2 - square * noise), 0.0)
    half = math.sqrt(inside)
    return max((middle - half) / leading, 0.0), min((middle + half) / leading, 1.0)


def falling(values: Sequence[float]) -> list[float]:
    """The nearest numbers, in squares, that do not rise."""
    blocks: list[tuple[float, int]] = []
    for value in values:
        blocks.append((value, 1))
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] < blocks[-1][0] / blocks[-1][1]:
            (total, many), (more, count) = blocks.pop(), blocks.pop()
            blocks.append((total + more, many + count))
    return [total / many for total, many in blocks for _ in range(many)]
