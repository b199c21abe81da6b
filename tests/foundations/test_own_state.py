"""Questions are worked on in a numeric state of their own: what the caller has set changes no answer, and stays as it was."""

from __future__ import annotations

import decimal
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal

import numpy as np
import pytest

from dpstats.foundations.randomness import SystemSource
from dpstats.foundations.registry import Refusal, outcome_of
from dpstats.testing import seeded


@contextmanager
def everything_raises() -> Iterator[None]:
    """As a caller may set it: errors for every float that is not exact, for every warning and for every rounded decimal."""
    with np.errstate(all="raise"), warnings.catch_warnings(), decimal.localcontext() as context:
        warnings.simplefilter("error")
        context.prec = 2
        context.traps = dict.fromkeys(context.traps, True)
        yield


def underflow() -> float:
    return float(np.float64(1e-200) * np.float64(1e-200))


def division() -> float:
    return float(np.float64(1) / np.float64(0))


def decimals() -> str:
    return str(Decimal(1) / Decimal(7))


def warning() -> str:
    warnings.warn("row 812", UserWarning, stacklevel=1)
    return "computed"


@pytest.mark.parametrize(
    ("compute", "value"),
    [(underflow, 0.0), (division, np.inf), (decimals, "0.1428571428571428571428571429"), (warning, "computed")],
)
def test_what_the_caller_has_set_raises_nothing_in_an_answer_and_stays_set(compute: object, value: object) -> None:
    with everything_raises():
        assert outcome_of(compute, SystemSource()) == value  # type: ignore[arg-type]
        for again, error in ((underflow, FloatingPointError), (decimals, decimal.Inexact), (warning, UserWarning)):
            with pytest.raises(error):
                again()  # type: ignore[operator]


def test_a_private_answer_prints_no_warning_and_a_seeded_one_shows_them_to_tests() -> None:
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        outcome_of(warning, SystemSource())
        outcome_of(division, SystemSource())
        assert not shown
        outcome_of(warning, seeded(1))
        outcome_of(division, seeded(1))
        assert [each.category for each in shown] == [UserWarning, RuntimeWarning]


def test_an_underflow_is_no_error_with_a_seeded_source_either() -> None:
    with everything_raises():
        assert outcome_of(underflow, seeded(1)) == 0.0


def test_filters_are_put_back_when_questions_overlap_in_threads() -> None:
    first_is_in, second_is_in, first_is_out = threading.Event(), threading.Event(), threading.Event()
    before = list(warnings.filters)

    def first() -> None:
        first_is_in.set()
        assert second_is_in.wait(10)

    def second() -> str:
        second_is_in.set()
        assert first_is_out.wait(10)
        return warning()

    def work() -> None:
        outcome_of(first, SystemSource())
        first_is_out.set()

    thread = threading.Thread(target=work)
    thread.start()
    assert first_is_in.wait(10)
    assert outcome_of(second, SystemSource()) == "computed"
    thread.join()
    assert warnings.filters == before


def test_what_fails_for_another_reason_is_a_refusal_and_the_state_is_put_back() -> None:
    before, state = list(warnings.filters), np.geterr()
    assert isinstance(outcome_of(lambda: 1 // 0, SystemSource()), Refusal)
    assert (warnings.filters, np.geterr()) == (before, state)
