"""Clusters and mixtures as estimators of scikit-learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import dpstats as dp
from tests.statistics.clusters.test_kmeans import MIDDLES, ROWS

FRAME = pd.DataFrame(ROWS, columns=["width", "height"])


@pytest.fixture(scope="module")
def clusters() -> dp.models.KMeans:
    return dp.models.KMeans(n_clusters=3, epsilon=3, rng=dp.testing.seeded(1)).fit(FRAME)


@pytest.fixture(scope="module")
def mixture() -> dp.models.GaussianMixture:
    return dp.models.GaussianMixture(n_components=3, epsilon=3, delta=1e-6, rng=dp.testing.seeded(1)).fit(FRAME)


def test_clusters_are_those_of_the_release(clusters: dp.models.KMeans) -> None:
    value = clusters.release_.value  # type: ignore[union-attr]
    new = pd.DataFrame(MIDDLES, columns=FRAME.columns)
    assert clusters.cluster_centers_.tolist() == [list(center) for center in value.centers]
    assert clusters.predict(new).tolist() == value.predict(MIDDLES).tolist() == [0, 1, 2]
    assert clusters.transform(new) == pytest.approx(value.distances(MIDDLES))
    assert clusters.score(new) == pytest.approx(-np.square(value.distances(MIDDLES).min(axis=1)).sum())
    assert list(clusters.get_feature_names_out()) == ["kmeans0", "kmeans1", "kmeans2"]


def test_there_are_no_labels_of_private_rows(clusters: dp.models.KMeans) -> None:
    assert not hasattr(clusters, "labels_")
    assert not hasattr(clusters, "fit_predict")


def test_a_mixture_is_that_of_the_release(mixture: dp.models.GaussianMixture) -> None:
    value = mixture.release_.value  # type: ignore[union-attr]
    assert mixture.covariances_.shape == mixture.means_.shape == (3, 2)
    assert mixture.weights_.tolist() == list(value.weights)
    assert mixture.predict_proba(FRAME[:9]) == pytest.approx(value.predict_proba(ROWS[:9]))
    assert mixture.score(FRAME) == pytest.approx(value.score_samples(ROWS).mean())
    assert mixture.predict(pd.DataFrame(MIDDLES, columns=FRAME.columns)).tolist() == [0, 1, 2]


def test_distances_go_through_pipelines() -> None:
    model = make_pipeline(FunctionTransformer(), dp.models.KMeans(n_clusters=2, epsilon=3, rng=dp.testing.seeded(1)))
    assert model.fit_transform(ROWS).shape == (len(ROWS), 2)


@pytest.mark.floors
def test_a_refused_fit_leaves_nothing_behind() -> None:
    model = dp.models.KMeans(n_clusters=3, epsilon=1, rng=dp.testing.seeded(1))
    with pytest.raises(dp.NoReplyError):
        model.fit(ROWS[:50])
    assert not hasattr(model, "cluster_centers_")
