"""One universal quantile: a single draw over all 15-digit decimals, or over fewer digits where rows are too few to tell 15.

Claim      epsilon-DP, no delta, no refusal
Neighbors  ADD_REMOVE (the number of rows is private) or CHANGE_ONE
Why        Rows are mapped one by one to decimals; the loss of a decimal is how far its rank is from quantile * n. A small
           part of epsilon first buys a noisy look at the grain of the rows (grain.py); the column's number type would not
           do instead, because a single row can make a column of whole numbers one of floats.
           Dropping missing rows turns a changed row into a changed, an added or a removed one, and the slopes for
           CHANGE_ONE pay for each of these.
Numerics   Exact: integers throughout
Source     draw.proof.md
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import Column, OrderWindow, WindowRequest
from dpstats.statistics.universal.bands import Band, DigitBands, digits_told, merged
from dpstats.statistics.universal.decimals import DIGITS, lattice_groups
from dpstats.statistics.universal.draw import RankLoss, draw_piece, symmetric_slope
from dpstats.statistics.universal.grain import GRAIN_SHARE, grain_reach, suited_measure
from dpstats.statistics.universal.line import CutLine
from dpstats.statistics.universal.measure import TOTAL, Measure


class Drawn(NamedTuple):
    """The ordinal of a private quantile, and the measure that suited the noisy grain of the rows around it."""

    ordinal: int
    measure: Measure
    digits: int = DIGITS
    """The digits to which decimals were told apart."""

    @property
    def band(self) -> Band:
        """The decimals that the ordinal stands for."""
        return DigitBands(self.digits).band(self.ordinal)


def draw_quantile(
    column: Column, quantile: Fraction, epsilon: Fraction, neighbors: Neighbors, rng: RandomSource, digits: int = DIGITS
) -> int:
    """The ordinal of a private quantile of the column."""
    return draw_with_measure(column, quantile, epsilon, neighbors, rng, digits).ordinal


def draw_with_measure(
    column: Column, quantile: Fraction, epsilon: Fraction, neighbors: Neighbors, rng: RandomSource, digits: int = DIGITS
) -> Drawn:
    """A private quantile of the column, told to a public number of digits, and the measure that it was drawn by."""
    grain_epsilon = epsilon * GRAIN_SHARE
    slope = symmetric_slope(quantile, epsilon - grain_epsilon, neighbors)
    request = WindowRequest(quantile, RankLoss(Fraction(0), slope, slope).margin())
    reach = grain_reach(epsilon)
    (window,) = column.order_windows([WindowRequest(quantile, max(request.margin, reach))])
    measure = suited_measure(window, quantile, reach, grain_epsilon, rng)
    loss = RankLoss(quantile * window.raw_rows, slope, slope)
    bands = DigitBands(digits)
    _, position = draw_piece(window_pieces(window.narrowed(request), measure, bands), loss, rng)
    return Drawn(bands.roundest(measure.ordinal_at(position)), measure, digits)


def digits_of(quantile: Fraction, noisy_rows: int, epsilon: Fraction, neighbors: Neighbors) -> int:
    """The digits that one draw can tell, given the noisy number of all rows."""
    slope = symmetric_slope(quantile, epsilon * (1 - GRAIN_SHARE), neighbors)
    return digits_told(min(quantile, 1 - quantile) * noisy_rows * slope)


def window_pieces(window: OrderWindow, measure: Measure, bands: DigitBands) -> CutLine:
    """The whole line cut at the bands of a window.

    The outermost bands may have further rows outside the window; their loss depends on the side of them that is inside.
    """
    (groups,) = lattice_groups([window])
    firsts, lasts, raw_counts = merged(bands.around(groups.ordinals), groups.raw_counts)
    marks = measure.band_marks(firsts, lasts, raw_counts)
    return CutLine(0, TOTAL, marks, window.raw_below, hidden_below=window.raw_below > 0, hidden_above=window.raw_above > 0)
