"""Allowances: shares never add up to more than one, and are worth what they say under either relation."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpstats.accounting.allowance import FINEST, Allowance, part, parts_of_one, row_allowance
from dpstats.accounting.concentration import exponential_to_zcdp, zcdp_within
from dpstats.foundations.errors import DpstatsError
from dpstats.foundations.privacy import Neighbors

SHARES = st.lists(st.fractions(Fraction(-1, 10), Fraction(11, 10), max_denominator=1000), max_size=12)
WHOLE = Fraction(3, 2)


class Concentrated(Allowance):
    """A rho."""

    is_concentrated = True


@given(SHARES)
def test_no_more_is_taken_than_is_there_and_a_refused_share_takes_nothing(shares: list[Fraction]) -> None:
    for allowance in (Allowance(WHOLE), Concentrated(WHOLE)):
        worth = Fraction(0)
        for share in shares:
            left = allowance.left
            if 0 < share <= left:
                worth += allowance.take(share)
                assert allowance.left == left - share
            else:
                for taken in (allowance.take, allowance.draw_epsilon):
                    with pytest.raises(DpstatsError, match="more than it was given"):
                        taken(share)
                assert allowance.left == left
        assert worth == allowance.worth(1 - allowance.left) <= WHOLE


def test_a_draw_costs_its_share_of_an_epsilon_and_no_more_than_that_of_a_rho() -> None:
    share = Fraction(1, 7)
    pure, concentrated = Allowance(WHOLE), Concentrated(WHOLE)
    assert pure.draw_epsilon(share) == WHOLE * share
    cost = exponential_to_zcdp(concentrated.draw_epsilon(share))
    assert WHOLE * share * (1 - Fraction(1, 10**9)) < cost <= WHOLE * share
    assert pure.left == concentrated.left == 1 - share


def test_a_changed_row_leaves_half_of_an_epsilon_and_a_quarter_of_a_rho() -> None:
    epsilon, delta = Fraction(2), Fraction(1, 10**6)
    assert row_allowance(epsilon, Fraction(0), Neighbors.ADD_REMOVE) == epsilon
    assert row_allowance(epsilon, Fraction(0), Neighbors.CHANGE_ONE) == epsilon / 2
    assert row_allowance(epsilon, delta, Neighbors.ADD_REMOVE) == zcdp_within(epsilon, delta)
    assert row_allowance(epsilon, delta, Neighbors.CHANGE_ONE) == zcdp_within(epsilon, delta) / 4


def test_a_part_is_never_more_than_its_share_and_never_nothing() -> None:
    assert part(0.3) <= Fraction(3, 10)
    assert (part(7.0), part(0.0)) == (Fraction(1), Fraction(1, FINEST))


@given(st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=50))
def test_parts_of_one_add_up_to_no_more(sizes: list[float]) -> None:
    parts = parts_of_one(sizes)
    assert min(parts) > 0
    assert sum(parts) <= 1
