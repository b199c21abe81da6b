"""Prices of propose-test-release put together: the printed theorems, the sharper rules, and that exact laws keep them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpstats.accounting.cascades import Price, Prices, beside, first_reply, in_turn, on_disjoint_rows, on_subsample
from dpstats.accounting.cascades import TestedStep as Budget  # under its own name pytest would take it for a test
from dpstats.foundations.errors import InvalidParameterError
from dpstats.mechanisms.distance_tests import LaplaceTest
from tests.laws.mechanisms import discrete_laplace_law, exponential_of_minus
from tests.laws.propose_test_release import REFUSED, cascade_law, laplace_test_law, levels_law, marked
from tests.privacy_loss.exact import hockey_stick, largest_log_ratio

EPSILON, DELTA = Fraction(1, 3), Fraction(1, 10**6)
UNIT = Budget(EPSILON, EPSILON, DELTA)
Law = dict[Any, Fraction]


def uniform_cascade(length: int, same_release: bool = True) -> Prices:
    return first_reply([UNIT] * length, same_release)


def pair(price: Price) -> tuple[Any, Any]:
    """Epsilon and delta in units of a single step's."""
    return price.epsilon / EPSILON, price.delta / DELTA


def union(count: int) -> Fraction:
    return 1 - (1 - DELTA) ** count


@pytest.mark.parametrize("lengths", [(1,), (2,), (2, 2), (3, 1, 5), (1, 1, 1, 1)])
def test_a_printed_level_k_cascade_costs_k_plus_all_tests(lengths: tuple[int, ...]) -> None:
    """Theorem 17."""
    prices = in_turn([uniform_cascade(length) for length in lengths])
    assert pair(prices.printed) == (len(lengths) + sum(lengths), sum(lengths))


@pytest.mark.parametrize("parts", [((2,), (2,)), ((2, 2), (2, 2), (2, 2)), ((1, 3), (2,))])
def test_printed_parts_beside_each_other_add_up(parts: tuple[tuple[int, ...], ...]) -> None:
    """Corollary 20."""
    prices = beside([in_turn([uniform_cascade(length) for length in lengths]) for lengths in parts])
    tests = sum(map(sum, parts))
    assert pair(prices.printed) == (sum(map(len, parts)) + tests, tests)


def test_printed_parallels_in_turn_add_up() -> None:
    """Theorem 22: the sum over t of L_t K_t and of all lengths."""
    lengths = [[(2,), (2,), (2,)], [(8,)], [(1, 2), (3, 1)]]
    stages = [beside([in_turn([uniform_cascade(length) for length in part]) for part in stage]) for stage in lengths]
    tests = 6 + 8 + 7
    assert pair(in_turn(stages).printed) == (3 * 1 + 1 * 1 + 2 * 2 + tests, tests)


def test_algorithm_s_costs_3_epsilon_as_printed_and_2_by_the_sharper_rule() -> None:
    prices = uniform_cascade(2)
    assert pair(prices.printed) == (3, 2)
    assert (prices.sharp.epsilon, prices.sharp.delta) == (2 * EPSILON, union(2))
    assert prices.sharp.refusal == prices.sharp.reply == 2 * EPSILON


def test_algorithm_m_costs_6_epsilon_as_printed_and_4_by_the_sharper_rule() -> None:
    prices = in_turn([uniform_cascade(2), uniform_cascade(2)])
    assert pair(prices.printed) == (6, 4)
    assert (prices.sharp.epsilon, prices.sharp.delta) == (4 * EPSILON, 2 * union(2))


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_the_short_cut_regression_costs_6p_epsilon_as_printed_and_4p_by_the_sharper_rule(dimension: int) -> None:
    prices = beside([in_turn([uniform_cascade(2), uniform_cascade(2)])] * dimension)
    assert pair(prices.printed) == (6 * dimension, 4 * dimension)
    assert prices.sharp.epsilon == 4 * dimension * EPSILON
    assert prices.sharp.delta == 2 * dimension * union(2) < prices.printed.delta


@pytest.mark.parametrize("dimension", [1, 2, 4])
def test_the_scales_of_the_robust_regression_cost_3p_epsilon_and_all_of_it_the_printed_sum(dimension: int) -> None:
    scales = beside([uniform_cascade(2)] * dimension)
    assert pair(scales.printed) == (3 * dimension, 2 * dimension)
    assert scales.sharp.epsilon == 2 * dimension * EPSILON
    whole = in_turn([scales, uniform_cascade(2**dimension, same_release=False)])
    assert pair(whole.printed) == (2**dimension + 3 * dimension + 1, 2 * dimension + 2**dimension)


@pytest.mark.parametrize("length", [1, 2, 3, 7])
def test_a_cascade_of_one_law_costs_its_tests_or_two_and_of_several_every_test_and_a_release(length: int) -> None:
    same, different = uniform_cascade(length).sharp, uniform_cascade(length, same_release=False).sharp
    assert same.epsilon == max(length, 2) * EPSILON
    assert (same.refusal, same.reply) == (length * EPSILON, 2 * EPSILON)
    assert different.epsilon == (length + 1) * EPSILON
    assert same.delta == different.delta == union(length)


