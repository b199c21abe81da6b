"""What all mechanisms share: sources, containers and short representations."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from dpstats.foundations.errors import DataTypeError, InvalidParameterError
from dpstats.foundations.randomness import seeded
from dpstats.foundations.results import NOT_PRIVATE, Release
from dpstats.mechanisms import (
    AboveThreshold,
    exponential,
    gaussian,
    laplace,
    noisy_max,
    randomized_response,
    randomized_response_estimate,
)

CALLS: dict[str, Callable[..., Any]] = {
    "laplace": lambda value=3, **more: laplace(value, l1_sensitivity=1, epsilon=1, **more),
    "gaussian": lambda value=3, **more: gaussian(value, l2_sensitivity=1, epsilon=1, delta=1e-6, **more),
    "noisy_max": lambda value=(1, 2), **more: noisy_max(value, sensitivity=1, epsilon=1, **more),
    "exponential": lambda value=(1, 2), **more: exponential(["a", "b"], value, sensitivity=1, epsilon=1, **more),
    "randomized_response": lambda value=(True,), **more: randomized_response(value, epsilon=1, **more),
    "AboveThreshold": lambda **more: AboveThreshold(3, sensitivity=1, epsilon=1, **more),
}
TAKE_DATA = [call for name, call in CALLS.items() if name != "AboveThreshold"]


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_what_is_no_source_of_randomness_is_refused(call: Callable[..., Any]) -> None:
    with pytest.raises(InvalidParameterError, match=r"rng must come from dpstats\.testing\.seeded"):
        call(rng=7)
    assert NOT_PRIVATE in repr(call(rng=seeded(7)))


@pytest.mark.parametrize("value", [{"a": 1, "b": 9}, "10", b"10", {1, 2}, None], ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("call", TAKE_DATA)
def test_a_container_without_order_is_refused_by_its_type(call: Callable[..., Any], value: object) -> None:
    with pytest.raises(DataTypeError, match=f"; got {type(value).__name__}\\.$"):
        call(value)


@pytest.mark.parametrize("call", TAKE_DATA[:4])
def test_a_generator_is_refused(call: Callable[..., Any]) -> None:
    with pytest.raises(DataTypeError, match="got generator"):
        call(number for number in (1, 2))


def test_labels_and_candidates_come_in_order() -> None:
    with pytest.raises(DataTypeError, match="labels must be a list; got dict"):
        noisy_max([1, 2], sensitivity=1, epsilon=1, labels={"a": 1, "b": 2})  # type: ignore[arg-type]
    with pytest.raises(DataTypeError, match="candidates must be a list; got dict"):
        exponential({"a": 1, "b": 2}, [1, 2], sensitivity=1, epsilon=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("call", TAKE_DATA[:4])
def test_a_decimal_that_cannot_be_written_out_is_no_trouble(call: Callable[..., Any]) -> None:
    for text in ("1e999999999", "-1e999999999", "1e-999999999"):
        assert isinstance(call([Decimal(text), Decimal(0)]), Release)


def test_responses_may_come_as_their_release() -> None:
    release = randomized_response([True, False] * 50, epsilon=1)
    assert randomized_response_estimate(release, epsilon=1) == randomized_response_estimate(release.value, epsilon=1)
    with pytest.raises(InvalidParameterError, match=r"made with epsilon = 1: give the same epsilon\."):
        randomized_response_estimate(release, epsilon=2)


def test_a_run_above_a_threshold_shows_itself_in_a_line() -> None:
    run = AboveThreshold(100, sensitivity=1, epsilon=1)
    assert repr(run) == "AboveThreshold(100, cost epsilon = 1, 0 asked)"
    run.ask(10**6)
    assert repr(run) == "AboveThreshold(100, cost epsilon = 1, spent)"


def test_a_seeded_run_claims_nothing() -> None:
    card = AboveThreshold(100, sensitivity=1, epsilon=1, rng=seeded(7)).card().to_dict()
    assert str(card["claim"]).startswith("none, because the source is seeded")
