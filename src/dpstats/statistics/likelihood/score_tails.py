"""Score tails: how far the scores of rows may go beyond what two released lengths tell, and where to cut them off.

The share of rows with longer scores is taken to fall like exp(-c length^(1 / exponent)). The exponent comes from the two lengths,
and is then taken to be larger, because real tails are heavier further out. Only released numbers enter, so no claim depends on
any of it; the constants are what medical, price and income tables asked for (docs/likelihood.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpstats.statistics.aggregation.row_blocks import Floats

LEAST_EXPONENT, LEAST_CURVED, MOST_EXPONENT = 0.5, 1.3, 3.0
"""Exponents are taken to be no less than the first, or the second for families whose slopes depend on the rows, as those of
Weibull laws: their scores may grow like powers of the rows, so that lengths which look light are likelier drawn too near."""
HEDGE_TIMES, HEDGE, HEDGE_PER_NAT = 1.3, 0.4, 2.0
"""The exponent that lengths suggest is multiplied by the first, and the second is added; more where the reach is less far out."""
PLAIN = 0.3
"""What is added where the sampling error is guessed, beside which noise is measured."""
INNER = 0.25
"""The mean squared length of the scores that are not far out, over the square of the nearer length."""
OCTAVES, IN_OCTAVE = 10, 20
"""So far beyond the reach the tail is followed, in steps."""
ENDS = 4
"""Ends that are tried, in an octave."""
USUAL = 1.96
"""Deviations in half of a usual interval."""
BEARABLE, HEAVIER, HEAVY, MOST_BEARABLE = 0.45, 0.4, 1.8, 0.7
"""Noise may be such a part of the sampling error; HEAVIER more for each by which the exponent is above HEAVY, up to the most."""

UNSEEN, SEEN_NATS, PER_NAT = 0.9, 3.0, 0.45
"""Where only a reach of few nats is known, noise may also be the part UNSEEN of the sampling error that the family expects, less
by PER_NAT for each nat by which the reach is further out than SEEN_NATS: what lies beyond a near reach costs more than such
noise."""


@dataclass(frozen=True)
class ScoreTail:
    """Two released lengths of scores, and about how many rows have longer ones."""

    rows: float
    near: float
    many: float
    """Rows beyond `near`."""
    reach: float
    beyond: float
    """Rows beyond `reach`, which are fewer."""
    least: float = LEAST_EXPONENT
    """The least that the exponent is taken to be."""

    @property
    def nats(self) -> float:
        """ln(rows / rows beyond the reach)."""
        return math.log(self.rows / self.beyond)

    @property
    def seen(self) -> float:
        """The exponent that the two lengths suggest."""
        seen = math.log(max(self.reach / self.near, 1.0)) / math.log(self.nats / math.log(self.rows / self.many))
        return min(MOST_EXPONENT, max(self.least, seen))

    @property
    def bearable(self) -> float:
        """How large the noise may be beside the sampling error, so that a long tail is not cut off."""
        return min(MOST_BEARABLE, max(BEARABLE, BEARABLE + HEAVIER * (self.seen - HEAVY)))

    @property
    def bearable_unseen(self) -> float:
        """The same beside the sampling error that the family expects, because so near a reach tells little of the true one."""
        return max(0.0, UNSEEN - PER_NAT * max(0.0, self.nats - SEEN_NATS))

    @cached_property
    def _lengths(self) -> Floats:
        return np.asarray(self.reach * 2.0 ** (np.arange(IN_OCTAVE * OCTAVES + 1) / IN_OCTAVE))

    @cached_property
    def _shares(self) -> Floats:
        """Of rows with longer scores, where the tail is heavier than it looks."""
        return self._falling(HEDGE_TIMES * self.seen + HEDGE + HEDGE_PER_NAT / self.nats)

    @cached_property
    def _plain_shares(self) -> Floats:
        return self._falling(self.seen + PLAIN)

    def _falling(self, exponent: float) -> Floats:
        beyond = np.exp(-self.nats * (self._lengths / self.reach) ** (1 / exponent))
        return np.asarray((beyond[1:] + beyond[:-1]) / 2)

    def lost(self, end: float) -> float:
        """About how much longer the mean score may be without a cut at `end`."""
        pieces = self._shares * np.diff(self._lengths)
        return float(pieces[self._lengths[:-1] >= end * (1 - 1e-9)].sum())

    def square(self, end: float) -> float:
        """The mean squared length of scores that are cut off at `end`, as it may be."""
        return self._square(end, self._shares)

    def plain_square(self, end: float) -> float:
        """The same as it probably is."""
        return self._square(end, self._plain_shares)

    def _square(self, end: float, shares: Floats) -> float:
        few, some = self.beyond / self.rows, self.many / self.rows
        inner = INNER * (1 - some) * self.near**2 + (some - few) * self.near * self.reach + few * self.reach**2
        pieces = shares * np.diff(self._lengths**2)
        return inner + float(pieces[self._lengths[1:] <= end * (1 + 1e-9)].sum())

    def cut(self, noise: float, size: int, bearable: float) -> float:
        """The end that makes the intervals of `size` parameters shortest, where noise is at most `bearable` times the sampling
        error, or what a near reach makes bearable; `noise` is its deviation in a mean of scores of length 1."""
        best = (math.inf, self.reach)
        always = self.bearable_unseen / math.sqrt(self.rows)
        for end in self._lengths[:: IN_OCTAVE // ENDS].tolist():
            sampling = math.sqrt(self.plain_square(end) / size / self.rows)
            if noise * end > max(bearable * sampling, always) and end > self.reach:
                break
            best = min(best, (USUAL * math.hypot(sampling, noise * end) + self.lost(end), end))
        return best[1]
