"""Mixtures of normal laws: how rows are divided, what follows from released numbers alone, and where components lie."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

import dpstats as dp
from dpstats.statistics.clusters.cluster_points import NearCenters
from dpstats.statistics.clusters.cluster_sums import ClusterOffsets
from dpstats.statistics.clusters.component_sums import SHARES, Components, ComponentSums
from dpstats.statistics.clusters.mixture_steps import take_mixture_steps
from dpstats.statistics.clusters.mixtures import MixtureFit
from tests.statistics.clusters.cluster_transcripts import run_steps
from tests.statistics.clusters.test_cluster_steps import PAIRS, with_row
from tests.statistics.clusters.test_cluster_steps import SHARES as STEP_SHARES
from tests.statistics.clusters.test_cluster_sums import CENTERS, FRAME, NUMBERS, row_of
from tests.statistics.clusters.test_kmeans import MIDDLES, ROWS

POSITIVE = st.floats(1e-4, 50.0)
SHARED = STEP_SHARES._replace(later=Fraction(1, 16))


def components(weights: tuple[float, ...], variances: tuple[float, ...]) -> Components:
    total = math.fsum(weights)
    return Components(
        NearCenters(FRAME, CENTERS), tuple(each / total for each in weights), tuple((each,) * 3 for each in variances)
    )


@given(
    st.tuples(NUMBERS, NUMBERS, NUMBERS),
    st.tuples(POSITIVE, POSITIVE, POSITIVE, POSITIVE),
    st.tuples(POSITIVE, POSITIVE, POSITIVE, POSITIVE),
    st.integers(1 << 4, 1 << 20),
)
def test_a_row_is_divided_in_whole_shares_and_its_parts_add_up_to_no_more_than_units(
    row: tuple[float, float, float], weights: Any, variances: Any, radius: int
) -> None:
    known = components(weights, variances)
    raw_shares = known.shares(known.near.points(row_of(*row)))[0]
    assert raw_shares.sum() == SHARES
    assert raw_shares.min() >= 0
    offsets = ClusterOffsets(known.near, radius, squares=True)
    raw_parts = ComponentSums(known, offsets)(row_of(*row)).reshape(4, -1).tolist()
    for raw_part, share in zip(raw_parts, raw_shares.tolist(), strict=True):
        assert sum(each**2 for each in raw_part) * SHARES**2 <= (share * offsets.units) ** 2


def test_a_row_that_is_added_whole_to_each_component_is_refuted() -> None:
    """The twin forgets the shares: the lengths of its parts add up to as many times the units as there are components."""
    known = components((1.0, 1.0, 1.0, 1.0), (4.0, 4.0, 4.0, 4.0))
    offsets = ClusterOffsets(known.near, 1 << 12, squares=True)
    raw_row = row_of(0.5, -3.0, 8.0)
    whole = [ClusterOffsets(NearCenters(FRAME, (center,)), 1 << 12, squares=True)(raw_row)[:7].tolist() for center in CENTERS]
    assert sum(math.sqrt(sum(each**2 for each in part)) for part in whole) > offsets.units


@pytest.mark.parametrize("pure", [True, False])
@pytest.mark.parametrize("pair", PAIRS)
def test_the_same_released_numbers_lead_to_the_same_mixture(pair: str, pure: bool) -> None:
    def take(table: Any, columns: int, budget: Any, rng: Any, progress: Any) -> Any:
        return take_mixture_steps(table, columns, 3, SHARED, 2, budget, rng, progress)

    raw_rows, raw_row = PAIRS[pair]
    found, first = run_steps(raw_rows, take, pure)
    again, second = run_steps(with_row(raw_rows, raw_row), take, pure, first.released)
    assert second.questions == first.questions
    assert again.centers == found.centers
    assert first.moves_are_small(second)


@pytest.fixture(scope="module", params=[0, 1e-6], ids=["steps", "gaussian_steps"])
def release(request: pytest.FixtureRequest) -> Any:
    return dp.gaussian_mixture(ROWS, components=3, epsilon=3, delta=request.param, rng=dp.testing.seeded(3))


def test_components_are_where_groups_are(release: Any) -> None:
    mixture = release.value
    assert np.allclose(mixture.weights, [0.5, 0.3, 0.2], atol=0.05)
    assert math.fsum(mixture.weights) == pytest.approx(1)
    assert np.all(np.abs(np.array(mixture.means) - MIDDLES) < [0.5, 2.5])
    assert np.allclose(np.sqrt(mixture.variances), [1, 5], rtol=0.6)
    assert len(release.intervals) == 3


def test_densities_are_those_of_the_mixture(release: Any) -> None:
    mixture = release.value
    rows = ROWS[:50]
    parts = np.zeros((50, 3))
    for place in range(3):
        laws = norm(mixture.means[place], np.sqrt(mixture.variances[place]))
        parts[:, place] = mixture.weights[place] * laws.pdf(rows).prod(axis=1)
    assert mixture.score_samples(rows) == pytest.approx(np.log(parts.sum(axis=1)))
    assert mixture.predict_proba(rows) == pytest.approx(parts / parts.sum(axis=1, keepdims=True), abs=1e-12)
    assert mixture.predict(rows).tolist() == parts.argmax(axis=1).tolist()
    missing = [[math.nan, 1.0]]
    assert mixture.predict(missing).tolist() == [-1]
    assert np.isnan(mixture.score_samples(missing)).all()
    assert np.isnan(mixture.predict_proba(missing)).all()


def test_a_mixture_is_made_again_from_json(release: Any) -> None:
    assert MixtureFit.from_dict(json.loads(release.to_json())["value"]) == release.value
    assert "3 components with weights" in str(release)
    assert "component 2" in release.summary()
    assert "component 0" in release.value._repr_html_()
