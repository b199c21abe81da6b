"""The law of the loss: never below exact sums, close to them, and refused where floats could not tell."""

from __future__ import annotations

import builtins
import os
from fractions import Fraction
from typing import Any

import pytest

from dpstats.accounting import compose
from dpstats.foundations.errors import InvalidParameterError, MissingExtraError
from dpstats.foundations.privacy import PrivacyCost
from tests.accounting.laws import mixed_delta, response_delta

HAS_EXTRA = True
try:
    import dp_accounting.pld.privacy_loss_distribution  # noqa: F401
except ImportError:
    HAS_EXTRA = False

needs_extra = pytest.mark.skipif(not HAS_EXTRA and not os.environ.get("DPSTATS_NO_SKIP"), reason="needs dp-accounting")


@needs_extra
@pytest.mark.parametrize(
    ("times", "each", "delta"),
    [
        (1, "0.7", "1e-3"),
        (5, "1", "1e-6"),
        (30, "0.3", "1e-9"),
        (100, "0.1", "1e-6"),
        (100, "1/7", "1e-6"),
        (3000, "0.01", "1e-9"),
        (20000, "0.003", "1e-7"),
        (7, "20", "1e-6"),
    ],
)
def test_equal_questions_need_what_the_binomial_law_needs_and_hardly_more(times: int, each: str, delta: str) -> None:
    cost = compose([PrivacyCost(each)] * times, method="pld", delta=delta)
    exact = float(Fraction(each))
    assert response_delta(times, exact, float(cost.epsilon)) <= float(delta)
    assert response_delta(times, exact, float(cost.epsilon) * 0.997) > float(delta)


@needs_extra
@pytest.mark.parametrize(
    "epsilons",
    [
        ["0.1", "0.2", "0.4", "0.8"],
        ["1/3", "1/7", "0.123456789", "1", "2", "0.001"],
        ["0.5"] * 4 + ["0.31"] * 5,
        ["0", "1", "1e-9"],
    ],
)
def test_mixed_questions_need_what_their_exact_law_needs_and_little_more(epsilons: list[str]) -> None:
    exact = [float(Fraction(each)) for each in epsilons]
    for delta in ("1e-3", "1e-6"):
        cost = compose([PrivacyCost(each) for each in epsilons], method="pld", delta=delta)
        assert mixed_delta(exact, float(cost.epsilon)) <= float(delta)
        assert mixed_delta(exact, float(cost.epsilon) * 0.99 - 0.001) > float(delta)


@needs_extra
def test_it_is_below_advanced_composition_and_never_above_adding_up() -> None:
    costs = [PrivacyCost("0.1", "1e-9")] * 200
    assert compose(costs, method="pld", delta="1e-6").epsilon < compose(costs, method="advanced", delta="1e-6").epsilon
    few = [PrivacyCost("0.1")] * 2
    assert compose(few, method="pld", delta="1e-9").epsilon <= Fraction(2, 10)


@needs_extra
def test_the_deltas_of_questions_are_paid_first() -> None:
    own, none = [PrivacyCost("0.1", "1e-8")] * 50, [PrivacyCost("0.1")] * 50
    assert compose(own, method="pld", delta="1e-6") == PrivacyCost(compose(none, method="pld", delta="5e-7").epsilon, "1e-6")


@needs_extra
def test_a_delta_that_floats_cannot_resolve_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="take 'advanced'"):
        compose([PrivacyCost("0.1")] * 50, method="pld", delta="1e-10")


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *arguments: Any) -> Any:
        if name.startswith("dp_accounting"):
            raise ImportError(name)
        return real(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtraError, match=r"dpstats\[pld\]"):
        compose([PrivacyCost("0.1")] * 50, method="pld", delta="1e-6")
