"""Looks around places: a row is in one count, and counts tell ties and scales that are astray."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpstats.engines.tables.given import as_column
from dpstats.statistics.universal import looks
from dpstats.statistics.universal.bands import Band, DigitBands
from dpstats.statistics.universal.decimals import ordinal_of
from dpstats.statistics.universal.looks import DISAGREE, SCALES_SHARE, SEEN, Surroundings, disagree, look_around
from dpstats.statistics.universal.order import Order
from dpstats.testing import seeded
from tests.twins import ends as broken_ends
from tests.twins.ends import overlapping_look

EPSILON = Fraction(1, 2)
HOMES = [DigitBands(5).band(ordinal_of(value)) for value in (-3.0, 0.0, 25564.67)]
SCALES = {False: Fraction(10), True: Fraction(1000)}


def raw_counts(monkeypatch: pytest.MonkeyPatch, module: Any, rows: Sequence[float], look: Any) -> list[int]:
    """The counts to which a look adds noise."""
    counted: list[int] = []

    def keep(raw_count: int, epsilon: Fraction, rng: object) -> int:
        counted.append(raw_count)
        return raw_count

    monkeypatch.setattr(module, "noisy_count", keep)
    look(Order(as_column(np.array(rows)), seeded(1)))
    return counted


values = st.one_of(
    st.floats(-50, 50), st.sampled_from([-3.0, 0.0, 25564.67, 25564.5, 25689.67, -4.25, math.inf, -math.inf, 1e300])
)


@pytest.mark.parametrize("scales", [None, SCALES, {False: Fraction(0), True: Fraction(10) ** 320}])
def test_a_row_is_in_one_count_of_a_look(monkeypatch: pytest.MonkeyPatch, scales: dict[bool, Fraction] | None) -> None:
    @given(st.lists(values, min_size=1, max_size=6), values)
    @example([math.inf], -math.inf)
    def check(rows: list[float], row: float) -> None:
        def look(order: Order) -> Surroundings:
            return look_around(order, HOMES, EPSILON, scales)

        before, after = (raw_counts(monkeypatch, looks, table, look) for table in (rows, [*rows, row]))
        assert sum(before) == len(rows)
        assert sorted(new - old for old, new in zip(before, after, strict=True)) == [0] * (len(before) - 1) + [1]

    check()


def test_a_look_that_counts_a_row_twice_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    def look(order: Order) -> list[int]:
        return overlapping_look(order, HOMES[:1], EPSILON)

    before, after = (raw_counts(monkeypatch, broken_ends, table, look) for table in ([1.0], [1.0, -3.0]))
    assert sum(abs(new - old) for old, new in zip(before, after, strict=True)) > 1


def test_the_outermost_decimals_have_the_infinite_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    homes = [Band(*[ordinal_of(end)] * 2) for end in (-math.inf, math.inf)]
    rows = [-math.inf, -math.inf, 5.0, math.inf]
    assert raw_counts(monkeypatch, looks, rows, lambda order: look_around(order, homes, EPSILON)) == [0, 2, 1, 1, 0]


def test_noise_and_draws_of_what_ends_spend_cost_no_more_than_draws_alone() -> None:
    for share in (looks.TIES_SHARE, SCALES_SHARE):
        assert share**2 / 2 + (1 - share) ** 2 / 8 <= Fraction(1, 8)


def test_margins_are_counted_from_the_rank_of_the_quantile() -> None:
    look = Surroundings([100, 600, 300], {False: 100, True: 300}, Fraction(1), 0)
    assert look.margin(0, Fraction(1, 2), True)[0] == 200
    assert look.margin(0, Fraction(1, 2), False)[0] == 400
    assert look.margin(0, Fraction(9, 10), True)[0] == pytest.approx(-200)
    assert look.margin(0, Fraction(1, 2), True)[1] == pytest.approx(2 * 3 / 4)


def test_a_scale_without_rows_is_that_of_the_other_side() -> None:
    scales = {False: Fraction(10) ** 17, True: Fraction(30)}
    assert disagree(scales)
    assert not disagree({False: Fraction(DISAGREE), True: Fraction(1)})
    far = {False: 0, True: 20 * SEEN}
    assert Surroundings([0, 900, 80], far, Fraction(1, 10), 1).believed(scales) == {False: 30, True: 30}
    assert Surroundings([0, 900, 80], {False: 0, True: 0}, Fraction(1, 10), 1).believed(scales) == {False: 0, True: 0}