def test_a_reply_from_an_early_step_has_used_the_tests_up_to_it_alone() -> None:
    steps = [Budget(Fraction(1), Fraction(5), DELTA), Budget(Fraction(2), Fraction(1), DELTA)]
    sharp = first_reply(steps, same_release=False).sharp
    assert sharp.refusal == 3
    assert sharp.reply == 6
    assert first_reply(steps, same_release=False).printed.epsilon == 8
    assert first_reply(steps, same_release=True).sharp.reply == 7


def test_a_path_pays_the_replies_before_a_refusal_and_no_more() -> None:
    free = Price(Fraction(0), Fraction(0), DELTA)
    dear_first, dear_last = (
        [Prices(free, Price(Fraction(refusal), Fraction(reply), DELTA)) for refusal, reply in sides]
        for sides in (((9, 1), (2, 3)), ((1, 3), (5, 1)))
    )
    assert in_turn(dear_first).sharp == Price(Fraction(9), Fraction(4), 2 * DELTA)  # refused at once, for 9
    assert in_turn(dear_last).sharp == Price(Fraction(8), Fraction(4), 2 * DELTA)  # a reply for 3, then refused for 5


def test_parts_on_disjoint_rows_cost_as_the_dearest_and_as_printed_the_sum() -> None:
    prices = on_disjoint_rows([uniform_cascade(2), uniform_cascade(5), uniform_cascade(1)])
    assert pair(prices.printed) == (3 + 6 + 2, 8)
    assert (prices.sharp.epsilon, prices.sharp.delta) == (5 * EPSILON, union(5))


@pytest.mark.parametrize("fraction", [Fraction(1, 100), Fraction(1, 2), Fraction(1)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1), Fraction(20), Fraction(10**6)])
def test_a_subsample_amplifies_as_its_formula_says_rounded_up(fraction: Fraction, epsilon: Fraction) -> None:
    inner = first_reply([Budget(epsilon / 2, epsilon / 2, DELTA)], True)
    prices = on_subsample(inner, fraction)
    assert prices.printed == inner.printed
    assert prices.sharp.delta == fraction * DELTA
    if epsilon < 100:
        exact = math.log1p(float(fraction) * math.expm1(epsilon))
        assert float(prices.sharp.epsilon) == pytest.approx(exact, rel=1e-12)
        shrunk = exponential_of_minus(prices.sharp.epsilon)  # e**-sharp <= 1 / (1 + fraction (e**epsilon - 1)) up to 1e-35
        assert shrunk * (1 + fraction * (1 / exponential_of_minus(epsilon) - 1)) <= 1 + Fraction(1, 10**35)
    assert prices.sharp.epsilon <= epsilon


def test_a_rule_of_another_name_is_refused() -> None:
    prices = uniform_cascade(2)
    assert prices.by("sharp") is prices.sharp
    assert prices.by("printed") is prices.printed
    for rule in ("best", None, 3):
        with pytest.raises(InvalidParameterError, match="rule must be 'sharp' or 'printed', got"):
            prices.by(rule)


budgets = st.builds(
    Budget, st.fractions(Fraction(1, 100), 2), st.fractions(0, 2), st.fractions(Fraction(1, 10**9), Fraction(1, 4))
)
leaves = st.builds(first_reply, st.lists(budgets, min_size=1, max_size=4), st.booleans())
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(in_turn, st.lists(inner, min_size=1, max_size=3)),
        st.builds(beside, st.lists(inner, min_size=1, max_size=3)),
        st.builds(on_disjoint_rows, st.lists(inner, min_size=1, max_size=3)),
        st.builds(on_subsample, inner, st.fractions(Fraction(1, 50), 1)),
    ),
    max_leaves=6,
)


@given(prices=trees)
@settings(max_examples=50)
def test_the_sharper_rule_is_never_dearer_than_the_printed_one(prices: Prices) -> None:
    assert prices.sharp.refusal <= prices.printed.refusal
    assert prices.sharp.reply <= prices.printed.reply
    assert prices.sharp.epsilon <= prices.printed.epsilon
    assert prices.sharp.delta <= prices.printed.delta


@st.composite
def close_chances(draw: st.DrawFn, factor: Fraction) -> tuple[Fraction, Fraction]:
    """p, p' with p <= factor p' and 1 - p <= factor (1 - p')."""
    there = draw(st.fractions(0, 1, max_denominator=50))
    low, high = max(Fraction(0), 1 - factor * (1 - there)), min(Fraction(1), factor * there)
    assume(low <= high)
    return low + draw(st.fractions(0, 1, max_denominator=8)) * (high - low), there


@given(data=st.data(), factor=st.fractions(1, 12, max_denominator=9), count=st.integers(1, 5))
@settings(max_examples=100)
def test_the_chance_that_some_test_passes_moves_by_no_more_than_one_test(data: Any, factor: Any, count: int) -> None:
    pairs = [data.draw(close_chances(factor)) for _ in range(count)]
    some_here = 1 - math.prod(1 - here for here, _ in pairs)
    some_there = 1 - math.prod(1 - there for _, there in pairs)
    assert some_here <= factor * some_there


