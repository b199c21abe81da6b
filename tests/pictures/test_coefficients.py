"""The picture of a regression: a dot for each coefficient, in units of its error, with its own number beside it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import dpstats as dp
from dpstats.foundations.results import Interval
from dpstats.pictures.releases import plot_answers
from dpstats.statistics.regression.fit import RegressionFit

SPREAD = ((4.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, math.inf))
KNOWN = RegressionFit("linear", "income", ("age", "co$t"), 7.0, (2.0, 3e9), SPREAD)
BARE = RegressionFit("linear", "income", ("age", "hours"), 0.0, (2.0, -1.0), has_intercept=False)


def drawn(path: Path, fit: RegressionFit, **fields: Any) -> str:
    pytest.importorskip("matplotlib")
    plot_answers(path, [dp.Release("r(income)", fit, dp.PrivacyCost(1), "m", "epsilon-DP", True, **fields)])
    return path.read_text(encoding="utf-8")


def test_coefficients_have_their_names_and_numbers_and_the_intercept_is_written(tmp_path: Path) -> None:
    picture = drawn(tmp_path / "a.svg", KNOWN)
    for text in (
        ">age<",
        ">co$t<",
        ">2 (0.04004 to 3.96)<",
        ">3e+09 (-inf to inf)<",
        "in units of their errors; intercept 7 (3.08",
    ):
        assert text in picture, text
    assert picture == drawn(tmp_path / "b.svg", KNOWN)


def test_intervals_of_the_release_are_drawn_and_give_the_errors_where_those_are_unknown(tmp_path: Path) -> None:
    intervals = (Interval(1.0, 3.0, 0.9, "sampling"), Interval(-2.0, 0.0, 0.9, "sampling"))
    picture = drawn(tmp_path / "a.svg", BARE, intervals=intervals)
    for text in (">2 (1 to 3)<", ">-1 (-2 to 0)<", "in units of their errors; no intercept", "90% interval covers sampling"):
        assert text in picture, text


def test_without_errors_the_coefficients_are_drawn_as_they_are(tmp_path: Path) -> None:
    picture = drawn(tmp_path / "a.svg", BARE)
    assert ">coefficients; no intercept<" in picture
    assert ">-1<" in picture


def of(*coefficients: float) -> RegressionFit:
    """A fit of two features whose errors are 1."""
    return RegressionFit("linear", "y", ("a", "b"), 0.0, coefficients, ((1.0, 0, 0), (0, 1.0, 0), (0, 0, 1.0)))


def test_the_axis_reaches_to_the_farthest_coefficient(tmp_path: Path) -> None:
    picture = drawn(tmp_path / "a.svg", of(50.0, 1.0))
    assert ">50<" in picture  # on the axis
    assert "beyond the axis" not in picture


def test_what_lies_beyond_sixty_errors_is_an_arrow(tmp_path: Path) -> None:
    picture = drawn(tmp_path / "a.svg", of(1000.0, 25.0))
    assert ">1000 (998 to 1002)<" in picture
    assert "arrows: beyond the axis" in picture
    assert ">30<" in picture  # the axis is made for the others
    assert ">60<" not in picture
    assert "arrows: beyond the axis" in drawn(tmp_path / "b.svg", of(-1000.0, 1000.0))
