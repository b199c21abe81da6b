"""Noise on a grid, with a seeded source: the same numbers, to the last bit, as when this was written."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from dpstats.foundations.randomness import seeded
from dpstats.mechanisms import cube_laplace, gaussian, laplace, propose_test_release, spherical_laplace

MECHANISMS: dict[str, Callable[..., Any]] = {
    "laplace": lambda value, **more: laplace(value, l1_sensitivity=2, epsilon=0.5, **more),
    "cube": lambda value, **more: cube_laplace(value, linf_sensitivity=2, epsilon=0.5, **more),
    "spherical": lambda value, **more: spherical_laplace(value, l2_sensitivity=2, epsilon=0.5, **more),
    "gaussian": lambda value, **more: gaussian(value, l2_sensitivity=2, epsilon=0.5, delta=1e-6, **more),
    "tested": lambda value, **more: propose_test_release(value, bound=2, distance=1000, epsilon=1, delta=1e-6, **more),
}


@pytest.mark.parametrize(
    ("name", "expected", "noise"),
    [
        ("laplace", 11.089439447023324, "discrete Laplace of scale 4"),
        ("cube", 3.555254284372495, "cube Laplace of scale 4"),
        ("spherical", 11.089439447023324, "spherical Laplace of scale 4"),
        ("gaussian", 9.67308619832329, "discrete Gaussian of standard deviation ~17.3533"),
        ("tested", 2.965996670322056, "discrete Laplace of scale 4"),
    ],
)
def test_a_number_gets_the_noise_that_it_got(name: str, expected: float, noise: str) -> None:
    release = MECHANISMS[name](2.5, rng=seeded(11))
    assert release.value == expected
    assert dict(release.notes)["noise"] == f"{noise}, drawn exactly"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("laplace", (2.9531926953204675, -9.280981647803856, 6.745642573485384)),
        ("cube", (4.140038512301544, -4.669803549484641, 8.59225694651468)),
        ("spherical", (1.0925280325755011, -2.8849948623501405, 1.7146171101703658)),
        ("gaussian", (13.847904288981226, -5.911045556524186, -0.3010327174124541)),
        ("tested", (-3.351068906351429, 2.872197186869016, -4.35841983294813)),
    ],
)
def test_a_vector_gets_the_noise_that_it_got(name: str, expected: tuple[float, ...]) -> None:
    assert MECHANISMS[name]([1.25, -3, math.nan], rng=seeded(11)).value == expected


@pytest.mark.parametrize(
    ("name", "expected"), [("laplace", (7, 1)), ("cube", (18, -11)), ("spherical", (9, 3)), ("gaussian", (34, 0))]
)
def test_whole_numbers_get_the_noise_that_they_got(name: str, expected: tuple[int, ...]) -> None:
    assert MECHANISMS[name]([4, -7], integers=True, rng=seeded(11)).value == expected
