"""The public base measure: whole-number masses that tile the line."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import example, given
from hypothesis import strategies as st

from dpstats.statistics.universal.decimals import HIGHEST_ORDINAL, ordinal_of
from dpstats.statistics.universal.measure import TOTAL, ordinal_at, span

ordinals = st.integers(-HIGHEST_ORDINAL, HIGHEST_ORDINAL - 1)
EDGES = [-HIGHEST_ORDINAL, -1, 0, HIGHEST_ORDINAL - 1, ordinal_of(9.99999999999999), ordinal_of(-1.0)]


def test_the_line_starts_and_ends_with_the_outermost_decimals() -> None:
    start, _ = span(-HIGHEST_ORDINAL)
    last, mass = span(HIGHEST_ORDINAL)
    assert start == 0
    assert last + mass == TOTAL


@given(ordinals)
@example(EDGES[0])
@example(EDGES[1])
@example(EDGES[2])
@example(EDGES[3])
@example(EDGES[4])
@example(EDGES[5])
def test_neighbouring_decimals_own_adjacent_stretches_of_positive_mass(ordinal: int) -> None:
    start, mass = span(ordinal)
    next_start, next_mass = span(ordinal + 1)
    assert mass > 0
    assert next_mass > 0
    assert start + mass == next_start


@given(st.integers(0, TOTAL - 1))
@example(0)
@example(TOTAL - 1)
def test_every_position_is_owned_by_the_decimal_that_claims_it(position: int) -> None:
    start, mass = span(ordinal_at(position))
    assert start <= position < start + mass


@given(ordinals)
def test_a_number_and_its_negative_weigh_the_same(ordinal: int) -> None:
    assert span(ordinal)[1] == span(-ordinal)[1]


def test_whole_numbers_and_cents_weigh_far_more_than_their_neighbours() -> None:
    def mass(value: float) -> Fraction:
        return Fraction(span(ordinal_of(value))[1], TOTAL)

    assert mass(40.0) > 1000 * mass(40.0000000001)
    assert mass(12.99) > 1000 * mass(12.9900000001)
    assert mass(0.0) == Fraction(span(0)[1], TOTAL) > Fraction(1, 300)
