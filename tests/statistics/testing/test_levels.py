"""Under the null hypothesis a test at level 0.05 rejects in at most 5 of 100 tables; twins that forget the noise do not."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.statistics.sign_tests import share_interval, sign_p_value
from dpstats.statistics.testing import tables
from dpstats.statistics.testing.kolmogorov_law import NoisyGap
from dpstats.statistics.testing.noise import simulated_noise
from dpstats.testing import seeded
from tests.statistics.testing.columns import GROUPS, SHAPES, most_rejections, two_groups
from tests.twins.hypotheses import noiseless_chi_square_p, noiseless_gap_p, noiseless_sign_p

SIZES = [(100, 0.1), (100, 3), (1_000, 0.1), (1_000, 1), (10_000, 0.1), (10_000, 3)]


def noisy_sides(rows: int, epsilon: float, repeats: int, share: float = 0.5) -> list[tuple[int, int]]:
    generator = np.random.default_rng(rows)
    above = generator.binomial(rows, share, repeats)
    noise = simulated_noise(generator, epsilon, (repeats, 2))
    return [(int(rows - up + z[0]), int(up + z[1])) for up, z in zip(above, noise, strict=True)]


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
@pytest.mark.parametrize(("rows", "epsilon"), SIZES)
def test_the_sign_test_keeps_its_level(rows: int, epsilon: float, alternative: str) -> None:
    drawn = noisy_sides(rows, epsilon, 1500)
    p_values = np.array([sign_p_value(up - low, max(up + low, 0), epsilon, alternative) for low, up in drawn])
    for level in (0.01, 0.05, 0.2):
        assert np.mean(p_values <= level) <= most_rejections(1500, level)
    assert np.mean(p_values <= 0.05) > 0.02


def test_a_sign_test_that_forgets_the_noise_is_refuted() -> None:
    p_values = np.array([noiseless_sign_p(low, up) for low, up in noisy_sides(100, 0.1, 300)])
    assert np.mean(p_values <= 0.05) > 2 * most_rejections(300)


@pytest.mark.parametrize("share", [0.5, 0.9, 0.999])
@pytest.mark.parametrize(("rows", "epsilon"), SIZES)
def test_the_interval_of_a_share_covers_it(rows: int, epsilon: float, share: float) -> None:
    drawn = noisy_sides(rows, epsilon, 600, share)
    intervals = [share_interval(up, max(up + low, 0), 0.95, epsilon) for low, up in drawn]
    assert np.mean([low <= share <= high for low, high in intervals]) > (
        0.925 if share < 0.99 else 0.9
    )  # few rows on one side are lumpy


def null_gap(generator: np.random.Generator, rows: int) -> float:
    places = rows * np.sort(generator.random(rows))
    up_to = np.arange(1, rows + 1)
    return float(max((up_to - places).max(), (places - up_to + 1).max()))


def null_gap_between(generator: np.random.Generator, first: int, second: int) -> float:
    marks = generator.permutation(np.repeat([1, 0], [first, second]))
    ones, others = np.cumsum(marks), np.cumsum(1 - marks)
    return float(np.abs(second * ones - first * others).max() / (first + second))


@pytest.mark.parametrize("split", [None, 0.5, 0.1])
@pytest.mark.parametrize(("rows", "epsilon"), [(100, 0.3), (1_000, 0.1), (1_000, 3)])
def test_kolmogorovs_tests_keep_their_level(rows: int, epsilon: float, split: float | None) -> None:
    generator = np.random.default_rng(rows)
    p_values = []
    for _ in range(500):
        groups = [rows] if split is None else [int(rows * split), rows - int(rows * split)]
        gap = null_gap(generator, rows) if split is None else null_gap_between(generator, *groups)
        noisy_rows = tuple((groups + simulated_noise(generator, epsilon / 4, (len(groups),))).tolist())
        noisy_gap = gap + generator.laplace(0, 1 / (0.75 * epsilon))
        p_values.append(NoisyGap(noisy_gap, noisy_rows, 0.75 * epsilon, 0.25 * epsilon).p_value())
    assert 0.015 < np.mean(np.array(p_values) <= 0.05) <= most_rejections(500)


def test_a_kolmogorov_test_that_forgets_the_noise_is_refuted() -> None:
    generator = np.random.default_rng(3)
    gaps = [null_gap(generator, 100) + generator.laplace(0, 1 / 0.075) for _ in range(200)]
    assert np.mean([noiseless_gap_p(gap, 100) <= 0.05 for gap in gaps]) > 2 * most_rejections(200)


DESIGNS: dict[str, tuple[Any, Any, int]] = {
    "2 x 2": ([0.3, 0.7], [0.5, 0.5], 1),
    "2 x 2, rare": ([0.03, 0.97], [0.1, 0.9], 1),
    "3 x 4, uneven": ([0.8, 0.15, 0.05], [0.6, 0.25, 0.1, 0.05], 6),
    "fit": ([1.0], [0.7, 0.2, 0.07, 0.03], 3),
}


def null_tables(design: str, rows: int, epsilon: float, repeats: int) -> tuple[Any, Any, int, Any]:
    down, across, df = DESIGNS[design]
    chances = np.outer(down, across)
    generator = np.random.default_rng(rows)
    drawn = generator.multinomial(rows, chances.ravel(), repeats).reshape(repeats, *chances.shape)
    expectation = tables.proportional(chances) if design == "fit" else tables.independent
    return drawn + simulated_noise(generator, epsilon, drawn.shape), expectation, df, generator


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize(("rows", "epsilon"), [(100, 0.3), (1_000, 0.1), (1_000, 3)])
def test_chi_square_tests_keep_their_level_and_the_interval_of_no_effect_starts_at_none(
    rows: int, epsilon: float, design: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "SIMULATED", 399)
    monkeypatch.setattr(tables, "_LEAST_SIMULATED", 399)
    noisy, expectation, df, generator = null_tables(design, rows, epsilon, 400)
    judged = [tables.judge(table, expectation, epsilon, generator) for table in noisy]
    rejected = np.mean([each.p_value <= 0.05 for each in judged])
    assert 0.01 < rejected <= most_rejections(400)
    covered = np.mean([each.effect_interval(0.95, df)[0] == 0 for each in judged])
    assert covered >= 1 - most_rejections(400)


@pytest.mark.parametrize("design", ["2 x 2", "3 x 4, uneven"])
def test_a_chi_square_test_that_forgets_the_noise_is_refuted(design: str) -> None:
    noisy, _, _, _ = null_tables(design, 300, 0.1, 200)
    assert np.mean([noiseless_chi_square_p(table) <= 0.05 for table in noisy]) > 2 * most_rejections(200)


@pytest.mark.parametrize("shape", ["normal", "heavy-tailed"])  # `test_whole_tests_keep_their_level` has all of them
def test_the_t_test_keeps_its_level(shape: str) -> None:
    draw, mean, _ = SHAPES[shape]
    generator = np.random.default_rng(9)
    p_values = [dp.t_test(draw(generator, 500), mean, epsilon=1, rng=seeded(seed)).value.p_value for seed in range(40)]
    assert np.mean(np.array(p_values) <= 0.05) <= most_rejections(40)
    assert min(p_values) < 0.5


Asked = Callable[[np.random.Generator, int, str], tuple[Any, ...]]
WHOLE: dict[str, Asked] = {
    "t_test": lambda g, n, s: (SHAPES[s][0](g, n), SHAPES[s][1]),
    "two_sample_t_test": lambda g, n, s: (SHAPES[s][0](g, n), two_groups(g, n, 0.3), GROUPS),
    "sign_test": lambda g, n, s: (SHAPES[s][0](g, n), SHAPES[s][2]),
    "median_test": lambda g, n, s: (SHAPES[s][0](g, n), two_groups(g, n, 0.3), GROUPS),
    "two_sample_ks_test": lambda g, n, s: (SHAPES[s][0](g, n), two_groups(g, n, 0.3), GROUPS),
}


@pytest.mark.long
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)])
@pytest.mark.parametrize("rows", [100, 1_000, 10_000])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", WHOLE)
def test_whole_tests_keep_their_level(name: str, shape: str, rows: int, epsilon: Fraction) -> None:
    generator = np.random.default_rng(21)
    p_values = []
    for seed in range(200):
        data = WHOLE[name](generator, rows, shape)
        p_values.append(getattr(dp, name)(*data, epsilon=epsilon, rough=True, rng=seeded(seed)).value.p_value)
    assert np.mean(np.array(p_values) <= 0.05) <= most_rejections(200)
