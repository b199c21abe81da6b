"""Bands: public runs of neighbouring decimals, each decimal in one of them, whatever other decimals are asked for."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpstats.statistics.universal.bands import PER_OCTAVE, Band, DigitBands, DistanceBands
from dpstats.statistics.universal.decimals import DIGITS, HIGHEST_ORDINAL, fraction_of, ordinal_of
from dpstats.statistics.universal.line import MASS_ERROR
from dpstats.statistics.universal.measure import MIXED

usual = st.one_of(st.floats(-1e6, 1e6), st.integers(-1000, 1000).map(float), st.floats(allow_nan=False)).map(ordinal_of)
ordinals = st.one_of(usual, st.integers(-HIGHEST_ORDINAL, HIGHEST_ORDINAL))


@given(ordinals, st.integers(4, DIGITS))
@example(ordinal_of(9.99999999), 6)
@example(-1, 5)
@example(HIGHEST_ORDINAL, 6)
def test_a_band_of_digits_has_its_decimal_and_others_have_the_next_ones(ordinal: int, digits: int) -> None:
    bands = DigitBands(digits)
    band = bands.band(ordinal)
    assert band.first <= ordinal <= band.last
    assert bands.band(band.first) == bands.band(band.last) == band
    if band.last < HIGHEST_ORDINAL:
        assert bands.band(band.last + 1).first == band.last + 1
    assert bands.band(-ordinal) == (-band.last, -band.first)


@pytest.mark.parametrize("value", [1 / 3, -1 / 7, 12.99, 1e-300, 5e15])
def test_decimals_of_a_band_are_the_same_to_its_digits(value: float) -> None:
    band = DigitBands(6).band(ordinal_of(value))
    assert len({f"{float(fraction_of(ordinal)):.5e}" for ordinal in (band.first + 1, ordinal_of(value), band.last - 1)}) == 1


@given(ordinals, ordinals, st.booleans())
@example(0, 1, True)
@example(HIGHEST_ORDINAL - 1, HIGHEST_ORDINAL, True)
@example(-HIGHEST_ORDINAL, HIGHEST_ORDINAL, True)
@example(ordinal_of(1e6), ordinal_of(1e6) + 1, True)
def test_a_band_of_distances_has_its_decimal_and_others_have_the_next_ones(one: int, other: int, upward: bool) -> None:
    if one == other:
        return
    middle, ordinal = (min(one, other), max(one, other)) if upward else (max(one, other), min(one, other))
    bands = DistanceBands(middle, upward)
    band = bands.band(ordinal)
    assert band.first <= ordinal <= band.last
    assert bands.band(band.first) == bands.band(band.last) == band
    if band.first > -HIGHEST_ORDINAL and band.first - 1 != middle:
        assert bands.band(band.first - 1).last == band.first - 1
    if band.last < HIGHEST_ORDINAL and band.last + 1 != middle:
        assert bands.band(band.last + 1).first == band.last + 1


@given(ordinals, st.lists(ordinals, min_size=1, max_size=12), st.booleans())
@example(1, [ordinal_of(-1.0), 0], False)
def test_a_decimals_band_does_not_depend_on_the_others(middle: int, others: list[int], upward: bool) -> None:
    beyond = sorted(other for other in others if other != middle and (other > middle) == upward)
    bands = DistanceBands(middle, upward)
    together = bands.around(np.array(beyond, dtype=np.int64))
    assert [Band(*ends) for ends in zip(*(ends.tolist() for ends in together), strict=True)] == [
        bands.band(ordinal) for ordinal in beyond
    ]


@given(st.floats(0.01, 1e6), st.floats(1e-6, 1e9))
def test_distances_in_a_band_are_nearly_the_same(here: float, distance: float) -> None:
    middle = ordinal_of(here)
    band = DistanceBands(middle, upward=True).band(ordinal_of(here + distance))
    near, far = (fraction_of(end) - fraction_of(middle) for end in (band.first - 1, band.last))
    assert far - near <= far / PER_OCTAVE + Fraction(here + distance) / 10**13


@pytest.mark.parametrize("distance", [1, 2, 3, 7, 31, 0.5, 0.25])
def test_small_whole_numbers_are_the_outer_ends_of_their_bands(distance: float) -> None:
    for here in (0, 1, -2, 12.99):
        for sign in (1, -1):
            place = ordinal_of(here + sign * distance)
            band = DistanceBands(ordinal_of(here), upward=sign > 0).band(place)
            assert (band.last if sign > 0 else band.first) == place


@given(st.lists(ordinals, min_size=1, max_size=12, unique=True), st.integers(4, 9))
def test_bands_own_the_stretches_of_their_decimals(some: list[int], digits: int) -> None:
    ends = sorted({DigitBands(digits).band(ordinal) for ordinal in some})
    firsts, lasts = (np.array(column) for column in zip(*ends, strict=True))
    marks = MIXED.band_marks(firsts, lasts, np.ones(len(ends), dtype=np.int64))
    spans = [(MIXED.span(first)[0], sum(MIXED.span(last))) for first, last in ends]
    assert [marks.span(place) for place in range(len(ends))] == spans
    assert np.allclose(marks.lengths, [float(end - start) for start, end in spans], rtol=MASS_ERROR, atol=0)
    gaps = [float(after - before) for (_, before), (after, _) in pairwise(spans)]
    assert np.allclose(marks.gaps, gaps, rtol=MASS_ERROR, atol=0)


@given(ordinals, st.lists(ordinals, min_size=1, max_size=12))
def test_bands_that_reach_over_decades_own_their_stretches(middle: int, others: list[int]) -> None:
    ends = sorted({DistanceBands(middle, upward=True).band(other) for other in others if other > middle})
    if not ends:
        return
    firsts, lasts = (np.array(column) for column in zip(*ends, strict=True))
    marks = MIXED.band_marks(firsts, lasts, np.ones(len(ends), dtype=np.int64))
    spans = [(MIXED.span(first)[0], sum(MIXED.span(last))) for first, last in ends]
    assert [marks.span(place) for place in range(len(ends))] == spans
    assert np.allclose(marks.lengths, [float(end - start) for start, end in spans], rtol=MASS_ERROR, atol=0)
