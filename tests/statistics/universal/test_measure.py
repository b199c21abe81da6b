"""The public base measure: whole-number masses that tile the line."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpstats.statistics.universal.decimals import HIGHEST_ORDINAL, ordinal_of
from dpstats.statistics.universal.measure import FINE, MIXED, TOTAL, WHOLE, Measure

ordinals = st.integers(-HIGHEST_ORDINAL, HIGHEST_ORDINAL - 1)
EDGES = [-HIGHEST_ORDINAL, -1, 0, HIGHEST_ORDINAL - 1, ordinal_of(9.99999999999999), ordinal_of(-1.0)]


MEASURES = [MIXED, WHOLE, FINE]


@pytest.mark.parametrize("measure", MEASURES)
def test_the_line_starts_and_ends_with_the_outermost_decimals(measure: Measure) -> None:
    start, _ = measure.span(-HIGHEST_ORDINAL)
    last, mass = measure.span(HIGHEST_ORDINAL)
    assert start == 0
    assert last + mass == TOTAL


@given(ordinals, st.sampled_from(MEASURES))
@example(EDGES[0], MIXED)
@example(EDGES[1], WHOLE)
@example(EDGES[2], FINE)
@example(EDGES[3], MIXED)
@example(EDGES[4], WHOLE)
@example(EDGES[5], FINE)
def test_neighbouring_decimals_own_adjacent_stretches_of_positive_mass(ordinal: int, measure: Measure) -> None:
    start, mass = measure.span(ordinal)
    next_start, next_mass = measure.span(ordinal + 1)
    assert mass > 0
    assert next_mass > 0
    assert start + mass == next_start


@given(st.integers(0, TOTAL - 1), st.sampled_from(MEASURES))
@example(0, MIXED)
@example(TOTAL - 1, WHOLE)
def test_every_position_is_owned_by_the_decimal_that_claims_it(position: int, measure: Measure) -> None:
    start, mass = measure.span(measure.ordinal_at(position))
    assert start <= position < start + mass


@given(ordinals, st.sampled_from(MEASURES))
def test_a_number_and_its_negative_weigh_the_same(ordinal: int, measure: Measure) -> None:
    assert measure.span(ordinal)[1] == measure.span(-ordinal)[1]


def share(measure: Measure, value: float) -> Fraction:
    """The part of the line that a number owns."""
    return Fraction(measure.span(ordinal_of(value))[1], TOTAL)


def test_whole_numbers_and_cents_weigh_far_more_than_their_neighbours() -> None:
    assert share(MIXED, 40.0) > 1000 * share(MIXED, 40.0000000001)
    assert share(MIXED, 12.99) > 1000 * share(MIXED, 12.9900000001)
    assert share(MIXED, 0.0) > Fraction(1, 300)


def test_the_measures_differ_in_what_whole_numbers_weigh() -> None:
    assert share(WHOLE, 40.0) > 5 * share(MIXED, 40.0) > 100 * share(FINE, 40.0)


@pytest.mark.parametrize("measure", [MIXED, WHOLE, FINE])
@given(ordinals=st.lists(st.integers(-HIGHEST_ORDINAL, HIGHEST_ORDINAL), max_size=20))
@example(ordinals=[0, 1, -1, HIGHEST_ORDINAL, -HIGHEST_ORDINAL])
@example(ordinals=[ordinal_of(value) for value in (1, 10, 12.99, -12.99, 0.01, 1e-5, 1e300, 9.99999999999999)])
@example(ordinals=[ordinal_of(cents / 100) for cents in range(-300, 5000)])  # long runs of one decade
def test_many_spans_at_once_are_those_of_each_point(measure: Measure, ordinals: list[int]) -> None:
    points = sorted(set(ordinals))
    marks = measure.marks(measure.offsets(np.array(points, dtype=np.int64)), np.ones(len(points), dtype=np.int64))
    spans = [measure.span(point) for point in points]
    assert [marks.span(index) for index in range(len(points))] == [(start, start + mass) for start, mass in spans]
