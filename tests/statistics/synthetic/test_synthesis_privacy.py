"""Synthetic rows are private: forced courses, scores, thresholds; and twins that make known mistakes are caught."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.accounting.concentration import zcdp_within
from dpstats.engines.tables.given import as_codes
from dpstats.mechanisms.gaussian_thresholding import LEAST_ROWS, choose_by_count, threshold_at
from dpstats.statistics.coded.budget import ConcentratedTableBudget
from dpstats.statistics.synthetic import finding
from dpstats.statistics.synthetic.finding import MIDDLING, STRONG, WEAK, CodeFinding, CodeShares, Wish
from dpstats.statistics.synthetic.graphical_model import Measured
from dpstats.statistics.synthetic.rounds import SCALE, PairRounds
from dpstats.testing import seeded
from tests.replays.synthesis import Course, following
from tests.twins.synthesis import (
    DeltaForEachColumn,
    FloatScores,
    KnownTotal,
    threshold_at_root_delta,
    threshold_without_least_rows,
)

GENERATOR = np.random.default_rng(5)
ROWS = {
    "age": np.round(GENERATOR.normal(40, 12, 300)),
    "pay": np.where(GENERATOR.random(300) < 0.2, np.nan, GENERATOR.lognormal(3, 1, 300)),
    "kind": GENERATOR.integers(0, 3, 300),
}
LEVELS = {"kind": [0, 1, 2]}


def without(rows: dict[str, Any], place: int) -> dict[str, Any]:
    return {name: np.delete(values, place) for name, values in rows.items()}


def measured(rows: dict[str, Any], course: Course | None, **words: Any) -> tuple[Course, Any]:
    asked = {"levels": LEVELS, "epsilon": 4, "rng": seeded(3), "rough": True, **words}
    with following(course) as followed:
        value = dp.synthesize(rows, **asked).value
    return followed, value


def followed_alike(data: Any, neighbour: Any) -> bool:
    """Whether all that follows from released numbers is the same; the seed of the rows is drawn apart from them."""
    return bool({**data.to_dict(), "seed": 0} == {**neighbour.to_dict(), "seed": 0})


@pytest.mark.parametrize("place", [0, 17, 123])
def test_a_course_reveals_no_more_than_was_paid_for(place: int) -> None:
    course, data = measured(ROWS, None)
    there, neighbour = measured(without(ROWS, place), course)
    assert followed_alike(data, neighbour)
    losses = [abs(here - other) for here, other in zip(course.logs, there.logs, strict=True)]
    assert sum(losses) <= 4
    for loss, price in zip(losses, course.prices, strict=True):
        assert loss <= price * (1 + 1e-9) + 1e-9


def test_with_delta_one_row_moves_each_table_by_one_in_one_cell() -> None:
    course, data = measured(ROWS, None, delta=1e-6)
    there, neighbour = measured(without(ROWS, 17), course, delta=1e-6)
    assert followed_alike(data, neighbour)
    tables = [(here, other) for here, other in zip(course.moved, there.moved, strict=True) if here is not None]
    assert len(tables) > 8
    assert all(np.abs(here - other).sum() == 1 for here, other in tables)


EVEN, UNEVEN = (11.25, 11.25, 11.25, 11.25), (10.1, 12.3, 11.2, 11.4)


def rounds_of(kind: type[PairRounds], rows: np.ndarray, released: Sequence[float] = EVEN) -> PairRounds:
    """Rounds on a table of about 45 rows, each of whose columns was released with the same counts."""
    pairs = combinations(range(4), 2)
    counts = {pair: np.histogramdd(rows[:, pair], bins=[range(5)] * 2)[0].astype(np.int64) for pair in pairs}
    singles = [Measured((place,), np.array(released), 1.0) for place in range(4)]
    return kind(counts, [4] * 4, singles, sum(released), {})


def loss_of_draw(kind: type[PairRounds], rows: np.ndarray, more: Sequence[int], epsilon: float) -> float:
    """The largest log ratio of probabilities of a pair to be drawn, for rows and one row more."""
    sides = [rounds_of(kind, rows), rounds_of(kind, np.vstack([rows, more]))]
    logs = []
    for side in sides:
        exponents = np.array([float(side._raw_score(pair, 0.5)) * epsilon / (2 * SCALE) for pair in combinations(range(4), 2)])
        logs.append(exponents - exponents.max() - math.log(np.exp(exponents - exponents.max()).sum()))
    return float(np.abs(logs[0] - logs[1]).max())


EVEN_BUT_ONE = [(0, 0, first, second) for first in range(4) for second in range(4) if (first, second) != (3, 3)] * 3


def test_a_draw_of_a_pair_costs_its_epsilon_and_a_known_total_is_caught() -> None:
    rows, more = np.array(EVEN_BUT_ONE), (0, 0, 3, 3)
    assert loss_of_draw(PairRounds, rows, more, 0.5) <= 0.5
    assert loss_of_draw(KnownTotal, rows, more, 0.5) > 0.5


def test_scores_move_by_one_row_at_most_and_float_scores_are_caught() -> None:
    caught = False
    for seed in range(8):
        generator = np.random.default_rng(seed)
        rows = generator.integers(0, 4, (int(generator.integers(1, 60)), 4))
        sides = [rows, np.vstack([rows, generator.integers(0, 4, 4)])]
        whole, floats = ([rounds_of(kind, each, UNEVEN) for each in sides] for kind in (PairRounds, FloatScores))
        for pair in combinations(range(4), 2):
            fewer, more = (side._raw_score(pair, 0.5) for side in whole)
            assert type(fewer) is int
            assert abs(fewer - more) <= SCALE
            fewer, more = (side._raw_score(pair, 0.5) for side in floats)
            caught = caught or abs(fewer - more) > SCALE
    assert caught


def test_scores_do_not_run_over_however_many_rows_noise_makes() -> None:
    rows = np.array(EVEN_BUT_ONE)
    sides = [rounds_of(PairRounds, each, (4e13, 3e13, 2e13, 1e13)) for each in (rows, np.vstack([rows, (0, 0, 3, 3)]))]
    for pair in combinations(range(4), 2):
        fewer, more = (side._raw_score(pair, 0.5) for side in sides)
        assert 0 < fewer < 2**62
        assert abs(fewer - more) <= SCALE


def tail(variance: Fraction, least: int) -> float:
    """P(Z >= least) of a discrete Gaussian."""
    reach = int(least + 40 * math.sqrt(variance))
    masses = [math.exp(-(k**2) / (2 * float(variance))) for k in range(-reach, reach + 1)]
    return math.fsum(masses[reach + least :]) / math.fsum(masses)


@pytest.mark.parametrize("variance", [Fraction(1, 2), Fraction(9), Fraction(400)])
@pytest.mark.parametrize("delta", [Fraction(1, 10), Fraction(1, 10**7)])
def test_a_key_that_is_new_is_released_with_probability_delta_at_most(variance: Fraction, delta: Fraction) -> None:
    assert tail(variance, threshold_at(variance, delta) - LEAST_ROWS) <= delta


def test_thresholds_that_are_too_low_are_caught() -> None:
    variance, delta = Fraction(9), Fraction(1, 10**7)
    assert tail(variance, max(threshold_without_least_rows(variance, delta) - LEAST_ROWS, 0)) > delta
    assert tail(variance, threshold_at_root_delta(variance, delta, LEAST_ROWS) - LEAST_ROWS) > delta


def test_keys_of_few_rows_are_not_looked_at() -> None:
    counts = np.array([LEAST_ROWS - 1, 10_000, LEAST_ROWS - 1, 5_000])
    places, noisy = choose_by_count(counts, Fraction(9), Fraction(1, 10**6), seeded(1))
    assert places.tolist() == [1, 3]
    assert np.abs(noisy - counts[places]).max() < 30


def spent_on_a_course(shares: CodeShares, kind: type[CodeFinding], monkeypatch: pytest.MonkeyPatch) -> tuple[Fraction, Fraction]:
    """The rho and the delta of all steps, by what noise they were given, where the number of rows divides the budget so."""
    rho, delta = zcdp_within(4, "1e-6"), Fraction(1, 10**6)
    thresholds: list[tuple[Fraction, Fraction]] = []

    def keys(raw_counts: Any, variance: Fraction, part: Fraction, rng: Any) -> Any:
        thresholds.append((1 / (2 * variance), part))
        return choose_by_count(raw_counts, variance, part, rng)

    monkeypatch.setattr(finding, "choose_by_count", keys)
    monkeypatch.setattr(kind, "_divided", lambda self: shares)
    table = as_codes([ROWS["age"], ROWS["pay"], ROWS["kind"].astype(str)], [True, True, False])
    budget = ConcentratedTableBudget(rho, seeded(4))
    steps = kind(table, Wish(("age", "pay", "kind"), {}), budget, delta, seeded(4))
    steps.counted(steps.fine_columns())
    assert len(thresholds) == 3
    assert sum(part for part, _ in thresholds) <= rho * (1 - budget.left) <= rho
    return rho * (1 - budget.left) / rho, sum((part for _, part in thresholds), Fraction(0)) / delta


@pytest.mark.parametrize("shares", [WEAK, MIDDLING, STRONG])
def test_rho_and_delta_are_bounded_on_every_course_of_releases(shares: CodeShares, monkeypatch: pytest.MonkeyPatch) -> None:
    spent_rho, spent_delta = spent_on_a_course(shares, CodeFinding, monkeypatch)
    assert spent_rho <= shares.columns <= 1
    assert spent_delta <= 1


def test_a_delta_that_is_not_divided_among_columns_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    assert spent_on_a_course(WEAK, DeltaForEachColumn, monkeypatch)[1] > 1
