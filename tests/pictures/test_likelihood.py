"""The picture of a fitted family: each parameter around its estimate, in units of its error."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import dpstats as dp
from dpstats.foundations.results import Interval
from dpstats.pictures.releases import plot_answers
from dpstats.statistics.likelihood.fit import LikelihoodFit

KNOWN = LikelihoodFit("gamma", ("shape", "sc$le"), (2.0, 3e9), ((0.01, 0.0), (0.0, math.inf)), (0.05, math.inf))
BARE = LikelihoodFit("linear", ("intercept", "coefficients"), (2.0, -1.0))


def drawn(path: Path, fit: LikelihoodFit, **fields: Any) -> str:
    pytest.importorskip("matplotlib")
    plot_answers(path, [dp.Release("mle(gamma, x)", fit, dp.PrivacyCost(1), "m", "epsilon-DP", True, **fields)])
    return path.read_text(encoding="utf-8")


def test_parameters_have_their_names_and_numbers(tmp_path: Path) -> None:
    picture = drawn(tmp_path / "a.svg", KNOWN)
    for text in (">shape<", ">sc$le<", ">2 (1.804 to 2.196)<", ">3e+09 (-inf to inf)<", "gamma: distance from", "thick: noise"):
        assert text in picture, text
    assert picture == drawn(tmp_path / "b.svg", KNOWN)


def test_intervals_of_the_release_are_drawn(tmp_path: Path) -> None:
    intervals = (Interval(1.0, 4.0, 0.9, "sampling"), Interval(-2.0, 0.0, 0.9, "sampling"))
    picture = drawn(tmp_path / "a.svg", BARE, intervals=intervals)
    for text in (">2 (1 to 4)<", ">-1 (-2 to 0)<", "90% interval covers sampling"):
        assert text in picture, text


def test_a_fit_is_drawn_as_one_whatever_its_parameters_are_called(tmp_path: Path) -> None:
    assert ">coefficients<" in drawn(tmp_path / "a.svg", BARE)
    names = ("noisy", "probabilities", "estimate")
    assert ">noisy<" in drawn(tmp_path / "b.svg", LikelihoodFit("model", names, (1.0, 2.0, math.inf)))


def test_very_many_parameters_are_drawn_without_names(tmp_path: Path) -> None:
    names = tuple(f"cov_{place}" for place in range(65))
    assert ">cov_1<" not in drawn(tmp_path / "a.svg", LikelihoodFit("multivariate_normal", names, (1.0,) * 65))
