"""Principal components as a transformer of scikit-learn: what they keep, transform and refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import dpstats as dp
from dpstats.models.given import UnsuitableDataError

CHANCE = np.random.default_rng(5)
FACTOR = CHANCE.normal(size=(3000, 1))
X = np.hstack([FACTOR + 0.4 * CHANCE.normal(size=(3000, 3)), CHANCE.normal(size=(3000, 1))]) * [1.0, 10.0, 0.1, 3.0] + 5.0


def unfitted(**changes: Any) -> Any:
    return dp.models.PCA(**{"epsilon": 2, "rng": dp.testing.seeded(1), **changes})


def test_a_fit_keeps_what_was_released() -> None:
    model = unfitted().fit(X)
    found = model.release_.value
    assert model.components_.tolist() == [list(each) for each in found.components]
    assert model.explained_variance_.tolist() == list(found.explained_variance)
    assert model.explained_variance_ratio_.tolist() == list(found.explained_variance_ratio)
    assert model.mean_.tolist() == list(found.means)
    assert model.scale_.tolist() == list(found.scales)
    assert (model.n_components_, model.n_features_in_) == (2, 4)
    assert model.get_feature_names_out().tolist() == ["pca0", "pca1"]
    assert unfitted(scale=False).fit(X).scale_ is None


def test_rows_are_transformed_forth_and_back() -> None:
    model = unfitted(n_components=4)
    scores = model.fit_transform(X)
    standard = (X - model.mean_) / model.scale_
    assert scores == pytest.approx(standard @ model.components_.T)
    assert model.inverse_transform(scores) == pytest.approx(X, abs=1e-6)
    frame = pd.DataFrame(X, columns=list("abcd"))
    assert clone(model).fit(frame).transform(frame) == pytest.approx(scores)
    with pytest.raises(ValueError, match="feature names should match"):
        clone(model).fit(frame).transform(frame[list("bacd")])


def test_parameters_reach_the_question() -> None:
    cost = unfitted(epsilon=1, delta=1e-6, neighbors="change_one", unit="person").fit(X).release_.cost
    assert cost == dp.PrivacyCost(1, 1e-6, "change_one", "person")


def test_it_works_in_a_pipeline() -> None:
    pipeline = make_pipeline(FunctionTransformer(), unfitted())
    assert pipeline.fit_transform(X).shape == (3000, 2)


def test_a_refusal_is_raised_and_leaves_no_fit() -> None:
    model = unfitted().fit(X)
    with pytest.raises(dp.NoReplyError, match="PCA was not fitted"):
        model.fit(X[:40])
    assert isinstance(model.release_, dp.NoReply)
    assert not hasattr(model, "components_")
    with pytest.raises(NotFittedError):
        model.transform(X)


def test_one_feature_is_too_few() -> None:
    with pytest.raises(UnsuitableDataError, match="two features or more"):
        unfitted().fit(X[:, :1])
