"""Means and sums without bounds: oracles, intervals, spending and what the card says."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.accounting.groups import row_epsilon
from dpstats.engines.tables.given import as_column
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import seeded
from dpstats.foundations.registry import ask
from dpstats.foundations.results import Interval
from dpstats.statistics import means
from dpstats.statistics.clipped import cells, shells
from dpstats.statistics.means import read_clipped
from dpstats.statistics.universal import limits
from tests.privacy_loss.sampled import epsilon_lower_bound
from tests.statistics.tables import ugly_columns

SHAPES: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "normal": lambda chance: chance.normal(50, 15, 2000),
    "far from zero": lambda chance: chance.normal(1e6, 1, 2000),
    "tiny": lambda chance: 1e-9 * chance.normal(0, 1, 2000),
    "lognormal": lambda chance: chance.lognormal(10, 1, 2000),
    "whole numbers": lambda chance: chance.poisson(2, 2000),
    "32-bit floats": lambda chance: chance.exponential(3, 2000).astype(np.float32),
    "half zeros": lambda chance: np.where(chance.random(2000) < 0.5, 0, chance.gamma(3, 1, 2000)),
}


def rows(name: str) -> np.ndarray:
    return SHAPES[name](np.random.default_rng(4))


def replied(outcome: Any) -> dp.Release:
    assert isinstance(outcome, dp.Release)
    return outcome


def bounds(release: dp.Release) -> Interval:
    assert release.interval is not None
    return release.interval


# Oracles


def two_values(one: float, other: float, part: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    return lambda chance, size: np.where(chance.random(size) < part, one, other)


TIED: dict[str, tuple[Callable[[np.random.Generator, int], np.ndarray], float]] = {
    "1/3 and 1/7": (two_values(1 / 3, 1 / 7, 0.8), 1 / 3 - 1 / 7),
    "logarithms": (two_values(math.log(2), math.log(3), 0.5), math.log(1.5)),
    "0 and 1": (two_values(0, 1, 0.7), 1.0),
    "one number": (lambda _, size: np.full(size, 1 / 3), 1 / 3),
    "counts less their mean": (lambda chance, size: (chance.poisson(1.3, size) - 1.3) / math.sqrt(1.3), 1.0),
    "mostly zeros less their mean": (lambda chance, size: (chance.poisson(0.4, size) - 0.4) / math.sqrt(0.4), 1.0),
}


@pytest.mark.parametrize(("size", "epsilon"), [(1000, 1), (5000, 1), (5000, 2)])
@pytest.mark.parametrize("name", TIED)
def test_rows_tied_at_numbers_of_many_digits_have_a_mean(name: str, size: int, epsilon: float) -> None:
    draw, spread = TIED[name]
    for seed in range(8):
        data = draw(np.random.default_rng(seed), size)
        release = replied(dp.mean(data, epsilon=epsilon, rng=dp.testing.seeded(seed)))
        assert abs(release.value - data.mean()) < 0.2 * spread
        assert bounds(release).high - bounds(release).low < 3 * spread


@pytest.mark.parametrize("neighbors", ["add_remove", "change_one"])
@pytest.mark.parametrize("name", SHAPES)
def test_with_a_huge_epsilon_mean_and_sum_are_numpys(name: str, neighbors: str) -> None:
    data = rows(name)
    exact = np.mean(data, dtype=np.float64)
    spread = float(np.std(data, dtype=np.float64))
    mean = dp.mean(data, epsilon=1e6, neighbors=neighbors, rng=seeded(1))
    total = dp.sum(data, epsilon=1e6, neighbors=neighbors, rng=seeded(2))
    assert float(mean) == pytest.approx(exact, abs=spread * 1e-3)
    assert float(total) == pytest.approx(exact * len(data), abs=len(data) * spread * 1e-3 + abs(exact) * 0.01)


def test_whole_numbers_beyond_what_floats_hold_are_averaged() -> None:
    data = 2**60 + 1000 * np.arange(-1000, 1001)
    assert float(dp.mean(data, epsilon=1e6, rng=seeded(1))) == pytest.approx(2.0**60, rel=1e-13)


@pytest.mark.parametrize("name", ugly_columns())
@pytest.mark.parametrize("statistic", [dp.mean, dp.sum])
def test_every_column_gets_an_answer_that_is_a_number(name: str, statistic: Callable[..., Any]) -> None:
    for epsilon in (0.01, 5):
        release = replied(statistic(ugly_columns()[name], epsilon=epsilon, rng=seeded(3)))
        assert math.isfinite(float(release))
        if release.interval is not None:
            assert release.interval.low <= float(release) <= release.interval.high


def test_a_constant_column_has_its_value_as_the_mean() -> None:
    release = replied(dp.mean(np.full(5000, 12.99), epsilon=1, rng=seeded(3)))
    assert float(release) == 12.99
    assert float(dp.sum(np.full(5000, 12.99), epsilon=1, rng=seeded(3))) == pytest.approx(5000 * 12.99, rel=0.2)


@pytest.mark.floors
def test_missing_rows_are_left_out_and_infinite_ones_are_cut_off() -> None:
    data = np.concatenate([np.random.default_rng(1).normal(10, 1, 3000), [math.nan] * 500, [math.inf]])
    replies = [dp.mean(data, epsilon=5, rng=seeded(seed)) for seed in range(10)]
    found = [reply.value for reply in replies if isinstance(reply, dp.Release)]
    assert len(found) >= 8, "a row far out is seldom seen; three would be, which is a refusal"
    assert found == pytest.approx([10] * len(found), abs=0.1)


def test_one_row_far_out_does_not_carry_the_mean_away() -> None:
    data = np.concatenate([np.random.default_rng(1).normal(10, 1, 3000), [1e300]])
    assert float(dp.mean(data, epsilon=1, rng=seeded(1))) == pytest.approx(10, abs=0.2)


# Intervals


@pytest.mark.parametrize("name", [name if name == "normal" else pytest.param(name, marks=pytest.mark.long) for name in SHAPES])
def test_intervals_cover_what_they_say_most_of_the_time(name: str) -> None:
    chance = np.random.default_rng(12)
    truth = float(np.mean([SHAPES[name](chance).mean() for _ in range(300)]))
    hits = 0
    for seed in range(24):
        interval = bounds(replied(dp.mean(SHAPES[name](chance), epsilon=1, rng=seeded(seed))))
        hits += interval.low <= truth <= interval.high
    assert hits >= 20  # at 93% the chance of fewer is below 1 in 100


def test_an_interval_narrows_with_epsilon_and_widens_with_its_level() -> None:
    data = rows("normal")
    widths = [np.ptp(list(span(dp.mean(data, epsilon=epsilon, rng=seeded(5))))) for epsilon in (0.5, 5, 300)]
    assert widths == sorted(widths, reverse=True)
    levels = [np.ptp(list(span(dp.mean(data, epsilon=1, interval=level, rng=seeded(5))))) for level in (0.5, 0.9, 0.99)]
    assert levels == sorted(levels)


def span(release: Any) -> tuple[float, float]:
    interval = bounds(replied(release))
    return interval.low, interval.high


def test_where_all_rows_seem_alike_the_interval_allows_for_a_few_others() -> None:
    rows = np.where(np.arange(900) % 45, 7.5, 8.5)  # twenty others cannot be told from none
    mean, total = (replied(statistic(rows, epsilon=1, rng=seeded(1))) for statistic in (dp.mean, dp.sum))
    assert float(mean) == 7.5
    assert bounds(mean).low < rows.mean() < bounds(mean).high < 8
    assert bounds(total).low < rows.sum() <= bounds(total).high < 1.1 * rows.sum()


def test_no_interval_is_made_where_none_is_wanted() -> None:
    for statistic in (dp.mean, dp.sum):
        assert replied(statistic(rows("normal"), epsilon=1, interval=None, rng=seeded(1))).interval is None


# Spending and the card


@pytest.mark.parametrize("neighbors", [Neighbors.ADD_REMOVE, Neighbors.CHANGE_ONE])
@pytest.mark.parametrize("name", ["normal", "half zeros"])
def test_limits_and_cells_together_spend_exactly_the_epsilon_of_a_row(
    name: str, neighbors: Neighbors, monkeypatch: pytest.MonkeyPatch
) -> None:
    spent: list[Fraction] = []
    real_limits, real_shells, real_cells = limits.limits_around, shells.widen_cut, cells.release_cells

    def watch_limits(*others: Any, **named: Any) -> Any:
        found = real_limits(*others, **named)
        spent.append(found.spent)
        return found

    def watch_shells(column: Any, cut: Any, epsilon: Fraction, *others: Any) -> Any:
        widened = real_shells(column, cut, epsilon, *others)
        spent.append(epsilon + widened.spent_again)
        return widened

    def watch_cells(column: Any, clip: Any, degree: int, epsilon: Fraction, *others: Any) -> Any:
        spent.append(epsilon)
        return real_cells(column, clip, degree, epsilon, *others)

    monkeypatch.setattr(means, "limits_around", watch_limits)
    monkeypatch.setattr(means, "widen_cut", watch_shells)
    monkeypatch.setattr(means, "release_cells", watch_cells)
    question = ask("mean", epsilon="1.4", neighbors=neighbors)
    read_clipped(as_column(rows(name)), question, seeded(1))
    assert len(spent) == 3
    for_one_row = row_epsilon(question.epsilon, question.neighbors)
    assert sum(spent) == for_one_row == (Fraction(7, 5) if neighbors is Neighbors.ADD_REMOVE else Fraction(7, 10))


def test_the_card_depends_on_the_released_limits_and_the_question_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    fixed = limits.draw_limits(as_column(rows("normal")), Fraction(1), seeded(1))
    monkeypatch.setattr(means, "limits_around", lambda *others, **named: fixed)
    monkeypatch.setattr(means, "widen_cut", lambda column, cut, *others: shells.Widened(cut, 1000, Fraction(0)))
    cards = [replied(dp.mean(data, epsilon=1, rng=seeded(2))).notes for data in (rows("normal"), rows("lognormal"), rows("tiny"))]
    assert cards[0] == cards[1] == cards[2]


def test_more_of_the_same_noise_moves_the_mean_by_what_the_cells_say() -> None:
    question = ask("mean", epsilon=1)
    clipped = read_clipped(as_column(rows("normal")), question, seeded(6))
    assert clipped.cells is not None
    assert clipped.cells.epsilon < 1
    assert clipped.cells.noisy.sum() == pytest.approx(2000, abs=60)


# Sampled attacks on the whole statistic


PAIRS = {
    "all alike": (np.full(9, 12.99), np.full(10, 12.99)),
    "an outlier": (np.array([1.0, 2.0, 3.0, 4.0] * 10), np.array([1.0, 2.0, 3.0, 4.0] * 10 + [1e6])),
    "nothing or one row": (np.array([]), np.array([1e9])),
}


@pytest.mark.long
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("statistic", [dp.mean, dp.sum])
def test_no_event_of_a_hard_pair_refutes_the_claim(statistic: Callable[..., Any], pair: str) -> None:
    def samples(data: np.ndarray, seed: int, runs: int) -> list[float]:
        rng = seeded(seed)
        return [float(statistic(data, epsilon=1, interval=None, rng=rng)) for _ in range(runs)]

    table, neighbour = PAIRS[pair]
    pilot = samples(table, 3, 200) + samples(neighbour, 4, 200)
    first, second = samples(table, 5, 2000), samples(neighbour, 6, 2000)
    for cut in np.unique(np.quantile(pilot, np.linspace(0.02, 0.98, 25))):
        for one, other in ((first, second), (second, first)):
            found = epsilon_lower_bound(one, other, lambda value, cut=cut: value <= cut, confidence=1 - 1e-7)  # type: ignore[misc]
            assert found.at_least <= 1


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6, 1e12])
@pytest.mark.parametrize("zeros", [0.0, 0.5, 0.7])
def test_zeros_and_the_unit_of_a_column_do_not_lead_a_mean_astray(zeros: float, scale: float) -> None:
    chance = np.random.default_rng(5)
    misses = []
    for seed in range(5):
        rows = np.where(chance.random(4_000) < zeros, 0.0, scale * chance.lognormal(0, 0.5, 4_000))
        release = dp.mean(rows, epsilon=2, rng=seeded(seed))
        misses.append(abs(release.value - rows.mean()) / (rows.std() / math.sqrt(len(rows))))
    assert np.median(misses) < 1  # of the standard error that there is without privacy