def test_that_all_tests_fail_can_move_by_every_test() -> None:
    factor = Fraction(2)
    here, there = Fraction(2, 100), Fraction(51, 100)
    assert here <= factor * there
    assert 1 - here == factor * (1 - there)
    assert (1 - here) ** 2 == factor**2 * (1 - there) ** 2


BOUND, LOW, HIGH = 3, -4, 7
TEST = LaplaceTest(Fraction(1), Fraction(1, 20))
REACH = TEST.threshold + 5
CHANCES = [laplace_test_law(TEST, distance) for distance in range(REACH + 2)]
RELEASES = {value: discrete_laplace_law(value, Fraction(BOUND), LOW, HIGH) for value in (0, BOUND)}
ELSEWHERE: Law = {"elsewhere": Fraction(1)}
NEIGHBOURS = [
    (here, there)
    for here in itertools.product(range(REACH + 1), repeat=2)
    for there in itertools.product(*(range(max(0, k - 1), k + 2) for k in here))
]


def is_torn(here: int, there: int) -> bool:
    """Whether the proposal may fail on both sides, so that nothing ties the two values together."""
    return here <= TEST.unstable_at and there <= TEST.unstable_at


def one_law(here: tuple[int, ...], there: tuple[int, ...]) -> tuple[Law, Law]:
    """Two tests of one value: it is within the bound if either distance is large on either side."""
    torn = all(map(is_torn, here, there))
    first = cascade_law([CHANCES[k] for k in here], [RELEASES[0]] * 2)
    return first, cascade_law([CHANCES[k] for k in there], [ELSEWHERE if torn else RELEASES[BOUND]] * 2)


def own_laws(here: tuple[int, ...], there: tuple[int, ...]) -> tuple[Law, Law]:
    """Two tests of two values, and the reply shows which: each value is within the bound if its own distance is large."""
    moved = [ELSEWHERE if is_torn(*both) else RELEASES[BOUND] for both in zip(here, there, strict=True)]
    first = cascade_law([CHANCES[k] for k in here], [marked(RELEASES[0], place) for place in range(2)])
    return first, cascade_law([CHANCES[k] for k in there], [marked(law, place) for place, law in enumerate(moved)])


def worst_delta(laws: Callable[..., tuple[Law, Law]], epsilon: Fraction) -> float:
    pairs = (laws(here, there) for here, there in NEIGHBOURS)
    return max(hockey_stick(law, neighbour_law, epsilon) for law, neighbour_law in pairs)


@pytest.mark.parametrize(("same_release", "laws"), [(True, one_law), (False, own_laws)])
def test_no_two_distances_and_no_moves_breach_the_sharp_price_of_a_cascade(same_release: bool, laws: Any) -> None:
    price = first_reply([Budget(TEST.epsilon, Fraction(1), TEST.delta)] * 2, same_release).sharp
    worst = worst_delta(laws, price.epsilon)
    assert worst <= float(price.delta) * (1 + 1e-9)
    torn = 1 - (1 - CHANCES[0]) ** 2
    assert worst >= float(torn) * (1 - 1e-9)  # both tests fail to see two torn tables


def test_the_epsilons_of_both_sharp_prices_are_nearly_attained() -> None:
    refusals = [math.log(one_law(here, there)[0][REFUSED] / one_law(here, there)[1][REFUSED]) for here, there in NEIGHBOURS]
    assert max(map(abs, refusals)) == pytest.approx(2, abs=1e-2)
    apart = [largest_log_ratio(*own_laws(here, there)) for here, there in NEIGHBOURS if min(here + there) > 0]
    assert max(apart) <= 3 + 1e-9
    assert max(apart) > 2.5


def test_one_epsilon_less_would_not_do() -> None:
    price = first_reply([Budget(TEST.epsilon, Fraction(1), TEST.delta)] * 2, True).sharp
    worst = worst_delta(one_law, price.epsilon - TEST.epsilon)
    assert worst > 1.2 * float(price.delta)


def test_two_levels_keep_their_sharp_price() -> None:
    """Algorithm M in small: a scale from two tests, then from each scale two tests of a location."""
    level = first_reply([Budget(TEST.epsilon, Fraction(1), TEST.delta)] * 2, True)
    price = in_turn([level, level]).sharp
    corners = [0, 1, TEST.threshold, REACH]
    pairs = [(a, b) for a in corners for b in corners if abs(a - b) <= 1]
    worst = 0.0
    for first, second in itertools.product(pairs, repeat=2):
        ends = one_law((second[0],) * 2, (second[1],) * 2)
        starts = one_law((first[0],) * 2, (first[1],) * 2)
        laws = [levels_law(start, lambda scale, end=end: marked(end, scale)) for start, end in zip(starts, ends, strict=True)]  # type: ignore[misc]
        worst = max(worst, hockey_stick(laws[0], laws[1], price.epsilon))
    assert worst <= float(price.delta) * (1 + 1e-9)
    assert worst > float(1 - (1 - CHANCES[0]) ** 2) * 0.9
