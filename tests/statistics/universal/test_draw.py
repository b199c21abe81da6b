"""One rank draw: its law is the definition's, and the definition is private."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from dpstats.engines.tables.given import as_column
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.summaries import WindowRequest
from dpstats.statistics.universal.bands import DigitBands
from dpstats.statistics.universal.decimals import DIGITS
from dpstats.statistics.universal.draw import CLIP, RankLoss, draw_piece, symmetric_slope
from dpstats.statistics.universal.line import CutLine, Marks, Piece, Stretch
from dpstats.statistics.universal.measure import FINE, MIXED, WHOLE, Measure
from dpstats.statistics.universal.single import window_pieces
from dpstats.testing import seeded
from tests.laws.mechanisms import exponential_of_minus
from tests.laws.ranks import OfBands, cuts_of, epsilon_of_slopes, rank_law
from tests.privacy_loss.exact import largest_log_ratio
from tests.statistics.tables import neighbouring_tables, random_table, ugly_columns
from tests.twins.ranks import law_on_the_data_range, law_with_a_rounded_target, law_without_the_half

QUANTILES = [Fraction(1, 20), Fraction(1, 4), Fraction(1, 2), Fraction(9, 10), Fraction(0), Fraction(1)]
EPSILONS = [Fraction(1, 10), Fraction(1), Fraction(3)]
SLACK = 1e-9


def piece_weight(piece: Piece, loss: RankLoss) -> Fraction:
    """The weight that a piece should have, from the definition."""
    over = max(Fraction(0), piece.raw_below - loss.target) * loss.slope_over
    under = max(Fraction(0), loss.target - piece.raw_up_to) * loss.slope_under
    return piece.length * piece.boost * exponential_of_minus(CLIP if piece.hidden else min(CLIP, over + under))


@pytest.mark.parametrize("name", ugly_columns())
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(60)])  # the steep one leaves most rows outside the window
@pytest.mark.parametrize(
    ("quantile", "measure", "digits"),
    [
        (Fraction(1, 2), MIXED, DIGITS),
        (Fraction(1, 3), MIXED, 4),
        pytest.param(Fraction(99, 100), FINE, DIGITS, marks=pytest.mark.long),
        pytest.param(Fraction(1, 3), WHOLE, DIGITS, marks=pytest.mark.long),
    ],
)
def test_the_window_alone_gives_the_law_of_all_rows(
    name: str, epsilon: Fraction, quantile: Fraction, measure: Measure, digits: int
) -> None:
    data = ugly_columns()[name]
    rows = [value for value in data if value == value]
    slope = symmetric_slope(quantile, epsilon, Neighbors.ADD_REMOVE)
    loss = RankLoss(quantile * len(rows), slope, slope)
    request = WindowRequest(quantile, loss.margin())
    (window,) = as_column(data).order_windows([WindowRequest(quantile, 3 * loss.margin())])
    bands = DigitBands(digits)
    pieces = list(window_pieces(window.narrowed(request), measure, bands))
    weights = [piece_weight(piece, loss) for piece in pieces]
    total = sum(weights, Fraction(0))
    cuts = sorted({*cuts_of(rows, measure=OfBands(measure, bands)), *(piece.start for piece in pieces)})
    law = rank_law(rows, cuts, loss.target, slope, slope, measure=OfBands(measure, bands))
    for piece, weight in zip(pieces, weights, strict=True):
        expected = sum((law[cut] for cut in cuts[:-1] if piece.start <= cut < piece.start + piece.length), Fraction(0))
        assert abs(weight / total - expected) <= expected * Fraction(1, 10**30)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("quantile", QUANTILES)
def test_no_added_row_moves_any_probability_by_more_than_epsilon(quantile: Fraction, epsilon: Fraction) -> None:
    slope = symmetric_slope(quantile, epsilon, Neighbors.ADD_REMOVE)
    worst = 0.0
    for table, neighbour in neighbouring_tables(seed=3, count=60, most_rows=12):
        cuts = cuts_of(neighbour)
        law = rank_law(table, cuts, quantile * len(table), slope, slope)
        neighbour_law = rank_law(neighbour, cuts, quantile * len(neighbour), slope, slope)
        worst = max(worst, largest_log_ratio(law, neighbour_law))
    assert worst <= float(epsilon) + SLACK
    assert worst >= 0.5 * float(epsilon)  # the pairs are hard: half is the most that tables this small can show for q near 0 or 1


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("quantile", QUANTILES)
def test_no_changed_row_moves_any_probability_by_more_than_epsilon(quantile: Fraction, epsilon: Fraction) -> None:
    slope = symmetric_slope(quantile, epsilon, Neighbors.CHANGE_ONE)
    chooser = random.Random(9)
    for _ in range(40):
        table = random_table(chooser, chooser.randint(1, 10))
        changed = [*table[1:], chooser.choice([*table, -1e9, 1e9, 0.5])]
        cuts = cuts_of(table, changed)
        # a changed row may also become missing, or stop being so
        for neighbour in (changed, table[1:]):
            law = rank_law(table, cuts, quantile * len(table), slope, slope)
            neighbour_law = rank_law(neighbour, cuts, quantile * len(neighbour), slope, slope)
            assert largest_log_ratio(law, neighbour_law) <= float(epsilon) + SLACK


def test_unequal_slopes_with_a_floor_under_the_target_cost_their_sum() -> None:
    over, under = Fraction(7, 10), Fraction(3, 10)
    worst = 0.0
    for table, neighbour in neighbouring_tables(seed=4, count=200, most_rows=14):
        laws = []
        cuts = cuts_of(neighbour)
        stretches = [Stretch(cuts[len(cuts) // 2], cuts[-1], 5)]
        for rows in (table, neighbour):
            beyond = max(Fraction(len(rows), 50), Fraction(min(4, len(rows))))
            laws.append(rank_law(rows, cuts, len(rows) - beyond, over, under, stretches))
        worst = max(worst, largest_log_ratio(*laws))
    assert 0.6 < worst <= 1 + SLACK


@pytest.mark.parametrize("quantile", QUANTILES)
def test_the_price_of_symmetric_slopes_is_the_epsilon_they_were_made_for(quantile: Fraction) -> None:
    for neighbors in Neighbors:
        slope = symmetric_slope(quantile, Fraction(1), neighbors)
        assert epsilon_of_slopes(quantile, slope, slope, neighbors) == 1


@pytest.mark.parametrize("twin", [law_without_the_half, law_with_a_rounded_target, law_on_the_data_range])
def test_every_broken_twin_is_refuted(twin: object) -> None:
    worst = 0.0
    for table, neighbour in neighbouring_tables(seed=3, count=60, most_rows=12):
        if table:
            cuts = cuts_of(neighbour)
            laws = [twin(rows, cuts, Fraction(1, 2), Fraction(1)) for rows in (table, neighbour)]  # type: ignore[operator]
            worst = max(worst, largest_log_ratio(*laws))
    assert worst > 1.3


def test_draws_follow_the_law_and_not_one_with_other_slopes() -> None:
    marks = Marks.listed([(50, 51), (52, 53), (93, 94)], [2, 1, 0])
    pieces = CutLine(0, 103, marks, 0, hidden_above=True).boosted([Stretch(40, 60, 3)])
    loss = RankLoss(Fraction(3, 2), Fraction(2), Fraction(3, 2))
    rng = seeded(11)
    draws = Counter(draw_piece(pieces, loss, rng)[0] for _ in range(6_000))
    p_values = {}
    for factor in (Fraction(9, 10), Fraction(1), Fraction(11, 10)):
        tried = RankLoss(loss.target, loss.slope_over * factor, loss.slope_under * factor)
        weights = [float(piece_weight(piece, tried)) for piece in pieces if not piece.hidden]
        expected = np.array(weights) / sum(weights) * 6_000
        observed = np.array([draws[piece] for piece in pieces if not piece.hidden])
        p_values[factor] = chi2.sf(((observed - expected) ** 2 / expected).sum(), len(weights) - 1)
    assert p_values[Fraction(1)] > 1e-3
    assert p_values[Fraction(9, 10)] < 1e-3
    assert p_values[Fraction(11, 10)] < 1e-3


def test_a_place_inside_a_piece_is_drawn_uniformly() -> None:
    rng = seeded(12)
    flat = RankLoss(Fraction(0), Fraction(1), Fraction(1))
    places = Counter(draw_piece([Piece(100, 8, 0, 0)], flat, rng)[1] for _ in range(4000))
    assert set(places) == set(range(100, 108))
    assert chi2.sf(sum((count - 500) ** 2 / 500 for count in places.values()), 7) > 1e-3
