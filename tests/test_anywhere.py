"""What is released and predicted is the same on every machine, as far as this one can stand in for others."""

from __future__ import annotations

from typing import Any

import pytest

from tests.anywhere import differences, releases, settings

TRIED = (
    "mean/clipped",
    "two_sample_t_test",
    "sign_test",
    "linear_regression/steps",
    "logistic_regression/gaussian_steps",
    "mle/scores/normal",
    "mle/scores/gamma",
    "mle/sufficient_statistics/gamma",
    "predictions",
)
"""Releases in which all differed by their last digits when sums were numpy's; `make anywhere` tries all of them."""


@pytest.fixture(scope="module")
def as_it_is() -> dict[str, Any]:
    return releases({}, *TRIED)


@pytest.mark.parametrize("name", [name for name in settings() if name != "as it is"][:2])
def test_a_seeded_release_is_the_same_with_another_processors_loops_and_kernels(name: str, as_it_is: dict[str, Any]) -> None:
    assert len(as_it_is) > len(TRIED)
    assert list(differences(as_it_is, releases(settings()[name], *TRIED))) == []


def test_a_difference_in_the_last_digit_is_noticed() -> None:
    one, other = {"mean": ["1.5", {"low": "0.1"}]}, {"mean": ["1.5", {"low": "0.10000000000000002"}]}
    assert list(differences(one, other)) == [(".mean[1].low", "0.1", "0.10000000000000002")]
