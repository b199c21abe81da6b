"""Clusters by k-means: where they lie, what is said of them, and where they are refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.statistics.clusters.clusters import Clusters, digits_text

MIDDLES = np.array([[0.0, 0.0], [10.0, 1.0], [2.0, 50.0]])


def groups(rows: int, seed: int = 1) -> Any:
    generator = np.random.default_rng(seed)
    places = generator.choice(3, rows, p=[0.5, 0.3, 0.2])
    return MIDDLES[places] + generator.normal(size=(rows, 2)) * [1.0, 5.0]


ROWS = groups(6000)


@pytest.fixture(scope="module", params=[0, 1e-6], ids=["steps", "gaussian_steps"])
def release(request: pytest.FixtureRequest) -> Any:
    return dp.kmeans(ROWS, clusters=3, epsilon=2, delta=request.param, rng=dp.testing.seeded(3))


def test_clusters_are_where_groups_are(release: Any) -> None:
    clusters = release.value
    errors = np.array(clusters.centers) - MIDDLES  # of 50%, 30% and 20% of the rows: in this order
    assert np.all(np.abs(errors) < 4.5 * np.array(clusters.errors) + [0.1, 0.5])
    assert np.allclose(clusters.sizes, [3000, 1800, 1200], atol=250)
    assert not clusters.weak
    assert clusters.explained == pytest.approx(0.9, abs=0.12)


def test_intervals_are_of_sizes_and_cover_the_noise(release: Any) -> None:
    assert len(release.intervals) == 3
    for size, within in zip(release.value.sizes, release.intervals, strict=True):
        assert within.low < size < within.high
        assert "noise" in within.covers
    assert dp.kmeans(ROWS, clusters=3, epsilon=2, interval=None, rng=dp.testing.seeded(3)).intervals == ()


def test_new_rows_belong_to_the_nearest_center(release: Any) -> None:
    clusters = release.value
    assert clusters.predict(MIDDLES).tolist() == [0, 1, 2]
    assert clusters.predict({"x1": [0.0, np.nan], "x2": [0.0, 1.0]}).tolist() == [0, -1]
    assert clusters.distances(clusters.centers).diagonal() == pytest.approx([0, 0, 0], abs=1e-9)


def test_a_release_is_made_again_from_json(release: Any) -> None:
    plain = json.loads(release.to_json())["value"]
    assert Clusters.from_dict(plain) == release.value
    assert "3 clusters of about" in str(release)
    assert "standard errors" in release.summary()
    assert "lies between clusters" in str(release.card())
    assert release.value.place_text(2).startswith("x1 ")


def test_labels_of_private_rows_do_not_exist(release: Any) -> None:
    with pytest.raises(AttributeError, match="private rows"):
        _ = release.value.labels_


@pytest.mark.floors
def test_too_few_rows_are_refused_and_rough_clusters_are_marked() -> None:
    few = groups(300)
    refused = dp.kmeans(few, clusters=3, epsilon=1, rng=dp.testing.seeded(1))
    assert isinstance(refused, dp.NoReply)
    assert "too few" in refused.reason
    assert dp.kmeans(few, clusters=3, epsilon=1, rough=True, rng=dp.testing.seeded(1)).rough


def test_clusters_that_are_not_more_than_noise_are_said_to_be_so() -> None:
    release = dp.kmeans(np.repeat([[1.0, 2.0]], 4000, axis=0), clusters=3, epsilon=2, rng=dp.testing.seeded(1))
    assert len(release.value.weak) == 2
    assert "Not more than noise" in release.summary()
    assert "weak clusters" in dict(release.notes)


def test_a_column_without_rows_to_see_away_from_its_middle_is_left_out() -> None:
    sparse = np.column_stack([ROWS, np.eye(1, len(ROWS))[0] * 1e6])
    release = dp.kmeans(sparse, clusters=3, epsilon=2, delta=1e-6, rng=dp.testing.seeded(3))
    assert [center[2] for center in release.value.centers] == [0.0, 0.0, 0.0]
    assert dict(release.notes)["left out"].startswith("x3")


def test_without_standardizing_the_widest_column_decides() -> None:
    release = dp.kmeans(ROWS, clusters=2, standardize=False, epsilon=2, rng=dp.testing.seeded(2))
    assert len(set(release.value.scales)) == 1
    assert sorted(round(center[1] / 50) for center in release.value.centers) == [0, 1]


def test_a_changed_row_costs_more() -> None:
    sizes = [
        dp.kmeans(ROWS, clusters=3, epsilon=4, neighbors=neighbors, rng=dp.testing.seeded(3)).value.size_noise
        for neighbors in ("add_remove", "change_one")
    ]
    assert sizes[1] == pytest.approx(2 * sizes[0], rel=0.3)


@pytest.mark.parametrize("clusters", [0, 51, 2.0, True, "3"])
def test_clusters_must_be_a_whole_number(clusters: Any) -> None:
    with pytest.raises(dp.InvalidParameterError, match="clusters"):
        dp.kmeans(ROWS, clusters=clusters, epsilon=1)


def test_too_many_columns_are_refused_before_anything_is_spent() -> None:
    with pytest.raises(dp.InvalidParameterError):
        dp.kmeans(np.zeros((10, 21)), epsilon=1)


@pytest.mark.filterwarnings("ignore")  # as errors they would be refusals too
@pytest.mark.parametrize("scale", [1e300, 1e307])
def test_columns_too_large_for_floats_are_refused(scale: float) -> None:
    columns = np.random.default_rng(0).normal(size=(400, 2)) * scale
    assert isinstance(dp.kmeans(columns, clusters=2, epsilon=50, delta=1e-4, rough=True), dp.NoReply)


@pytest.mark.parametrize(
    ("value", "text"), [(1894.4, "1894"), (-123456.7, "-123457"), (14.263, "14.3"), (0.00123, "0.00123"), (3e9, "3e+09")]
)
def test_numbers_below_ten_million_have_no_exponent(value: float, text: str) -> None:
    assert digits_text(value, 3) == text
