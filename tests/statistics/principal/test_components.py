"""Principal components: near those of the rows where there is enough of them, refused where not, and the same when read again."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.statistics.principal.components import PrincipalComponents, components_of
from dpstats.statistics.principal.shrinkage import quality_of, shrunk, strength
from dpstats.statistics.regression.points import Floats
from dpstats.testing import seeded

WAYS: list[dict[str, Any]] = [{}, {"delta": 1e-6}, {"scale": False}, {"neighbors": "change_one"}]


def rows_of(rows: int, seed: int = 3) -> Floats:
    """Five columns in different units, of which the first three follow one factor."""
    generator = np.random.default_rng(seed)
    factor = generator.normal(size=(rows, 1))
    standard = np.hstack([factor + 0.5 * generator.normal(size=(rows, 3)), generator.normal(size=(rows, 2))])
    return np.asarray(standard * [1.0, 5.0, 100.0, 20.0, 0.1] + [0.0, -3.0, 1e4, 50.0, 7.0])


def best_share(components: Any, matrix: Floats) -> float:
    """The variance along components, over the largest that so many can have."""
    basis = np.linalg.qr(np.array(components).T)[0]
    return float(np.trace(basis.T @ matrix @ basis) / np.linalg.eigvalsh(matrix)[::-1][: basis.shape[1]].sum())


@pytest.mark.parametrize("words", WAYS)
def test_they_have_nearly_the_variance_of_the_best(words: dict[str, Any]) -> None:
    raw_rows = rows_of(6000)
    release = dp.pca(raw_rows, epsilon=2, rng=seeded(1), **words)
    found = release.value
    matrix = np.corrcoef(raw_rows.T) if words.get("scale", True) else np.cov(raw_rows.T)
    assert best_share(found.components, matrix) > 0.99
    assert found.quality.low <= best_share(found.components, matrix) + 0.002
    values = np.linalg.eigvalsh(matrix)[::-1][:2]
    assert found.explained_variance == pytest.approx(values, rel=0.15)
    assert found.explained_variance_ratio == pytest.approx(values / np.trace(matrix), abs=0.06)
    assert found.means == pytest.approx(raw_rows.mean(axis=0), abs=0.1 * raw_rows.std(axis=0).max())
    assert abs(found.rows - 6000) < 500
    assert release.interval is None
    assert "drawn toward the middle" in release.unknown


def test_scores_and_rows_go_forth_and_back() -> None:
    raw_rows = rows_of(4000)
    found = dp.pca(raw_rows, components=5, epsilon=4, rng=seeded(1)).value
    scores = found.transform(raw_rows[:50])
    assert scores.shape == (50, 5)
    assert found.inverse_transform(scores) == pytest.approx(raw_rows[:50], rel=1e-6, abs=1e-3)
    standard = (raw_rows[:50] - found.means) / found.scales
    assert scores == pytest.approx(standard @ np.array(found.components).T)


def test_a_release_is_read_again_as_it_was_and_follows_from_its_noisy_moments() -> None:
    found = dp.pca(rows_of(4000), epsilon=2, rng=seeded(4)).value
    again = PrincipalComponents.from_dict(json.loads(json.dumps(found.to_dict())))
    assert again.to_dict() == found.to_dict()
    assert components_of(again.names, again.moments, 2, True).value.to_dict() == found.to_dict()
    assert all(isinstance(each, int) for each in again.moments.sums)


def test_what_it_prints() -> None:
    release = dp.pca(pd.DataFrame(rows_of(4000)[:, :2], columns=["a", "b"]), components=1, epsilon=4, rng=seeded(1))
    assert str(release.value).startswith("1 component of 2 columns with 0.8")
    first, *_, last = release.summary().splitlines()
    assert first.split() == ["component", "1"]
    assert "of the variance that the best component would have" in last
    assert [name for name, _ in release.value.named_values()] == ["share of component 1", "a on component 1", "b on component 1"]


@pytest.mark.parametrize("rows", [0, 1, 300])
@pytest.mark.parametrize("words", WAYS[:2])
def test_few_rows_are_refused(rows: int, words: dict[str, Any]) -> None:
    reply = dp.pca(rows_of(5000)[:rows], epsilon=1, rng=seeded(2), **words)
    assert isinstance(reply, dp.NoReply)
    assert "too few" in reply.reason


@pytest.mark.parametrize("words", WAYS[:2])
def test_columns_that_follow_no_direction_are_refused(words: dict[str, Any]) -> None:
    raw_rows = np.random.default_rng(1).normal(size=(3000, 6))
    replies = [dp.pca(raw_rows, epsilon=1, rng=seeded(seed), **words) for seed in range(8)]
    assert sum(isinstance(reply, dp.NoReply) for reply in replies) >= 7


def test_a_column_that_does_not_vary_is_named() -> None:
    raw_rows = rows_of(5000)
    raw_rows[:, 1] = 3.0
    reply = dp.pca(pd.DataFrame(raw_rows[:, :3], columns=["a", "still", "b"]), epsilon=2, rng=seeded(2))
    assert isinstance(reply, dp.NoReply)
    assert "The column still varies no more than the noise" in reply.reason


def test_infinite_and_missing_rows_do_not_stop_it() -> None:
    raw_rows = rows_of(5000)
    raw_rows[:50, 0], raw_rows[50:100, 1], raw_rows[100:150, 2] = np.inf, -np.inf, np.nan
    assert best_share(dp.pca(raw_rows, epsilon=2, rng=seeded(3)).value.components, np.corrcoef(rows_of(5000).T)) > 0.97


def test_complaints_are_about_public_things() -> None:
    with pytest.raises(dp.InvalidParameterError, match="two columns or more"):
        dp.pca(rows_of(10)[:, :1], epsilon=1)
    with pytest.raises(dp.InvalidParameterError, match="5 columns have at most 5 components, and 6"):
        dp.pca(rows_of(10), components=6, epsilon=1)
    with pytest.raises(dp.InvalidParameterError, match="components must be a whole number"):
        dp.pca(rows_of(10), components=0, epsilon=1)
    with pytest.raises(dp.InvalidParameterError, match="scale must be True or False"):
        dp.pca(rows_of(10), scale=1, epsilon=1)


def test_noisier_correlations_are_drawn_further_toward_0() -> None:
    noisy = np.array([[1.0, 0.5, 0.5], [0.5, 1.0, 0.1], [0.5, 0.1, 1.0]])
    noise = np.array([[0.0, 1e-6, 0.04], [1e-6, 0.0, 1e-6], [0.04, 1e-6, 0.0]])
    found, factors = shrunk(noisy, noise)
    assert found[0, 1] == pytest.approx(0.5, abs=1e-3)
    assert 0.2 < found[0, 2] < 0.48
    assert np.diag(factors).tolist() == [1.0] * 3
    assert strength(noisy, np.full((3, 3), 0.25)) < 0.5 < strength(noisy, np.full((3, 3), 0.01))


def test_quality_falls_from_nearly_all_to_chance_as_errors_grow() -> None:
    matrix, ones = np.diag([3.0, 1.0, 0.5, 0.5]), np.ones((4, 4))
    shares = [quality_of(matrix, np.full((4, 4), error**2), ones, 1) for error in (1e-6, 0.3, 100.0)]
    assert shares[0].share == 0.999
    assert shares[0].gain == 1.0
    assert 0.9 < shares[1].share < 0.999
    assert shares[2].share == pytest.approx(shares[2].chance, abs=0.1)
    assert shares[2].chance == pytest.approx(5 / 4 / 3, abs=1e-3)
