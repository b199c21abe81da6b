"""Multiplicative weights: courses are private, their weights follow from what was released, and prices add up."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from dpstats.accounting.concentration import exponential_to_zcdp, zcdp_to_cost
from dpstats.foundations.errors import InvalidParameterError
from dpstats.statistics.universe.multiplicative_weights import (
    TOTAL_SHARE,
    UNITS,
    WeightsPlan,
    default_rounds,
    draw_query,
    release_weights,
    said,
    weights_plan,
)
from dpstats.statistics.universe.universe import Universe
from dpstats.statistics.universe.weighted_universe import (
    PASSES,
    Measurement,
    MultiplicativeWeights,
    WeightedUniverse,
    mass_units,
    summed_in_order,
)
from dpstats.statistics.universe.workload import Workload
from dpstats.testing import seeded
from tests.replays.weights import Course, Replay, privacy_loss
from tests.twins.universes import TrueTotal, float_scores

EPSILON, DELTA = Fraction(2), Fraction(1, 10**6)
SQUARE = Universe(("a", "b"), ((0, 1), (0, 1)))
PAIRS = [((0, 0, 0, 0), (1, 0, 0, 0)), ((2, 0, 1, 0), (2, 1, 1, 0)), ((3, 0, 0, 3), (3, 0, 1, 3)), ((0, 7, 1, 0), (0, 7, 1, 1))]


def courses(counts: tuple[int, ...], reach: int) -> list[Course]:
    """Hard courses of two rounds: noise away from the neighbour or towards it, all queries."""
    most = sum(counts)
    ends = (most - reach, most + reach)
    return [
        Course(total, ((first, noisy), (second, noisy)))
        for total, noisy in itertools.product(ends, ends)
        for first, second in itertools.product(range(4), repeat=2)
    ]


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("ways", [1, 2])
def test_every_course_is_private_for_one_row_more(pair: tuple[tuple[int, ...], tuple[int, ...]], ways: int) -> None:
    plan = weights_plan(SQUARE, ways=ways, epsilon=EPSILON, rounds=2)
    losses = [privacy_loss(*pair, plan, course) for course in courses(pair[0], 9)]
    assert 0.4 * EPSILON < max(losses) <= float(EPSILON) + 1e-12


@pytest.mark.parametrize("pair", PAIRS[:3])
def test_the_twin_with_the_number_of_rows_itself_is_refuted(pair: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    plan = weights_plan(SQUARE, ways=2, epsilon=EPSILON, rounds=2)
    broken = TrueTotal(plan.workload, plan.epsilon, plan.delta, plan.rounds, plan.average)
    course = Course(None, ((0, 1), (3, 2)))
    counts, neighbour = (tuple(count + 2 for count in each) for each in pair)
    assert privacy_loss(counts, neighbour, broken, course) == math.inf
    assert privacy_loss(counts, neighbour, plan, Course(9, course.rounds)) <= EPSILON


def test_one_row_moves_whole_scores_by_no_more_than_their_units_and_float_scores_by_more() -> None:
    weights, workload = MultiplicativeWeights(4), Workload(SQUARE, 2)
    over = 0
    for total, noisy in itertools.product((7, 10, 1001), (1, 3, 5)):
        weights.learn(workload.inside(noisy % 4), noisy / total)
        whole = said(weights, workload, total)
        masses = mass_units(weights.cell_weights())
        rough = (workload.answers(masses) / masses.sum() * total).tolist()
        for count in range(40):
            before, after = np.abs(UNITS * np.full(4, count) - whole), np.abs(UNITS * np.full(4, count + 1) - whole)
            assert np.abs(after - before).max() <= UNITS
            floats = [float_scores([each] * 4, rough) for each in (count, count + 1)]
            over += any(abs(Fraction(y) - Fraction(x)) > 1 for x, y in zip(*floats, strict=True))
    assert over > 0


@pytest.mark.parametrize("rounds", [1, 3, 10])
def test_prices_of_all_steps_add_up_to_the_whole(rounds: int) -> None:
    pure = weights_plan(SQUARE, ways=2, epsilon=EPSILON, rounds=rounds)
    steps = rounds * (pure.choice_epsilon + 1 / pure.noise(pure.round_share).scale) + 1 / pure.noise(TOTAL_SHARE).scale
    assert steps == EPSILON
    with_delta = weights_plan(SQUARE, ways=2, epsilon=EPSILON, delta=DELTA, rounds=rounds)
    each = exponential_to_zcdp(with_delta.choice_epsilon) + 1 / (2 * with_delta.noise(with_delta.round_share).scale)
    rho = rounds * each + 1 / (2 * with_delta.noise(TOTAL_SHARE).scale)
    assert with_delta.whole * Fraction(999, 1000) < rho <= with_delta.whole
    assert zcdp_to_cost(rho, DELTA).epsilon <= EPSILON


def test_a_course_with_gaussian_noise_loses_what_its_deviations_say() -> None:
    plan = weights_plan(SQUARE, ways=2, epsilon=EPSILON, delta=DELTA, rounds=1)
    here, there = (3, 0, 0, 0), (4, 0, 0, 0)
    total, measured = plan.noise(TOTAL_SHARE).scale, plan.noise(plan.round_share).scale
    runs = [Replay(Course(3, ((0, 3),))) for _ in range(2)]
    for replay, counts in zip(runs, (here, there), strict=True):
        replay.run(counts, plan)
    noise = float(1 / (2 * total) + 1 / (2 * measured))
    choice = runs[0].log_probability - runs[1].log_probability - noise
    assert abs(choice) <= plan.choice_epsilon


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(4)])
def test_queries_are_drawn_with_weights_that_grow_with_their_scores(epsilon: Fraction) -> None:
    scores, rng, draws = np.array([0, UNITS, 3 * UNITS, UNITS // 2]), seeded(3), 3000
    drawn = Counter(draw_query(scores, epsilon, rng) for _ in range(draws))
    weights = [math.exp(float(epsilon) * score / (2 * UNITS)) for score in scores.tolist()]
    expected = [draws * weight / sum(weights) for weight in weights]
    assert sum((drawn[place] - each) ** 2 / each for place, each in enumerate(expected)) < 16


@pytest.mark.parametrize("average", [False, True])
def test_weights_of_groups_are_those_of_single_cells(average: bool) -> None:
    universe = Universe(("a", "b", "c"), ((0, 1, 2), (0, 1), (0, 1)))
    counts = np.array([40, 3, 0, 9, 12, 1, 0, 0, 30, 2, 2, 1])
    plan = weights_plan(universe, ways=2, epsilon=Fraction(3), rounds=6, average=average)
    released = release_weights(counts, plan, seeded(4))
    weights, seen, rounds = np.full(12, 1 / 12), [], []
    for measured in released.measurements:
        inside = [
            all(dict(zip("abc", universe.row(cell), strict=True))[c] == v for c, v in _levels(measured)) for cell in range(12)
        ]
        seen.append((np.array(inside), min(max(measured.noisy, 0), released.total)))
        for _ in range(PASSES):
            for query, noisy in seen:
                weights = weights * np.exp(query * (noisy - released.total * weights[query].sum()) / (2 * released.total))
                weights /= weights.sum()
        rounds.append(weights)
    expected = np.mean(rounds, axis=0) if average else weights
    assert released.masses / released.masses.sum() == pytest.approx(expected, rel=1e-9)


def _levels(measured: Measurement) -> list[tuple[str, object]]:
    return list(zip(measured.columns, measured.levels, strict=True))


def test_archived_measurements_give_the_same_weights_on_every_machine() -> None:
    universe = Universe(tuple("abcde"), ((0, 1),) * 5)
    measured = tuple(Measurement(("a", "bcde"[place % 4]), (place % 2, 1), 37 * place % 101) for place in range(12))
    released = WeightedUniverse(universe, 100, measured, 4.2, 1.0)
    assert hashlib.sha256(released.masses.astype("<i8").tobytes()).hexdigest()[:16] == "65bae0529bd8a11b"


def test_the_weights_come_near_a_large_table_and_nearer_than_even_ones() -> None:
    universe = Universe(tuple("abcd"), ((0, 1),) * 4)
    counts = np.random.default_rng(2).multinomial(50_000, np.arange(1, 17) ** 2 / 1496).astype(np.int64)
    for delta in (Fraction(0), DELTA):
        plan = weights_plan(universe, ways=2, epsilon=Fraction(1), delta=delta, rounds=12)
        released = release_weights(counts, plan, seeded(1))
        truth = plan.workload.answers(counts) / counts.sum()
        found = plan.workload.answers(released.masses) / released.masses.sum()
        assert np.abs(found - truth).max() < 0.03 < np.abs(truth - 0.25).max()
        assert abs(released.total - 50_000) < 6 * released.total_noise


@pytest.mark.parametrize("counts", [(0, 0, 0, 0), (1, 0, 0, 0), (10**11, 0, 0, 5)])
def test_any_table_gets_weights(counts: tuple[int, ...]) -> None:
    for epsilon in (Fraction(1, 10**9), Fraction(10**9)):
        plan = weights_plan(SQUARE, ways=1, epsilon=epsilon, rounds=3)
        released = release_weights(np.array(counts), plan, seeded(2))
        assert released.total >= 1
        assert math.fsum(released.marginal("a").values()) == pytest.approx(1)


def test_weights_come_back_from_json_and_say_what_was_measured() -> None:
    plan = weights_plan(Universe(("town", "sick"), (("Ayr", "Bree"), (0, 1))), ways=2, epsilon=Fraction(20), rounds=2)
    released = release_weights(np.array([500, 0, 100, 100]), plan, seeded(1))
    again = WeightedUniverse.from_dict(json.loads(json.dumps(released.to_dict())))
    assert again == released
    assert (again.masses == released.masses).all()
    assert str(released).startswith("4 weights of town, sick, about 70")
    assert "2 counts measured, first town = Ayr, sick = 0: " in str(released)
    assert list(released.marginal("town")) == [("Ayr",), ("Bree",)]
    assert dict(plan.notes())["rounds"].startswith("2 rounds")


def test_sums_go_one_by_one() -> None:
    assert summed_in_order(np.array([])) == 0
    assert summed_in_order(np.array([1e16, 1.0, 1.0, -1e16, 3.0])) == (((1e16 + 1.0) + 1.0) + -1e16) + 3.0


@pytest.mark.parametrize("rounds", [0, 201, 2.0, True])
def test_rounds_are_whole_and_few(rounds: object) -> None:
    with pytest.raises(InvalidParameterError, match="rounds"):
        weights_plan(SQUARE, ways=1, epsilon=EPSILON, rounds=rounds)


def test_more_columns_take_more_rounds_and_gaussian_noise_allows_more() -> None:
    assert [default_rounds(columns, Fraction(0)) for columns in (1, 5, 9, 200)] == [10, 10, 18, 200]
    assert weights_plan(SQUARE, ways=1, epsilon=EPSILON).rounds == 10
    assert default_rounds(9, DELTA) == 36


def test_a_plan_is_public() -> None:
    assert WeightsPlan(Workload(SQUARE, 1), EPSILON, Fraction(0), 4, False).round_share == Fraction(19, 160)
