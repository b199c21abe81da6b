"""Classifiers are private: forced courses, residuals, draws of splits; and twins that make known mistakes are caught."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import dpstats as dp
from dpstats.statistics.classification.features import CodedFeature
from dpstats.statistics.classification.residuals import (
    CURVATURE_BOUND,
    SCALE,
    CurvatureSum,
    Margins,
    ResidualSum,
    length_is_within,
    residual_bound,
)
from dpstats.statistics.classification.splits import NodeSplit, agreement_scores, possible_splits
from dpstats.testing import seeded
from tests.laws.mechanisms import exponential_of_minus
from tests.privacy_loss.exact import largest_log_ratio
from tests.replays.classifiers import following_classifier
from tests.replays.synthesis import Course
from tests.twins.classifiers import RoundedLast, information_gains

GENERATOR = np.random.default_rng(5)
PLACES = GENERATOR.integers(0, 3, 200)
FEATURES = {
    "age": np.round(GENERATOR.normal(40, 12, 200) + 8 * PLACES),
    "pay": np.where(GENERATOR.random(200) < 0.2, np.nan, GENERATOR.lognormal(3, 1, 200)),
}
OUTCOMES = {2: (PLACES > 0).astype(int), 3: PLACES}
STATISTICS = ["additive_classifier", "naive_bayes", "decision_tree"]


def asked(statistic: str, classes: int, left_out: int | None, course: Course | None, **words: Any) -> tuple[Course, Any]:
    kept = np.arange(200) != (-1 if left_out is None else left_out)
    rows = {name: values[kept] for name, values in FEATURES.items()}
    with following_classifier(course) as followed:
        release = getattr(dp, statistic)(
            rows, OUTCOMES[classes][kept], classes=list(range(classes)), epsilon=4, rng=seeded(3), rough=True, **words
        )
    return followed, release.value


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("statistic", "method"), [*((name, "auto") for name in STATISTICS), ("decision_tree", "id3")])
def test_a_course_reveals_no_more_than_was_paid_for(statistic: str, classes: int, method: str) -> None:
    course, model = asked(statistic, classes, None, None, method=method)
    for place in (0, 123):
        there, neighbour = asked(statistic, classes, place, course, method=method)
        assert neighbour.to_dict() == model.to_dict()
        losses = [abs(here - other) for here, other in zip(course.logs, there.logs, strict=True)]
        assert sum(losses) <= 4 + 1e-9
        for loss, price in zip(losses, course.prices, strict=True):
            assert loss <= price * (1 + 1e-9) + 1e-9


def test_with_delta_a_row_moves_sums_by_no_more_than_their_bound() -> None:
    course, model = asked("additive_classifier", 3, None, None, delta=1e-6)
    there, neighbour = asked("additive_classifier", 3, 17, course, delta=1e-6)
    assert neighbour.to_dict() == model.to_dict()
    pairs = [(here, other) for here, other in zip(course.moved, there.moved, strict=True) if isinstance(here, tuple)]
    assert len(pairs) > 3
    for (sums, bound), (others, _) in pairs:
        assert sum((one - other) ** 2 for one, other in zip(sums, others, strict=True)) <= bound**2


@given(st.integers(2, 6), st.sampled_from([1, 2]), st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_no_residual_is_longer_than_its_bound(classes: int, norm: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    directions = 1 if classes == 2 else classes
    scale = 10.0 ** generator.integers(-2, 3)
    margins = Margins(tuple(generator.normal(0, scale, (directions, 4)) for _ in range(3)), classes)
    codes = np.column_stack([generator.integers(0, 4, (50, 3)), generator.integers(0, classes, 50)])
    row_sum = ResidualSum(margins, 1, 4, norm)
    steps = row_sum.residuals(codes)
    assert length_is_within(steps, residual_bound(classes, norm), norm).all()
    alone = np.concatenate([row_sum.residuals(codes[place : place + 1]) for place in range(50)], axis=1)
    assert np.array_equal(steps, alone)
    assert np.array_equal(row_sum(codes), row_sum(codes[:20]) + row_sum(codes[20:]))
    falls = [CurvatureSum(row_sum)(codes[place : place + 1]).item() for place in range(50)]
    assert 0 <= min(falls) <= max(falls) <= CURVATURE_BOUND
    assert sum(falls) == CurvatureSum(row_sum)(codes).item()
    assert not np.any(row_sum(codes[:0]))


def test_residuals_are_those_of_a_logistic_model_cut_at_a_half() -> None:
    effects = np.array([[-3.0, 0.0, 3.0]])
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]])
    steps = ResidualSum(Margins((effects,), 2), 0, 3, 2).residuals(codes)[0] / SCALE
    by_hand = [place - 1 / (1 + math.exp(-score)) for score in (-3, 0, 3) for place in (0, 1)]
    assert np.allclose(steps, np.clip(by_hand, -0.5, 0.5), atol=1e-6)


def test_residuals_that_are_rounded_after_they_are_added_move_by_more_than_the_bound() -> None:
    margins = Margins((np.array([[0.37], [0.11]])[:1], np.array([[0.0, 2.5]])), 2)
    generator = np.random.default_rng(1)
    rows = np.column_stack([np.zeros(60_000, int), generator.integers(0, 2, 60_000), generator.integers(0, 2, 60_000)])
    rows[:, 2] |= rows[:, 1]
    more = np.array([[0, 1, 0]])

    def move(kind: type[ResidualSum]) -> int:
        row_sum = kind(margins, 0, 1, 2)
        start = row_sum(rows) if kind is RoundedLast else sum(row_sum(part) for part in np.array_split(rows, 8))
        after = row_sum(np.vstack([more, rows])) if kind is RoundedLast else start + row_sum(more)
        return int(np.abs(after - start).max())

    assert move(ResidualSum) <= SCALE // 2
    assert move(RoundedLast) > SCALE // 2


TABLES = arrays(np.int64, (3, 3), elements=st.integers(0, 5))


@given(TABLES, TABLES, st.integers(0, 2), st.integers(0, 2), st.integers(0, 2))
@settings(max_examples=60)
def test_a_row_raises_every_agreement_by_0_or_1(first: Any, second: Any, one: int, other: int, label: int) -> None:
    splits = possible_splits(
        [CodedFeature("a", (0, 1, 2, 0), (1.0, 2.0)), CodedFeature("b", (0, 1, 2, 2), labels=("x", "y"), is_labels=True)]
    )
    before = agreement_scores([first, second], splits)
    first, second = first.copy(), second.copy()
    first[one, label] += 1
    second[other, label] += 1
    after = agreement_scores([first, second], splits)
    assert {new - old for new, old in zip(after, before, strict=True)} <= {0, 1}


def law_of(scores: list[Any], epsilon: Fraction) -> dict[int, Fraction]:
    best = max(scores)
    weights = [exponential_of_minus(epsilon * (Fraction(best) - Fraction(score))) for score in scores]
    return {place: weight / sum(weights) for place, weight in enumerate(weights)}


def test_draws_of_splits_cost_what_they_say_and_those_by_information_gain_more() -> None:
    splits = [NodeSplit(0, (0, 1)), NodeSplit(1, (0, 1))]
    epsilon = Fraction(1, 2)
    worst = {agreement_scores: 0.0, information_gains: 0.0}
    for size in (2, 8, 30):
        tables = [np.array([[size, 0], [0, size]]), np.array([[size, size // 2], [0, size // 2]])]
        for label in (0, 1):
            for one in (0, 1):
                more = [tables[0].copy(), tables[1].copy()]
                more[0][one, label] += 1
                more[1][1 - one, label] += 1
                for scores in worst:
                    laws = [law_of(scores(side, splits), epsilon) for side in (tables, more)]  # type: ignore[operator]
                    worst[scores] = max(worst[scores], largest_log_ratio(*laws))
    assert worst[agreement_scores] <= float(epsilon)
    assert worst[information_gains] > float(epsilon)
